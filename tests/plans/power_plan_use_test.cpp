// How plans are used: bad input, numbers that are not finite, threads, words.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

#include "strata/base/error.hpp"
#include "strata/plans/power_plan.hpp"
#include "tests/plans/support.hpp"
#include "tests/support/format_check.hpp"
#include "tests/support/graphs.hpp"
#include "tests/support/planning_parts.hpp"

namespace strata {
namespace {

using test::quick_options;
using test::random_vector;

using I = std::int32_t;
using Matrix = Csr<double, I>;
using Plan = PowerPlan<double, I>;

using test::kFormats;
using test::kStrategies;
using test::plan_of;

Matrix stencil() {
  return generate<double, I>("stencil7:10x10x30,shuffle=1");
}

TEST(PowerPlan, RefusesWhatHasNoPowers) {
  const Matrix rectangular(2, 3, {0, 1, 2}, {0, 2}, {1.0, 1.0});
  EXPECT_THROW(plan_powers(rectangular, quick_options()), InvalidArgument);
  const auto refused = [](auto&& change) {
    PowerOptions options = quick_options();
    change(options);
    EXPECT_THROW(plan_powers(stencil(), options), InvalidArgument);
  };
  for (const int power : {0, -1, std::numeric_limits<int>::min()}) {
    refused([&](auto& options) { options.power = power; });
  }
  for (const int vectors : {0, -1, 9}) {
    refused([&](auto& options) { options.vectors = vectors; });
  }
  refused([](auto& options) { options.threads = -1; });
  refused([](auto& options) { options.block = -1; });
  refused([](auto& options) { options.cache_bytes = -1; });
  refused([](auto& options) { options.slice_height = -1; });
  refused([](auto& options) { options.basis = Basis::newton({1.0}); });
  for (const Offset height : {1, 5, 64}) {  // packed SELL has 4, 8, 16 and 32
    refused([&](auto& options) {
      options.format = Format::packed_sell;
      options.slice_height = height;
    });
  }
}

TEST(PowerPlan, SaysWhereTheSetUpWent) {
  PowerOptions options = quick_options();
  options.autotune = true;
  options.strategy = PowerStrategy::levels;
  const auto plan = plan_powers(stencil(), options);
  using Kind = PlanningPart::Kind;
  test::expect_parts(plan.record(), {Kind::formats, Kind::tiles, Kind::levels, Kind::order,
                                     Kind::storing, Kind::timing});
}

TEST(PowerPlan, RefusesVectorsOfOtherLengths) {
  const Plan plan = plan_of(stencil(), PowerStrategy::levels, Format::packed_sell);
  auto workspace = plan.make_workspace();
  const auto n = static_cast<std::size_t>(plan.rows());
  std::vector<double> x(n, 1), powers(4 * n), last(n), shorter(n - 1), longer(4 * n + 1);
  EXPECT_NO_THROW(plan.apply(x, powers, workspace));
  EXPECT_THROW(plan.apply(shorter, powers, workspace), InvalidArgument);
  EXPECT_THROW(plan.apply({}, powers, workspace), InvalidArgument);
  EXPECT_THROW(plan.apply(x, longer, workspace), InvalidArgument);
  EXPECT_THROW(plan.apply(x, last, workspace), InvalidArgument);
  EXPECT_THROW(plan.apply_last(x, shorter, workspace), InvalidArgument);
  EXPECT_THROW(plan.apply_last(longer, last, workspace), InvalidArgument);
  std::vector<double> padded_rows(plan.padded_rows());
  EXPECT_THROW(plan.to_plan_order(shorter, padded_rows), InvalidArgument);
  EXPECT_THROW(plan.to_caller_order(padded_rows, shorter), InvalidArgument);
}

TEST(PowerPlan, RefusesToOverwriteX) {
  for (const PowerStrategy strategy : kStrategies) {
    const Plan plan = plan_of(stencil(), strategy, Format::csr);
    auto workspace = plan.make_workspace();
    auto workspace_for_last = plan.make_workspace_for_last();
    const auto n = static_cast<std::size_t>(plan.rows());
    std::vector<double> memory = random_vector<double>(6 * n, 1);
    const std::span<double> all(memory);
    const auto x = all.subspan(n, n);
    EXPECT_THROW(plan.apply(x, all.subspan(n, 4 * n), workspace), InvalidArgument);
    EXPECT_THROW(plan.apply(x, all.subspan(0, 4 * n), workspace), InvalidArgument);
    EXPECT_THROW(plan.apply(x, all.subspan(2 * n - 1, 4 * n), workspace), InvalidArgument);
    EXPECT_THROW(plan.apply_last(x, x, workspace_for_last), InvalidArgument);
    EXPECT_THROW(plan.apply_last(x, all.subspan(1, n), workspace_for_last), InvalidArgument);
    // Next to each other is fine, on either side.
    const std::vector<double> start(x.begin(), x.end());
    plan.apply(x, all.subspan(2 * n, 4 * n), workspace);
    EXPECT_TRUE(std::ranges::equal(x, start));
    plan.apply_last(x, all.first(n), workspace_for_last);
    EXPECT_TRUE(std::ranges::equal(all.first(n), all.last(n)));
    EXPECT_TRUE(std::ranges::equal(x, start));
  }
}

TEST(PowerPlan, ATraceHasEveryPowerOfEveryTileAndTheSamePowers) {
  for (const PowerStrategy strategy : kStrategies) {
    for (const int block : {0, 2}) {
      SCOPED_TRACE(std::string(name_of(strategy)));
      PowerOptions options = quick_options();
      options.strategy = strategy;
      options.power = 5;
      options.block = strategy == PowerStrategy::spmv ? 0 : block;
      options.threads = 2;
      options.cache_bytes = 64 << 10;
      const Plan plan = plan_powers(stencil(), options);
      const auto x = random_vector<double>(plan.rows(), 1);
      std::vector<double> powers(5 * x.size());
      auto workspace = plan.make_workspace();
      const TaskTrace trace = plan.trace(x, powers, workspace);
      EXPECT_EQ(powers, test::powers_of(plan, VectorOrder::caller, x));

      std::int32_t tiles = 0;
      for (const TracedTask& task : trace.tasks) tiles = std::max(tiles, task.end);
      EXPECT_EQ(tiles == 1, plan.choice().plain());
      // Of every tile and power, by at least one thread: parts of small tiles may be empty.
      std::vector<int> done(static_cast<std::size_t>(tiles) * 5);
      for (const TracedTask& task : trace.tasks) {
        ASSERT_TRUE(1 <= task.power && task.power <= 5);
        EXPECT_TRUE(task.thread == 0 || task.thread == 1);
        for (std::int32_t tile = task.begin; tile < task.end; ++tile) {
          ++done[static_cast<std::size_t>(tile) * 5 + task.power - 1];
        }
      }
      EXPECT_TRUE(std::ranges::all_of(done, [](int times) { return times == 1 || times == 2; }));
      EXPECT_EQ(trace.tasks.front().start_seconds, 0);
    }
  }
}

// Where the numbers are not finite, as the reference has it in the same arithmetic.
TEST(PowerPlan, NotANumberComesOutWhereItMust) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Matrix clean = stencil();
  for (const double poison : {kNaN, kInfinity}) {
    for (const bool in_matrix : {true, false}) {
      Matrix matrix = clean;
      auto x = random_vector<double>(clean.rows(), 1);
      if (in_matrix) {
        matrix.mutable_values()[matrix.nnz() / 3] = poison;
      } else {
        x[x.size() / 3] = poison;
      }
      const auto expected = test::expected_powers(matrix, Basis::monomial(), 4, x, 1).powers;
      for (const PowerStrategy strategy : kStrategies) {
        for (const Format format : kFormats) {
          const Plan plan = plan_of(matrix, strategy, format);
          const auto powers = test::powers_of(plan, VectorOrder::caller, x);
          int different = 0;
          for (std::size_t i = 0; i < powers.size(); ++i) {
            different += std::isnan(powers[i]) != std::isnan(expected[i]);
            different += std::isfinite(powers[i]) != std::isfinite(expected[i]);
          }
          EXPECT_EQ(different, 0) << name_of(strategy) << ", " << name_of(format) << ", " << poison
                                  << (in_matrix ? " in the matrix" : " in x");
        }
      }
    }
  }
}

TEST(PowerPlan, NotANumberInTheMatrixDoesNotDisturbTheTiming) {
  Matrix matrix = stencil();
  for (double& value : matrix.mutable_values()) value = std::numeric_limits<double>::quiet_NaN();
  PowerOptions options = quick_options();
  options.autotune = true;
  const Plan plan = plan_powers(matrix, options);
  EXPECT_FALSE(std::isnan(plan.choice().seconds()));
}

TEST(FindOverflow, NamesTheFirstPowerAndElementThatIsNotFinite) {
  // 10⁴⁰ᵏ: finite up to k = 7.
  test::Entries<double, I> entries(100, 100, 1);
  for (I row = 0; row < 100; ++row) entries.add(row, row, row == 42 ? 1e40 : 1.0);
  const Matrix matrix = entries.coo().to_csr();
  PowerOptions options = quick_options();
  options.power = 9;
  const Plan plan = plan_powers(matrix, options);
  const auto powers = test::powers_of(plan, VectorOrder::caller, std::vector<double>(100, 2.0));
  const auto overflow = find_overflow<double>(powers, 9);
  ASSERT_TRUE(overflow.has_value());
  EXPECT_EQ(overflow->power, 8);
  EXPECT_EQ(overflow->element, 42);
  EXPECT_FALSE(find_overflow<double>(std::span(powers).first(700), 7).has_value());
  EXPECT_FALSE(find_overflow<double>({}, 3).has_value());
  EXPECT_THROW(find_overflow<double>(powers, 0), InvalidArgument);
  EXPECT_THROW(find_overflow<double>(powers, 7), InvalidArgument);
}

TEST(FindOverflow, FindsTheFirstOfManyInParallel) {
  std::vector<std::complex<float>> powers(60000, {1, 2});
  powers[41234] = {0, std::numeric_limits<float>::infinity()};
  powers[55555] = {std::numeric_limits<float>::quiet_NaN(), 0};
  const auto overflow = find_overflow<std::complex<float>>(powers, 6);
  ASSERT_TRUE(overflow.has_value());
  EXPECT_EQ(overflow->power, 5);
  EXPECT_EQ(overflow->element, 1234);
}

TEST(PowerPlan, ServesSeveralThreadsAtOnceWithAWorkspaceEach) {
  for (const PowerStrategy strategy : kStrategies) {
    const Plan plan = plan_of(stencil(), strategy, Format::packed_sell);
    std::vector<std::vector<double>> inputs, expected, found(3);
    for (std::uint64_t caller = 0; caller < 3; ++caller) {
      inputs.push_back(random_vector<double>(plan.rows(), caller));
      expected.push_back(test::powers_of(plan, VectorOrder::caller, inputs.back()));
    }
    std::vector<std::thread> threads;
    for (int caller = 0; caller < 3; ++caller) {
      threads.emplace_back([&, caller] {
        auto workspace = plan.make_workspace();
        std::vector<double> powers(4 * inputs[caller].size());
        for (int round = 0; round < 20; ++round) plan.apply(inputs[caller], powers, workspace);
        found[caller] = powers;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(found, expected) << name_of(strategy);
  }
}

TEST(PowerPlan, RefusesWhatRunsOnGpusAlone) {
  PowerOptions options = quick_options();
  options.strategy = PowerStrategy::graph;
  try {
    plan_powers(stencil(), options);
    FAIL() << "the strategy graph was accepted";
  } catch (const Unavailable& error) {
    EXPECT_STREQ(error.what(), "the strategy graph is not available on processors");
  }
  options.strategy = PowerStrategy::automatic;
  options.format = Format::ell;
  EXPECT_THROW(plan_powers(stencil(), options), Unavailable);
}

TEST(PowerPlan, ExplainsItsChoiceAndWhatItRejected) {
  for (const PowerStrategy strategy : {PowerStrategy::automatic, PowerStrategy::spmv,
                                       PowerStrategy::levels, PowerStrategy::wavefront}) {
    PowerOptions options = quick_options();
    options.strategy = strategy;
    options.threads = 2;
    options.cache_bytes = 100000;
    const Plan plan = plan_powers(stencil(), options);
    const std::string text = plan.explain();
    const auto mentions = [&](std::string_view words) {
      return text.find(words) != std::string::npos;
    };
    EXPECT_TRUE(mentions("4 powers (monomial)")) << text;
    EXPECT_TRUE(mentions("3000 rows")) << text;
    EXPECT_TRUE(mentions("Chosen: ")) << text;
    EXPECT_GE(plan.candidates().size(), 1u);
    EXPECT_EQ(&plan.choice(), &plan.candidates().front());
    for (const PowerCandidate& candidate : plan.candidates()) {
      EXPECT_TRUE(mentions(name_of(candidate.strategy))) << text;
      EXPECT_TRUE(mentions(format_text(candidate))) << text;
      EXPECT_TRUE(mentions(text_of(candidate.order))) << text;
      EXPECT_GT(candidate.predicted_seconds, 0);
      EXPECT_LE(candidate.predicted_overlapped_seconds, candidate.predicted_seconds * 1.0001);
      EXPECT_GT(candidate.format_bytes, 0);
      EXPECT_EQ(candidate.measured_seconds, 0);
      EXPECT_GE(candidate.predicted_seconds, plan.choice().predicted_seconds);
    }
    if (strategy != PowerStrategy::automatic) {
      EXPECT_EQ(plan.choice().strategy, strategy);
    }
    EXPECT_GE(plan.break_even(), 0);
    EXPECT_GT(plan.setup_seconds(), 0);
    EXPECT_EQ(plan.threads(), 2);
  }
}

TEST(PowerPlan, TimesItsFavouritesWhenAsked) {
  PowerOptions options = quick_options();
  options.autotune = true;
  options.cache_bytes = 100000;
  const Plan plan = plan_powers(stencil(), options);
  EXPECT_GT(plan.choice().measured_seconds, 0);
  EXPECT_GE(plan.break_even(), 0);
}

TEST(PowerPlan, ExplainsPlansOfNothing) {
  for (const PowerStrategy strategy : kStrategies) {
    PowerOptions options = quick_options();
    options.strategy = strategy;
    for (const Matrix& matrix :
         {Matrix(), Matrix(1, 1, {0, 1}, {0}, {2.0}), Matrix(3, 3, {0, 0, 0, 0}, {}, {})}) {
      const Plan plan = plan_powers(matrix, options);
      EXPECT_NE(plan.explain().find("Chosen: "), std::string::npos);
      EXPECT_EQ(plan.explain().find("nan"), std::string::npos) << plan.explain();
      EXPECT_GE(plan.break_even(), 0);
    }
  }
}

// Nothing is known about a machine that reports nothing, yet its plans are right.
TEST(PowerPlan, WorksWithoutProfile) {
  const MachineProfile nothing;
  for (const PowerStrategy strategy : kStrategies) {
    PowerOptions options = quick_options();
    options.profile = &nothing;
    options.strategy = strategy;
    test::expect_powers(stencil(), options);
    options.autotune = true;
    test::expect_powers(stencil(), options);
  }
}

}  // namespace
}  // namespace strata
