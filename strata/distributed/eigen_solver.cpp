#include "strata/distributed/eigen_solver.hpp"

#include <fmt/format.h>

#include "strata/base/instantiate.hpp"
#include "strata/distributed/internal/agreement.hpp"
#include "strata/distributed/internal/planner.hpp"
#include "strata/solvers/internal/eigenpairs_on.hpp"

namespace strata::solvers::detail {

#define STRATA_ELSEWHERE(V, unused)                                             \
  extern template DensityOfStates density_on(const Planner<ProcessorSpace<V>>&, \
                                             const DensityOptions&)
STRATA_FOR_EACH_VALUE(STRATA_ELSEWHERE, );
#undef STRATA_ELSEWHERE

}  // namespace strata::solvers::detail

namespace strata::distributed {

using solvers::DensityOfStates;
using solvers::DensityOptions;
using solvers::EigenIteration;
using solvers::EigenMethod;
using solvers::Eigenpairs;
using solvers::EigenSolverOptions;
using solvers::ProcessorSpace;

namespace solver = solvers::detail;

namespace {

std::string text_of(const EigenSolverOptions& options) {
  const auto& eigen = options.eigen;
  std::string text = fmt::format(
      "method {}, {} {} eigenvalues, tolerance {}, subspace {}, at most {} products, seed {}, "
      "copies {}, s {}, degree {}, {} vectors",
      name_of(options.method), eigen.count, name_of(eigen.which), eigen.tolerance, eigen.subspace,
      eigen.most_products, eigen.seed, eigen.find_copies, options.s, options.degree,
      options.vectors);
  if (options.interval) {
    text += fmt::format(", in [{}, {}]", options.interval->low, options.interval->high);
  }
  if (options.target) text += fmt::format(", next to {}", *options.target);
  return text;
}

detail::RankPlans plans_of(int threads, const SweepOptions& sweeps) {
  return {.threads = threads, .depth = sweeps.depth, .network = sweeps.network};
}

}  // namespace

template <Value V, Index I>
Eigenpairs<V> eigenpairs(const Communicator& ranks, const DistributedMatrix<V, I>& matrix,
                         const EigenSolverOptions& options, const SweepOptions& sweeps) {
  ranks.require_same("the options for eigenvalues",
                     fmt::format("{}, depth {}", text_of(options), sweeps.depth));
  const std::string_view method = name_of(options.method);
  if (options.method == EigenMethod::power) {
    detail::require_square(matrix, method);
    detail::require_finite(ranks, matrix, method);
  } else {
    detail::require_hermitian(ranks, matrix, method);
  }
  solver::require_eigenproblem(matrix.rows.elements(), options.method);
  detail::AgreedProgress agreement(ranks);
  EigenSolverOptions agreed = options;
  agreed.time_bare = false;  // ranks time for different whiles
  agreed.eigen.progress = [&](const EigenIteration& now) {
    return agreement.goes_on(
        [&] { return !options.eigen.progress || options.eigen.progress(now); });
  };
  const auto planner = detail::rank_planner(ranks, matrix, plans_of(options.threads, sweeps));
  Eigenpairs<V> pairs = solver::EigenpairsOn<ProcessorSpace<V>>(*planner, agreed).run();
  agreement.finish();
  return pairs;
}

template <Value V, Index I>
DensityOfStates density_of_states(const Communicator& ranks, const DistributedMatrix<V, I>& matrix,
                                  const DensityOptions& options, const SweepOptions& sweeps) {
  ranks.require_same("the options of a density",
                     fmt::format("{} moments, {} vectors, seed {}, depth {}", options.moments,
                                 options.vectors, options.seed, sweeps.depth));
  detail::require_hermitian(ranks, matrix, solver::kDensityMethod);
  solver::require_density(matrix.rows.elements(), options);
  detail::AgreedProgress agreement(ranks);
  DensityOptions agreed = options;
  agreed.time_bare = false;
  agreed.progress = [&](double fraction) {
    return agreement.goes_on([&] { return !options.progress || options.progress(fraction); });
  };
  const auto planner = detail::rank_planner(ranks, matrix, plans_of(options.threads, sweeps));
  DensityOfStates density = solver::density_on<ProcessorSpace<V>>(*planner, agreed);
  agreement.finish();
  return density;
}

#define STRATA_INSTANTIATE(V, I)                                                                  \
  template Eigenpairs<V> eigenpairs(const Communicator&, const DistributedMatrix<V, I>&,          \
                                    const EigenSolverOptions&, const SweepOptions&);              \
  template DensityOfStates density_of_states(const Communicator&, const DistributedMatrix<V, I>&, \
                                             const DensityOptions&, const SweepOptions&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);
#undef STRATA_INSTANTIATE

}  // namespace strata::distributed
