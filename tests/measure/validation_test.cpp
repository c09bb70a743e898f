// Wrong results are rejected however small they are compared with others, right ones are accepted.

#include "strata/measure/validation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "strata/base/parallel.hpp"
#include "strata/gen/generate.hpp"
#include "tests/measure/support.hpp"

namespace strata::test {
namespace {

template <class V>
class Validation : public testing::Test {};
TYPED_TEST_SUITE(Validation, AllValues);

template <Value V>
Check check_product(const Matrix<V>& matrix, const std::vector<V>& x, const std::vector<V>& y) {
  return check_step(matrix, {}, x, {}, y);
}

// y = Ax passes, and what change(y) makes of it does not. Returns the check of the latter.
template <Value V, class Change>
Check expect_rejected(const Matrix<V>& matrix, const std::vector<V>& x, const Change& change) {
  std::vector<V> y = product(matrix, x);
  const Check right = check_product(matrix, x, y);
  EXPECT_TRUE(right.passed) << right.explain();
  EXPECT_EQ(right.judged, matrix.rows());
  EXPECT_EQ(right.compared, 1);
  EXPECT_LE(right.share, 1);
  change(y);
  const Check wrong = check_product(matrix, x, y);
  EXPECT_FALSE(wrong.passed) << wrong.explain();
  EXPECT_GE(wrong.wrong, 1);
  EXPECT_GT(wrong.share, 1);
  return wrong;
}

void expect_text(const Check& check, const std::string& part) {
  EXPECT_NE(check.explain().find(part), std::string::npos) << check.explain();
}

TYPED_TEST(Validation, ASkippedRowIsWrong) {
  using V = TypeParam;
  const Matrix<V> matrix = grid<V>(12, 10);
  const auto x = random_vector<V>(120, 1);
  const Check check = expect_rejected(matrix, x, [&](std::vector<V>& y) {
    poison<V>(y);
    reference::spmv(matrix, V{1}, x, V{}, y, {0, 37});
    reference::spmv(matrix, V{1}, x, V{}, y, {38, 120});
  });
  EXPECT_EQ(check.wrong, 1);
  EXPECT_EQ(check.power, 1);
  EXPECT_EQ(check.row, 37);
  EXPECT_TRUE(check.unwritten);
  expect_text(check, "row 37 of power 1 was not written");
}

TYPED_TEST(Validation, SmallRowsBesideAHugeOneAreJudgedByThemselves) {
  using V = TypeParam;
  const auto x = random_vector<V>(1000, 1);
  const Check check = expect_rejected(diagonal<V>(1000, 1e17), x, [](std::vector<V>& y) {
    std::fill(y.begin() + 1, y.end(), V{});
  });
  EXPECT_EQ(check.wrong, 999);
}

TYPED_TEST(Validation, SmallRowsAreJudgedByThemselvesInHighPowers) {
  using V = TypeParam;
  const Matrix<V> matrix = diagonal<V>(1000, 100);
  const auto x = random_vector<V>(1000, 1);
  std::vector<V> y = powers(matrix, x, {.power = 8, .strategy = PowerStrategy::spmv});
  const auto check = [&] { return check_powers(matrix, x, y, Basis::monomial(), 8); };
  EXPECT_TRUE(check().passed) << check().explain();
  EXPECT_EQ(check().compared, 8);
  std::fill(y.begin() + 7001, y.end(), V{});
  EXPECT_FALSE(check().passed);
  EXPECT_EQ(check().wrong, 999);
  EXPECT_EQ(check().power, 8);
}

TYPED_TEST(Validation, ResultsOfAnotherVectorAreWrong) {
  using V = TypeParam;
  const Matrix<V> matrix = grid<V>(12, 10);
  const Check check = expect_rejected(matrix, random_vector<V>(120, 1), [&](std::vector<V>& y) {
    y = product(matrix, random_vector<V>(120, 2));
  });
  EXPECT_EQ(check.wrong, 120);
}

TYPED_TEST(Validation, ATransposedEntryIsWrong) {
  using V = TypeParam;
  const Matrix<V> matrix = grid<V>(12, 10);
  const auto x = random_vector<V>(120, 1);
  // Entries (40, 41) and (41, 40) in each other's place.
  const auto entry = [&](int row, int column) {
    const auto columns = matrix.columns();
    return std::find(columns.begin() + matrix.row_offsets()[row], columns.end(), column) -
           columns.begin();
  };
  Matrix<V> swapped = matrix;
  std::swap(swapped.mutable_values()[entry(40, 41)], swapped.mutable_values()[entry(41, 40)]);
  const Check check =
      expect_rejected(matrix, x, [&](std::vector<V>& y) { y = product(swapped, x); });
  EXPECT_EQ(check.wrong, 2);
  EXPECT_TRUE(check.row == 40 || check.row == 41);
  expect_rejected(matrix, x, [&](std::vector<V>& y) { y = product(transposed(matrix), x); });
}

TYPED_TEST(Validation, TheLastBitButOneCountsInRowsOfOneEntry) {
  using V = TypeParam;
  using Real = RealOf<V>;
  // Real numbers: rows of complex ones have two products.
  Entries<V, std::int32_t> entries(500, 500, 1);
  const Random random(3);
  for (int i = 0; i < 500; ++i) entries.add(i, i, number<V>(random.uniform(i, -9, 9)));
  const Matrix<V> matrix = entries.coo().to_csr();
  for (const Real away : {std::numeric_limits<Real>::infinity(), Real{0}}) {
    const auto changed = [&](Real part) {
      const Real target = std::copysign(away, part);
      return std::nextafter(std::nextafter(part, target), target);
    };
    const Check check = expect_rejected(matrix, random_vector<V>(500, 1), [&](std::vector<V>& y) {
      for (V& value : y) {
        if constexpr (is_complex<V>) {
          value = {value.real(), changed(value.imag())};
        } else {
          value = changed(value);
        }
      }
    });
    EXPECT_EQ(check.wrong, 500);
  }
}

// Numbers of this size drown the vectors in the largest row of |A|ᵏ.
TYPED_TEST(Validation, HighChebyshevPowersAreJudged) {
  using V = TypeParam;
  const auto matrix = generate<V, std::int32_t>("stencil7:9x10x11");
  const auto x = random_vector<V>(990, 1);
  const Basis basis = Basis::chebyshev(0, 12);
  std::vector<V> y =
      powers(matrix, x, {.power = 24, .basis = basis, .strategy = PowerStrategy::spmv});
  const auto check = [&] { return check_powers(matrix, x, y, basis, 24); };
  EXPECT_TRUE(check().passed) << check().explain();
  EXPECT_EQ(check().compared, 24);
  EXPECT_EQ(check().judged, 24 * 990);
  std::fill(y.begin() + 19 * 990, y.end(), V{});
  EXPECT_FALSE(check().passed);
  // Power 22 and those behind it follow from the two before, which are zero.
  EXPECT_EQ(check().wrong, 2 * 990);
}

// One row is as long as the matrix; the others stay sharp.
TYPED_TEST(Validation, ALongRowDoesNotExcuseShortOnes) {
  using V = TypeParam;
  const auto matrix = generate<V, std::int32_t>("arrow:300000");
  const auto x = random_vector<V>(300000, 1);
  const Check check =
      expect_rejected(matrix, x, [](std::vector<V>& y) { std::ranges::fill(y, V{}); });
  EXPECT_GE(check.wrong, 299990);
  // Two real products.
  constexpr double kUnit = static_cast<double>(std::numeric_limits<RealOf<V>>::epsilon()) / 2;
  EXPECT_LE(check.tolerance, 2.001 * kUnit);
  EXPECT_GE(check.largest_tolerance, 300000 * kUnit);
}

TYPED_TEST(Validation, ResultsThatAreNotFiniteAreWrong) {
  using V = TypeParam;
  using Real = RealOf<V>;
  const Matrix<V> matrix = grid<V>(12, 10);
  const auto x = random_vector<V>(120, 1);
  for (const Real bad :
       {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity()}) {
    const Check check = expect_rejected(matrix, x, [&](std::vector<V>& y) {
      if constexpr (is_complex<V>) {
        y[5] = {y[5].real(), bad};
      } else {
        y[5] = bad;
      }
    });
    EXPECT_EQ(check.wrong, 1);
    EXPECT_EQ(check.row, 5);
    EXPECT_FALSE(check.unwritten);
    EXPECT_EQ(check.relative_error, std::numeric_limits<double>::infinity());
  }
}

// Row 0 overflows, rows 1 and 2 do not.
template <Value V>
struct Overflowing {
  Matrix<V> matrix = [] {
    Entries<V, std::int32_t> entries(3, 3, 1);
    entries.add(0, 0, number<V>(std::sqrt(std::numeric_limits<RealOf<V>>::max())));
    entries.add(1, 1, V{1});
    entries.add(1, 2, V{1});
    entries.add(2, 2, V{1});
    return entries.coo().to_csr();
  }();
  std::vector<V> x = {number<V>(0.7), number<V>(0.3), number<V>(-0.4)};
};

TYPED_TEST(Validation, OverflowsAreNotJudgedAndTheRestIs) {
  using V = TypeParam;
  const Overflowing<V> given;
  std::vector<V> y = powers(given.matrix, given.x, {.power = 5, .strategy = PowerStrategy::spmv});
  ASSERT_FALSE(std::isfinite(std::abs(y[3 * 3])));
  const auto check = [&] { return check_powers(given.matrix, given.x, y, Basis::monomial(), 5); };
  EXPECT_TRUE(check().passed) << check().explain();
  EXPECT_EQ(check().elements, 15);
  // Half of the largest number is passed with the second power: its partial sums could overflow.
  EXPECT_EQ(check().compared, 1);
  EXPECT_EQ(check().judged, 11);
  y[4 * 3 + 1] += V{1};
  EXPECT_FALSE(check().passed);
  EXPECT_EQ(check().power, 5);
  EXPECT_EQ(check().row, 1);
}

TYPED_TEST(Validation, AnOverflowThatNothingExplainsIsWrong) {
  using V = TypeParam;
  const Overflowing<V> given;
  std::vector<V> y = powers(given.matrix, given.x, {.power = 5, .strategy = PowerStrategy::spmv});
  y[0] = number<V>(std::numeric_limits<double>::infinity());
  const Check check = check_powers(given.matrix, given.x, y, Basis::monomial(), 5);
  EXPECT_FALSE(check.passed);
  EXPECT_EQ(check.power, 1);
  EXPECT_EQ(check.row, 0);
}

TYPED_TEST(Validation, NothingJudgedIsNotPassed) {
  using V = TypeParam;
  const Matrix<V> matrix = diagonal<V>(1, 2);
  const std::vector<V> x = {number<V>(std::numeric_limits<double>::infinity())};
  const Check check = check_product(matrix, x, x);
  EXPECT_FALSE(check.passed);
  EXPECT_EQ(check.wrong, 0);
  EXPECT_EQ(check.judged, 0);
  EXPECT_EQ(check.power, 0);
  expect_text(check, "none of 1 elements can be judged");
}

// α makes the result finite, the sum before it overflows.
TYPED_TEST(Validation, SumsThatOverflowBeforeTheyAreScaledAreNotJudged) {
  using V = TypeParam;
  const double huge = 0.8 * static_cast<double>(std::numeric_limits<RealOf<V>>::max());
  const Matrix<V> matrix(1, 2, {0, 2}, {0, 1}, {number<V>(huge), number<V>(huge)});
  const std::vector<V> x(2, V{1});
  const std::vector<V> y(1, number<V>(std::numeric_limits<double>::infinity()));
  EXPECT_EQ(check_step(matrix, {.alpha = number<V>(1e-3)}, x, {}, y).judged, 0);
}

TYPED_TEST(Validation, OneWrongVectorOfSeveralIsNamed) {
  using V = TypeParam;
  const Matrix<V> matrix = grid<V>(12, 10);
  const auto x = random_vector<V>(3 * 120, 1);
  std::vector<V> y = powers(matrix, x, {.power = 4, .vectors = 3});
  const auto check = [&] { return check_powers(matrix, x, y, Basis::monomial(), 4, 3); };
  EXPECT_TRUE(check().passed) << check().explain();
  EXPECT_EQ(check().judged, 4 * 3 * 120);
  // The last power, on which nothing depends.
  for (int row = 0; row < 120; ++row) {
    V& element = y[(3 * 120 + row) * 3 + 1];
    element = row == 77 ? V{} : element;
  }
  EXPECT_FALSE(check().passed);
  EXPECT_EQ(check().wrong, 1);
  EXPECT_EQ(check().power, 4);
  EXPECT_EQ(check().row, 77);
  EXPECT_EQ(check().vector, 1);
  expect_text(check(), "row 77 of power 4, vector 1 is 0; ");
}

TYPED_TEST(Validation, AllTermsOfAStepCount) {
  using V = TypeParam;
  const Matrix<V> matrix = grid<V>(12, 10);
  const auto x = random_vector<V>(120, 1);
  const auto previous = random_vector<V>(120, 2);
  cpu::StepCoefficients<V> right{number<V>(0.3), number<V>(1.7), number<V>(-0.9)};
  if constexpr (is_complex<V>) {
    right = {{0.3F, 0.2F}, {1.7F, -0.4F}, {-0.9F, 0.6F}};
  }
  const auto step = [&](const cpu::StepCoefficients<V>& coefficients) {
    std::vector<V> out(120);
    cpu::step(matrix, coefficients, {x.data(), previous.data(), out.data(), 1}, {0, 120});
    return check_step(matrix, right, x, previous, out);
  };
  EXPECT_TRUE(step(right).passed) << step(right).explain();
  EXPECT_EQ(step(right).judged, 120);
  // A thousand times what a rounding is: more than the rows may be off that are mostly that term.
  const auto off = [](V value) {
    return value * number<V>(1 + 1000 * std::numeric_limits<RealOf<V>>::epsilon());
  };
  EXPECT_FALSE(step({off(right.alpha), right.shift, right.beta}).passed);
  EXPECT_FALSE(step({right.alpha, off(right.shift), right.beta}).passed);
  EXPECT_FALSE(step({right.alpha, right.shift, off(right.beta)}).passed);
}

TYPED_TEST(Validation, MatricesNeedNotBeSquare) {
  using V = TypeParam;
  for (const auto& [name, entries] : awkward_matrices<V, std::int32_t>()) {
    SCOPED_TRACE(name);
    const Matrix<V> matrix = entries.to_csr();
    if (matrix.rows() == matrix.cols() || matrix.nnz() == 0) continue;
    const Offset row =
        std::ranges::max_element(matrix.row_offsets()) - matrix.row_offsets().begin();
    const Check check = expect_rejected(matrix, random_vector<V>(matrix.cols(), 1),
                                        [&](std::vector<V>& y) { y[row - 1] += number<V>(0.01); });
    EXPECT_EQ(check.wrong, 1);
    EXPECT_EQ(check.row, row - 1);
  }
}

TYPED_TEST(Validation, EmptyRowsAreZero) {
  using V = TypeParam;
  const Matrix<V> matrix(4, 4, {0, 0, 1, 1, 1}, {2}, {V{2}});
  const auto x = random_vector<V>(4, 1);
  const Check check = expect_rejected(
      matrix, x, [](std::vector<V>& y) { y[3] = V(std::numeric_limits<RealOf<V>>::denorm_min()); });
  EXPECT_EQ(check.row, 3);
  EXPECT_EQ(check.tolerance, 0);
}

TYPED_TEST(Validation, WithoutRowsThereIsNothingToBeWrong) {
  using V = TypeParam;
  const Check check = check_powers(Matrix<V>(), {}, {}, Basis::monomial(), 3);
  EXPECT_TRUE(check.passed);
  EXPECT_EQ(check.elements, 0);
  EXPECT_EQ(check.compared, 3);
  EXPECT_EQ(check.explain(), "there are no elements");
}

// The sum of products is 2⁻⁶⁰, the sum of rounded products is 0.
TEST(Validation, TheReferenceIsExact) {
  const Matrix<double> matrix(1, 2, {0, 2}, {0, 1}, {1 + 0x1p-30, -1});
  const std::vector<double> x = {1 + 0x1p-30, 1 + 0x1p-29};
  const Check check = check_product<double>(matrix, x, {0.0});
  EXPECT_EQ(check.expected, 0x1p-60);
  EXPECT_TRUE(check.passed) << "within the rounding error of the products";
  EXPECT_GT(check.share, 0);
  // Additions lose everything but the 3 unless what they lose is kept.
  const Matrix<double> sum(1, 3, {0, 3}, {0, 1, 2}, {1e20, 3, -1e20});
  EXPECT_EQ(check_product<double>(sum, {1, 1, 1}, {0.0}).expected, 3.0);
}

// 2²³ real products: the bound of the rounding error is as large as the sum of their sizes.
TEST(Validation, RowsTooLongForTheirPrecisionAreNotJudged) {
  using V = std::complex<float>;
  constexpr int kColumns = 1 << 22;
  Array<std::int32_t> columns(kColumns);
  parallel_for(kColumns, [&](Offset i) { columns[i] = static_cast<std::int32_t>(i); });
  const Matrix<V> matrix(2, kColumns, {0, kColumns, kColumns}, std::move(columns),
                         Array<V>(kColumns, V(1, 1)));
  const std::vector<V> x(kColumns, V{1});
  const Check check = check_product<V>(matrix, x, {V{}, V{}});
  EXPECT_EQ(check.judged, 1);
  EXPECT_EQ(check.compared, 0);
  EXPECT_TRUE(check.passed);
}

TEST(Validation, DoesNotDependOnTheNumberOfThreads) {
  const auto matrix = generate<double, std::int32_t>("random:20000,nnzr=7");
  const auto x = random_vector<double>(40000, 1);
  std::vector<double> y = powers(matrix, x, {.power = 3, .vectors = 2});
  const auto with_threads = [&](int threads) {
    set_thread_count(threads);
    const Check check = check_powers(matrix, x, y, Basis::monomial(), 3, 2);
    set_thread_count(0);
    return check;
  };
  const auto expect_same = [&] {
    const Check expected = with_threads(1);
    for (const int threads : {2, 3, 7}) {
      const Check check = with_threads(threads);
      EXPECT_EQ(check.explain(), expected.explain());
      EXPECT_EQ(check.passed, expected.passed);
      EXPECT_EQ(check.judged, expected.judged);
      EXPECT_EQ(check.wrong, expected.wrong);
      EXPECT_EQ(check.largest_tolerance, expected.largest_tolerance);
      EXPECT_EQ(check.relative_error, expected.relative_error);
      EXPECT_EQ(check.row, expected.row);
      EXPECT_EQ(check.vector, expected.vector);
    }
  };
  expect_same();
  // Of many that are equally wrong, the first.
  for (std::size_t i = 9001; i < 40000; i += 1000) y[i] = std::numeric_limits<double>::infinity();
  expect_same();
  EXPECT_EQ(with_threads(3).row, 4500);
  EXPECT_EQ(with_threads(3).vector, 1);
}

TEST(Validation, VectorsOfOtherLengthsAreRefused) {
  const Matrix<double> matrix = grid<double>(3, 3);
  const std::vector<double> nine(9);
  const std::vector<double> ten(10);
  const std::vector<double> eighteen(18);
  const Basis basis = Basis::monomial();
  EXPECT_THROW(check_step(matrix, {}, ten, {}, nine), InvalidArgument);
  EXPECT_THROW(check_step(matrix, {}, nine, {}, ten), InvalidArgument);
  EXPECT_THROW(check_step(matrix, {}, nine, {}, nine, 2), InvalidArgument);
  EXPECT_THROW(check_step(matrix, {}, nine, {}, nine, 0), InvalidArgument);
  EXPECT_THROW(check_step(matrix, {.beta = 1}, nine, {}, nine), InvalidArgument);
  EXPECT_NO_THROW(check_step(matrix, {.beta = 1}, nine, nine, nine));
  EXPECT_THROW(check_powers(matrix, nine, eighteen, basis, 3), InvalidArgument);
  EXPECT_THROW(check_powers(matrix, nine, {}, basis, 0), InvalidArgument);
  EXPECT_NO_THROW(check_powers(matrix, nine, eighteen, basis, 2));
  EXPECT_THROW(check_powers(matrix, nine, eighteen, Basis::newton({1}), 2), InvalidArgument);
  const Matrix<double> wide(2, 3, {0, 0, 0}, {}, {});
  EXPECT_THROW(check_powers(wide, {nine.data(), 3}, {nine.data(), 4}, basis, 2), InvalidArgument);
  EXPECT_THROW(check_step(wide, {.shift = 1}, {nine.data(), 3}, {}, {nine.data(), 2}),
               InvalidArgument);
}

TEST(Validation, ExplainsAComplexNumber) {
  using V = std::complex<double>;
  const Matrix<V> matrix(1, 1, {0, 1}, {0}, {V(2, 0)});
  const Check check = check_product<V>(matrix, {V(1, -1)}, {V(2, 1)});
  EXPECT_EQ(check.explain(),
            "row 0 of power 1 is 2 + 1i; 2 - 2i would be right, off by 1.5e+00, allowed are "
            "1.1e-16; 1 of 1 elements are wrong");
}

}  // namespace
}  // namespace strata::test
