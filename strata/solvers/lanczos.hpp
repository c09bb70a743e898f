// Lanczos' method: extreme eigenvalues of a Hermitian matrix and their vectors.
//
//   w = A v_j,  h = Vᴴw,  w = w − Vh  (twice),  v_{j+1} = w / ‖w‖
//
//   C. Lanczos, An iteration method for the solution of the eigenvalue problem of linear
//   differential and integral operators, J. Res. Nat. Bur. Standards 45, 1950
//   B. N. Parlett, The symmetric eigenvalue problem, 1980, chapter 13 (why vectors are
//   orthogonalised against all and not only against two)
//
// The basis is restarted with its best Ritz vectors (thick_restart.hpp). A step has one product and
// four passes over the basis; the host reads one column of H. Where the space becomes invariant, it
// goes on with a random vector that is orthogonal to it.
#pragma once

#include "strata/solvers/thick_restart.hpp"

namespace strata::solvers {

// `vectors`, of options.count columns, gets the eigenvectors; `dimension` is the number of rows
// without padded ones.
template <class Space>
EigenResult lanczos(Space& space, const Operator<Space>& a, const RandomVector<Space>& random,
                    Offset dimension, typename Space::View vectors,
                    const EigenOptions& options = {}) {
  KrylovSpace<Space> krylov(space, random, subspace_size(options, dimension), dimension,
                            options.seed);
  auto expand = [&](KrylovSpace<Space>& into) {
    into.expand(a);
    return 1;
  };
  return ThickRestart(krylov, a, expand, options, vectors).run();
}

}  // namespace strata::solvers
