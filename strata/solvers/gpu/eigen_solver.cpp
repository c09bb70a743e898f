// Both functions, for filters begin with a density.

#include "strata/solvers/gpu/eigen_solver.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/solvers/gpu/density_of_states.hpp"
#include "strata/solvers/gpu/internal/device_planner.hpp"
#include "strata/solvers/internal/density_on.hpp"
#include "strata/solvers/internal/eigenpairs_on.hpp"

namespace strata::gpu {

template <Value V, Index I>
solvers::Eigenpairs<V> eigenpairs(const Csr<V, I>& matrix,
                                  const solvers::EigenSolverOptions& options, Stream& stream) {
  solvers::detail::require_eigenproblem(matrix, options.method);
  const auto planner = detail::device_planner(matrix, stream);
  return solvers::detail::EigenpairsOn<DeviceSpace<V>>(*planner, options).run();
}

template <Value V, Index I>
solvers::DensityOfStates density_of_states(const Csr<V, I>& matrix,
                                           const solvers::DensityOptions& options, Stream& stream) {
  solvers::detail::require_density(matrix, options);
  const auto planner = detail::device_planner(matrix, stream);
  return solvers::detail::density_on<DeviceSpace<V>>(*planner, options);
}

#define STRATA_INSTANTIATE(V, I)                                                                   \
  template solvers::Eigenpairs<V> eigenpairs(const Csr<V, I>&, const solvers::EigenSolverOptions&, \
                                             Stream&);                                             \
  template solvers::DensityOfStates density_of_states(const Csr<V, I>&,                            \
                                                      const solvers::DensityOptions&, Stream&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::gpu
