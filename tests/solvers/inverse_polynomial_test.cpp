// Polynomials near 1/t, evaluated on diagonal matrices, where every element is a number t.

#include "strata/solvers/inverse_polynomial.hpp"

#include <gtest/gtest.h>

#include <complex>

#include "strata/base/error.hpp"
#include "strata/solvers/processor_powers.hpp"
#include "tests/plans/support.hpp"

namespace strata::solvers {
namespace {

using I = std::int32_t;

// p(t) of numbers t.
template <Value V>
std::vector<V> values_of(const InversePolynomial<V>& polynomial, const std::vector<V>& t) {
  const I rows = static_cast<I>(t.size());
  Array<Offset> offsets(t.size() + 1, 0);
  Array<I> columns(t.size());
  for (std::size_t i = 0; i < t.size(); ++i) {
    columns[i] = static_cast<I>(i);
    offsets[i + 1] = static_cast<Offset>(i) + 1;
  }
  const Csr<V, I> matrix(rows, rows, offsets, columns, {t.begin(), t.end()});
  PowerOptions options = test::quick_options();
  options.power = polynomial.degree();
  ProcessorPowers<V, I> powers(matrix, options);
  ProcessorSpace<V> space(powers.plan().vector_rows());
  const std::vector<V> ones(t.size(), V(1));
  auto x = space.make_vector(), y = space.make_vector();
  powers.plan().to_plan_order(ones, x);
  as_operator<ProcessorSpace<V>>(polynomial, powers)(x, y);
  std::vector<V> result(t.size());
  powers.plan().to_caller_order(y, result);
  return result;
}

std::vector<double> numbers_between(double low, double high) {
  std::vector<double> t;
  for (int i = 0; i <= 200; ++i) t.push_back(low + (high - low) * i / 200);
  return t;
}

// The residual polynomial is T_{d+1} over its value at 0, whose size is known.
TEST(ChebyshevInverse, ResidualsAreAsSmallAsChebyshevPolynomialsAllow) {
  for (const int degree : {1, 3, 8, 20}) {
    const double low = 0.5, high = 9;
    const auto t = numbers_between(low, high);
    const auto p = values_of(chebyshev_inverse<double>(low, high, degree), t);
    const double at_zero = std::cosh((degree + 1) * std::acosh((high + low) / (high - low)));
    double largest = 0;
    for (std::size_t i = 0; i < t.size(); ++i) {
      largest = std::max(largest, std::abs(1 - t[i] * p[i]));
    }
    EXPECT_NEAR(largest, 1 / at_zero, 1e-12 + 1e-6 / at_zero) << degree;
  }
}

TEST(NeumannInverse, IsTheGeometricSeries) {
  const double omega = 0.2;
  for (const int degree : {1, 2, 7}) {
    const auto t = numbers_between(0.1, 9.5);
    const auto p = values_of(neumann_inverse<double>(omega, degree), t);
    for (std::size_t i = 0; i < t.size(); ++i) {
      EXPECT_NEAR(1 - t[i] * p[i], std::pow(1 - omega * t[i], degree + 1), 1e-12);
    }
  }
}

TEST(GmresInverse, ResidualsHaveTheirZerosWhereTheyShould) {
  using Complex = std::complex<double>;
  const std::vector<std::vector<Complex>> cases = {
      {1, 2, 3, 7}, {-2, 5, 1}, {{1, 2}, {1, -2}, 4}, {4, {3, 1}, {3, -1}, {2, 5}, {2, -5}}};
  for (const auto& zeros : cases) {
    const auto residual_of = [&](Complex t) {
      Complex product = 1;
      for (const Complex& zero : zeros) product *= 1.0 - t / zero;
      return product;
    };
    const auto t = numbers_between(-4, 9);
    const auto real = values_of(gmres_inverse<double>(zeros), t);
    for (std::size_t i = 0; i < t.size(); ++i) {
      const double expected = residual_of(t[i]).real();
      EXPECT_NEAR(1 - t[i] * real[i], expected, 1e-11 * (1 + std::abs(expected)));
    }
    std::vector<Complex> around;
    for (int i = 0; i < 60; ++i) around.emplace_back(0.1 * i - 2, 3 - 0.1 * i);
    const auto complex = values_of(gmres_inverse<Complex>(zeros), around);
    for (std::size_t i = 0; i < around.size(); ++i) {
      const Complex expected = residual_of(around[i]);
      EXPECT_LE(std::abs(1.0 - around[i] * complex[i] - expected),
                1e-11 * (1 + std::abs(expected)));
    }
  }
}

TEST(InversePolynomials, RefuseWhatTheyCannotBe) {
  EXPECT_THROW(chebyshev_inverse<double>(0, 1, 4), InvalidArgument);
  EXPECT_THROW(chebyshev_inverse<double>(2, 1, 4), InvalidArgument);
  EXPECT_THROW(chebyshev_inverse<double>(1, 2, 0), InvalidArgument);
  EXPECT_THROW(neumann_inverse<double>(0, 4), InvalidArgument);
  EXPECT_THROW(gmres_inverse<double>({1.0, 0.0}), InvalidArgument);
  EXPECT_THROW(gmres_inverse<double>({1.0}), InvalidArgument);
}

}  // namespace
}  // namespace strata::solvers
