#include "strata/gen/blocks.hpp"

#include <limits>

#include "tests/gen/gen_check.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

template <class T>
class BlocksTyped : public testing::Test {};
TYPED_TEST_SUITE(BlocksTyped, test::AllTypes);

TYPED_TEST(BlocksTyped, EveryEntryBecomesAFullBlockOfItsSize) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    SCOPED_TRACE(name);
    const auto matrix = entries.to_csr();
    const int dof = 3;
    const auto result = with_dense_blocks(matrix, dof, 1);
    ASSERT_EQ(result.rows(), dof * matrix.rows());
    ASSERT_EQ(result.cols(), dof * matrix.cols());
    ASSERT_EQ(result.nnz(), dof * dof * matrix.nnz());
    for (I row = 0; row < result.rows(); ++row) {
      const Offset source = matrix.row_offsets()[row / dof];
      const Offset begin = result.row_offsets()[row];
      for (Offset k = 0; k < result.row_offsets()[row + 1] - begin; ++k) {
        const V entry = matrix.values()[source + k / dof];
        EXPECT_EQ(result.columns()[begin + k], dof * matrix.columns()[source + k / dof] + k % dof);
        EXPECT_GE(std::abs(result.values()[begin + k]), 0.4999 * std::abs(entry));
        EXPECT_LE(std::abs(result.values()[begin + k]), 1.5001 * std::abs(entry));
      }
    }
  }
}

using Matrix = Csr<double, std::int32_t>;
using Complex = std::complex<double>;

TEST(Blocks, OnesBecomeValuesThatDiffer) {
  const Matrix ones(2, 2, {0, 2, 3}, {0, 1, 0}, {1, 1, 1});
  const Matrix blocks = with_dense_blocks(ones, 4, 1);
  std::vector<double> values(blocks.values().begin(), blocks.values().end());
  std::ranges::sort(values);
  const auto distinct = std::unique(values.begin(), values.end()) - values.begin();
  EXPECT_EQ(distinct, 16 + 4 * 5 / 2);  // the pair off the diagonal, and half of the block on it
  EXPECT_NE(with_dense_blocks(ones, 4, 2), blocks);
}

TEST(Blocks, SymmetricStaysSymmetricAndHermitianHermitian) {
  const Matrix symmetric(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 7, 7, 2});
  const Matrix result = with_dense_blocks(symmetric, 3, 1);
  EXPECT_EQ(transposed(result), result);
  const Csr<Complex, std::int32_t> hermitian(2, 2, {0, 1, 2}, {1, 0},
                                             {Complex(1, 2), Complex(1, -2)});
  const auto complex = with_dense_blocks(hermitian, 3, 1);
  const Eigen::MatrixXcd all = test::to_eigen(complex).toDense();
  EXPECT_EQ(all, all.adjoint());
}

TEST(Blocks, RefusesNoUnknownsAndTooMany) {
  const Matrix matrix(2, 2, {0, 1, 2}, {0, 1}, {1, 1});
  EXPECT_THROW(with_dense_blocks(matrix, 0, 1), InvalidArgument);
  EXPECT_THROW(with_dense_blocks(matrix, Offset{1} << 30, 1), OverflowError);
  EXPECT_THROW(with_dense_blocks(matrix, std::numeric_limits<Offset>::max(), 1), OverflowError);
}

}  // namespace
}  // namespace strata
