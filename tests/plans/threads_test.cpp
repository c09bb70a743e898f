// Plans with a number of threads of their own, in a process that uses another one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/plans/power_plan.hpp"
#include "tests/plans/support.hpp"

namespace strata {
namespace {

using I = std::int32_t;

int threads_of_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

// Everything that a plan does, with as many threads as the options say; the matrix has enough rows
// for loops in parallel. The levels are shuffled, so that vectors are copied.
void use_a_plan(PowerOptions options, const Csr<double, I>& matrix) {
  for (const PowerStrategy strategy : {PowerStrategy::automatic, PowerStrategy::levels}) {
    options.strategy = strategy;
    options.autotune = strategy == PowerStrategy::automatic;
    PowerPlan<double, I> plan = plan_powers(matrix, options);
    const auto rows = static_cast<std::size_t>(plan.rows());
    std::vector<double> x(rows, 1.0);
    std::vector<double> powers(rows * static_cast<std::size_t>(plan.power()));
    std::vector<double> last(rows);
    std::vector<double> moved(static_cast<std::size_t>(plan.padded_rows()));
    auto workspace = plan.make_workspace();
    plan.apply(x, powers, workspace);
    auto workspace_for_last = plan.make_workspace_for_last();
    plan.apply_last(x, last, workspace_for_last);
    plan.to_plan_order(x, moved);
    plan.to_caller_order(moved, x);
    plan.update_values(matrix);
  }
}

// OpenMP keeps the threads that it has started, so that a process of its own shows how many a plan
// has ever used.
void count_threads_of_a_plan(int threads) {
  const int of_process = 4;
  set_thread_count(of_process);
  int status = 0;
  {
    const ThreadCountScope generating(1);
    const auto matrix = generate<double, I>("stencil7:20x20x30,shuffle=1");
    PowerOptions options = test::quick_options();
    options.threads = threads;
    std::thread([&] {  // without the scope above
      const int before = threads_of_process();
      use_a_plan(options, matrix);
      status = threads_of_process() - before;
    })
        .join();
  }
  if (thread_count() != of_process) status = 100;
  std::exit(status);
}

TEST(PowerPlanThreadsDeathTest, AreNeverMoreThanAskedFor) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(count_threads_of_a_plan(1), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(count_threads_of_a_plan(2), testing::ExitedWithCode(1), "");
  EXPECT_EXIT(count_threads_of_a_plan(0), testing::ExitedWithCode(3), "");
}

TEST(PowerPlanThreads, BeyondTheMostAreRefused) {
  const auto matrix = generate<double, I>("stencil7:10x10x30");
  PowerOptions options = test::quick_options();
  for (const int threads : {kMaxThreads + 1, 30000}) {
    options.threads = threads;
    EXPECT_THROW(plan_powers(matrix, options), InvalidArgument);
  }
}

// A matrix that the imaginary machine takes a wavefront sweep for.
Csr<double, I> matrix_for_a_sweep() {
  return generate<double, I>("stencil7:40x40x60,coefficients=random");
}

PowerOptions options_on(ProcessorBudget processors, int threads) {
  PowerOptions options = test::quick_options();
  options.threads = threads;
  options.processors = processors;
  return options;
}

bool has_sweeps(const PowerPlan<double, I>& plan) {
  return std::ranges::any_of(plan.candidates(), [](const PowerCandidate& candidate) {
    return candidate.strategy != PowerStrategy::spmv;
  });
}

TEST(PowerPlanThreads, WithAProcessorEachTakeSweeps) {
  const auto matrix = matrix_for_a_sweep();
  for (const ProcessorBudget processors :
       {ProcessorBudget{.usable = 4, .quota = 0}, ProcessorBudget{.usable = 4, .quota = 4},
        ProcessorBudget{.usable = 64, .quota = 5.5}}) {
    const auto plan = plan_powers(matrix, options_on(processors, 4));
    EXPECT_EQ(plan.threads(), 4);
    EXPECT_NE(plan.choice().strategy, PowerStrategy::spmv) << plan.explain();
    EXPECT_EQ(plan.explain().find("Remark"), std::string::npos) << plan.explain();
  }
}

TEST(PowerPlanThreads, ThatShareProcessorsTakeNoSweepsUnlessAskedFor) {
  const auto matrix = matrix_for_a_sweep();
  for (const auto& [processors, words] :
       {std::pair{ProcessorBudget{.usable = 2, .quota = 0}, "4 threads share 2 processors"},
        std::pair{ProcessorBudget{.usable = 1, .quota = 0}, "4 threads share 1 processor,"},
        std::pair{ProcessorBudget{.usable = 64, .quota = 1.5}, "the time of 1.5 processors"}}) {
    PowerOptions options = options_on(processors, 4);
    const auto plan = plan_powers(matrix, options);
    EXPECT_EQ(plan.threads(), 4);
    EXPECT_FALSE(has_sweeps(plan));
    EXPECT_NE(plan.explain().find(words), std::string::npos) << plan.explain();
    EXPECT_NE(plan.explain().find("a processor for every thread"), std::string::npos);
    options.strategy = PowerStrategy::wavefront;
    const auto asked_for = plan_powers(matrix, options);
    EXPECT_EQ(asked_for.threads(), 4);
    EXPECT_EQ(asked_for.choice().strategy, PowerStrategy::wavefront);
    EXPECT_NE(asked_for.explain().find(words), std::string::npos) << asked_for.explain();
  }
}

TEST(PowerPlanThreads, OneIsAlwaysAffordable) {
  const auto plan = plan_powers(matrix_for_a_sweep(), options_on({.usable = 1, .quota = 0.2}, 1));
  EXPECT_TRUE(has_sweeps(plan));
  EXPECT_EQ(plan.explain().find("Remark"), std::string::npos) << plan.explain();
}

}  // namespace
}  // namespace strata
