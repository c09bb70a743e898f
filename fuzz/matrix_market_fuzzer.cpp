// Any bytes at all, as a Matrix Market file. They are either refused with an exception of Strata or
// accepted; nothing may depend on where the text is cut into blocks or on the width of the indices;
// whatever is accepted can be written and read back to the same matrix; and what `strata info` says
// about it can be computed.
#include <cstring>
#include <optional>
#include <vector>

#include "fuzz/support.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/registry.hpp"
#include "strata/formats/statistics.hpp"
#include "strata/io/internal/read.hpp"
#include "strata/io/internal/write.hpp"
#include "strata/io/matrix_market.hpp"
#include "strata/io/spy_plot.hpp"

namespace {

using namespace strata::fuzz;
using strata::MatrixMarketHeader;
using Value = std::complex<double>;
template <strata::Index I>
using Matrix = strata::Csr<Value, I>;

// More rows are legal, but each try would take long. From kRowsAlwaysRead on there must be entries
// for them, which no input of this length has: those are refused fast.
constexpr std::int64_t kMostRows = 1 << 12;

// A matrix or the message of the error.
template <strata::Index I>
struct Outcome {
  std::optional<Matrix<I>> matrix;
  std::string error;
};

template <strata::Index I>
Outcome<I> read(std::span<const char> bytes, std::size_t block_bytes) {
  try {
    return {strata::detail::read_matrix<Value, I>(*source_of(bytes), "input", {}, block_bytes), {}};
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

template <strata::Index I>
bool same_matrix(const Matrix<I>& a, const Matrix<I>& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols() || a.nnz() != b.nnz()) return false;
  for (strata::Offset k = 0; k < a.nnz(); ++k) {
    if (!same(a.values()[k].real(), b.values()[k].real())) return false;
    if (!same(a.values()[k].imag(), b.values()[k].imag())) return false;
  }
  return same_bytes(a.columns().data(), b.columns().data(), a.columns().size_bytes()) &&
         same_bytes(a.row_offsets().data(), b.row_offsets().data(), a.row_offsets().size_bytes());
}

template <strata::Index I>
void require_round_trip(const Matrix<I>& matrix, strata::Symmetry symmetry, bool compress) {
  std::string written;
  strata::detail::write_matrix<Value, I>(
      [&](std::span<const char> bytes) { written.append(bytes.begin(), bytes.end()); }, matrix,
      {.symmetry = symmetry}, compress);
  const Outcome<I> again = read<I>(written, kWholeInput);
  require(again.matrix.has_value(), "what is written can be read", again.error);
  require(same_matrix(*again.matrix, matrix), "reading gives what was written", written);
}

template <strata::Index I>
Outcome<I> read_in_any_cut(std::span<const char> bytes) {
  Outcome<I> whole = read<I>(bytes, kWholeInput);
  const Outcome<I> pieces = read<I>(bytes, kTinyBlock);
  require(whole.matrix.has_value() == pieces.matrix.has_value(), "any cut is accepted or none",
          whole.error + pieces.error);
  require(met_corrupt_gzip(whole.error, pieces.error) || whole.error == pieces.error,
          "all cuts find the same error", whole.error + "\n" + pieces.error);
  if (whole.matrix) {
    require(same_matrix(*whole.matrix, *pieces.matrix), "all cuts give the same matrix");
  }
  return whole;
}

// The sizes in a format that info shows: known, or too large for 64 bits, or refused.
template <class Size>
void try_footprint(const Size& size_of) {
  try {
    const strata::Footprint footprint = size_of();
    require(footprint.bytes() >= 0 && footprint.stored_entries >= 0, "sizes are not negative");
  } catch (const strata::Error&) {
  }
}

template <strata::Index I>
void compute_info(const Matrix<I>& matrix, const strata::MatrixStatistics& statistics) {
  using namespace strata;
  require(0 <= statistics.empty_cols && statistics.empty_cols <= statistics.cols &&
              0 <= statistics.empty_rows && statistics.empty_rows <= statistics.rows,
          "empty rows and columns are rows and columns");
  require(statistics.cols - statistics.empty_cols <= statistics.entries,
          "a used column has an entry");
  require(statistics.mirrored_entries <= statistics.entries, "mirror images are entries");
  text_spy_plot(matrix.pattern());
  for (const FormatSpec& spec : usual_specs(statistics)) {
    try_footprint([&] { return footprint(matrix, spec); });
  }
}

// Nothing when it is wrong, or when reading on would take long.
std::optional<MatrixMarketHeader> header_to_try(std::span<const char> bytes) {
  try {
    const auto header = strata::detail::read_header(*source_of(bytes), "input", kWholeInput);
    if (header.rows > kMostRows && header.rows <= strata::kRowsAlwaysRead) return std::nullopt;
    return header;
  } catch (const strata::Error&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  strata::set_thread_count(1);
  const std::span<const char> bytes = text_of(data, size);
  const auto header = header_to_try(bytes);
  if (!header) return 0;
  const auto wide = read_in_any_cut<std::int64_t>(bytes);
  const auto narrow = read_in_any_cut<std::int32_t>(bytes);
  if (std::in_range<std::int32_t>(header->rows) && std::in_range<std::int32_t>(header->cols)) {
    require(wide.error == narrow.error, "any width of indices finds the same error",
            wide.error + "\n" + narrow.error);
  } else {
    require(!narrow.matrix, "sizes that do not fit are refused");
  }
  if (!wide.matrix) return 0;
  const auto statistics = strata::statistics_of(*wide.matrix);
  compute_info(*wide.matrix, statistics);
  require_round_trip(*wide.matrix, strata::Symmetry::general, size % 2 == 0);
  if (!narrow.matrix) return 0;
  require(same_matrix(strata::converted<Value, std::int64_t>(*narrow.matrix), *wide.matrix),
          "any width of indices gives the same matrix");
  require(strata::statistics_of(*narrow.matrix) == statistics,
          "any width of indices gives the same statistics");
  require_round_trip(*narrow.matrix, header->symmetry, size % 2 == 1);
  return 0;
}
