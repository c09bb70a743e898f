// By Eigen, of which nobody outside this file sees anything: its symbols get a name of their own,
// so that programs with another Eigen, or one compiled for other vector instructions, keep theirs.
#define Eigen StrataEigen
#define EIGEN_DONT_VECTORIZE
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include "strata/base/error.hpp"
#include "strata/solvers/dense.hpp"

namespace strata::solvers {

namespace {

template <class W>
using Matrix = StrataEigen::Matrix<W, StrataEigen::Dynamic, StrataEigen::Dynamic>;

template <class W>
StrataEigen::Map<const Matrix<W>> map(const Dense<W>& a) {
  return {a.data(), a.rows(), a.columns()};
}

template <class W, class Expression>
Dense<W> dense(const Expression& expression) {
  Dense<W> result(static_cast<int>(expression.rows()), static_cast<int>(expression.cols()));
  StrataEigen::Map<Matrix<W>>(result.data(), result.rows(), result.columns()) = expression;
  return result;
}

}  // namespace

template <class W>
Dense<W> operator*(const Dense<W>& a, const Dense<W>& b) {
  return dense<W>(map(a) * map(b));
}
template <class W>
Dense<W> operator+(const Dense<W>& a, const Dense<W>& b) {
  return dense<W>(map(a) + map(b));
}
template <class W>
Dense<W> operator-(const Dense<W>& a, const Dense<W>& b) {
  return dense<W>(map(a) - map(b));
}
template <class W>
Dense<W> adjoint(const Dense<W>& a) {
  return dense<W>(map(a).adjoint());
}

template <class W>
Dense<W> cholesky(const Dense<W>& a, std::span<const double> least) {
  const auto trusted = [&](int size) -> Matrix<W> {
    const StrataEigen::LLT<Matrix<W>, StrataEigen::Upper> factor(map(a).topLeftCorner(size, size));
    if (factor.info() != StrataEigen::Success) return {};
    Matrix<W> r = factor.matrixU();
    for (int i = 0; i < size; ++i) {
      if (!(std::norm(r(i, i)) > least[static_cast<std::size_t>(i)])) return {};
    }
    return r;
  };
  for (int size = a.rows(); size > 0; --size) {
    const Matrix<W> r = trusted(size);
    if (r.size() > 0) return dense<W>(r);
  }
  return {};
}

template <class W>
Dense<W> solve_upper(const Dense<W>& t, const Dense<W>& b) {
  return dense<W>(map(t).template triangularView<StrataEigen::Upper>().solve(map(b)));
}

template <class W>
Dense<W> solve_cholesky(const Dense<W>& r, const Dense<W>& b) {
  Matrix<W> x = map(r).adjoint().template triangularView<StrataEigen::Lower>().solve(map(b));
  return dense<W>(map(r).template triangularView<StrataEigen::Upper>().solve(x));
}

template <class W>
Dense<W> solve(const Dense<W>& a, const Dense<W>& b) {
  return dense<W>(map(a).partialPivLu().solve(map(b)));
}

template <class W>
HermitianEigen<W> hermitian_eigen(const Dense<W>& a) {
  if (a.rows() == 0) return {};
  const StrataEigen::SelfAdjointEigenSolver<Matrix<W>> solver(map(a));
  if (solver.info() != StrataEigen::Success) {
    throw Error("the eigenvalues of a small Hermitian matrix were not found");
  }
  const auto& values = solver.eigenvalues();
  return {{values.data(), values.data() + values.size()}, dense<W>(solver.eigenvectors())};
}

template <class W>
std::vector<std::complex<double>> eigenvalues(const Dense<W>& a) {
  if (a.rows() == 0) return {};
  using Solver = std::conditional_t<std::is_same_v<W, double>, StrataEigen::EigenSolver<Matrix<W>>,
                                    StrataEigen::ComplexEigenSolver<Matrix<W>>>;
  const Solver solver(map(a), /*computeEigenvectors=*/false);
  if (solver.info() != StrataEigen::Success) {
    throw Error("the eigenvalues of a small matrix were not found");
  }
  const auto& values = solver.eigenvalues();
  return {values.data(), values.data() + values.size()};
}

#define STRATA_INSTANTIATE(W)                                           \
  template Dense<W> operator*(const Dense<W>&, const Dense<W>&);        \
  template Dense<W> operator+(const Dense<W>&, const Dense<W>&);        \
  template Dense<W> operator-(const Dense<W>&, const Dense<W>&);        \
  template Dense<W> adjoint(const Dense<W>&);                           \
  template Dense<W> cholesky(const Dense<W>&, std::span<const double>); \
  template Dense<W> solve_upper(const Dense<W>&, const Dense<W>&);      \
  template Dense<W> solve_cholesky(const Dense<W>&, const Dense<W>&);   \
  template Dense<W> solve(const Dense<W>&, const Dense<W>&);            \
  template HermitianEigen<W> hermitian_eigen(const Dense<W>&);          \
  template std::vector<std::complex<double>> eigenvalues(const Dense<W>&)
STRATA_INSTANTIATE(double);
STRATA_INSTANTIATE(std::complex<double>);

}  // namespace strata::solvers
