#include "strata/plans/basis.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "tests/support/matrices.hpp"

namespace strata {
namespace {

using Complex = std::complex<double>;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// y_power of a diagonal matrix, one eigenvalue at a time: a number.
template <Value V>
V on_eigenvalue(const Basis& basis, V eigenvalue, int power) {
  V before{};
  V last{1};
  for (int k = 1; k <= power; ++k) {
    const auto c = basis.step<V>(k);
    const V next = c.alpha * (eigenvalue - c.shift) * last + c.beta * before;
    before = last;
    last = next;
  }
  return last;
}

TEST(Basis, MonomialsArePowers) {
  for (int k = 0; k <= 8; ++k) {
    EXPECT_DOUBLE_EQ(on_eigenvalue(Basis::monomial(), 1.7, k), std::pow(1.7, k));
    EXPECT_EQ(on_eigenvalue(Basis::monomial(), -2.0f, k), std::pow(-2.0f, static_cast<float>(k)));
  }
}

TEST(Basis, ScaledPowersAreThoseOfTheScaledMatrix) {
  for (int k = 0; k <= 8; ++k) {
    EXPECT_NEAR(on_eigenvalue(Basis::scaled(-4), 3.0, k), std::pow(-0.75, k), 1e-15);
  }
}

TEST(Basis, NewtonPolynomialsVanishAtTheirShifts) {
  const Basis basis = Basis::newton({1.0, 2.5, -3.0}, 2);
  for (const double x : {0.3, 1.0, 2.5, -3.0}) {
    EXPECT_DOUBLE_EQ(on_eigenvalue(basis, x, 1), (x - 1) / 2);
    EXPECT_DOUBLE_EQ(on_eigenvalue(basis, x, 2), (x - 1) * (x - 2.5) / 4);
    EXPECT_DOUBLE_EQ(on_eigenvalue(basis, x, 3), (x - 1) * (x - 2.5) * (x + 3) / 8);
  }
}

TEST(Basis, ComplexVectorsTakeComplexShiftsAsTheyAre) {
  const std::vector<Complex> shifts{{1, 2}, {0, -1}, {3, 0}};
  const Basis basis = Basis::newton(shifts);
  Complex product{1};
  const Complex x{0.5, -0.25};
  for (int k = 1; k <= 3; ++k) {
    product *= x - shifts[k - 1];
    EXPECT_LT(std::abs(on_eigenvalue(basis, x, k) - product), 1e-14);
  }
  EXPECT_NO_THROW(basis.require_steps<Complex>(3));
}

// αAx + βy in complex numbers.
std::vector<Complex> product(const Csr<Complex, std::int32_t>& matrix,
                             const std::vector<Complex>& x, Complex shift) {
  std::vector<Complex> y = x;
  reference::spmv(matrix, Complex{1}, x, -shift, y);
  return y;
}

TEST(Basis, PairsOfComplexShiftsInRealArithmeticMakeTheComplexProduct) {
  constexpr std::int32_t kRows = 40;
  test::Entries<double, std::int32_t> entries(kRows, kRows, 3);
  for (int k = 0; k < 200; ++k) entries.add((k * 7) % kRows, (k * k) % kRows);
  const auto matrix = entries.coo().to_csr();
  const auto complex_matrix = converted<Complex, std::int32_t>(matrix);
  const std::vector<Complex> shifts{{0.5, 0}, {1, 2}, {1, -2}, {0, -0.5}, {0, 0.5}, {-1, 0}};
  constexpr double kSigma = 1.5;
  const Basis basis = Basis::newton(shifts, kSigma);
  basis.require_steps<double>(6);
  std::vector<double> before(kRows, kNaN);
  std::vector<double> last = test::random_vector<double>(kRows, 1);
  std::vector<Complex> expected(last.begin(), last.end());
  for (int k = 1; k <= 6; ++k) {
    const auto c = basis.step<double>(k);
    std::vector<double> next(kRows);
    reference::spmv(matrix, 1.0, last, 0.0, next);
    for (int i = 0; i < kRows; ++i) {
      next[i] = c.alpha * (next[i] - c.shift * last[i]);
      if (c.beta != 0) next[i] += c.beta * before[i];
    }
    before = std::move(last);
    last = std::move(next);
    expected = product(complex_matrix, expected, shifts[k - 1]);
    for (Complex& number : expected) number /= kSigma;
    if (k == 2 || k == 4) continue;  // between the two of a pair
    for (int i = 0; i < kRows; ++i) {
      EXPECT_NEAR(last[i], expected[i].real(), 1e-10) << "power " << k;
      EXPECT_NEAR(0, expected[i].imag(), 1e-10) << "power " << k;
    }
  }
}

TEST(Basis, ChebyshevPolynomialsAreCosinesOnTheirInterval) {
  const Basis basis = Basis::chebyshev(-1, 5);
  for (int i = 0; i <= 20; ++i) {
    const double angle = std::numbers::pi * i / 20;
    const double eigenvalue = 2 + 3 * std::cos(angle);
    for (int k = 0; k <= 12; ++k) {
      EXPECT_NEAR(on_eigenvalue(basis, eigenvalue, k), std::cos(k * angle), 1e-12);
      EXPECT_NEAR(on_eigenvalue(basis, static_cast<float>(eigenvalue), k), std::cos(k * angle),
                  1e-4);
    }
  }
}

TEST(Basis, RefusesScalesIntervalsAndShiftsWithoutMeaning) {
  for (const double sigma : {0.0, kNaN, kInfinity, 5e-324}) {
    EXPECT_THROW(Basis::scaled(sigma), InvalidArgument) << sigma;
    EXPECT_THROW(Basis::newton({1.0}, sigma), InvalidArgument) << sigma;
  }
  EXPECT_THROW(Basis::chebyshev(1, 1), InvalidArgument);
  EXPECT_THROW(Basis::chebyshev(2, 1), InvalidArgument);
  EXPECT_THROW(Basis::chebyshev(kNaN, 1), InvalidArgument);
  EXPECT_THROW(Basis::chebyshev(0, kInfinity), InvalidArgument);
  EXPECT_THROW(Basis::chebyshev(-1.5e308, 1.5e308), InvalidArgument);
  // Half of the smallest number is 0, and twice the reciprocal of a few of them is infinite.
  EXPECT_THROW(Basis::chebyshev(0, 5e-324), InvalidArgument);
  EXPECT_THROW(Basis::chebyshev(0, 1e-308), InvalidArgument);
  EXPECT_THROW(Basis::newton({{kNaN, 0}}), InvalidArgument);
  EXPECT_THROW(Basis::newton({{0, kInfinity}}), InvalidArgument);
}

template <class V>
class BasisTyped : public testing::Test {};
using Values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(BasisTyped, Values);

// What the type refuses and what it still takes, a little beyond and within its range.
TYPED_TEST(BasisTyped, RefusesCoefficientsThatItsNumbersCannotHold) {
  using V = TypeParam;
  using Real = decltype(std::abs(V{}));
  using Limits = std::numeric_limits<Real>;
  const auto largest = static_cast<double>(Limits::max());
  const auto smallest = static_cast<double>(Limits::min());
  const auto refused = [](const Basis& basis, int k) {
    EXPECT_THROW(basis.require_steps<V>(k), InvalidArgument) << basis.name();
    EXPECT_THROW(basis.step<V>(k), InvalidArgument) << basis.name();
  };
  const auto taken = [](const Basis& basis, int k) {
    EXPECT_NO_THROW(basis.require_steps<V>(k)) << basis.name();
    EXPECT_TRUE(std::isfinite(std::abs(basis.step<V>(k).alpha))) << basis.name();
  };
  // 1/σ is 0 or loses digits.
  for (const double sigma : {largest, -largest}) {
    refused(Basis::scaled(sigma), 1);
    refused(Basis::newton({1.0}, sigma), 1);
  }
  for (const double sigma : {0.5 / smallest, 2 * smallest, -2 * smallest}) {
    taken(Basis::scaled(sigma), 1);
    taken(Basis::newton({1.0}, sigma), 1);
  }
  // The narrowest interval that has a factor, and a narrower one.
  taken(Basis::chebyshev(0, 8 * smallest), 2);
  taken(Basis::chebyshev(-largest / 4, largest / 4), 2);
  if constexpr (!is_complex<V>) {
    // (Im θ)²
    const auto pair = [](double imaginary) {
      return Basis::newton({{0, imaginary}, {0, -imaginary}});
    };
    taken(pair(0.5 * std::sqrt(largest)), 2);
    refused(pair(2 * std::sqrt(largest)), 2);
    refused(Basis::newton({{0, 1}, {0, -1}}, 0.5 / std::sqrt(largest)), 2);
  }
}

// Doubles that are equal in single precision, overflow to infinity or are flushed to zero.
TEST(Basis, ThatDoublesCanHoldIsRefusedInSinglePrecision) {
  const auto refused_in_single = [](const Basis& basis) {
    SCOPED_TRACE(basis.name());
    EXPECT_THROW(basis.require_steps<float>(2), InvalidArgument);
    EXPECT_THROW(basis.require_steps<std::complex<float>>(2), InvalidArgument);
    EXPECT_NO_THROW(basis.require_steps<double>(2));
    EXPECT_NO_THROW(basis.require_steps<std::complex<double>>(2));
  };
  for (const double sigma : {1e-39, -1e-39, 1e-300, 1e39, 1e300}) {
    refused_in_single(Basis::scaled(sigma));
    refused_in_single(Basis::newton({1.0, 2.0}, sigma));
  }
  for (const double shift : {1e39, -1e300}) refused_in_single(Basis::newton({0.5, shift}));
  refused_in_single(Basis::chebyshev(1, 1 + 1e-12));
  refused_in_single(Basis::chebyshev(0, 1e-39));
  refused_in_single(Basis::chebyshev(0, 1e-300));
  refused_in_single(Basis::chebyshev(-1e39, 1e39));
  refused_in_single(Basis::chebyshev(1e300, 1.5e300));
  // Only the second step has the factor 2/w.
  const Basis narrow =
      Basis::chebyshev(0, 3 / static_cast<double>(std::numeric_limits<float>::max()));
  EXPECT_NO_THROW(narrow.require_steps<float>(1));
  EXPECT_THROW(narrow.require_steps<float>(2), InvalidArgument);
  // A complex shift that is too large in one of its parts.
  EXPECT_THROW(Basis::newton({{0, 1e39}}).require_steps<std::complex<float>>(1), InvalidArgument);
}

TEST(Basis, SaysWhichStepItsNumbersCannotHold) {
  try {
    Basis::newton({1.0, 1e39}).require_steps<float>(2);
    FAIL() << "nothing thrown";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "step 2 of the basis Newton with 2 shifts has a coefficient that overflows in "
                 "single precision");
  }
}

// The middle of an interval is finite even where the sum of its ends is not.
TEST(Basis, TakesIntervalsNearTheEndOfTheRange) {
  const auto step = Basis::chebyshev(1.2e308, 1.6e308).step<double>(1);
  EXPECT_DOUBLE_EQ(step.shift, 1.4e308);
}

TEST(Basis, RefusesMorePowersThanShifts) {
  const Basis basis = Basis::newton({1.0, 2.0});
  EXPECT_NO_THROW(basis.require_steps<double>(2));
  EXPECT_THROW(basis.require_steps<double>(3), InvalidArgument);
  EXPECT_THROW(basis.require_steps<Complex>(3), InvalidArgument);
  EXPECT_NO_THROW(Basis::monomial().require_steps<double>(1000));
}

TEST(Basis, RefusesComplexShiftsWithoutTheirConjugatesInRealArithmetic) {
  const Complex shift{1, 2};
  const auto require = [](std::vector<Complex> shifts, int power) {
    Basis::newton(std::move(shifts)).require_steps<double>(power);
  };
  EXPECT_NO_THROW(require({shift, std::conj(shift)}, 2));
  EXPECT_NO_THROW(require({shift, std::conj(shift)}, 1));
  EXPECT_NO_THROW(require({1.0, std::conj(shift), shift, 2.0}, 4));
  EXPECT_THROW(require({shift, shift}, 2), InvalidArgument);
  EXPECT_THROW(require({shift, 1.0, std::conj(shift)}, 3), InvalidArgument);
  EXPECT_THROW(require({shift}, 1), InvalidArgument);
  // What comes after the last power does not matter.
  EXPECT_NO_THROW(require({1.0, shift, 2.0}, 1));
}

TEST(Basis, HasAName) {
  EXPECT_EQ(Basis::monomial().name(), "monomial");
  EXPECT_EQ(Basis::scaled(2).name(), "scaled by 2");
  EXPECT_EQ(Basis::newton({1.0, 2.0}).name(), "Newton with 2 shifts");
  EXPECT_EQ(Basis::chebyshev(0, 4).name(), "Chebyshev on [0, 4]");
}

}  // namespace
}  // namespace strata
