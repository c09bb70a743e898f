#include "strata/model/scaling_model.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "strata/base/error.hpp"
#include "strata/gen/generate.hpp"
#include "tests/support/matrices.hpp"

namespace strata {
namespace {

using Matrix = Csr<double, std::int32_t>;

constexpr int kRanksPerNode = 2;

std::vector<std::pair<std::string, Matrix>> matrices() {
  std::vector<std::pair<std::string, Matrix>> all;
  for (const char* spec : {"stencil5:9x11", "stencil27:5x4x6", "random:60,nnzr=4", "arrow:40",
                           "band:50,width=7", "rmat:6,edges=200"}) {
    all.emplace_back(spec, generate<double, std::int32_t>(spec));
  }
  for (auto& [name, entries] : test::awkward_matrices<double, std::int32_t>()) {
    if (entries.rows() > 0 && entries.cols() > 0 && entries.rows() <= 300) {
      all.emplace_back(name, entries.to_csr());
    }
  }
  return all;
}

int owner(const std::vector<Offset>& ranges, Offset element) {
  for (int rank = 0;; ++rank) {
    if (ranges[static_cast<std::size_t>(rank)] <= element &&
        element < ranges[static_cast<std::size_t>(rank) + 1]) {
      return rank;
    }
  }
}

// Who sends which elements to whom: (from, to) → elements.
using Messages = std::map<std::pair<int, int>, std::set<Offset>>;

Exchange sum_of(const Messages& messages, int rank, bool sent) {
  Exchange all;
  for (const auto& [ends, elements] : messages) {
    if ((sent ? ends.first : ends.second) != rank) continue;
    all.add(ends.first / kRanksPerNode == ends.second / kRanksPerNode,
            static_cast<Offset>(elements.size()));
  }
  return all;
}

template <class Visit>
void for_entries(const Matrix& matrix, const Visit& visit) {
  for (std::int32_t row = 0; row < matrix.rows(); ++row) {
    for (const std::int32_t column : matrix.pattern().columns_of(row)) visit(row, column);
  }
}

class RanksOf : public testing::TestWithParam<int> {};

TEST_P(RanksOf, RowsAreContiguousCompleteAndBalanced) {
  for (const auto& [name, matrix] : matrices()) {
    SCOPED_TRACE(name);
    const std::vector<Offset> ranges = rows_by_entries(matrix.row_offsets(), GetParam());
    ASSERT_EQ(std::ssize(ranges), GetParam() + 1);
    EXPECT_EQ(ranges.front(), 0);
    EXPECT_EQ(ranges.back(), matrix.rows());
    EXPECT_TRUE(std::ranges::is_sorted(ranges));
    const auto weight = [](Offset entries, Offset rows) {
      return static_cast<double>(entries + kRowWeight * rows);
    };
    Offset longest = 0;
    for (std::int32_t row = 0; row < matrix.rows(); ++row) {
      longest = std::max<Offset>(longest, matrix.pattern().row_length(row));
    }
    for (int rank = 0; rank < GetParam(); ++rank) {
      const Offset entries =
          matrix.row_offsets()[ranges[rank + 1]] - matrix.row_offsets()[ranges[rank]];
      EXPECT_LE(weight(entries, ranges[rank + 1] - ranges[rank]),
                1.01 * weight(matrix.nnz(), matrix.rows()) / GetParam() + weight(longest, 1) + 1);
    }
  }
}

TEST_P(RanksOf, ByRowsNeedWhatBruteForceFinds) {
  for (const auto& [name, matrix] : matrices()) {
    SCOPED_TRACE(name);
    const RankLayout layout = layout_by_entries(matrix.pattern(), GetParam(), kRanksPerNode);
    Messages messages;
    std::vector<RowsShare> expected(static_cast<std::size_t>(GetParam()));
    for (std::int32_t row = 0; row < matrix.rows(); ++row) {
      const int rank = owner(layout.rows, row);
      bool interior = true;
      for (const std::int32_t column : matrix.pattern().columns_of(row)) {
        const int from = owner(layout.cols, column);
        if (from == rank) continue;
        interior = false;
        messages[{from, rank}].insert(column);
      }
      RowsShare& share = expected[static_cast<std::size_t>(rank)];
      ++share.rows;
      share.entries += matrix.pattern().row_length(row);
      if (interior) share.interior_entries += matrix.pattern().row_length(row);
    }
    for (int rank = 0; rank < GetParam(); ++rank) {
      expected[static_cast<std::size_t>(rank)].received = sum_of(messages, rank, false);
      expected[static_cast<std::size_t>(rank)].sent = sum_of(messages, rank, true);
    }
    EXPECT_EQ(count_rows(matrix.pattern(), layout), expected);
  }
}

TEST_P(RanksOf, OfAGridExchangeWhatBruteForceFinds) {
  const int ranks = GetParam();
  for (const int grid_rows : {1, square_grid_rows(ranks), ranks}) {
    const int grid_cols = ranks / grid_rows;
    for (const auto& [name, matrix] : matrices()) {
      SCOPED_TRACE(name);
      const RankLayout layout = layout_by_entries(matrix.pattern(), ranks, kRanksPerNode);
      Messages expand, fold;
      std::vector<GridShare> expected(static_cast<std::size_t>(ranks));
      for_entries(matrix, [&](Offset row, Offset column) {
        const int of_y = owner(layout.rows, row);
        const int of_x = owner(layout.cols, column);
        const int rank = of_y / grid_cols * grid_cols + of_x % grid_cols;
        ++expected[static_cast<std::size_t>(rank)].entries;
        if (of_x != rank) expand[{of_x, rank}].insert(column);
        if (of_y != rank) fold[{rank, of_y}].insert(row);
      });
      for (std::int32_t row = 0; row < matrix.rows(); ++row) {
        const int rank = owner(layout.rows, row);
        const auto columns = matrix.pattern().columns_of(row);
        if (std::ranges::all_of(
                columns, [&](Offset column) { return owner(layout.cols, column) == rank; })) {
          expected[static_cast<std::size_t>(rank)].interior_entries += std::ssize(columns);
        }
      }
      for (int rank = 0; rank < ranks; ++rank) {
        GridShare& share = expected[static_cast<std::size_t>(rank)];
        share.rows = layout.rows[rank + 1] - layout.rows[rank];
        share.expand_received = sum_of(expand, rank, false);
        share.expand_sent = sum_of(expand, rank, true);
        share.fold_received = sum_of(fold, rank, false);
        share.fold_sent = sum_of(fold, rank, true);
        EXPECT_LE(share.expand_sent.messages(), grid_rows - 1);
        EXPECT_LE(share.fold_sent.messages(), grid_cols - 1);
      }
      EXPECT_EQ(count_grid(matrix.pattern(), layout, grid_rows), expected);
    }
  }
}

// Distances of all rows from those of a rank, along the columns that rows have; −1: not reached.
std::vector<int> distances(const Matrix& matrix, Offset begin, Offset end) {
  std::vector<int> distance(static_cast<std::size_t>(matrix.rows()), -1);
  for (Offset row = begin; row < end; ++row) distance[static_cast<std::size_t>(row)] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for_entries(matrix, [&](std::size_t row, std::size_t column) {
      if (distance[row] < 0) return;
      if (distance[column] >= 0 && distance[column] <= distance[row] + 1) return;
      distance[column] = distance[row] + 1;
      changed = true;
    });
  }
  return distance;
}

TEST_P(RanksOf, WithGhostsComputeWhatBruteForceFinds) {
  for (const auto& [name, matrix] : matrices()) {
    if (matrix.rows() != matrix.cols()) continue;
    SCOPED_TRACE(name);
    const RankLayout layout = layout_by_entries(matrix.pattern(), GetParam(), kRanksPerNode);
    for (const int depth : {1, 2, 5}) {
      const auto shares = count_deep(matrix.pattern(), layout, depth);
      ASSERT_EQ(std::ssize(shares), GetParam());
      for (int rank = 0; rank < GetParam(); ++rank) {
        const Offset begin = layout.rows[rank], end = layout.rows[rank + 1];
        DeepShare expected{.rank = rank,
                           .rows = end - begin,
                           .entries = matrix.row_offsets()[end] - matrix.row_offsets()[begin]};
        Messages messages;
        const std::vector<int> distance = distances(matrix, begin, end);
        for (std::int32_t row = 0; row < matrix.rows(); ++row) {
          const int d = distance[static_cast<std::size_t>(row)];
          if (d <= 0) continue;
          if (d <= depth - 1) ++expected.ghost_rows;
          for (int power = 1; power <= depth; ++power) {
            if (d > depth - power) continue;
            ++expected.redundant_rows;
            expected.redundant_entries += matrix.pattern().row_length(row);
          }
          if (d <= depth) messages[{owner(layout.rows, row), rank}].insert(row);
        }
        expected.received = sum_of(messages, rank, false);
        EXPECT_EQ(shares[static_cast<std::size_t>(rank)], expected) << "depth " << depth;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(RankTraffic, RanksOf, testing::Values(1, 2, 3, 4, 6, 16));

TEST(RankTraffic, OfDepthOneIsThatOfAProduct) {
  const auto matrix = generate<double, std::int32_t>("mesh:400,dim=2,nnzr=8");
  const RankLayout layout = layout_by_entries(matrix.pattern(), 8, 4);
  const auto rows = count_rows(matrix.pattern(), layout);
  const auto deep = count_deep(matrix.pattern(), layout, 1);
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    EXPECT_EQ(deep[rank].received, rows[rank].received);
    EXPECT_EQ(deep[rank].redundant_rows, 0);
  }
}

TEST(RankTraffic, CountsSomeRanksWhereAllWouldTakeTooLong) {
  const auto matrix = generate<double, std::int32_t>("stencil5:40x40");
  const RankLayout layout = layout_by_entries(matrix.pattern(), 100, 4);
  const auto all = count_deep(matrix.pattern(), layout, 4);
  const auto some = count_deep(matrix.pattern(), layout, 4, 1);
  EXPECT_EQ(all.size(), 100U);
  ASSERT_EQ(some.size(), 16U);
  EXPECT_EQ(some.front().rank, 0);
  EXPECT_EQ(some.back().rank, 99);
  for (const DeepShare& share : some) {
    EXPECT_EQ(share, all[static_cast<std::size_t>(share.rank)]);
  }
}

TEST(RankTraffic, GridsAreAsSquareAsTheyCanBe) {
  EXPECT_EQ(square_grid_rows(1), 1);
  EXPECT_EQ(square_grid_rows(7), 1);
  EXPECT_EQ(square_grid_rows(8), 2);
  EXPECT_EQ(square_grid_rows(12), 3);
  EXPECT_EQ(square_grid_rows(16), 4);
  const auto matrix = generate<double, std::int32_t>("stencil5:4x4");
  const RankLayout layout = layout_by_entries(matrix.pattern(), 4, 1);
  EXPECT_THROW(count_grid(matrix.pattern(), layout, 3), InvalidArgument);
  EXPECT_THROW(rows_by_entries(matrix.row_offsets(), 0), InvalidArgument);
  EXPECT_THROW(count_deep(matrix.pattern(), layout, 0), InvalidArgument);
}

ScalingMachine machine_of(double latency) {
  ScalingMachine machine;
  machine.network.in_node = {latency / 2, 1e-10};
  machine.network.between_nodes = {latency, 1e-9};
  machine.ranks_per_node = 2;
  machine.compute_seconds = [](double bytes, int ranks) { return bytes * ranks / 1e10; };
  return machine;
}

// Ranks of a band have neighbours before and behind them, each sending half of the band.
TEST(StrongScaling, OfABandIsWhatTheFormulaSays) {
  const auto matrix = generate<double, std::int32_t>("band:4000,width=5");
  const ScalingMachine machine = machine_of(1e-6);
  const ScalingWork work{.bytes_per_entry = 12, .bytes_per_row = 24, .value_bytes = 8};
  const RankScaling at = scale_over(matrix.pattern(), work, machine, 8, 3);
  EXPECT_EQ(at.rows.messages, 2);
  EXPECT_DOUBLE_EQ(at.rows.bytes, 2 * 2 * 8);
  EXPECT_EQ(at.deep.messages, 2);
  EXPECT_DOUBLE_EQ(at.deep.bytes, 2 * 3 * 2 * 8);
  EXPECT_EQ(at.ghost_rows, 2 * 2 * 2);
  EXPECT_EQ(at.redundant_rows, 2 * (2 * 2 + 2));
  EXPECT_EQ(at.deep_ranks, 8);
  EXPECT_EQ(at.grid_rows * at.grid_cols, 8);
  EXPECT_LE(at.grid.messages, at.grid_partners_at_most());
  // 500 rows take 8.4 kB·2/10 GB/s; one neighbour is in the node, one is not, and both hide behind
  // the interior rows.
  EXPECT_NEAR(at.rows.compute_seconds, 2 * (500 * 5 * 12 + 500 * 24) / 1e10, 1e-8);
  EXPECT_DOUBLE_EQ(at.rows.message_seconds, 0);
  const double far = 1e-6 + 2 * 1e-9 * 6 * 8;
  const double near = 0.5e-6 + 1e-10 * 6 * 8;
  EXPECT_NEAR(at.deep.message_seconds, far + near, 1e-12);
  EXPECT_DOUBLE_EQ(at.reduction_seconds, 3e-6);
}

TEST(StrongScaling, MessagesThatDoNotHideCount) {
  const auto matrix = generate<double, std::int32_t>("band:4000,width=5");
  const ScalingMachine slow = machine_of(1e-3);
  const RankScaling at = scale_over(matrix.pattern(), {}, slow, 8, 4);
  EXPECT_GT(at.rows.message_share(), 0.9);
  // One exchange instead of four.
  EXPECT_LT(at.deep.seconds(), 0.3 * 4 * at.rows.seconds());
  const RankScaling alone = scale_over(matrix.pattern(), {}, slow, 1, 4);
  EXPECT_EQ(alone.rows.message_seconds, 0);
  EXPECT_EQ(alone.grid.message_seconds, 0);
  EXPECT_EQ(alone.deep.message_seconds, 0);
  EXPECT_EQ(alone.redundant_rows, 0);
  EXPECT_DOUBLE_EQ(alone.deep.seconds(), 4 * alone.rows.seconds());
}

TEST(StrongScaling, TakesMoreRanksThanRowsAndRectangles) {
  const auto small = generate<double, std::int32_t>("stencil5:2x2");
  const RankScaling at = scale_over(small.pattern(), {}, machine_of(1e-6), 9, 2);
  EXPECT_GT(at.rows.seconds(), 0);
  EXPECT_LE(at.rows.messages, 3);
  test::Entries<double, std::int32_t> entries(6, 20, 1);
  for (int row = 0; row < 6; ++row) entries.add(row, 3 * row);
  const Matrix wide = entries.coo().to_csr();
  const RankScaling of_wide = scale_over(wide.pattern(), {}, machine_of(1e-6), 4, 2);
  EXPECT_EQ(of_wide.deep_ranks, 0);
  EXPECT_EQ(of_wide.deep.seconds(), 0);
  EXPECT_THROW(scale_over(small.pattern(), {}, machine_of(1e-6), 0, 2), InvalidArgument);
  EXPECT_THROW(scale_over(small.pattern(), {}, machine_of(1e-6), 2, 0), InvalidArgument);
}

TEST(WeakScalingModel, KeepsHalosAlongTheOrderAndGrowsThemOtherwise) {
  const auto matrix = generate<double, std::int32_t>("stencil5:64x64");
  const WeakScaling weak =
      weak_scaling(matrix.pattern(), {}, machine_of(1e-4), {1, 4, 16, 1024}, 2, 3);
  EXPECT_EQ(weak.base_ranks, 2);
  EXPECT_EQ(weak.counted_ranks, 4);
  EXPECT_NEAR(weak.exponent, std::log(128) / std::log(4096), 1e-12);
  EXPECT_EQ(weak.along[0].rows.messages, 0);
  EXPECT_EQ(weak.along[0].deep.messages, 0);
  for (const std::size_t at : {1, 2, 3}) {
    EXPECT_EQ(weak.along[at].rows.messages, 2);
    EXPECT_DOUBLE_EQ(weak.along[at].rows.bytes, 128 * 8);
    EXPECT_DOUBLE_EQ(weak.along[at].rows.compute_seconds, weak.along[1].rows.compute_seconds);
  }
  const double grown = 128 * std::pow(1024 / 2, weak.exponent);
  EXPECT_NEAR(weak.in_all_directions[3].rows.bytes, 8 * grown, 1);
  EXPECT_GT(weak.in_all_directions[3].rows.seconds(), weak.along[3].rows.seconds());
}

TEST(PayingRanks, AreTheFastestAndTheLastThatAreHalfEfficient) {
  const PayingRanks paying = paying_ranks({1, 2, 4, 8}, {8, 4.2, 3.9, 4}, 8);
  EXPECT_EQ(paying.fastest, 4);
  EXPECT_EQ(paying.efficient, 4);
  EXPECT_EQ(paying_ranks({4}, {100}, 8).efficient, 0);
}

}  // namespace
}  // namespace strata
