// Eigenpairs by the plans of a planner: what solvers::eigenpairs and gpu::eigenpairs are.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "strata/solvers/ca_lanczos.hpp"
#include "strata/solvers/chebyshev_filter.hpp"
#include "strata/solvers/eigen_solver.hpp"
#include "strata/solvers/hermitian.hpp"
#include "strata/solvers/internal/density_on.hpp"
#include "strata/solvers/internal/planner.hpp"
#include "strata/solvers/lanczos.hpp"
#include "strata/solvers/power_iteration.hpp"

namespace strata::solvers::detail {

inline void require_eigenproblem(Offset rows, EigenMethod method) {
  const bool counts = method == EigenMethod::lanczos || method == EigenMethod::ca_lanczos;
  if (!counts && rows == 0) throw InvalidArgument("a matrix without rows has no eigenvalues");
}

// Throws what eigenpairs says that it throws of a matrix.
template <Value V, Index I>
void require_eigenproblem(const Csr<V, I>& matrix, EigenMethod method) {
  if (method == EigenMethod::power) {
    require_square(matrix, name_of(method));
    require_finite(matrix, name_of(method));
  } else {
    require_hermitian(matrix, name_of(method));
  }
  require_eigenproblem(matrix.rows(), method);
}

template <class Space>
class EigenpairsOn {
 public:
  using V = typename Space::Value;
  using View = typename Space::View;
  using ConstView = typename Space::ConstView;

  EigenpairsOn(const Planner<Space>& planner, const EigenSolverOptions& options)
      : planner_(planner), options_(options) {}

  // Of a matrix that require_eigenproblem accepts.
  Eigenpairs<V> run() {
    switch (options_.method) {
      case EigenMethod::ca_lanczos: return by_powers();
      case EigenMethod::filter: return by_filter();
      default: return by_products();
    }
  }

 private:
  static constexpr int kBlock = 8;  // interleaved vectors

  int subspace() const {
    const int size = subspace_size(options_.eigen, planner_.rows());
    if (size > planner_.most_columns()) {
      throw InvalidArgument(fmt::format("a subspace of {} vectors; there is room for {}", size,
                                        planner_.most_columns()));
    }
    return size;
  }

  void to_caller(PlannedProduct<Space>& plan, typename Space::Vector& ordered,
                 Eigenpairs<V>& pairs) const {
    const auto rows = static_cast<std::size_t>(plan.rows());
    const auto ordered_rows = static_cast<std::size_t>(plan.vector_rows());
    pairs.vectors.resize(rows * pairs.result.values.size());
    for (std::size_t k = 0; k < pairs.result.values.size(); ++k) {
      plan.to_caller_order(View(ordered).subspan(k * ordered_rows, ordered_rows),
                           std::span<V>(pairs.vectors).subspan(k * rows, rows));
    }
  }

  // What lanczos and power need: products.
  Eigenpairs<V> by_products() {
    const RunningClock setup;
    Eigenpairs<V> pairs;
    const bool power = options_.method == EigenMethod::power;
    const int count = power ? 1 : options_.eigen.count;
    pairs.subspace = power ? 1 : subspace();
    const auto plan = planner_.plan_product(options_.autotune);
    pairs.variant = plan->variant();
    Space space = plan->make_space(plan->vector_rows());
    const Operator<Space> a = plan->as_operator();
    const RandomVector<Space> random = plan->random();
    auto vectors = space.make_block(count);
    pairs.setup_seconds = setup.seconds();
    MethodClock<Space> clock(space, *plan);
    if (power) {
      random(vectors, options_.eigen.seed);
      pairs.result = power_iteration<Space>(space, a, vectors, options_.eigen);
    } else {
      pairs.result = lanczos<Space>(space, a, random, planner_.rows(), vectors, options_.eigen);
    }
    pairs.result.times = clock.times();
    to_caller(*plan, vectors, pairs);
    return pairs;
  }

  Eigenpairs<V> by_powers() {
    const RunningClock setup;
    if (options_.s < 1) throw InvalidArgument("s is at least 1");
    Eigenpairs<V> pairs;
    pairs.subspace = subspace();
    // More powers than a subspace has room for would be planned in vain.
    const auto powers =
        planner_.plan_powers(std::min(options_.s, pairs.subspace), 1, options_.autotune);
    pairs.variant = powers->variant();
    Space space = powers->make_space(powers->vector_rows());
    const RandomVector<Space> random = powers->random();
    auto start = space.make_vector();
    random(start, options_.eigen.seed);
    const SpectrumBounds bounds = intersected(
        estimate_bounds<Space>(space, powers->as_operator(), start), planner_.gershgorin());
    auto vectors = space.make_block(options_.eigen.count);
    SweepComparison<Space> comparison(*powers, Kept::all, options_.time_bare);
    pairs.setup_seconds = setup.seconds();
    MethodClock<Space> clock(space, *powers);
    pairs.result = ca_lanczos<Space>(space, *powers, bounds, random, planner_.rows(), vectors,
                                     {.eigen = options_.eigen, .s = options_.s});
    pairs.result.products += bounds.products;
    pairs.result.times = clock.times();
    to_caller(*powers, vectors, pairs);
    pairs.product = comparison.times();
    return pairs;
  }

  // Around a target, wide enough for `count` eigenvalues by the density.
  static ChebyshevInterval around(double target, double count, const DensityOfStates& density) {
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

  static double angle_of(const ChebyshevInterval& window, const ChebyshevInterval& whole) {
    const auto angle = [&](double x) {
      return std::acos(std::clamp((x - whole.centre()) / whole.radius(), -1.0, 1.0));
    };
    return angle(window.low) - angle(window.high);
  }

  Eigenpairs<V> by_filter() {
    const std::optional<ChebyshevInterval>& interval = options_.interval;
    if (!interval && !options_.target) {
      throw InvalidArgument("filter needs an interval or a target");
    }
    if (interval && !(interval->low < interval->high)) {
      throw InvalidArgument(fmt::format("[{}, {}] is no interval", interval->low, interval->high));
    }
    const Offset rows = planner_.rows();
    if (!interval) subspace_size(options_.eigen, rows);
    const RunningClock setup;
    const DensityOfStates density = density_on<Space>(planner_, {.moments = 512,
                                                                 .vectors = kBlock,
                                                                 .seed = options_.eigen.seed,
                                                                 .autotune = options_.autotune});
    const ChebyshevInterval whole = density.interval;
    const double expected = interval ? static_cast<double>(rows) * (density.below(interval->high) -
                                                                    density.below(interval->low))
                                     : 1.5 * options_.eigen.count + 2;
    const ChebyshevInterval window =
        interval ? *interval : around(*options_.target, expected, density);
    Eigenpairs<V> pairs;
    const double angle = angle_of(window, whole);
    if (!(angle > 0)) {  // outside of all circles
      pairs.setup_seconds = setup.seconds();
      return pairs;
    }
    // The damping blurs the window by about π/degree at either side; half the window outside of
    // it, where the spare vectors end, is then suppressed by a thousand.
    pairs.degree = options_.degree > 0
                       ? options_.degree
                       : static_cast<int>(std::clamp(std::ceil(20 / angle), 10.0, 4000.0));
    int blocks = options_.vectors > 0
                     ? (options_.vectors + kBlock - 1) / kBlock
                     : static_cast<int>(std::ceil((2 * std::max(expected, 0.0) + kBlock) / kBlock));
    blocks = std::min<int>(blocks, static_cast<int>((rows + kBlock - 1) / kBlock));
    const auto powers = planner_.plan_powers(pairs.degree, kBlock, options_.autotune);
    pairs.variant = powers->variant();
    Space space = powers->make_space(powers->vector_rows());
    const SpectrumBounds bounds{
        .low = whole.low, .high = whole.high, .smallest = whole.low, .largest = whole.high};
    SweepComparison<Space> comparison(*powers, Kept::last, options_.time_bare);
    pairs.setup_seconds = setup.seconds();
    MethodClock<Space> clock(space, *powers);
    std::vector<std::string> remarks;
    std::vector<EigenIteration> history;
    Offset products = density.products;
    while (true) {
      FilteredSubspace<Space> subspace(space, *powers, bounds, powers->random(),
                                       {.eigen = options_.eigen,
                                        .window = window,
                                        .target = interval ? std::nullopt : options_.target,
                                        .dimension = rows,
                                        .blocks = blocks,
                                        .width = kBlock});
      FilteredPairs<Space> found = subspace.run();
      for (EigenIteration& each : found.result.history) {
        each.number = static_cast<int>(history.size()) + 1;
        each.products += products;
        history.push_back(each);
      }
      products += found.result.products;
      const bool can_grow = Offset{blocks} * kBlock < rows;
      if (found.too_few && can_grow && options_.vectors == 0 &&
          products < options_.eigen.most_products) {
        remarks.push_back(fmt::format("{} vectors were too few; began again with {}",
                                      blocks * kBlock, 2 * blocks * kBlock));
        blocks *= 2;
        continue;
      }
      pairs.result = std::move(found.result);
      unpack(*powers, found, pairs.vectors);
      break;
    }
    pairs.subspace = blocks * kBlock;
    pairs.result.history = std::move(history);
    pairs.result.restarts = static_cast<int>(pairs.result.history.size());
    pairs.result.products = products;
    pairs.result.remarks = std::move(remarks);
    pairs.result.times = clock.times();
    pairs.product = comparison.times();
    return pairs;
  }

  // The columns that were found, of interleaved blocks, one after another.
  static void unpack(PlannedPowers<Space>& powers, FilteredPairs<Space>& found,
                     std::vector<V>& vectors) {
    const auto rows = static_cast<std::size_t>(powers.rows());
    const auto block_size = static_cast<std::size_t>(powers.vector_rows()) * kBlock;
    std::vector<V> block(rows * kBlock);
    vectors.resize(rows * found.columns.size());
    int unpacked = -1;
    for (std::size_t k = 0; k < found.columns.size(); ++k) {
      const int of = found.columns[k] / kBlock, column = found.columns[k] % kBlock;
      if (of != unpacked) {
        powers.to_caller_order(
            View(found.vectors).subspan(static_cast<std::size_t>(of) * block_size, block_size),
            block);
        unpacked = of;
      }
      for (std::size_t row = 0; row < rows; ++row) {
        vectors[k * rows + row] = block[row * kBlock + static_cast<std::size_t>(column)];
      }
    }
  }

  const Planner<Space>& planner_;
  const EigenSolverOptions& options_;
};

}  // namespace strata::solvers::detail
