// The kernel polynomial method: how dense the eigenvalues of a Hermitian matrix are, without
// computing any of them.
//
//   ρ(E) = (μ_0 g_0 + 2 Σ μ_n g_n T_n(x)) / (π √(r² − (E − c)²)),  x = (E − c)/r
//   μ_n = trace(T_n((A − c)/r)) / rows, of random vectors v with elements ±1: mean of (v, T_n v)
//   μ_2n = 2 (t_n, t_n) − μ_0,  μ_{2n+1} = 2 (t_{n+1}, t_n) − μ_1,  t_n = T_n v
//
//   A. Weiße, G. Wellein, A. Alvermann, H. Fehske, The kernel polynomial method, Rev. Mod. Phys.
//   78, 2006
//
// A sweep gives w_k = T_k t_{jp}, k = 1 … p, of several interleaved vectors at once, from which
// t_{jp+k} = 2 w_k − t_{jp−k} is made in the pass that computes the inner products. Two moments
// cost one product with each vector.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "strata/formats/csr.hpp"
#include "strata/solvers/chebyshev_series.hpp"
#include "strata/solvers/solve_result.hpp"

namespace strata::solvers {

struct DensityOptions {
  int moments = 512;
  int vectors = 32;  // random ones, rounded up to blocks of 8
  std::uint64_t seed = 1;
  int threads = 0;  // as plans have them
  bool autotune = true;
  bool time_bare = false;  // also time bare powers of the same plan
  // Called with the fraction that is done; false ends it after the vectors that are.
  std::function<bool(double)> progress = {};
};

// A density whose integral over [interval.low, interval.high] is 1.
struct DensityOfStates {
  ChebyshevInterval interval = {};
  std::vector<double> moments = {};  // μ_n, damped; μ_0 is 1
  Offset rows = 0;
  int vectors = 0;
  Offset products = 0;  // with one vector each
  SolveStatus status = SolveStatus::converged;
  double setup_seconds = 0;
  SolveTimes times = {};
  SweptProduct product = {};
  std::string variant = {};  // how products are computed
  std::string message = {};  // what happened, in a sentence, unless it converged

  // At an energy; 0 outside the interval.
  double at(double energy) const;
  // The share of eigenvalues below an energy.
  double below(double energy) const;
  // The width of a peak that is one eigenvalue, in the middle of the interval.
  double resolution() const;
};

// Throws InvalidArgument for matrices that are not Hermitian or have no rows. Depends on the seed
// and not on threads or the order of a plan.
template <Value V, Index I>
DensityOfStates density_of_states(const Csr<V, I>& matrix, const DensityOptions& options = {});

}  // namespace strata::solvers
