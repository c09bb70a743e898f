// The run-time tuner of Reguly's kernel on synthetic costs.
#include "strata/kernels/gpu/reguly_tuner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "strata/base/error.hpp"
#include "strata/base/random.hpp"

namespace strata::gpu {
namespace {

// A cost of the kind that the paper's figures 4 to 6 show: idle threads where coop is large, lines
// that are loaded more than once where it is small, the cost of starting blocks, idle
// multiprocessors where there are few of them, and a block size that suits.
class Surface {
 public:
  explicit Surface(std::uint64_t seed) : random_(seed) {
    length_ = std::exp(draw(std::log(2.5), std::log(200.0)));
    rows_ = static_cast<Offset>(std::exp(draw(std::log(2e4), std::log(5e6))));
    idle_ = draw(0.2, 0.8);
    lines_ = draw(0.2, 2.0);
    start_ = draw(20, 400);
    slots_ = draw(200, 2000);
    size_ = draw(6, 9);
    size_matters_ = draw(0.005, 0.06);
  }

  Offset rows() const { return rows_; }
  Offset nnz() const { return static_cast<Offset>(length_ * static_cast<double>(rows_)); }

  double seconds(const RegulyParameters& parameters) const {
    const double coop = parameters.coop;
    const double used = std::ceil(length_ / coop) * coop / length_;
    const double blocks = static_cast<double>(reguly_blocks(rows_, parameters));
    const double entries = length_ * static_cast<double>(rows_) / blocks;
    const double off = std::log2(parameters.block_size) - size_;
    return 1e-12 * static_cast<double>(nnz()) * (1 + idle_ * (used - 1)) *
           (1 + lines_ * std::min(1.0, length_ / 16) / coop) * (1 + start_ / entries) *
           (1 + 0.5 * slots_ / blocks) * (1 + size_matters_ * off * off);
  }

  double least() const {
    double seconds_of_best = std::numeric_limits<double>::infinity();
    for (const RegulyParameters& parameters : RegulySweep{}.list()) {
      seconds_of_best = std::min(seconds_of_best, seconds(parameters));
    }
    return seconds_of_best;
  }

 private:
  double draw(double low, double high) { return random_.uniform(drawn_++, low, high); }

  Random random_;
  std::uint64_t drawn_ = 0;
  double length_ = 0;
  Offset rows_ = 0;
  double idle_ = 0;
  double lines_ = 0;
  double start_ = 0;
  double slots_ = 0;
  double size_ = 0;
  double size_matters_ = 0;
};

constexpr int kSurfaces = 300;

// How much slower than the fastest the tuner's best is after so many calls, on average, where
// measured(call, seconds) is what the tuner gets to see of a call.
template <class Measured>
double mean_after(int calls, const Measured& measured) {
  double sum = 0;
  for (std::uint64_t seed = 0; seed < kSurfaces; ++seed) {
    const Surface surface(seed);
    RegulyTuner tuner(surface.rows(), surface.nnz());
    for (int call = 0; call < calls; ++call) {
      const std::uint64_t number = seed * 1000 + static_cast<std::uint64_t>(call);
      tuner.record(measured(call, number, surface.seconds(tuner.next())));
    }
    sum += surface.seconds(tuner.best()) / surface.least();
  }
  return sum / kSurfaces;
}

double exact(int, std::uint64_t, double seconds) {
  return seconds;
}

TEST(RegulyTuner, IsWithin5PercentOfExhaustiveSearchAfter8Calls) {
  EXPECT_GT(mean_after(1, exact), 1.05) << "the fixed rule would do";
  EXPECT_LT(mean_after(8, exact), 1.05);
  EXPECT_LT(mean_after(30, exact), 1.03);
}

TEST(RegulyTuner, StandsNoise) {
  const Random random(5);
  EXPECT_LT(
      mean_after(8, [&](int, std::uint64_t number,
                        double seconds) { return seconds * random.uniform(number, 1.0, 1.04); }),
      1.05);
}

TEST(RegulyTuner, StandsABadFirstSampleAndOutliers) {
  const Random random(6);
  EXPECT_LT(mean_after(8, [](int call, std::uint64_t,
                             double seconds) { return call == 0 ? 10 * seconds : seconds; }),
            1.05);
  EXPECT_LT(mean_after(12,
                       [&](int, std::uint64_t number, double seconds) {
                         return random.uniform(number) < 0.05 ? 3 * seconds : seconds;
                       }),
            1.05);
}

TEST(RegulyTuner, RepeatsTheFirstCallBeforeAnythingIsFaster) {
  RegulyTuner tuner(1'000'000, 7'000'000);
  const RegulyParameters first = tuner.next();
  tuner.record(10);
  const RegulyParameters second = tuner.next();
  EXPECT_NE(second, first);
  tuner.record(2);
  EXPECT_EQ(tuner.best(), first) << "nothing moves by one sample";
  EXPECT_EQ(tuner.next(), first);
  tuner.record(1);
  EXPECT_EQ(tuner.best(), first);
  EXPECT_NE(tuner.next(), second);
}

TEST(RegulyTuner, TriesTheSameEveryTime) {
  const Surface surface(3);
  RegulyTuner one(surface.rows(), surface.nnz());
  RegulyTuner other(surface.rows(), surface.nnz());
  for (int call = 0; call < 40; ++call) {
    ASSERT_EQ(one.next(), other.next());
    one.record(surface.seconds(one.next()));
    other.record(surface.seconds(other.next()));
  }
}

TEST(RegulyTuner, SettlesOnParametersThatNoNeighbourBeats) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Surface surface(seed);
    RegulyTuner tuner(surface.rows(), surface.nnz());
    int calls = 0;
    for (; !tuner.settled() && calls < 200; ++calls) {
      tuner.record(surface.seconds(tuner.next()));
    }
    ASSERT_TRUE(tuner.settled());
    const RegulyParameters best = tuner.best();
    EXPECT_EQ(tuner.next(), best);
    for (const int coop : {best.coop / 2, best.coop * 2}) {
      if (coop < 1 || coop > kMostCoop) continue;
      RegulyParameters near = best;
      near.coop = coop;
      EXPECT_GE(surface.seconds(near), 0.98 * surface.seconds(best));
    }
    tuner.record(1e-9);
    EXPECT_EQ(tuner.next(), best) << "what is settled stays";
  }
}

TEST(RegulyTuner, ProposesOnlyWhatThereAreKernelsFor) {
  for (const RegulyTarget target : {RegulyTarget{32, 4}, {32, 16}, {64, 8}}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Surface surface(seed);
      RegulyTuner tuner(surface.rows(), surface.nnz(),
                        {.among = {.coop = {1, 2, 3, 4}}, .target = target});
      for (int call = 0; call < 60; ++call) {
        EXPECT_NO_THROW(require_valid(tuner.next(), target));
        tuner.record(surface.seconds(tuner.next()));
      }
    }
  }
  EXPECT_NO_THROW(RegulyTuner(0, 0));
}

TEST(RegulyTuner, SaysWhatItKnows) {
  const Surface surface(1);
  RegulyTuner tuner(surface.rows(), surface.nnz());
  EXPECT_EQ(tuner.best(), reguly_rule(surface.rows(), surface.nnz()));
  EXPECT_NE(tuner.explain().find("no product yet"), std::string::npos);
  std::vector<RegulyParameters> tried;
  for (int call = 0; call < 6; ++call) {
    tried.push_back(tuner.next());
    tuner.record(surface.seconds(tuner.next()));
  }
  int calls = 0;
  for (const RegulyTrial& trial : tuner.trials()) {
    calls += trial.calls;
    EXPECT_NE(std::ranges::find(tried, trial.parameters), tried.end());
    EXPECT_DOUBLE_EQ(trial.seconds, surface.seconds(trial.parameters));
  }
  EXPECT_EQ(calls, 6);
  EXPECT_NE(tuner.explain().find("the best"), std::string::npos);
  EXPECT_NE(tuner.explain().find("still looking"), std::string::npos);
}

TEST(RegulyTuner, RefusesWhatIsNoTime) {
  RegulyTuner tuner(1000, 7000);
  for (const double wrong : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(tuner.record(wrong), InvalidArgument);
  }
  EXPECT_TRUE(tuner.trials().empty());
}

}  // namespace
}  // namespace strata::gpu
