#include "cli/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/parts/exit_status.hpp"
#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/formats/registry.hpp"
#include "strata/io/spy_plot.hpp"
#include "strata/order/levels.hpp"

namespace strata::cli {

TypeSizes sizes_of(const AnyMatrix& matrix) {
  return std::visit(
      []<Value V, Index I>(const Csr<V, I>&) {
        return TypeSizes{sizeof(V), sizeof(I), is_complex<V> ? 8.0 : 2.0};
      },
      matrix);
}

namespace {

// A file may claim so many columns that the bytes of its vectors are beyond 64 bits.
void require_countable_bytes(const MatrixSource& source, const AnyMatrix& matrix) {
  try {
    std::visit(
        []<Value V, Index I>(const Csr<V, I>& csr) {
          constexpr std::string_view what = "the size of the vectors and values in bytes";
          const Offset elements = checked_add<Offset>(csr.rows(), csr.cols(), what);
          checked_multiply<Offset>(checked_add(elements, csr.nnz(), what), sizeof(V), what);
        },
        matrix);
  } catch (const OverflowError& error) {
    throw Failure(ExitStatus::input, fmt::format("{}: {}", source.argument, error.what()));
  }
}

}  // namespace

CountedMatrix load_and_count(const MatrixSource& source, const CommonOptions& options,
                             ResultDocument& document, Progress& progress) {
  document.describe_matrix(describe(source));
  CountedMatrix counted{load_matrix(source, options, progress), {}};
  require_countable_bytes(source, counted.matrix);
  progress.start("counting");
  counted.statistics = find_statistics(counted.matrix);
  document.describe_matrix(describe(source, counted.statistics));
  return counted;
}

MatrixStatistics find_statistics(const AnyMatrix& matrix) {
  return std::visit([](const auto& csr) { return statistics_of(csr); }, matrix);
}

namespace {

// A row touches its own level and the two next to it: three levels are the least that a sweep over
// powers keeps on chip.
constexpr int kWindow = 3;

}  // namespace

std::optional<LevelSummary> find_level_profile(const AnyMatrix& matrix) {
  return std::visit(
      []<Value V, Index I>(const Csr<V, I>& csr) -> std::optional<LevelSummary> {
        if (csr.rows() != csr.cols()) return std::nullopt;
        const LevelStructure<I> structure = find_levels(csr.pattern());
        LevelSummary profile{.count = structure.levels(),
                             .max_rows = structure.max_rows(),
                             .components = structure.components,
                             .root = structure.root};
        for (I level = 0; level < structure.levels(); ++level) {
          const I end = std::min<I>(level + kWindow, structure.levels());
          const Offset rows = structure.level_offsets[end] - structure.level_offsets[level];
          profile.max_window_rows = std::max(profile.max_window_rows, rows);
        }
        return profile;
      },
      matrix);
}

std::vector<std::string> draw(const AnyMatrix& matrix) {
  return std::visit([](const auto& csr) { return text_spy_plot(csr.pattern()); }, matrix);
}

void draw_to_file(const AnyMatrix& matrix, const std::string& path) {
  std::visit([&](const auto& csr) { write_spy_plot(path, csr.pattern()); }, matrix);
}

namespace {

template <Value V, Index I>
void measure(const Csr<V, I>& csr, FormatSummary& format) {
  if (format.spec.format() != Format::packed_sell) {
    format.footprint = footprint(csr, format.spec);
    return;
  }
  const auto forecast = PackedSell<V, I>::forecast(csr, options_of<PackedSellOptions>(format.spec));
  format.footprint = forecast.footprint;
  for (const SliceEncoding encoding : kSliceEncodings) {
    format.encodings.push_back({std::string(name_of(encoding)),
                                forecast.encoding_counts[static_cast<std::size_t>(encoding)]});
  }
}

}  // namespace

void measure_format(const AnyMatrix& matrix, FormatSummary& format) {
  try {
    std::visit([&](const auto& csr) { measure(csr, format); }, matrix);
    // Beyond 64 bits the parts may be known where their sum is not.
    static_cast<void>(format.footprint->bytes());
  } catch (const Error& error) {
    format.footprint.reset();
    format.refusal = error.what();
  }
}

Offset vector_bytes(const MatrixStatistics& statistics, const TypeSizes& sizes) {
  return sizes.value_bytes * (statistics.rows + statistics.cols);
}

Offset minimum_bytes(const MatrixStatistics& statistics, const TypeSizes& sizes) {
  return sizes.value_bytes * statistics.entries + vector_bytes(statistics, sizes);
}

double csr_code_balance(const MatrixStatistics& statistics, const TypeSizes& sizes) {
  const auto per_entry = [&](Offset count) {
    return static_cast<double>(count) / static_cast<double>(statistics.entries);
  };
  const auto value = static_cast<double>(sizes.value_bytes);
  const auto index = static_cast<double>(sizes.index_bytes);
  return (value + index + value * per_entry(statistics.cols) +
          (2 * value + index) * per_entry(statistics.rows)) /
         sizes.flops_per_entry;
}

}  // namespace strata::cli
