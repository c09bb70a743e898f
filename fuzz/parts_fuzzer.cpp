// Any bytes at all, as a Matrix Market file that is read in parts: the parts are refused where the
// file is, and make its matrix where it is not, whatever their number and the size of the blocks.
#include <optional>

#include "fuzz/memory_file.hpp"
#include "fuzz/support.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/coo.hpp"
#include "strata/io/internal/read_part.hpp"

namespace {

using namespace strata::fuzz;
using Value = std::complex<double>;
using Matrix = strata::Csr<Value, std::int64_t>;

// More rows are legal, but each try would take long.
constexpr std::int64_t kMostRows = 1 << 12;

struct Outcome {
  std::optional<Matrix> matrix;
  std::string error;
};

template <class Read>
Outcome outcome_of(const Read& read) {
  try {
    return {read(), {}};
  } catch (const strata::Error& error) {
    return {std::nullopt, error.what()};
  }
}

Matrix put_together(const std::filesystem::path& path, int parts, std::size_t block_bytes) {
  strata::Array<std::int64_t> rows;
  strata::Array<std::int64_t> columns;
  strata::Array<Value> values;
  strata::MatrixMarketHeader header;
  strata::Offset stored = 0;
  for (int part = 0; part < parts; ++part) {
    const auto piece =
        strata::detail::read_part<Value, std::int64_t>(path, part, parts, {}, block_bytes);
    rows.insert(rows.end(), piece.rows.begin(), piece.rows.end());
    columns.insert(columns.end(), piece.columns.begin(), piece.columns.end());
    values.insert(values.end(), piece.values.begin(), piece.values.end());
    header = piece.header;
    stored += piece.stored_entries;
  }
  strata::require_all_entries(path, header, stored);
  return strata::Coo<Value, std::int64_t>(header.rows, header.cols, std::move(rows),
                                          std::move(columns), std::move(values))
      .to_csr();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  strata::set_thread_count(1);
  const std::span<const char> bytes = text_of(data, size);
  try {
    const auto header = strata::detail::read_header(*source_of(bytes), "input", kWholeInput);
    if (header.rows > kMostRows && header.rows <= strata::kRowsAlwaysRead) return 0;
  } catch (const strata::Error&) {
  }
  const Outcome whole = outcome_of([&] {
    return strata::detail::read_matrix<Value, std::int64_t>(*source_of(bytes), "input", {},
                                                            kWholeInput);
  });
  const MemoryFile file(bytes);
  for (const int parts : {1, 2, 3, 7}) {
    const Outcome pieces = outcome_of([&] { return put_together(file.path(), parts, kTinyBlock); });
    require(whole.matrix.has_value() == pieces.matrix.has_value(),
            "parts are accepted where the file is", whole.error + "\n" + pieces.error);
    if (!whole.matrix) continue;
    require(same_bits(*whole.matrix, *pieces.matrix), "parts make the matrix of the file");
  }
  return 0;
}
