// How close the run-time tuner of Reguly's kernel comes to an exhaustive search: per matrix the
// time with the fixed rule, with what the tuner has found after 8 calls and when it has settled,
// and with the best of all parameters.
//
//     reguly_bench [--json FILE] [SPEC…]

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "bench/over_specs.hpp"
#include "strata/bench/timing.hpp"
#include "strata/device/array.hpp"
#include "strata/device/timing.hpp"
#include "strata/gen/generate.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"
#include "strata/kernels/gpu/reguly_tuner.hpp"
#include "strata/measure/json.hpp"

namespace {

using namespace strata;

const std::vector<std::string> kSpecs{"stencil5:2048x2048",         "stencil7:160x160x160",
                                      "stencil27:96x96x96",         "stencil27:48x48x64,dof=3",
                                      "fem:800x800,degree=2",       "mesh:2000000,dim=2,nnzr=7",
                                      "mesh:1000000,dim=3,nnzr=15", "random:1000000,nnzr=20",
                                      "graphene:1500x1500",         "band:2000000,width=27"};
constexpr int kCalls = 8;

// Products of one matrix on the device, with any parameters.
class Products {
 public:
  explicit Products(const Csr<double, std::int32_t>& matrix)
      : matrix_(matrix, stream_, {.kernel = gpu::CsrKernel::reguly}),
        x_(matrix.cols()),
        y_(matrix.rows()),
        clock_(gpu::device_stopwatch(stream_)) {
    const std::vector<double> ones(static_cast<std::size_t>(matrix.cols()), 1.0);
    copy(std::span<const double>(ones), x_.span(), stream_);
    stream_.synchronize();
  }

  double seconds_of_one_call(const gpu::RegulyParameters& parameters) {
    matrix_.set_reguly(parameters);
    return clock_.seconds_of([this] { multiply(); }, 1);
  }
  double seconds(const gpu::RegulyParameters& parameters, double min_seconds) {
    matrix_.set_reguly(parameters);
    return time_runs([this] { multiply(); },
                     {.min_seconds = min_seconds, .min_repetitions = 5, .max_repetitions = 200},
                     clock_)
        .median;
  }

 private:
  void multiply() {
    step(matrix_, {}, {x_.span(), {}, y_.span(), 1, {}}, matrix_.all_rows(), stream_);
  }

  gpu::Stream stream_;
  gpu::DeviceCsr<double> matrix_;
  gpu::DeviceArray<double> x_;
  gpu::DeviceArray<double> y_;
  Stopwatch clock_;
};

Json json_of(const gpu::RegulyParameters& parameters, double seconds) {
  return {{"coop", parameters.coop},
          {"repeat", parameters.repeat},
          {"block_size", parameters.block_size},
          {"seconds", seconds}};
}

// The fastest of all, timed shortly; then the best few again for longer.
gpu::RegulyParameters exhaustive(Products& products) {
  struct Timed {
    gpu::RegulyParameters parameters;
    double seconds;
  };
  std::vector<Timed> all;
  for (const gpu::RegulyParameters& parameters : gpu::RegulySweep{}.list()) {
    all.push_back({parameters, products.seconds(parameters, 0)});
  }
  const std::size_t few = std::min<std::size_t>(all.size(), 5);
  std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(few), {},
                            &Timed::seconds);
  all.resize(few);
  for (Timed& timed : all) timed.seconds = products.seconds(timed.parameters, 0.01);
  return std::ranges::min_element(all, {}, &Timed::seconds)->parameters;
}

// Returns the time after kCalls calls over that of the exhaustive search.
double measure(const std::string& spec, Json& results) {
  const auto matrix = generate<double, std::int32_t>(spec);
  Products products(matrix);
  gpu::RegulyTuner tuner(matrix.rows(), matrix.nnz());
  const gpu::RegulyParameters rule = tuner.best();
  for (int call = 0; call < kCalls; ++call)
    tuner.record(products.seconds_of_one_call(tuner.next()));
  const gpu::RegulyParameters tuned = tuner.best();
  int calls = kCalls;
  for (; !tuner.settled() && calls < 200; ++calls) {
    tuner.record(products.seconds_of_one_call(tuner.next()));
  }
  const gpu::RegulyParameters settled = tuner.best();
  const gpu::RegulyParameters best = exhaustive(products);

  const double of_rule = products.seconds(rule, 0.02);
  const double of_tuned = products.seconds(tuned, 0.02);
  const double of_settled = products.seconds(settled, 0.02);
  const double of_best = std::min({products.seconds(best, 0.02), of_rule, of_tuned, of_settled});
  fmt::print(
      "{:<30} rule {:.2f}, after {} calls {:.2f}, settled after {} calls {:.2f} of {:.3f} ms\n",
      spec, of_rule / of_best, kCalls, of_tuned / of_best, calls, of_settled / of_best,
      1e3 * of_best);
  results.push_back({{"matrix", spec},
                     {"rule", json_of(rule, of_rule)},
                     {"after_8_calls", json_of(tuned, of_tuned)},
                     {"settled", json_of(settled, of_settled)},
                     {"settled_after_calls", calls},
                     {"exhaustive", json_of(best, of_best)}});
  return of_tuned / of_best;
}

}  // namespace

int main(int argc, char** argv) {
  const auto measure_all = [](const bench::Specs& specs, Json& results) {
    double logarithms = 0;
    for (const std::string& spec : specs) logarithms += std::log(measure(spec, results));
    fmt::print("after {} calls {:.3f} times the exhaustive search, geometric mean of {}\n", kCalls,
               std::exp(logarithms / static_cast<double>(specs.size())), specs.size());
  };
  return bench::run_over_specs("reguly_bench", {argv + 1, argv + argc}, kSpecs, measure_all);
}
