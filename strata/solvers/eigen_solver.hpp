// Eigenpairs of a matrix by a plan for it, on a processor.
//
//   const auto [result, vectors] =
//       eigenpairs(matrix, {.eigen = {.count = 4, .which = Wanted::smallest}});
//   result.values;      // four eigenvalues, with residuals that were computed
//
// Vectors are in the order of the plan inside and in the caller's outside; results do not depend on
// that order.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/formats/csr.hpp"
#include "strata/solvers/chebyshev_series.hpp"
#include "strata/solvers/eigen_result.hpp"

namespace strata::solvers {

enum class EigenMethod {
  lanczos,     // both ends of the spectrum of a Hermitian matrix
  ca_lanczos,  // the same, s vectors at a time by a sweep of powers
  filter,      // inside an interval, or around a target, of a Hermitian matrix
  power        // the eigenvalue of largest modulus, if it is real, of any matrix
};
inline constexpr EigenMethod kEigenMethods[] = {EigenMethod::lanczos, EigenMethod::ca_lanczos,
                                                EigenMethod::filter, EigenMethod::power};
std::string_view name_of(EigenMethod method);

struct EigenSolverOptions {
  EigenMethod method = EigenMethod::lanczos;
  EigenOptions eigen = {};
  int s = 8;  // of ca_lanczos
  // Of filter: all eigenvalues in the interval, or eigen.count of those next to the target.
  std::optional<ChebyshevInterval> interval = {};
  std::optional<double> target = {};
  int degree = 0;   // of filter; 0: by the width of the interval
  int vectors = 0;  // of filter; 0: by an estimate of how many eigenvalues there are
  int threads = 0;  // as plans have them
  bool autotune = true;
  bool time_bare = false;  // of ca_lanczos and filter: also time bare powers of the same plan
};

template <Value V>
struct Eigenpairs {
  EigenResult result = {};
  std::vector<V> vectors = {};  // one after another, in the caller's order of rows
  double setup_seconds = 0;     // planning and bounds
  int degree = 0;               // of the filter
  int subspace = 0;             // vectors that were kept
  std::string variant = {};     // how products are computed
  SweptProduct product = {};    // of ca_lanczos and filter
};

// Throws InvalidArgument for matrices that are not square and finite and, but for power, Hermitian;
// for more eigenvalues than the matrix has; and for filter without an interval or target.
template <Value V, Index I>
Eigenpairs<V> eigenpairs(const Csr<V, I>& matrix, const EigenSolverOptions& options = {});

}  // namespace strata::solvers
