#include <cmath>
#include <set>

#include "tests/gen/gen_check.hpp"

namespace strata {
namespace {

using test::make;
using test::Matrix;

// 13 entries per row, less what sticks out at the edges (even sizes).
constexpr Offset entries_of(Offset nx, Offset ny) {
  return 13 * nx * ny - (14 * ny + 8 * nx - 8);
}
static_assert(entries_of(8192, 8192) == 872235016);  // Panzlaff, table 4.3

TEST(Graphene, HasThirteenEntriesInsideAndTheKnownCount) {
  for (const auto& [nx, ny] : {std::pair{8, 8}, {10, 6}, {4, 12}, {100, 60}}) {
    const Matrix matrix = make("graphene:" + std::to_string(nx) + "x" + std::to_string(ny));
    EXPECT_EQ(matrix.rows(), nx * ny);
    EXPECT_EQ(matrix.nnz(), entries_of(nx, ny));
    EXPECT_EQ(transposed(matrix), matrix);
  }
  EXPECT_EQ(test::row_length(make("graphene:8x8"), 4 * 8 + 4), 13);
}

TEST(Graphene, NeighboursAreOneTwoAndThreeBondsAway) {
  // Built from the bonds alone: second neighbours share a neighbour, third ones are opposite in a
  // hexagon, three bonds apart and not also reached otherwise at another distance.
  const Matrix matrix = make("graphene:12x12");
  const Eigen::MatrixXd all = test::dense(matrix);
  const int n = static_cast<int>(all.rows());
  Eigen::MatrixXi bonds = (all.array() == all(0, 1)).cast<int>().matrix();
  const auto centre = [](int i) { return i % 12 > 3 && i % 12 < 8 && i / 12 > 3 && i / 12 < 8; };
  const Eigen::MatrixXi two = bonds * bonds;
  const Eigen::MatrixXi three = two * bonds;
  for (int i = 0; i < n; ++i) {
    if (!centre(i)) continue;
    EXPECT_EQ(bonds.row(i).sum(), 3);
    std::set<int> second;
    for (int j = 0; j < n; ++j) {
      if (j != i && two(i, j) > 0) second.insert(j);
      // A third neighbour across a hexagon is reached by two ways round; others by one.
      const bool across = bonds(i, j) == 0 && three(i, j) == 2;
      EXPECT_EQ(all(i, j) == -0.33, across) << i << " " << j;
      EXPECT_EQ(all(i, j) == -0.073, second.contains(j)) << i << " " << j;
    }
    EXPECT_EQ(second.size(), 6u);
  }
}

TEST(Graphene, PotentialIsRandomAndSmall) {
  const Eigen::VectorXd diagonal = test::dense(make("graphene:20x20")).diagonal();
  EXPECT_LE(diagonal.cwiseAbs().maxCoeff(), 0.5);
  EXPECT_NE(diagonal[0], diagonal[1]);
  EXPECT_NE(diagonal, test::dense(make("graphene:20x20,seed=9")).diagonal());
}

}  // namespace
}  // namespace strata
