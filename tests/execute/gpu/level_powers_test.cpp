// Powers by levels in blocks on the GPU of this machine, launched and as a graph.
#include "strata/execute/gpu/level_powers.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "strata/gen/generate.hpp"
#include "strata/order/level_groups.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/step_check.hpp"

namespace strata::gpu {
namespace {

using I = std::int32_t;
using Steps = std::vector<StepCoefficients<double>>;

struct InLevels {
  Csr<double, I> csr;
  Tiling<I> tiling;

  explicit InLevels(const Csr<double, I>& matrix) {
    const auto groups =
        group_levels(matrix.pattern(), find_levels(matrix.pattern()), {.group_entries = 800});
    csr = reordered(matrix, groups.order);
    tiling = make_tiling<I>(csr.pattern(), csr.row_offsets(),
                            {groups.group_offsets, std::numeric_limits<Offset>::max(), I{1}});
  }
};

TEST(LevelSweeps, LeaveTheMatrixInTheCacheUnlessThePowersComeOneByOne) {
  const InLevels in_levels(generate<double, I>("stencil5:20x60"));
  const auto reuse_of = [&](const Schedule& schedule) {
    return LevelSweep<double>(in_levels.tiling, schedule).reuse();
  };
  EXPECT_EQ(reuse_of(wavefront_schedule(in_levels.tiling, 3)), Reuse::soon);
  EXPECT_EQ(reuse_of(wavefront_schedule(in_levels.tiling, 1)), Reuse::none);
  EXPECT_EQ(reuse_of(plain_schedule(in_levels.tiling, 3)), Reuse::none);
}

class GpuLevelPowers : public test::GpuTest {
 protected:
  void SetUp() override {
    test::GpuTest::SetUp();
    if (IsSkipped()) return;
    stream_.emplace();
    matrix_ =
        std::make_shared<const StoredMatrix<double>>(DeviceCsr<double>(in_levels_.csr, stream()));
    x_ = test::random_vector<double>(static_cast<std::size_t>(in_levels_.csr.rows()), 5);
  }

  Stream& stream() { return *stream_; }

  LevelPowers<double> levels(const LevelPowersShape& shape) const {
    return LevelPowers<double>(matrix_, in_levels_.tiling, shape);
  }

  // y_0 … y_p on the device, all but y_0 NaN.
  struct Vectors {
    std::vector<DeviceArray<double>> arrays;
    std::vector<double*> places;
  };
  Vectors vectors(int power) {
    Vectors made;
    const std::vector<double> poison(x_.size(), std::numeric_limits<double>::quiet_NaN());
    for (int k = 0; k <= power; ++k) {
      made.arrays.push_back(to_device(std::span<const double>(k == 0 ? x_ : poison), stream()));
      made.places.push_back(made.arrays.back().data());
    }
    return made;
  }

  Array<double> last_of(const Vectors& made) {
    return to_host(made.arrays.back().span(), stream());
  }

  const InLevels in_levels_{generate<double, I>("stencil9:30x60")};
  std::shared_ptr<const StoredMatrix<double>> matrix_;
  std::vector<double> x_;

 private:
  std::optional<Stream> stream_;  // none without a GPU
};

TEST_F(GpuLevelPowers, BlocksAndGraphsChangeNoBit) {
  for (int power = 1; power <= 9; ++power) {
    Steps steps(static_cast<std::size_t>(power), {.alpha = 0.1, .shift = 0.5, .beta = -0.3});
    steps.front().beta = 0;  // there is no y_−1
    Array<double> expected;
    for (const int block : {9, 1, 2, 4}) {
      for (const bool in_graph : {false, true}) {
        const auto powers = levels({power, block, 1, in_graph});
        EXPECT_GE(powers.launches(), power);
        auto workspace = powers.make_workspace();
        const Vectors y = vectors(power);
        for (int run = 0; run < 2; ++run) powers.run(y.places, steps, workspace, stream());
        if (expected.empty()) expected = last_of(y);
        EXPECT_EQ(last_of(y), expected) << power << " powers in blocks of " << block;
      }
    }
  }
}

TEST_F(GpuLevelPowers, AGraphIsRecordedAgainForOtherVectorsStepsAndMatrices) {
  const Steps steps(3, {.alpha = 0.5});
  const Steps doubled(3, {.alpha = 1});
  const auto launched = levels({3, 2, 1, false});
  const auto graph = levels({3, 2, 1, true});
  auto workspace = graph.make_workspace();
  const auto expect_same = [&](const LevelPowers<double>& other, const Vectors& y,
                               const Steps& with) {
    auto unused = launched.make_workspace();
    const Vectors fresh = vectors(3);
    launched.run(fresh.places, with, unused, stream());
    other.run(y.places, with, workspace, stream());
    EXPECT_EQ(last_of(y), last_of(fresh));
  };
  const Vectors one = vectors(3);
  const Vectors two = vectors(3);
  expect_same(graph, one, steps);
  expect_same(graph, two, steps);
  expect_same(graph, two, doubled);
  expect_same(graph, one, doubled);
  expect_same(graph.with_matrix(matrix_), one, doubled);
  expect_same(LevelPowers<double>(graph), one, steps);
}

TEST_F(GpuLevelPowers, WrongArgumentsAreRefused) {
  EXPECT_THROW(levels({0, 1, 1, false}), InvalidArgument);
  EXPECT_THROW(levels({2, 0, 1, false}), InvalidArgument);
  const auto powers = levels({2, 2, 1, true});
  auto workspace = powers.make_workspace();
  const Vectors y = vectors(2);
  EXPECT_THROW(powers.run(y.places, Steps(1), workspace, stream()), InvalidArgument);
  EXPECT_THROW(powers.run(std::span(y.places).first(2), Steps(2), workspace, stream()),
               InvalidArgument);
  // A recording that fails leaves the workspace as it was.
  const std::vector<double*> on_itself{y.places[0], y.places[1], y.places[1]};
  EXPECT_THROW(powers.run(on_itself, Steps(2), workspace, stream()), InvalidArgument);
  EXPECT_NO_THROW(powers.run(y.places, Steps(2), workspace, stream()));
  stream().synchronize();
}

}  // namespace
}  // namespace strata::gpu
