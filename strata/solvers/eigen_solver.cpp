#include "strata/solvers/eigen_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "strata/base/instantiate.hpp"
#include "strata/plans/product_plan.hpp"
#include "strata/solvers/ca_lanczos.hpp"
#include "strata/solvers/chebyshev_filter.hpp"
#include "strata/solvers/density_of_states.hpp"
#include "strata/solvers/hermitian.hpp"
#include "strata/solvers/lanczos.hpp"
#include "strata/solvers/power_iteration.hpp"
#include "strata/solvers/processor_powers.hpp"
#include "strata/solvers/processor_vectors.hpp"
#include "strata/solvers/timed_powers.hpp"

namespace strata::solvers {

namespace {

constexpr int kBlock = 8;  // interleaved vectors

template <Value V, class Plan>
void to_caller(const Plan& plan, std::span<const V> ordered, Offset ordered_rows, int count,
               std::vector<V>& vectors) {
  const auto rows = static_cast<std::size_t>(plan.rows());
  vectors.resize(rows * static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) {
    const auto at = static_cast<std::size_t>(k);
    plan.to_caller_order(ordered.subspan(at * static_cast<std::size_t>(ordered_rows),
                                         static_cast<std::size_t>(ordered_rows)),
                         std::span<V>(vectors).subspan(at * rows, rows));
  }
}

// What lanczos and power need: products.
template <Value V, Index I>
Eigenpairs<V> by_products(const Csr<V, I>& matrix, const EigenSolverOptions& options) {
  using Space = ProcessorSpace<V>;
  const RunningClock setup;
  const auto plan = plan_product(matrix, {.vector_order = VectorOrder::plan,
                                          .autotune = options.autotune,
                                          .threads = options.threads});
  auto workspace = plan.make_workspace();
  Space space(plan.x_rows(), plan.threads());
  double seconds = 0;
  const Operator<Space> a = timed<Space>(
      [&](std::span<const V> x, std::span<V> y) { plan.apply(x, y, workspace); }, seconds);
  const auto random = random_in_order_of<V>(plan);
  Eigenpairs<V> pairs;
  const bool power = options.method == EigenMethod::power;
  const int count = power ? 1 : options.eigen.count;
  pairs.subspace = power ? 1 : subspace_size(options.eigen, matrix.rows());
  pairs.setup_seconds = setup.seconds();
  const RunningClock clock;
  auto vectors = space.make_block(count);
  if (power) {
    random(vectors, options.eigen.seed);
    pairs.result = power_iteration<Space>(space, a, vectors, options.eigen);
  } else {
    pairs.result = lanczos<Space>(space, a, random, matrix.rows(), vectors, options.eigen);
  }
  pairs.result.times = times_of(clock.seconds(), seconds, {}, space.times());
  to_caller<V>(plan, vectors, plan.x_rows(), static_cast<int>(pairs.result.values.size()),
               pairs.vectors);
  return pairs;
}

template <Value V, Index I>
SpectrumBounds bounds_of(const Csr<V, I>& matrix, ProcessorSpace<V>& space,
                         Powers<ProcessorSpace<V>>& powers, std::span<V> start) {
  using Space = ProcessorSpace<V>;
  const Operator<Space> a = [&](std::span<const V> x, std::span<V> y) { powers.multiply(x, y); };
  return intersected(estimate_bounds<Space>(space, a, start), gershgorin_bounds(matrix));
}

template <Value V, Index I>
Eigenpairs<V> by_powers(const Csr<V, I>& matrix, const EigenSolverOptions& options) {
  using Space = ProcessorSpace<V>;
  const RunningClock setup;
  if (options.s < 1) throw InvalidArgument("s is at least 1");
  Eigenpairs<V> pairs;
  pairs.subspace = subspace_size(options.eigen, matrix.rows());
  // More powers than a subspace has room for would be planned in vain.
  ProcessorPowers<V, I> processor(matrix, {.power = std::min(options.s, pairs.subspace),
                                           .autotune = options.autotune,
                                           .threads = options.threads});
  const auto& plan = processor.plan();
  TimedPowers<Space> powers(processor);
  Space space(plan.vector_rows(), plan.threads());
  const auto random = random_in_order_of<V>(plan);
  auto start = space.make_vector();
  random(start, options.eigen.seed);
  const SpectrumBounds bounds = bounds_of(matrix, space, powers, std::span<V>(start));
  pairs.setup_seconds = setup.seconds();
  const RunningClock clock;
  const double before = powers.seconds();
  const SpaceTimes clocked = space.times();
  auto vectors = space.make_block(options.eigen.count);
  pairs.result = ca_lanczos<Space>(space, powers, bounds, random, matrix.rows(), vectors,
                                   {.eigen = options.eigen, .s = options.s});
  pairs.result.products += bounds.products;
  pairs.result.times = times_of(clock.seconds(), powers.seconds() - before, clocked, space.times());
  to_caller<V>(plan, vectors, plan.vector_rows(), static_cast<int>(pairs.result.values.size()),
               pairs.vectors);
  return pairs;
}

// Around a target, wide enough for `count` eigenvalues by the density.
ChebyshevInterval around(double target, double count, const DensityOfStates& density) {
  const double share = count / static_cast<double>(density.rows);
  double narrow = 0, wide = 2 * std::max(density.interval.high - target,
                                         std::max(target - density.interval.low, 0.0)) +
                            density.resolution();
  for (int k = 0; k < 60; ++k) {
    const double middle = (narrow + wide) / 2;
    (density.below(target + middle) - density.below(target - middle) < share ? narrow : wide) =
        middle;
  }
  return {target - wide, target + wide};
}

double angle_of(const ChebyshevInterval& window, const ChebyshevInterval& whole) {
  const auto angle = [&](double x) {
    return std::acos(std::clamp((x - whole.centre()) / whole.radius(), -1.0, 1.0));
  };
  return angle(window.low) - angle(window.high);
}

template <Value V, Index I>
Eigenpairs<V> by_filter(const Csr<V, I>& matrix, const EigenSolverOptions& options) {
  using Space = ProcessorSpace<V>;
  if (!options.interval && !options.target) {
    throw InvalidArgument("filter needs an interval or a target");
  }
  if (options.interval && !(options.interval->low < options.interval->high)) {
    throw InvalidArgument(
        fmt::format("[{}, {}] is no interval", options.interval->low, options.interval->high));
  }
  if (!options.interval) subspace_size(options.eigen, matrix.rows());
  const RunningClock setup;
  const DensityOfStates density = density_of_states(matrix, {.moments = 512,
                                                             .vectors = kBlock,
                                                             .seed = options.eigen.seed,
                                                             .threads = options.threads,
                                                             .autotune = options.autotune});
  const ChebyshevInterval whole = density.interval;
  const double expected =
      options.interval
          ? static_cast<double>(matrix.rows()) *
                (density.below(options.interval->high) - density.below(options.interval->low))
          : 1.5 * options.eigen.count + 2;
  const ChebyshevInterval window =
      options.interval ? *options.interval : around(*options.target, expected, density);
  Eigenpairs<V> pairs;
  const double angle = angle_of(window, whole);
  if (!(angle > 0)) {  // outside of all circles
    pairs.setup_seconds = setup.seconds();
    return pairs;
  }
  // The damping blurs the window by about π/degree at either side; half the window outside of it,
  // where the spare vectors end, is then suppressed by a thousand.
  pairs.degree = options.degree > 0
                     ? options.degree
                     : static_cast<int>(std::clamp(std::ceil(20 / angle), 10.0, 4000.0));
  int blocks = options.vectors > 0
                   ? (options.vectors + kBlock - 1) / kBlock
                   : static_cast<int>(std::ceil((2 * std::max(expected, 0.0) + kBlock) / kBlock));
  blocks = std::min<int>(blocks, static_cast<int>((Offset{matrix.rows()} + kBlock - 1) / kBlock));
  ProcessorPowers<V, I> processor(matrix, {.power = pairs.degree,
                                           .vectors = kBlock,
                                           .autotune = options.autotune,
                                           .threads = options.threads});
  const auto& plan = processor.plan();
  TimedPowers<Space> powers(processor);
  Space space(plan.vector_rows(), plan.threads());
  const auto random = random_in_order_of<V>(plan, kBlock);
  SpectrumBounds bounds{
      .low = whole.low, .high = whole.high, .smallest = whole.low, .largest = whole.high};
  pairs.setup_seconds = setup.seconds();
  const RunningClock clock;
  std::vector<std::string> remarks;
  std::vector<EigenIteration> history;
  Offset products = density.products;
  while (true) {
    FilteredSubspace<Space> subspace(space, powers, bounds, random,
                                     {.eigen = options.eigen,
                                      .window = window,
                                      .target = options.interval ? std::nullopt : options.target,
                                      .blocks = blocks,
                                      .width = kBlock});
    FilteredPairs<Space> found = subspace.run();
    for (EigenIteration& each : found.result.history) {
      each.number = static_cast<int>(history.size()) + 1;
      each.products += products;
      history.push_back(each);
    }
    products += found.result.products;
    const bool can_grow = Offset{blocks} * kBlock < matrix.rows();
    if (found.too_few && can_grow && options.vectors == 0 &&
        products < options.eigen.most_products) {
      remarks.push_back(fmt::format("{} vectors were too few; began again with {}", blocks * kBlock,
                                    2 * blocks * kBlock));
      blocks *= 2;
      continue;
    }
    pairs.result = std::move(found.result);
    const auto rows = static_cast<std::size_t>(matrix.rows());
    const auto block_size = static_cast<std::size_t>(plan.vector_rows()) * kBlock;
    std::vector<V> block(rows * kBlock);
    pairs.vectors.resize(rows * found.columns.size());
    int unpacked = -1;
    for (std::size_t k = 0; k < found.columns.size(); ++k) {
      const int of = found.columns[k] / kBlock, column = found.columns[k] % kBlock;
      if (of != unpacked) {
        plan.to_caller_order(std::span<const V>(found.vectors)
                                 .subspan(static_cast<std::size_t>(of) * block_size, block_size),
                             block);
        unpacked = of;
      }
      for (std::size_t row = 0; row < rows; ++row) {
        pairs.vectors[k * rows + row] = block[row * kBlock + static_cast<std::size_t>(column)];
      }
    }
    break;
  }
  pairs.subspace = blocks * kBlock;
  pairs.result.history = std::move(history);
  pairs.result.restarts = static_cast<int>(pairs.result.history.size());
  pairs.result.products = products;
  pairs.result.remarks = std::move(remarks);
  pairs.result.times = times_of(clock.seconds(), powers.seconds(), {}, space.times());
  return pairs;
}

}  // namespace

std::string_view name_of(EigenMethod method) {
  switch (method) {
    case EigenMethod::lanczos: return "lanczos";
    case EigenMethod::ca_lanczos: return "ca-lanczos";
    case EigenMethod::filter: return "filter";
    case EigenMethod::power: return "power";
  }
  return "";
}

template <Value V, Index I>
Eigenpairs<V> eigenpairs(const Csr<V, I>& matrix, const EigenSolverOptions& options) {
  if (options.method == EigenMethod::power) {
    require_square(matrix, name_of(options.method));
    require_finite(matrix, name_of(options.method));
    if (matrix.rows() == 0) throw InvalidArgument("a matrix without rows has no eigenvalues");
  } else {
    require_hermitian(matrix, name_of(options.method));
  }
  switch (options.method) {
    case EigenMethod::ca_lanczos: return by_powers(matrix, options);
    case EigenMethod::filter: return by_filter(matrix, options);
    default: return by_products(matrix, options);
  }
}

#define STRATA_INSTANTIATE(V, I) \
  template Eigenpairs<V> eigenpairs(const Csr<V, I>&, const EigenSolverOptions&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);
#undef STRATA_INSTANTIATE

}  // namespace strata::solvers
