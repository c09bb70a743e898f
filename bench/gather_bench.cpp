// What bounds products of matrices whose columns are scattered, on a GPU: how many elements of x it
// gathers per second, and what another order of the rows or segments of columns, each with so much
// of x that a part of the cache holds it, make of that.
//
//     gather_bench [--json FILE] [SPEC…]

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "bench/over_specs.hpp"
#include "strata/bench/timing.hpp"
#include "strata/device/array.hpp"
#include "strata/device/timing.hpp"
#include "strata/gen/generate.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"
#include "strata/measure/json.hpp"
#include "strata/order/permutation.hpp"
#include "strata/order/rcm.hpp"

namespace {

using namespace strata;
using Matrix = Csr<double, std::int32_t>;

const std::vector<std::string> kSpecs{"random:4000000,nnzr=20", "rmat:22,edges=16"};
constexpr double kSectorBytes = 32;  // the least that a cache of the device gives

// y = Ax as the sum of the products of segments of columns, one after another.
class Segments {
 public:
  Segments(const Matrix& matrix, int segments)
      : rows_(matrix.rows()), x_(matrix.cols()), y_(matrix.rows()) {
    const std::vector<double> ones(static_cast<std::size_t>(matrix.cols()), 1.0);
    copy(std::span<const double>(ones), x_.span(), stream_);
    for (int segment = 0; segment < segments; ++segment) {
      const auto first = static_cast<std::int32_t>(Offset{matrix.cols()} * segment / segments);
      const auto last = static_cast<std::int32_t>(Offset{matrix.cols()} * (segment + 1) / segments);
      parts_.emplace_back(segments == 1 ? matrix : columns_of(matrix, first, last), stream_);
    }
    Offset scratch = 0;
    for (const auto& part : parts_) scratch = std::max(scratch, part.scratch_elements(1));
    scratch_ = gpu::DeviceScratch<double>(scratch);
    stream_.synchronize();
  }

  double seconds() {
    return time_runs([this] { multiply(); }, {.min_seconds = 0.05, .min_repetitions = 20},
                     gpu::device_stopwatch(stream_))
        .median;
  }

 private:
  static Matrix columns_of(const Matrix& matrix, std::int32_t first, std::int32_t last) {
    Array<Offset> offsets(1, 0);
    Array<std::int32_t> columns;
    Array<double> values;
    for (std::int32_t row = 0; row < matrix.rows(); ++row) {
      for (Offset k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
        if (matrix.columns()[k] < first || matrix.columns()[k] >= last) continue;
        columns.push_back(matrix.columns()[k]);
        values.push_back(matrix.values()[k]);
      }
      offsets.push_back(std::ssize(values));
    }
    return {matrix.rows(), matrix.cols(), std::move(offsets), std::move(columns),
            std::move(values)};
  }

  void multiply() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const double beta = i == 0 ? 0 : 1;
      step(parts_[i], {.alpha = 1, .beta = beta},
           {x_.span(), {y_.data(), i == 0 ? 0 : y_.size()}, y_.span(), 1, scratch_.span()},
           RowRange<std::int32_t>{0, rows_}, stream_);
    }
  }

  std::int32_t rows_;
  gpu::Stream stream_;
  gpu::DeviceArray<double> x_;
  gpu::DeviceArray<double> y_;
  gpu::DeviceScratch<double> scratch_;
  std::vector<gpu::DeviceCsr<double>> parts_;
};

// Long rows, and the columns that many rows read, first.
Permutation<std::int32_t> by_length(const Matrix& matrix) {
  Array<std::int32_t> rows(static_cast<std::size_t>(matrix.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  std::ranges::stable_sort(rows, std::ranges::greater(), [&](std::int32_t row) {
    return matrix.row_offsets()[row + 1] - matrix.row_offsets()[row];
  });
  return Permutation<std::int32_t>(std::move(rows));
}

void measure(const std::string& spec, Json& results) {
  const Matrix matrix = generate<double, std::int32_t>(spec);
  double as_it_is = 0;
  const auto report = [&](const std::string& what, const Matrix& tried, int segments) {
    const double seconds = Segments(tried, segments).seconds();
    if (as_it_is == 0) as_it_is = seconds;
    const double gathers = static_cast<double>(matrix.nnz()) / seconds;
    fmt::print("{:<26} {:<20} {:7.3f} ms  {:6.1f} G gathers/s  {:5.2f} TB/s of sectors  x{:.2f}\n",
               spec, what, 1e3 * seconds, gathers * 1e-9, gathers * kSectorBytes * 1e-12,
               as_it_is / seconds);
    results.push_back({{"matrix", spec},
                       {"order", what},
                       {"segments", segments},
                       {"seconds", seconds},
                       {"gathers_per_second", gathers},
                       {"sector_bytes_per_second", gathers * kSectorBytes},
                       {"speed_up", as_it_is / seconds}});
  };
  report("as it is", matrix, 1);
  for (const int segments : {2, 4, 8})
    report(fmt::format("{} segments", segments), matrix, segments);
  report("reverse Cuthill–McKee", reordered(matrix, reverse_cuthill_mckee(matrix.pattern())), 1);
  const Matrix sorted = reordered(matrix, by_length(matrix));
  report("long rows first", sorted, 1);
  report("and 4 segments", sorted, 4);
}

}  // namespace

int main(int argc, char** argv) {
  const auto measure_all = [](const bench::Specs& specs, Json& results) {
    for (const std::string& spec : specs) measure(spec, results);
  };
  return bench::run_over_specs("gather_bench", {argv + 1, argv + argc}, kSpecs, measure_all);
}
