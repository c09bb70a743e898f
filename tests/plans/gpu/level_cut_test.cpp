// What a plan on a GPU makes of levels before it runs anything; needs no GPU.
#include "strata/plans/gpu/internal/level_cut.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "strata/plans/gpu/internal/prediction.hpp"
#include "strata/plans/internal/given_order.hpp"
#include "tests/machine/gpu/support.hpp"
#include "tests/support/graphs.hpp"

namespace strata::gpu::detail {
namespace {

using I = std::int32_t;
using test::kMega;

TEST(LevelCut, PutsNeighboursTogetherUntilTheyAreFull) {
  const Pattern<I> path = test::path<I>(10);  // rows of 2 or 3 entries, 28 in all
  const std::vector<I> singles{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const std::vector<I> uneven{0, 6, 7, 8, 10};
  EXPECT_EQ(merged_groups(path.view(), singles, 9), (Array<I>{0, 3, 6, 9, 10}));
  EXPECT_EQ(merged_groups(path.view(), singles, 1), Array<I>(singles.begin(), singles.end()));
  EXPECT_EQ(merged_groups(path.view(), singles, 1000), (Array<I>{0, 10}));
  EXPECT_EQ(merged_groups(path.view(), uneven, 11), (Array<I>{0, 6, 10}));
  EXPECT_EQ(merged_groups(path.view(), std::vector<I>{0}, 9), (Array<I>{0}));
}

TEST(LevelCut, KnowsItsGroups) {
  const Pattern<I> path = test::path<I>(10);
  LevelCut cut(path.view(), {0, 3, 6, 10});
  EXPECT_EQ(cut.groups(), 3);
  EXPECT_EQ(cut.largest_entries(), 11);
  EXPECT_EQ(cut.tiling().tiles(), 3);
  EXPECT_EQ(cut.tiling().row_offsets, (Array<I>{0, 3, 6, 10}));
  EXPECT_EQ(strata::detail::reach_of<std::int32_t>(path.view(), path.view().row_offsets).distance(),
            3);
}

// 500 MB per power in 100 groups.
PowerCandidate by_levels(Offset window, int block) {
  PowerCandidate candidate;
  candidate.block = block;
  candidate.format_bytes = 400 * kMega;
  candidate.window_bytes = window;
  return candidate;
}

TEST(LevelPrediction, CountsKernelsAndWhatTheyReadFromWhere) {
  const GpuProfile profile = test::imaginary_gpu();
  const PowersToPredict powers{.power = 4, .row_bytes = 8, .entries = 4e7, .rows = 1e6};
  PowerCandidate launched = by_levels(30 * kMega, 4);
  predict_levels(launched, powers, {.groups = 100, .in_graph = false}, profile);
  EXPECT_DOUBLE_EQ(launched.memory_bytes, 400e6 + 5 * 8e6);
  EXPECT_NEAR(launched.predicted_seconds, 440e6 / 4e12 + 1200e6 / 8e12 + 400 * 3e-6, 1e-9);
  EXPECT_EQ(launched.bound, Bound::synchronisation);
  PowerCandidate graph = by_levels(30 * kMega, 4);
  predict_levels(graph, powers, {.groups = 100, .in_graph = true}, profile);
  // Starting takes longer than launching here: a graph saves nothing.
  EXPECT_NEAR(launched.predicted_seconds, graph.predicted_seconds, 1e-9);
}

TEST(LevelPrediction, AGraphSavesLaunchesThatTakeLongerThanStarting) {
  GpuProfile profile = test::imaginary_gpu();
  profile.launch_seconds = 4e-6;
  const PowersToPredict powers{.power = 4, .row_bytes = 8, .entries = 4e7, .rows = 1e6};
  PowerCandidate launched = by_levels(30 * kMega, 4);
  predict_levels(launched, powers, {.groups = 100, .in_graph = false}, profile);
  PowerCandidate graph = by_levels(30 * kMega, 4);
  predict_levels(graph, powers, {.groups = 100, .in_graph = true}, profile);
  EXPECT_NEAR(launched.predicted_seconds - graph.predicted_seconds, 400 * 1e-6, 1e-9);
}

TEST(LevelPrediction, AWindowBeyondTheCacheSavesNothing) {
  const GpuProfile profile = test::imaginary_gpu();
  const PowersToPredict powers{.power = 5, .row_bytes = 8, .entries = 4e7, .rows = 1e6};
  PowerCandidate candidate = by_levels(300 * kMega, 3);
  predict_levels(candidate, powers, {.groups = 4, .in_graph = false}, profile);
  EXPECT_DOUBLE_EQ(candidate.memory_bytes, 5 * 400e6 + (4 + 3) * 8e6);  // 3 + 2 powers
  EXPECT_EQ(candidate.bound, Bound::memory);
}

}  // namespace
}  // namespace strata::gpu::detail
