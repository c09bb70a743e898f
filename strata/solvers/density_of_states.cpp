#include "strata/solvers/density_of_states.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "strata/base/instantiate.hpp"
#include "strata/solvers/internal/density_on.hpp"
#include "strata/solvers/internal/processor_planner.hpp"

namespace strata::solvers {

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
  detail::require_density(matrix, options);
  const auto planner = detail::processor_planner(matrix, options.threads);
  return detail::density_on<ProcessorSpace<V>>(*planner, options);
}

#define STRATA_INSTANTIATE_FOR_VALUE(V, unused)                                          \
  template DensityOfStates detail::density_on(const detail::Planner<ProcessorSpace<V>>&, \
                                              const DensityOptions&)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_FOR_VALUE, );
#undef STRATA_INSTANTIATE_FOR_VALUE
#define STRATA_INSTANTIATE(V, I) \
  template DensityOfStates density_of_states(const Csr<V, I>&, const DensityOptions&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);
#undef STRATA_INSTANTIATE

}  // namespace strata::solvers
