#include "strata/gen/extrude.hpp"

#include <limits>

#include "strata/base/parallel.hpp"
#include "tests/gen/gen_check.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

template <class T>
class ExtrudeTyped : public testing::Test {};
TYPED_TEST_SUITE(ExtrudeTyped, test::AllTypes);

TYPED_TEST(ExtrudeTyped, IsTheKroneckerSumWithAPath) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  using Dense = Eigen::Matrix<V, Eigen::Dynamic, Eigen::Dynamic>;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    SCOPED_TRACE(name);
    const auto matrix = entries.to_csr();
    if (matrix.rows() != matrix.cols()) {
      EXPECT_THROW(extruded(matrix, 2), InvalidArgument);
      continue;
    }
    for (const int layers : {1, 2, 5}) {
      const Eigen::Index n = matrix.rows();
      Dense expected = Dense::Zero(n * layers, n * layers);
      for (int layer = 0; layer < layers; ++layer) {
        expected.block(layer * n, layer * n, n, n) =
            Dense(test::to_eigen(matrix)) + V(2) * Dense::Identity(n, n);
        if (layer == 0) continue;
        expected.block(layer * n, (layer - 1) * n, n, n) = -Dense::Identity(n, n);
        expected.block((layer - 1) * n, layer * n, n, n) = -Dense::Identity(n, n);
      }
      const auto result = extruded(matrix, layers);
      EXPECT_EQ(Dense(test::to_eigen(result)), expected);
    }
  }
}

using Matrix = Csr<double, std::int32_t>;

TEST(Extrude, KeepsEntriesThatCancelAndAddsTheDiagonalOnce) {
  const Matrix matrix(2, 2, {0, 2, 3}, {0, 1, 0}, {-2, 5, 0});
  EXPECT_EQ(extruded(matrix, 1), Matrix(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {0, 5, 0, 2}));
}

TEST(Extrude, RefusesNoLayersAndTooMany) {
  const Matrix matrix(2, 2, {0, 1, 2}, {0, 1}, {1, 1});
  EXPECT_THROW(extruded(matrix, 0), InvalidArgument);
  EXPECT_THROW(extruded(matrix, Offset{1} << 30), OverflowError);
  EXPECT_THROW(extruded(matrix, std::numeric_limits<Offset>::max()), OverflowError);
}

}  // namespace
}  // namespace strata
