// The density of states by the plans of a planner: what solvers::density_of_states and
// gpu::density_of_states are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "strata/solvers/chebyshev_moments.hpp"
#include "strata/solvers/density_of_states.hpp"
#include "strata/solvers/hermitian.hpp"
#include "strata/solvers/internal/planner.hpp"

namespace strata::solvers::detail {

inline constexpr std::string_view kDensityMethod = "the kernel polynomial method";
inline constexpr int kDensityBlock = 8;   // vectors at a time
inline constexpr int kDensityPowers = 4;  // of a sweep: more need more memory for all of them

// ±1, of (seed, vector, row), for rows from `first_row` on.
template <Value V>
std::vector<V> random_signs(Offset rows, int block, std::uint64_t seed, Offset first_row) {
  constexpr std::size_t kBlock = kDensityBlock;
  std::vector<V> values(static_cast<std::size_t>(rows) * kBlock);
  const auto first = static_cast<std::size_t>(first_row);
  for (std::size_t v = 0; v < kBlock; ++v) {
    const Random random(seed, static_cast<std::uint64_t>(block) * kBlock + v);
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
      values[row * kBlock + v] =
          V(static_cast<decltype(std::abs(V()))>(random.bits(first + row) >> 63 == 0 ? 1 : -1));
    }
  }
  return values;
}

// Throw what density_of_states says that it throws.
inline void require_density(Offset rows, const DensityOptions& options) {
  if (rows == 0) throw InvalidArgument("a matrix without rows has no eigenvalues");
  if (options.moments < 2 || options.vectors < 1) {
    throw InvalidArgument("a density needs two moments and a random vector at least");
  }
}
template <Value V, Index I>
void require_density(const Csr<V, I>& matrix, const DensityOptions& options) {
  require_hermitian(matrix, kDensityMethod);
  require_density(matrix.rows(), options);
}

// Of a Hermitian matrix with rows.
template <class Space>
DensityOfStates density_on(const Planner<Space>& planner, const DensityOptions& options) {
  using V = typename Space::Value;
  const RunningClock setup;
  const auto powers = planner.plan_powers(kDensityPowers, kDensityBlock, options.autotune);
  Space space = powers->make_space(powers->vector_rows() * kDensityBlock);
  auto block = space.make_vector();
  const auto start = [&](int number) {
    powers->to_plan_order(
        random_signs<V>(powers->rows(), number, options.seed, powers->first_row()), block);
  };
  start(0);
  // All vectors of a block as one: its Krylov space sees what each of them does.
  const SpectrumBounds bounds =
      intersected(estimate_bounds<Space>(space, powers->as_operator(), block), planner.gershgorin())
          .widened(0.01);

  DensityOfStates density{.interval = {bounds.low, bounds.high}, .rows = planner.rows()};
  density.variant = powers->variant();
  density.products = Offset{bounds.products} * kDensityBlock;
  powers->set_basis(Basis::chebyshev(bounds.low, bounds.high));
  SweepComparison<Space> comparison(*powers, Kept::all, options.time_bare);
  density.setup_seconds = setup.seconds();
  MethodClock<Space> clock(space, *powers);
  const int blocks = (options.vectors + kDensityBlock - 1) / kDensityBlock;
  std::vector<double> sums(static_cast<std::size_t>(options.moments));
  for (int number = 0; number < blocks; ++number) {
    start(number);
    const std::vector<double> moments =
        chebyshev_moments<Space>(space, *powers, block, options.moments, [&](double fraction) {
          return !options.progress || options.progress((number + fraction) / blocks);
        });
    const int chunks =
        (static_cast<int>(moments.size()) + 2 * kDensityPowers - 2) / (2 * kDensityPowers);
    density.products += Offset{chunks} * kDensityPowers * kDensityBlock;
    if (moments.size() < sums.size()) {
      density.status = SolveStatus::stopped;
      density.message = "stopped after " + std::to_string(density.vectors) + " random vectors";
      break;
    }
    for (std::size_t n = 0; n < sums.size(); ++n) sums[n] += moments[n];
    density.vectors += kDensityBlock;
  }
  const std::vector<double> damping = jackson_damping(options.moments);
  if (density.vectors > 0) {
    for (std::size_t n = 0; n < sums.size(); ++n) {
      density.moments.push_back(damping[n] * sums[n] / sums[0]);
    }
  }
  density.times = clock.times();
  density.product = comparison.times();
  return density;
}

}  // namespace strata::solvers::detail
