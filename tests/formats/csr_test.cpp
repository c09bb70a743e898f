#include "strata/formats/csr.hpp"

#include <gtest/gtest.h>

#include "strata/base/parallel.hpp"
#include "tests/support/format_check.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

template <class T>
class CsrTyped : public testing::Test {};
TYPED_TEST_SUITE(CsrTyped, test::AllTypes);

TYPED_TEST(CsrTyped, MatchesEigen) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    SCOPED_TRACE(name);
    const auto csr = entries.to_csr();
    test::expect_matches_csr(csr, csr);
  }
}

TYPED_TEST(CsrTyped, TransposeMatchesEigenForAnyNumberOfThreads) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const int threads : {1, 4}) {
    set_thread_count(threads);
    for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
      SCOPED_TRACE(name);
      const auto csr = entries.to_csr();
      const auto transpose = transposed(csr);
      EXPECT_EQ(transpose, test::transposed_by_eigen(csr));
      EXPECT_EQ(transposed(transpose), csr);
    }
    set_thread_count(0);
  }
}

TYPED_TEST(CsrTyped, ConvertsToOtherTypesAndBack) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    const auto csr = entries.to_csr();
    const auto wide = converted<std::complex<double>, std::int64_t>(csr);
    EXPECT_EQ((converted<V, I>(wide)), csr) << name;
  }
}

using Matrix = Csr<double, std::int32_t>;

TEST(Csr, RefusesBadArraysAndNamesTheRow) {
  EXPECT_THROW(Matrix(1, 1, {0}, {}, {}), InvalidMatrix);             // too few offsets
  EXPECT_THROW(Matrix(1, 1, {0, 1}, {0}, {}), InvalidMatrix);         // lengths differ
  EXPECT_THROW(Matrix(1, 1, {1, 1}, {0}, {1.0}), InvalidMatrix);      // does not start at 0
  EXPECT_THROW(Matrix(2, 1, {0, 2, 1}, {0}, {1.0}), InvalidMatrix);   // offsets decrease
  EXPECT_THROW(Matrix(1, 1, {0, 1}, {1}, {1.0}), InvalidMatrix);      // column outside
  EXPECT_THROW(Matrix(1, 1, {0, 1}, {-1}, {1.0}), InvalidMatrix);     // negative column
  EXPECT_THROW(Matrix(1, 3, {0, 2}, {1, 1}, {1, 1}), InvalidMatrix);  // duplicate
  EXPECT_THROW(Matrix(-1, 3, {0}, {}, {}), InvalidMatrix);
  try {
    Matrix(3, 3, {0, 1, 3, 3}, {0, 2, 1}, {1, 1, 1});
    FAIL() << "row 1 is unsorted";
  } catch (const InvalidMatrix& error) {
    EXPECT_STREQ(error.what(), "row 1: columns 2 and 1 are not in increasing order");
  }
}

TEST(Csr, SortsRowsAndAddsDuplicatesWhenAsked) {
  const Matrix matrix = Matrix::from_unsorted(2, 3, {0, 3, 4}, {2, 0, 2, 1}, {1, 2, 3, 4});
  EXPECT_EQ(matrix, Matrix(2, 3, {0, 2, 3}, {0, 2, 1}, {2, 4, 4}));
  EXPECT_THROW(Matrix::from_unsorted(1, 2, {0, 1}, {2}, {1}), InvalidMatrix);
}

TEST(Csr, NarrowingIndicesThatDoNotFitIsAnError) {
  const Csr<double, std::int64_t> tall(Offset{1}, Offset{1} << 31, {0, 1}, {5}, {1.0});
  EXPECT_THROW((converted<double, std::int32_t>(tall)), OverflowError);
}

TEST(Csr, DroppingImaginaryPartsIsAnError) {
  using Complex = std::complex<double>;
  const Csr<Complex, std::int32_t> matrix(1, 1, {0, 1}, {0}, {Complex(1, 2)});
  EXPECT_THROW((converted<double, std::int32_t>(matrix)), InvalidMatrix);
}

TEST(Csr, CountsItsBytesExactly) {
  const Matrix matrix(2, 3, {0, 1, 3}, {0, 1, 2}, {1, 2, 3});
  EXPECT_EQ(matrix.footprint().value_bytes, 24);
  EXPECT_EQ(matrix.footprint().index_bytes, 3 * 4 + 3 * 8);
  EXPECT_EQ(matrix.footprint().fill(), 1.0);
}

TEST(Csr, ProductRefusesVectorsOfTheWrongLengthAndRangesOutside) {
  const Matrix matrix(2, 3, {0, 1, 3}, {0, 1, 2}, {1, 2, 3});
  std::vector<double> x(3, 1.0);
  std::vector<double> y(2);
  EXPECT_THROW(reference::spmv(matrix, 1.0, y, 0.0, y), InvalidArgument);
  EXPECT_THROW(reference::spmv(matrix, 1.0, x, 0.0, x), InvalidArgument);
  EXPECT_THROW(reference::spmv(matrix, 1.0, x, 0.0, y, {1, 3}), InvalidArgument);
  EXPECT_THROW(reference::spmv(matrix, 1.0, x, 0.0, y, {2, 1}), InvalidArgument);
}

}  // namespace
}  // namespace strata
