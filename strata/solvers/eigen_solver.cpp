#include "strata/solvers/eigen_solver.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/solvers/internal/eigenpairs_on.hpp"
#include "strata/solvers/internal/processor_planner.hpp"

namespace strata::solvers {

#define STRATA_ELSEWHERE(V, unused)                                                             \
  extern template DensityOfStates detail::density_on(const detail::Planner<ProcessorSpace<V>>&, \
                                                     const DensityOptions&)
STRATA_FOR_EACH_VALUE(STRATA_ELSEWHERE, );
#undef STRATA_ELSEWHERE

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
  detail::require_eigenproblem(matrix, options.method);
  const auto planner = detail::processor_planner(matrix, options.threads);
  return detail::EigenpairsOn<ProcessorSpace<V>>(*planner, options).run();
}

#define STRATA_INSTANTIATE(V, I) \
  template Eigenpairs<V> eigenpairs(const Csr<V, I>&, const EigenSolverOptions&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);
#undef STRATA_INSTANTIATE

}  // namespace strata::solvers
