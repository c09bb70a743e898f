#include "strata/plans/internal/given_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "strata/base/parallel.hpp"
#include "strata/gen/generate.hpp"
#include "tests/support/matrices.hpp"

namespace strata {
namespace {

using Matrix = Csr<double, std::int32_t>;

// Row by row.
detail::Reach reach_by_rows(const Matrix& matrix, std::span<const Offset> before) {
  detail::Reach reach;
  for (std::int32_t row = 0; row < matrix.rows(); ++row) {
    for (const std::int32_t column : matrix.pattern().columns_of(row)) {
      reach.behind = std::max(reach.behind, before[row] - before[column]);
      reach.ahead = std::max(reach.ahead, before[column] - before[row]);
    }
  }
  return reach;
}

void expect_reach(const Matrix& matrix) {
  const detail::Reach expected = reach_by_rows(matrix, matrix.row_offsets());
  const detail::KnownPattern known = detail::look_at(matrix.pattern());
  EXPECT_EQ(known.reach.ahead, expected.ahead);
  EXPECT_EQ(known.reach.behind, expected.behind);
  EXPECT_EQ(known.fingerprint, fingerprint_of(matrix.pattern()));
  // Of something else than entries.
  std::vector<Offset> before(matrix.row_offsets().size(), 0);
  for (std::size_t row = 1; row < before.size(); ++row) {
    before[row] = before[row - 1] + static_cast<Offset>(row * 7919 % 31);
  }
  const detail::Reach other = detail::reach_of(matrix.pattern(), before);
  EXPECT_EQ(other.ahead, reach_by_rows(matrix, before).ahead);
  EXPECT_EQ(other.behind, reach_by_rows(matrix, before).behind);
}

TEST(GivenOrder, ReachIsThatOfTheFarthestRow) {
  for (const char* spec : {"stencil27:20x20x90", "stencil7:30x20x70,shuffle=1", "arrow:20000",
                           "rmat:14,edges=8", "mesh:20000,dim=2,nnzr=9", "band:40000,width=5"}) {
    SCOPED_TRACE(spec);
    const auto matrix = generate<double, std::int32_t>(spec);
    for (const int threads : {1, 3}) {
      set_thread_count(threads);
      expect_reach(matrix);
    }
    set_thread_count(0);
  }
}

TEST(GivenOrder, AwkwardPatternsHaveAReachToo) {
  for (const auto& [name, entries] : test::awkward_matrices<double, std::int32_t>()) {
    SCOPED_TRACE(name);
    const Matrix matrix = entries.to_csr();
    if (matrix.rows() == matrix.cols()) {
      expect_reach(matrix);
    } else {
      EXPECT_EQ(detail::look_at(matrix.pattern()).reach.distance(), 0);
      EXPECT_EQ(detail::look_at(matrix.pattern()).fingerprint, fingerprint_of(matrix.pattern()));
    }
  }
}

TEST(GivenOrder, PlanesOfGridsWhoseLastEdgeIsTheLongestAreTheLeast) {
  const auto are_least = [](const char* spec) {
    return detail::planes_are_least(generate<double, std::int32_t>(spec).pattern());
  };
  for (const char* spec :
       {"stencil7:32x32x32", "stencil7:16x16x64", "stencil27:16x24x25", "stencil5:200x300",
        "band:5000,width=7", "hpcg:16x16x16", "stencil27:12x12x24,dof=3"}) {
    EXPECT_TRUE(are_least(spec)) << spec;
  }
  for (const char* spec :
       {"stencil7:64x16x16", "stencil27:16x32x24", "stencil5:300x200",
        "stencil27:16x16x64,shuffle=1", "stencil27:24x12x12,dof=3", "mesh:20000,dim=3,nnzr=15",
        "mesh:20000,dim=2,nnzr=7", "random:5000,nnzr=8", "rmat:12,edges=8"}) {
    EXPECT_FALSE(are_least(spec)) << spec;
  }
  for (const auto& [name, entries] : test::awkward_matrices<double, std::int32_t>()) {
    detail::planes_are_least(entries.to_csr().pattern());
  }
}

}  // namespace
}  // namespace strata
