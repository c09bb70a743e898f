#include "strata/measure/matrix_analysis.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/formats/registry.hpp"
#include "strata/model/balance.hpp"
#include "strata/order/levels.hpp"

namespace strata {

namespace {

// A row touches its own level and the two next to it: three levels are the least that a sweep over
// powers keeps on chip.
constexpr int kWindow = 3;

constexpr std::string_view kVectors = "the size of the vectors in bytes";
constexpr std::string_view kVectorsAndValues = "the size of the vectors and values in bytes";

}  // namespace

Offset ProductWork::vector_bytes() const {
  return checked_multiply(checked_add(rows, cols, kVectors), value_bytes, kVectors);
}

Offset ProductWork::minimum_bytes() const {
  const Offset elements = checked_add(rows, cols, kVectorsAndValues);
  return checked_multiply(checked_add(elements, entries, kVectorsAndValues), value_bytes,
                          kVectorsAndValues);
}

double ProductWork::csr_balance() const {
  const auto count = static_cast<double>(entries);
  const double of_two_flops =
      crs_balance(count / static_cast<double>(rows), static_cast<double>(cols) / count,
                  {static_cast<double>(value_bytes), static_cast<double>(index_bytes)});
  return of_two_flops * 2 / flops_per_entry;
}

ProductWork work_of(const AnyMatrix& matrix) {
  return std::visit([](const auto& csr) { return work_of(csr); }, matrix);
}

MatrixStatistics statistics_of(const AnyMatrix& matrix) {
  return std::visit([](const auto& csr) { return statistics_of(csr); }, matrix);
}

std::optional<Offset> distinct_values(const AnyMatrix& matrix) {
  const Offset distinct =
      std::visit([](const auto& csr) { return count_distinct(csr.values()); }, matrix);
  return distinct < 0 ? std::nullopt : std::optional(distinct);
}

std::optional<LevelSummary> level_summary(const AnyMatrix& matrix) {
  return std::visit(
      []<Value V, Index I>(const Csr<V, I>& csr) -> std::optional<LevelSummary> {
        if (csr.rows() != csr.cols()) return std::nullopt;
        const LevelStructure<I> structure = find_levels(csr.pattern(), {.window = kWindow});
        LevelSummary summary{.count = structure.levels(),
                             .max_rows = structure.max_rows(),
                             .components = structure.components,
                             .root = structure.root};
        for (I level = 0; level < structure.levels(); ++level) {
          summary.rows.push_back(structure.rows_of(level));
          const I end = structure.levels() - level > kWindow ? static_cast<I>(level + kWindow)
                                                             : structure.levels();
          const Offset rows = structure.level_offsets[end] - structure.level_offsets[level];
          summary.max_window_rows = std::max(summary.max_window_rows, rows);
        }
        return summary;
      },
      matrix);
}

namespace {

template <Value V, Index I>
void count_bytes(const Csr<V, I>& csr, FormatSummary& format) {
  if (format.spec.format() != Format::packed_sell) {
    format.footprint = footprint(csr, format.spec);
    return;
  }
  const auto forecast = PackedSell<V, I>::forecast(csr, options_of<PackedSellOptions>(format.spec));
  format.footprint = forecast.footprint;
  format.encodings = slice_encodings(forecast.encoding_counts, forecast.value_encoding_counts);
}

Offset bytes_of_summary(const FormatSummary& format) {
  return format.footprint ? format.footprint->bytes() : std::numeric_limits<Offset>::max();
}

}  // namespace

FormatSummary format_summary(const AnyMatrix& matrix, const FormatSpec& spec) {
  FormatSummary format{.spec = spec, .label = label_of(spec)};
  try {
    std::visit([&](const auto& csr) { count_bytes(csr, format); }, matrix);
    // Beyond 64 bits the parts may be known where their sum is not.
    static_cast<void>(format.footprint->bytes());
  } catch (const Error& error) {
    format.footprint.reset();
    format.encodings.reset();
    format.refusal = error.what();
  }
  return format;
}

std::vector<FormatSummary> summaries_with_kernel(const AnyMatrix& matrix,
                                                 const MatrixStatistics& statistics,
                                                 KernelTarget target) {
  std::vector<FormatSummary> formats;
  for (const FormatSpec& spec : usual_specs(statistics)) {
    if (has_kernel(spec, target)) formats.push_back(format_summary(matrix, spec));
  }
  return formats;
}

FormatSpec smallest_format(const AnyMatrix& matrix, const MatrixStatistics& statistics,
                           KernelTarget target) {
  // CSR holds every matrix and has a kernel everywhere: there is a smallest one.
  return std::ranges::min(summaries_with_kernel(matrix, statistics, target), {}, bytes_of_summary)
      .spec;
}

}  // namespace strata
