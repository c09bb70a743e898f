#include "strata/solvers/density_of_states.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "strata/base/instantiate.hpp"
#include "strata/solvers/chebyshev_moments.hpp"
#include "strata/solvers/hermitian.hpp"
#include "strata/solvers/processor_powers.hpp"
#include "strata/solvers/processor_vectors.hpp"
#include "strata/solvers/spectrum_bounds.hpp"
#include "strata/solvers/timed_powers.hpp"

namespace strata::solvers {

namespace {

constexpr int kBlock = 8;   // vectors at a time
constexpr int kPowers = 4;  // of a sweep: more need more memory for all of them

// ±1, of (seed, vector, row).
template <Value V>
std::vector<V> random_signs(Offset rows, int block, std::uint64_t seed) {
  std::vector<V> values(static_cast<std::size_t>(rows) * kBlock);
  for (int v = 0; v < kBlock; ++v) {
    const Random random(seed, static_cast<std::uint64_t>(block * kBlock + v));
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
      values[row * kBlock + static_cast<std::size_t>(v)] =
          V(static_cast<decltype(std::abs(V()))>(random.bits(row) >> 63 == 0 ? 1 : -1));
    }
  }
  return values;
}

}  // namespace

double DensityOfStates::at(double energy) const {
  const double x = (energy - interval.centre()) / interval.radius();
  if (!(std::abs(x) < 1) || moments.empty()) return 0;
  const double angle = std::acos(x);
  double sum = moments[0];
  for (std::size_t n = 1; n < moments.size(); ++n) {
    sum += 2 * moments[n] * std::cos(static_cast<double>(n) * angle);
  }
  return sum / (std::numbers::pi * std::sqrt(1 - x * x) * interval.radius());
}

double DensityOfStates::below(double energy) const {
  const double x = std::clamp((energy - interval.centre()) / interval.radius(), -1.0, 1.0);
  if (moments.empty()) return 0;
  const double angle = std::acos(x);
  double sum = moments[0] * (std::numbers::pi - angle);
  for (std::size_t n = 1; n < moments.size(); ++n) {
    sum -= 2 * moments[n] * std::sin(static_cast<double>(n) * angle) / static_cast<double>(n);
  }
  return sum / std::numbers::pi;
}

double DensityOfStates::resolution() const {
  return std::numbers::pi * interval.radius() /
         std::max<double>(static_cast<double>(moments.size()), 1);
}

template <Value V, Index I>
DensityOfStates density_of_states(const Csr<V, I>& matrix, const DensityOptions& options) {
  require_hermitian(matrix, "the kernel polynomial method");
  if (matrix.rows() == 0) throw InvalidArgument("a matrix without rows has no eigenvalues");
  if (options.moments < 2 || options.vectors < 1) {
    throw InvalidArgument("a density needs two moments and a random vector at least");
  }
  using Space = ProcessorSpace<V>;
  const RunningClock setup;
  ProcessorPowers<V, I> processor(matrix, {.power = kPowers,
                                           .vectors = kBlock,
                                           .autotune = options.autotune,
                                           .threads = options.threads});
  const auto& plan = processor.plan();
  TimedPowers<Space> powers(processor);
  Space space(Offset{plan.vector_rows()} * kBlock, plan.threads());
  auto block = space.make_vector();
  const auto start = [&](int number) {
    plan.to_plan_order(random_signs<V>(matrix.rows(), number, options.seed), block);
  };
  start(0);
  // All vectors of a block as one: its Krylov space sees what each of them does.
  const Operator<Space> a = [&](std::span<const V> x, std::span<V> y) { powers.multiply(x, y); };
  const SpectrumBounds bounds =
      intersected(estimate_bounds<Space>(space, a, block), gershgorin_bounds(matrix)).widened(0.01);

  DensityOfStates density{.interval = {bounds.low, bounds.high}, .rows = matrix.rows()};
  density.setup_seconds = setup.seconds();
  density.products = Offset{bounds.products} * kBlock;
  const RunningClock clock;
  const double products_before = powers.seconds();
  const SpaceTimes clocked = space.times();
  powers.set_basis(Basis::chebyshev(bounds.low, bounds.high));
  const int blocks = (options.vectors + kBlock - 1) / kBlock;
  std::vector<double> sums(static_cast<std::size_t>(options.moments));
  for (int number = 0; number < blocks; ++number) {
    start(number);
    const std::vector<double> moments =
        chebyshev_moments<Space>(space, powers, block, options.moments, [&](double fraction) {
          return !options.progress || options.progress((number + fraction) / blocks);
        });
    const int chunks = (static_cast<int>(moments.size()) + 2 * kPowers - 2) / (2 * kPowers);
    density.products += Offset{chunks} * kPowers * kBlock;
    if (moments.size() < sums.size()) {
      density.status = SolveStatus::stopped;
      density.message = "stopped after " + std::to_string(density.vectors) + " random vectors";
      break;
    }
    for (std::size_t n = 0; n < sums.size(); ++n) sums[n] += moments[n];
    density.vectors += kBlock;
  }
  const std::vector<double> damping = jackson_damping(options.moments);
  if (density.vectors > 0) {
    for (std::size_t n = 0; n < sums.size(); ++n) {
      density.moments.push_back(damping[n] * sums[n] / sums[0]);
    }
  }
  density.times =
      times_of(clock.seconds(), powers.seconds() - products_before, clocked, space.times());
  return density;
}

#define STRATA_INSTANTIATE(V, I) \
  template DensityOfStates density_of_states(const Csr<V, I>&, const DensityOptions&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);
#undef STRATA_INSTANTIATE

}  // namespace strata::solvers
