// Runs a power sweep with the reference kernels, for cachegrind to count its misses:
//
//     cachegrind_probe INPUT csr|packed-sell SLICE_HEIGHT SWEEPS
//
// With 0 sweeps it does everything but the products; the difference is what the products cause.
#include "tests/model/cachegrind_probe.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string_view>

#include "strata/base/parallel.hpp"
#include "strata/formats/packed_sell.hpp"
#include "strata/kernels/reference/spmv.hpp"

namespace {

using namespace strata;

template <class Matrix>
double run_sweeps(const Matrix& matrix, const std::vector<test::ProbeStep>& steps, int sweeps) {
  int power = 0;
  for (const test::ProbeStep& step : steps) power = std::max(power, step.power);
  std::vector<Array<double>> vectors(power + 1, Array<double>(matrix.rows(), 1.0));
  // The sweep starts with nothing of its own in cache, in whatever order its arrays were made.
  std::vector<double> other(1 << 20, 1.0);
  double sum = std::accumulate(other.begin(), other.end(), 0.0);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (const test::ProbeStep& step : steps) {
      reference::spmv(matrix, 1, vectors[step.power - 1], 0, vectors[step.power],
                      {step.begin, step.end});
    }
  }
  sum += vectors[power].front();
  return sum;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) return EXIT_FAILURE;
  set_thread_count(1);
  const test::ProbeInput input = test::read_probe_input(arguments[1]);
  const int slice_height = std::atoi(arguments[3]);
  const int sweeps = std::atoi(arguments[4]);
  const double sum = std::string_view(arguments[2]) == "csr"
                         ? run_sweeps(input.matrix, input.steps, sweeps)
                         : run_sweeps(PackedSell<double, std::int32_t>::from_csr(
                                          input.matrix, {.slice_height = slice_height}),
                                      input.steps, sweeps);
  return sum > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
