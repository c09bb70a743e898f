// Contests: turns, checks from poison, and those who take no part.

#include "strata/measure/contest.hpp"

#include <stdexcept>

#include "tests/measure/support.hpp"

namespace strata::test {
namespace {

// A clock that stands still unless a run moves it.
struct FakeClock {
  double now = 0;
  Stopwatch stopwatch() {
    return {.seconds_of =
                [this](const std::function<void()>& run, int times) {
                  const double begin = now;
                  for (int i = 0; i < times; ++i) run();
                  return now - begin;
                },
            .shortest_sample = 0.5};
  }
};

ContestOptions quick() {
  ContestOptions options;
  options.min_seconds = 0;
  options.min_repetitions = 1;
  return options;
}

TEST(Contest, RatesComeFromTheMedianOfEveryContender) {
  FakeClock clock;
  ContestOptions options = quick();
  options.stopwatch = clock.stopwatch();
  const std::vector<Contender> contenders{
      {.name = "slow", .flops = 6, .bytes = 12, .run = [&] { clock.now += 3; }},
      {.name = "fast", .flops = 6, .bytes = 12, .run = [&] { clock.now += 2; }}};
  const auto measured = hold_contest(contenders, options);
  ASSERT_EQ(measured.size(), 2U);
  EXPECT_EQ(measured[0].name, "slow");
  EXPECT_EQ(measured[0].flops_per_second(), 2);
  EXPECT_EQ(measured[0].bytes_per_second(), 4);
  EXPECT_EQ(measured[1].flops_per_second(), 3);
  EXPECT_FALSE(measured[1].check) << "there was nothing to check with";
}

TEST(Contest, WhoWasRefusedTakesNoPart) {
  int runs = 0;
  const std::vector<Contender> contenders{{.name = "refused"},
                                          {.name = "runs", .run = [&] { ++runs; }}};
  const auto measured = hold_contest(contenders, quick());
  EXPECT_EQ(measured[0].timing.repetitions, 0);
  EXPECT_GE(measured[1].timing.repetitions, 1);
  EXPECT_GE(runs, 1);
  EXPECT_EQ(hold_contest(std::span(contenders).first(1), quick()).size(), 1U);
}

// Products of a small matrix by whatever `run` does.
class CheckedContest : public testing::Test {
 protected:
  Contender contender(std::string name, std::function<void()> run) {
    return {.name = std::move(name),
            .run = std::move(run),
            .vectors = {.poison_inputs = [this] { poison<double>(x_); },
                        .restore_inputs = [this] { x_ = start_; },
                        .poison_outputs = [this] { poison<double>(y_); }},
            .check = [this] { return check_step(matrix_, {}, start_, {}, y_); }};
  }
  bool passes(const Contender& contender) {
    const std::vector<Contender> all{this->contender("right", [this] { multiply(); }), contender};
    const auto measured = hold_contest(all, quick());
    EXPECT_TRUE(measured[0].check->passed);
    return measured[1].check->passed;
  }
  void multiply() { y_ = product(matrix_, x_); }

  const Matrix<double> matrix_ = grid<double>(5, 6);
  const std::vector<double> start_ = std::vector<double>(30, 1.5);
  std::vector<double> x_ = start_;
  std::vector<double> y_ = std::vector<double>(30);
};

TEST_F(CheckedContest, RightResultsPass) {
  EXPECT_TRUE(passes(contender("right as well", [this] { multiply(); })));
}

TEST_F(CheckedContest, ResultsThatAnotherLeftDoNotPass) {
  EXPECT_FALSE(passes(contender("writes nothing", [] {})));
}

TEST_F(CheckedContest, ResultsOfTheRunBeforeDoNotPass) {
  std::vector<double> before = product(matrix_, start_);
  EXPECT_FALSE(passes(contender("late", [&] {
    y_ = before;
    before = product(matrix_, x_);
  })));
}

TEST_F(CheckedContest, NothingIsCheckedUnlessAskedFor) {
  ContestOptions options = quick();
  options.validate = false;
  const std::vector<Contender> contenders{contender("writes nothing", [] {})};
  EXPECT_FALSE(hold_contest(contenders, options).front().check);
}

TEST(Contest, TheCallerSeesWhatBeginsAndCanEndIt) {
  std::vector<std::string> begun;
  int runs_left = 3;
  ContestOptions options = quick();
  options.min_repetitions = 10;
  options.progress = [&](const std::string& what) { begun.push_back(what); };
  options.check_interruption = [&] {
    if (runs_left-- == 0) throw std::runtime_error("enough");
  };
  const std::vector<Contender> contenders{{.name = "endless", .run = [] {}}};
  EXPECT_THROW(hold_contest(contenders, options), std::runtime_error);
  EXPECT_EQ(begun, std::vector<std::string>{"timing endless"});
}

TEST(Contest, JsonOfAMeasurementHasItsCheckIfThereWasOne) {
  Measurement measurement{.name = "x", .flops = 2e9, .bytes = 4e9};
  measurement.timing = {
      .median = 2, .minimum = 1, .p95 = 3, .repetitions = 7, .kept = {1.0000049, 2.5}};
  Json unchecked;
  add_measurement(unchecked, measurement);
  EXPECT_EQ(text_of(unchecked), R"({"seconds":{"median":2.0,"min":1.0,"p95":3.0,"repetitions":7,)"
                                R"("samples":[1.0,2.5]},"gflops":1.0,"gbytes_per_second":2.0})");
  measurement.check = Check{};
  Json checked;
  add_measurement(checked, measurement);
  EXPECT_EQ(checked["error"]["passed"].boolean(), true);
}

}  // namespace
}  // namespace strata::test
