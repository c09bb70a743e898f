#include "strata/gen/coefficients.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <vector>

#include "strata/formats/statistics.hpp"
#include "strata/order/permutation.hpp"
#include "tests/gen/gen_check.hpp"
#include "tests/support/distinct.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

using test::expect_error;
using test::make;
using test::Matrix;
using test::Sample;

using Complex = std::complex<double>;
using ComplexMatrix = Csr<Complex, std::int32_t>;

// All generators that need no file. Some are large enough for several threads, and the third for
// levels that come from a sample.
constexpr std::array kSpecs{
    "stencil5:70x70",   "stencil7:9x10x11",      "stencil27:17x18x19",
    "stencil9:30x30",   "stencil27:5x6x7,dof=3", "hpcg:9x9x9",
    "band:700,width=7", "fem:20x15,degree=1",    "fem:20x15,degree=2",
    "fem:9x8,degree=4", "graphene:40x50",        "topi:5x6x7",
    "anderson:9x8x7",   "random:500,nnzr=6",     "rmat:9,edges=8",
    "arrow:500",        "mesh:700,dim=2,nnzr=7", "mesh:200,dim=3,nnzr=15,dof=3"};

Matrix make_with(std::string_view spec, std::string_view coefficients) {
  return make(std::string(spec) + ",coefficients=" + std::string(coefficients));
}

// Distinct values of the entries that `counts(row, column)` chooses.
template <Value V, Index I, class Counts>
std::size_t count_distinct(const Csr<V, I>& matrix, Counts&& counts) {
  std::vector<V> values;
  for (I row = 0; row < matrix.rows(); ++row) {
    for (Offset k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
      if (counts(row, matrix.columns()[k])) values.push_back(matrix.values()[k]);
    }
  }
  return test::count_distinct<V>(values);
}

template <Value V, Index I>
std::size_t count_distinct(const Csr<V, I>& matrix) {
  return test::count_distinct<V>(matrix.values());
}

template <Value V, Index I>
void expect_same_pattern(const Csr<V, I>& a, const Csr<V, I>& b) {
  EXPECT_EQ(a.rows(), b.rows());
  EXPECT_EQ(a.cols(), b.cols());
  EXPECT_TRUE(std::ranges::equal(a.row_offsets(), b.row_offsets()));
  EXPECT_TRUE(std::ranges::equal(a.columns(), b.columns()));
}

// visit(row, column, value of `a`, value of `b`) on two matrices of one pattern.
template <class Visit>
void visit_pairs(const Matrix& a, const Matrix& b, Visit&& visit) {
  for (std::int32_t row = 0; row < a.rows(); ++row) {
    for (Offset k = a.row_offsets()[row]; k < a.row_offsets()[row + 1]; ++k) {
      visit(row, a.columns()[k], a.values()[k], b.values()[k]);
    }
  }
}

constexpr std::array kSamples{
    Sample{"stencil27:17x18x19,coefficients=random", 0x9ae392aceb0b7306ULL},
    Sample{"stencil27:17x18x19,coefficients=200", 0x1372735648624a0aULL},
    Sample{"fem:40x30,degree=2,coefficients=random,shuffle=1", 0x2acb7db29199add2ULL},
    Sample{"graphene:70x80,coefficients=16,seed=3", 0xb01ab80c36e436d1ULL},
    Sample{"rmat:13,edges=8,coefficients=random", 0x28e2a920a3fb4781ULL},
};

TEST(Coefficients, AreTheSameOnEveryMachineAndForEveryNumberOfThreads) {
  test::expect_checksums(kSamples);
}

TEST(Coefficients, OfTheirOwnDoNotRepeat) {
  for (const char* spec : kSpecs) {
    const Matrix matrix = make_with(spec, "random");
    const MatrixStatistics statistics = statistics_of(matrix);
    const bool symmetric = statistics.value_symmetry == Symmetry::symmetric;
    const auto nonzero = static_cast<std::size_t>(statistics.entries - statistics.zeros);
    const auto diagonal = static_cast<std::size_t>(statistics.diagonal_entries);
    const std::size_t links = symmetric ? (nonzero - diagonal) / 2 + diagonal : nonzero;
    EXPECT_EQ(count_distinct(matrix), links + (statistics.zeros > 0)) << spec;
  }
}

TEST(Coefficients, OfTheirOwnInSinglePrecisionHardlyRepeat) {
  const auto matrix = generate<float, std::int32_t>("stencil27:17x18x19,coefficients=random");
  const auto links = static_cast<double>((matrix.nnz() - matrix.rows()) / 2 + matrix.rows());
  EXPECT_GT(static_cast<double>(count_distinct(matrix)), 0.98 * links);
}

TEST(Coefficients, KeepPatternSymmetryAndSigns) {
  for (const char* spec : kSpecs) {
    const Matrix before = make(spec);
    for (const char* coefficients : {"random", "200", "9"}) {
      SCOPED_TRACE(std::string(spec) + " " + coefficients);
      const Matrix after = make_with(spec, coefficients);
      expect_same_pattern(after, before);
      EXPECT_NE(after, before);
      EXPECT_EQ(statistics_of(after).value_symmetry, statistics_of(before).value_symmetry);
      Offset wrong = 0;
      visit_pairs(before, after, [&](auto row, auto column, double old_value, double value) {
        const bool kept = old_value == 0 ? value == 0 : value / old_value > 0;
        const bool in_direction = row == column ? std::abs(value) >= std::abs(old_value)
                                                : std::abs(value) <= std::abs(old_value);
        wrong += !(kept && in_direction);
      });
      EXPECT_EQ(wrong, 0);
    }
  }
}

TEST(Coefficients, OfTheirOwnAreOldValuesTimesAFactorInTheStatedRange) {
  for (const char* spec : {"stencil7:9x10x11", "graphene:40x50", "anderson:9x8x7", "arrow:500",
                           "random:500,nnzr=6", "mesh:700,dim=2,nnzr=7"}) {
    Offset wrong = 0;
    visit_pairs(make(spec), make_with(spec, "random"),
                [&](auto row, auto column, double old_value, double value) {
                  if (old_value == 0) return;
                  const double low = row == column ? 1 : 0.5;
                  wrong += !(value / old_value >= 0.9999 * low &&
                             value / old_value <= 1.0001 * (low + 0.5));
                });
    EXPECT_EQ(wrong, 0) << spec;
  }
}

double sum_off_diagonal(const Matrix& matrix, std::int32_t row) {
  double sum = 0;
  for (Offset k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
    if (matrix.columns()[k] != row) sum += std::abs(matrix.values()[k]);
  }
  return sum;
}

double diagonal(const Matrix& matrix, std::int32_t row) {
  for (Offset k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
    if (matrix.columns()[k] == row) return matrix.values()[k];
  }
  return 0;
}

TEST(Coefficients, RowsThatWereDiagonallyDominantStillAre) {
  const auto is_dominant = [](const Matrix& matrix, std::int32_t row) {
    return std::abs(diagonal(matrix, row)) >= sum_off_diagonal(matrix, row);
  };
  for (const char* spec : kSpecs) {
    const Matrix before = make(spec);
    for (const char* coefficients : {"random", "200", "9"}) {
      const Matrix after = make_with(spec, coefficients);
      Offset dominant = 0;
      Offset lost = 0;
      for (std::int32_t row = 0; row < before.rows(); ++row) {
        if (!is_dominant(before, row)) continue;
        ++dominant;
        lost += !is_dominant(after, row);
      }
      EXPECT_EQ(lost, 0) << spec << " " << coefficients << ", of " << dominant;
    }
  }
  const Matrix hpcg = make_with("hpcg:5x5x5", "2");
  for (std::int32_t row = 0; row < hpcg.rows(); ++row) EXPECT_TRUE(is_dominant(hpcg, row)) << row;
}

TEST(Coefficients, PositiveDefiniteStaysPositiveDefinite) {
  for (const char* spec :
       {"stencil5:7x6", "stencil27:4x4x4", "stencil27:3x3x3,dof=3", "stencil5:4x4,dof=6",
        "hpcg:4x4x4", "band:60,width=9", "fem:4x3,degree=1", "fem:4x3,degree=2", "fem:3x2,degree=3",
        "fem:2x2,degree=4", "arrow:50", "mesh:90,dim=3,nnzr=15", "mesh:40,dim=2,nnzr=7,dof=3"}) {
    for (const char* coefficients : {"random", "random,seed=2", "40", "4"}) {
      EXPECT_GT(test::smallest_eigenvalue(make_with(spec, coefficients)), 0)
          << spec << " " << coefficients;
    }
  }
}

// A matrix with all possible entries, by a function of row and column.
template <Value V, class Entry>
Csr<V, std::int32_t> full_matrix(std::int32_t order, Entry&& entry) {
  test::Entries<V, std::int32_t> entries(order, order, 0);
  for (std::int32_t row = 0; row < order; ++row) {
    for (std::int32_t column = 0; column < order; ++column) {
      entries.add(row, column, entry(row, column));
    }
  }
  return entries.coo().to_csr();
}

// Far from dominant: the smallest eigenvalue is 0.01, and a symmetric matrix of 60 rows with random
// numbers of ± 0.25 has one below −2.
TEST(Coefficients, PositiveDefiniteStaysPositiveDefiniteFarFromDominance) {
  const Matrix matrix =
      full_matrix<double>(60, [](auto row, auto column) { return row == column ? 1.01 : 1.0; });
  Matrix drawn = matrix;
  draw_coefficients(drawn, 1);
  EXPECT_GT(test::smallest_eigenvalue(drawn), 0);
  round_to_few_values(drawn, 20, 1);
  EXPECT_EQ(count_distinct(drawn), 20U);
  EXPECT_GT(test::smallest_eigenvalue(drawn), 0);
}

TEST(Coefficients, HermitianAndDefiniteStaysSo) {
  constexpr int kOrder = 40;
  const Random random(7);
  const Eigen::MatrixXcd factor =
      Eigen::MatrixXcd::NullaryExpr(kOrder, kOrder, [&](auto i, auto j) {
        return test::random_value<Complex>(random, static_cast<std::uint64_t>(i * kOrder + j));
      });
  const Eigen::MatrixXcd product = factor * factor.adjoint();
  // Both halves from one, so that the matrix is hermitian to the last bit.
  ComplexMatrix drawn = full_matrix<Complex>(kOrder, [&](auto row, auto column) {
    if (row == column) return Complex(product(row, row).real());
    return row < column ? product(row, column) : std::conj(product(column, row));
  });
  ASSERT_EQ(statistics_of(drawn).value_symmetry, Symmetry::hermitian);
  const auto expect_hermitian_and_definite = [&] {
    const Eigen::MatrixXcd all = test::dense(drawn);
    EXPECT_EQ(all, all.adjoint());
    EXPECT_GT(test::hermitian_eigenvalues(all).minCoeff(), 0);
  };
  draw_coefficients(drawn, 1);
  expect_hermitian_and_definite();
  EXPECT_EQ(count_distinct(drawn), std::size_t{kOrder * kOrder});
  round_to_few_values(drawn, 51, 1);
  expect_hermitian_and_definite();
  EXPECT_LE(count_distinct(drawn), 51U);
  EXPECT_GE(count_distinct(drawn), 48U);
}

TEST(Coefficients, ShuffledAreThoseOfTheMatrixBefore) {
  for (const std::string coefficients : {"random", "20"}) {
    const Matrix matrix = make_with("graphene:30x30,seed=3", coefficients);
    EXPECT_EQ(make_with("graphene:30x30,seed=3,shuffle=1", coefficients),
              reordered(matrix, Permutation<std::int32_t>::random(900, 3)));
  }
}

TEST(Coefficients, DependOnTheSeed) {
  for (const std::string coefficients : {"random", "20"}) {
    const Matrix matrix = make_with("stencil5:20x20", coefficients);
    EXPECT_EQ(make_with("stencil5:20x20,seed=1", coefficients), matrix);
    EXPECT_NE(make_with("stencil5:20x20,seed=2", coefficients), matrix);
  }
}

template <class T>
class CoefficientsTyped : public testing::Test {};
TYPED_TEST_SUITE(CoefficientsTyped, test::AllTypes);

TYPED_TEST(CoefficientsTyped, FewAreExactlyAsManyAsAskedFor) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const std::string spec :
       {"stencil27:17x18x19", "stencil27:5x6x7,dof=3", "fem:20x15,degree=2", "graphene:40x50",
        "topi:5x6x7", "random:500,nnzr=6", "arrow:500"}) {
    const std::size_t most = count_distinct(generate<V, I>(spec + ",coefficients=random"));
    for (const std::size_t distinct : {1, 2, 3, 4, 5, 16, 200, 256, 4000, 100000}) {
      const auto matrix = generate<V, I>(spec + ",coefficients=" + std::to_string(distinct));
      EXPECT_EQ(count_distinct(matrix), std::min(distinct, most)) << spec << " " << distinct;
    }
  }
}

TYPED_TEST(CoefficientsTyped, FewOnAwkwardMatricesAreAtMostAsManyAsAskedFor) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    const Csr<V, I> before = entries.to_csr();
    for (const Symmetry symmetry : {Symmetry::general, Symmetry::symmetric, Symmetry::hermitian}) {
      if (symmetry != Symmetry::general && before.rows() != before.cols()) continue;
      Csr<V, I> drawn =
          symmetry == Symmetry::general ? before : test::with_symmetry(before, symmetry);
      const Symmetry exact = statistics_of(drawn).value_symmetry;
      draw_coefficients(drawn, 1);
      EXPECT_EQ(statistics_of(drawn).value_symmetry, exact) << name;
      for (const int distinct : {1, 2, 3, 8, 30}) {
        SCOPED_TRACE(name + ", " + std::to_string(distinct));
        Csr<V, I> few = drawn;
        round_to_few_values(few, distinct, 1);
        expect_same_pattern(few, drawn);
        EXPECT_LE(count_distinct(few), static_cast<std::size_t>(distinct));
        EXPECT_GE(count_distinct(few), static_cast<std::size_t>(few.nnz() > 0));
        if (symmetry == Symmetry::general) continue;
        EXPECT_NE(statistics_of(few).value_symmetry, Symmetry::general);
      }
    }
  }
}

TEST(Coefficients, ComplexTypesHoldTheSameNumbers) {
  for (const char* spec : kSpecs) {
    for (const char* coefficients : {"random", "30"}) {
      const auto matrix =
          generate<Complex, std::int32_t>(std::string(spec) + ",coefficients=" + coefficients);
      EXPECT_EQ(matrix, (converted<Complex, std::int32_t>(make_with(spec, coefficients))))
          << spec << " " << coefficients;
    }
  }
}

TEST(Coefficients, FewAreUsedAboutEquallyOften) {
  const Matrix matrix = make_with("stencil27:17x18x19", "200");
  std::vector<double> values(matrix.values().begin(), matrix.values().end());
  std::ranges::sort(values);
  for (std::size_t i = 0; i < values.size();) {
    const auto end =
        static_cast<std::size_t>(std::ranges::upper_bound(values, values[i]) - values.begin());
    const double share = static_cast<double>(end - i) * 200 / static_cast<double>(values.size());
    EXPECT_GT(share, 0.2) << values[i];
    EXPECT_LT(share, 3) << values[i];
    i = end;
  }
}

TEST(Coefficients, TooFewForTheDiagonalKeepTheSignsAndTooFewForThemAreEqual) {
  // Negative hopping, potentials of both signs: three kinds of values.
  const Matrix before = make("graphene:40x50");
  Offset wrong = 0;
  visit_pairs(before, make_with("graphene:40x50", "2"),
              [&](auto, auto, double old_value, double value) { wrong += old_value * value <= 0; });
  EXPECT_EQ(wrong, 0);
  const Matrix one = make_with("graphene:40x50", "1");
  for (const double value : one.values()) ASSERT_EQ(value, one.values()[0]);
  EXPECT_GT(one.values()[0], 0);
}

TEST(Coefficients, SignedZerosCountOnce) {
  Matrix matrix(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {0.0, -0.0, 0.0, -0.0});
  draw_coefficients(matrix, 1);
  round_to_few_values(matrix, 3, 1);
  EXPECT_EQ(count_distinct(matrix), 1U);
  EXPECT_EQ(matrix.values()[1], 0);
}

TEST(Coefficients, WorkOnMatricesFromFiles) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path =
      folder.write("matrix.mtx",
                   "%%MatrixMarket matrix coordinate pattern symmetric\n"
                   "5 5 6\n1 1\n2 1\n3 2\n4 3\n5 4\n5 1\n");
  for (const std::string tail : {",layers=40", ",dof=12"}) {
    const std::string spec = (tail[1] == 'l' ? "extrude:" : "blocks:") + path.string() + tail;
    const Matrix before = make(spec);
    const Matrix drawn = make_with(spec, "random");
    expect_same_pattern(drawn, before);
    EXPECT_EQ(transposed(drawn), drawn) << spec;
    const auto upper = [](std::int32_t row, std::int32_t column) { return row <= column; };
    EXPECT_EQ(count_distinct(drawn, upper), count_distinct(drawn)) << spec;
    EXPECT_EQ(count_distinct(drawn),
              static_cast<std::size_t>(drawn.nnz() + statistics_of(drawn).diagonal_entries) / 2);
    EXPECT_EQ(count_distinct(make_with(spec, "30")), 30U) << spec;
  }
}

TEST(Coefficients, MustBeRandomOrANumber) {
  const auto expect_refused = [](const std::string& value, const std::string& why) {
    const std::string spec = "stencil5:3x3,coefficients=" + value;
    expect_error<InvalidArgument>([&] { make(spec); }, spec + ": coefficients is " + why);
  };
  expect_refused("0", "0, but starts at 1");
  expect_refused("-1", "-1, but starts at 1");
  for (const std::string value : {"abc", "Random", "random2", "", "1e9999", "1.5", "+2", " 3"}) {
    expect_refused(value, "'" + value + "', which is neither 'random' nor an integer");
  }
  EXPECT_THROW(make("stencil5:3x3,coefficients=99999999999999999999"), OverflowError);
  EXPECT_THROW(make("stencil5:3x3,coefficients=2,coefficients=2"), InvalidArgument);
}

TEST(Coefficients, NeedFiniteValues) {
  Matrix matrix(1, 2, {0, 2}, {0, 1}, {1.0, std::numeric_limits<double>::quiet_NaN()});
  expect_error<InvalidArgument>(
      [&] { draw_coefficients(matrix, 1); },
      "coefficients need finite values, but 1 of 2 are infinite or not a number");
}

}  // namespace
}  // namespace strata
