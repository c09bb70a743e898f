// Any bytes at all, as a Matrix Market file. They are either refused with an exception of Strata or
// accepted; nothing may depend on where the text is cut into blocks; and whatever is accepted can
// be written and read back to the same matrix.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "strata/base/parallel.hpp"
#include "strata/io/internal/read.hpp"
#include "strata/io/internal/write.hpp"
#include "strata/io/matrix_market.hpp"

namespace {

using strata::detail::ByteSource;
using Value = std::complex<double>;
using Matrix = strata::Csr<Value, std::int64_t>;

// Sizes beyond this are legal, but each try would take long.
constexpr std::int64_t kLargestSize = 1 << 12;

// Inputs are shorter than this; sanitizers make larger buffers slow.
constexpr std::size_t kWholeInput = 1 << 12;
constexpr std::size_t kTinyBlock = 5;

void require(bool condition, const char* claim, const std::string& detail = {}) {
  if (condition) return;
  std::fprintf(stderr, "does not hold: %s\n%s\n", claim, detail.c_str());
  std::abort();
}

std::unique_ptr<ByteSource> source_of(std::span<const char> bytes) {
  return strata::detail::decompressed(strata::detail::from_memory(bytes), "input");
}

// A matrix or the message of the error.
struct Outcome {
  std::optional<Matrix> matrix;
  std::string error;
};

Outcome read(std::span<const char> bytes, std::size_t block_bytes) {
  try {
    return {strata::detail::read_matrix<Value, std::int64_t>(*source_of(bytes), "input", {},
                                                             block_bytes),
            {}};
  } catch (const strata::Error& error) {
    return {std::nullopt, error.what()};
  }
}

bool same_bytes(const void* a, const void* b, std::size_t size) {
  return size == 0 || std::memcmp(a, b, size) == 0;
}

// NaN equals NaN here, whatever its bits.
bool same(double a, double b) {
  return a == b || (a != a && b != b);
}

bool same_matrix(const Matrix& a, const Matrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols() || a.nnz() != b.nnz()) return false;
  for (strata::Offset k = 0; k < a.nnz(); ++k) {
    if (!same(a.values()[k].real(), b.values()[k].real())) return false;
    if (!same(a.values()[k].imag(), b.values()[k].imag())) return false;
  }
  return same_bytes(a.columns().data(), b.columns().data(), a.columns().size_bytes()) &&
         same_bytes(a.row_offsets().data(), b.row_offsets().data(), a.row_offsets().size_bytes());
}

void require_round_trip(const Matrix& matrix, strata::Symmetry symmetry, bool compress) {
  std::string written;
  strata::detail::write_matrix<Value, std::int64_t>(
      [&](std::span<const char> bytes) { written.append(bytes.begin(), bytes.end()); }, matrix,
      {.symmetry = symmetry}, compress);
  const Outcome again = read(written, kWholeInput);
  require(again.matrix.has_value(), "what is written can be read", again.error);
  require(same_matrix(*again.matrix, matrix), "reading gives what was written", written);
}

// The symmetry of the file, or nothing when its header is wrong or its sizes are large.
std::optional<strata::Symmetry> symmetry_of(std::span<const char> bytes) {
  try {
    const auto header = strata::detail::read_header(*source_of(bytes), "input", kWholeInput);
    if (header.rows > kLargestSize || header.cols > kLargestSize) return std::nullopt;
    return header.symmetry;
  } catch (const strata::Error&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  strata::set_thread_count(1);
  const std::span<const char> bytes(reinterpret_cast<const char*>(data), size);
  const auto symmetry = symmetry_of(bytes);
  if (!symmetry) return 0;
  const Outcome whole = read(bytes, kWholeInput);
  const Outcome pieces = read(bytes, kTinyBlock);
  require(whole.matrix.has_value() == pieces.matrix.has_value(), "any cut is accepted or none",
          whole.error + pieces.error);
  // Text before corrupt gzip is looked at only in blocks that are complete.
  const bool corrupt = whole.error.find("compressed data") != std::string::npos;
  require(corrupt || whole.error == pieces.error, "all cuts find the same error",
          whole.error + "\n" + pieces.error);
  if (!whole.matrix) return 0;
  require(same_matrix(*whole.matrix, *pieces.matrix), "all cuts give the same matrix");
  require_round_trip(*whole.matrix, strata::Symmetry::general, size % 2 == 0);
  require_round_trip(*whole.matrix, *symmetry, size % 2 == 1);
  return 0;
}
