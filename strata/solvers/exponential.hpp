// exp(tA)v and φ-functions, without the matrix exp(tA): polynomials of A, each run as a sweep of
// powers that never stores them.
//
//   MatrixExponential<double, std::int32_t> exponential(matrix);
//   const ExponentialResult result = exponential.apply(0.1, v, y);      // y = exp(0.1 A)v
//   exponential.phi(1, 0.1, v, y);                                      // y = φ_1(0.1 A)v
//
// chebyshev   for Hermitian A with spectrum in [low, high], centre c, radius r:
//             e^{tA} = e^{tc} (I_0(tr) + 2 Σ I_k(tr) T_k),  e^{−itA} = e^{−itc} (J_0(tr) + 2 Σ
//             (−i)ᵏ J_k(tr) T_k); the error is at most the sum of what is left out. H. Tal-Ezer, R.
//             Kosloff, An accurate and efficient scheme for propagating the time dependent
//             Schrödinger equation, J. Chem. Phys. 81, 1984
// taylor      for any A: (Σ_{k≤m} (tA/s)ᵏ / k!)ˢ, with m and s such that it is exp of a matrix that
//             differs from tA by at most `tolerance` of its norm.
//             A. H. Al-Mohy, N. J. Higham, Computing the action of the matrix exponential, with an
//             application to exponential integrators, SIAM J. Sci. Comput. 33, 2011
// leja        for any A: Newton's interpolation of eᵗᶻ at Leja points of a line through the field
// of
//             values W; the error is at most 1 + √2 times that on W.
//             M. Caliari, P. Kandolf, A. Ostermann, S. Rainer, The Leja method revisited: backward
//             error analysis for the matrix exponential, SIAM J. Sci. Comput. 38, 2016
//             M. Crouzeix, C. Palencia, The numerical range is a (1 + √2)-spectral set, SIAM J.
//             Matrix Anal. Appl. 38, 2017
//
// Degrees above `most_degree` are avoided by steps in time.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "strata/formats/csr.hpp"
#include "strata/solvers/chebyshev_series.hpp"
#include "strata/solvers/solve_result.hpp"

namespace strata::solvers {

enum class ExponentialMethod {
  automatic,  // chebyshev for Hermitian matrices, otherwise what needs fewer products
  chebyshev,
  taylor,
  leja
};
inline constexpr ExponentialMethod kExponentialMethods[] = {
    ExponentialMethod::automatic, ExponentialMethod::chebyshev, ExponentialMethod::taylor,
    ExponentialMethod::leja};
std::string_view name_of(ExponentialMethod method);

struct ExponentialOptions {
  ExponentialMethod method = ExponentialMethod::automatic;
  double tolerance = 1e-12;  // for the error that ExponentialResult has
  int most_degree = 1000;    // of a sweep
  int threads = 0;           // as plans have them
  bool autotune = true;
  bool time_bare = false;  // also time bare powers of the same plan
  // Called after every step in time, of so many; false ends it there.
  std::function<bool(int step, int steps)> progress = {};
};

struct ExponentialResult {
  ExponentialMethod method = ExponentialMethod::chebyshev;
  // converged; stagnated, if the tolerance is below rounding; stopped by progress; not_finite, if
  // the vector or the result is.
  SolveStatus status = SolveStatus::converged;
  int degree = 0;
  int steps = 0;
  Offset products = 0;
  double time = 0;  // that was reached: t, unless it was stopped
  // The bound of the error that the choice of degree and steps has reached, rounding included. For
  // taylor that of tA, relative to its norm; for the others of the result, relative to ‖v‖ and to
  // the largest |eᵗᶻ|, or |φ_k|, of the spectrum, where that is known, or else of the field of
  // values.
  double error = 0;
  double setup_seconds = 0;  // planning and bounds, if they were not known yet
  SolveTimes times = {};     // without them
  SweptProduct product = {};
  std::string variant = {};  // how powers are computed; empty if none were
  std::string message = {};  // what happened, in a sentence, unless it converged
};

template <Value V, Index I>
class MatrixExponential {
 public:
  // Throws InvalidArgument for matrices that are not square or not finite, and for chebyshev if
  // they are not Hermitian.
  explicit MatrixExponential(const Csr<V, I>& matrix, const ExponentialOptions& options = {});
  ~MatrixExponential();
  MatrixExponential(MatrixExponential&&) noexcept;
  MatrixExponential& operator=(MatrixExponential&&) noexcept;

  // result = exp(tA)v. Throws InvalidArgument for vectors of other lengths.
  ExponentialResult apply(double time, std::span<const V> v, std::span<V> result);
  // result = exp(−itA)v, of complex vectors.
  ExponentialResult apply_imaginary(double time, std::span<const V> v, std::span<V> result);
  // result = φ_k(tA)v: for Hermitian matrices by the Chebyshev series of φ_k, otherwise by the
  // exponential of a matrix that is larger by k rows (Al-Mohy and Higham, theorem 2.1), which is
  // planned again for every vector.
  ExponentialResult phi(int k, double time, std::span<const V> v, std::span<V> result);

  bool hermitian() const;
  // That hold the spectrum of a Hermitian matrix, for chebyshev; found when first asked for.
  ChebyshevInterval bounds();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace strata::solvers
