// Plans by levels on the GPU of this machine: a kernel per group and power, launched or as a graph.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "strata/device/graph.hpp"
#include "strata/formats/ell.hpp"
#include "strata/plans/gpu/power_plan.hpp"
#include "tests/plans/gpu/support.hpp"

namespace strata::gpu {
namespace {

using I = std::int32_t;

constexpr PowerStrategy kByLevels[] = {PowerStrategy::levels, PowerStrategy::graph};
constexpr Format kFormats[] = {Format::automatic, Format::csr, Format::ell, Format::sell,
                               Format::packed_sell};

class GpuLevelPlanTest : public GpuPowerPlanTest {
 protected:
  // A cache so small that matrices for tests have many groups.
  PowerOptions level_options(PowerStrategy strategy) {
    PowerOptions options = quick_options();
    options.strategy = strategy;
    options.cache_bytes = 60000;
    return options;
  }

  // A matrix whose longest row would make ELLPACK mostly padding is refused.
  template <Value V>
  void expect_powers_or_refusal(const Csr<V, I>& matrix, const PowerOptions& options) {
    const bool padding =
        options.format == Format::ell && Ell<V, I>::footprint_of(matrix).fill() > kDefaultMaxFill;
    if (padding) {
      EXPECT_THROW(plan_powers(matrix, options, stream()), InvalidArgument);
    } else {
      expect_powers(matrix, options);
    }
  }

  // y_1 … y_p into an array that starts as NaN.
  DeviceArray<double> poisoned(Offset size) {
    const std::vector<double> poison(static_cast<std::size_t>(size),
                                     std::numeric_limits<double>::quiet_NaN());
    return to_device(std::span<const double>(poison), stream());
  }

  std::vector<double> on_host(const DeviceArray<double>& array) {
    const Array<double> found = to_host(array.span(), stream());
    return {found.begin(), found.end()};
  }
};

// Full values, which the small cache does not hold.
TEST_F(GpuLevelPlanTest, MakesExactlyWhatWasAskedFor) {
  const auto matrix = generate<double, I>("stencil7:10x10x60,coefficients=random");
  for (const PowerStrategy strategy : kByLevels) {
    for (const Format format : kFormats) {
      PowerOptions options = level_options(strategy);
      options.format = format;
      options.power = 2;
      const auto plan = plan_powers(matrix, options, stream());
      SCOPED_TRACE(plan.explain());
      EXPECT_EQ(plan.choice().strategy, strategy);
      EXPECT_GT(plan.levels(), 20);
      EXPECT_GT(plan.choice().window_bytes, 0);
      EXPECT_LT(plan.choice().window_bytes, plan.choice().format_bytes);
      if (format != Format::automatic) {
        EXPECT_EQ(plan.choice().format.format, format);
      }
      options.autotune = true;
      const auto timed = plan_powers(matrix, options, stream());
      EXPECT_EQ(timed.choice().strategy, strategy);
      EXPECT_GT(timed.choice().measured_seconds, 0);
    }
  }
}

// What is in the cache at a time are bytes: with encoded values, more rows.
TEST_F(GpuLevelPlanTest, EncodedValuesMakeLargerGroups) {
  const auto matrix = generate<double, I>("stencil7:10x10x60");
  const auto x = test::random_vector<double>(matrix.rows(), 3);
  for (const PowerStrategy strategy : kByLevels) {
    PowerOptions options = level_options(strategy);
    options.format = Format::packed_sell;
    options.slice_height = 32;
    options.values = StoredValues::full;
    const auto full = plan_powers(matrix, options, stream());
    options.values = StoredValues::all;
    const auto encoded = plan_powers(matrix, options, stream());
    SCOPED_TRACE(encoded.explain() + full.explain());
    EXPECT_LT(encoded.choice().format_bytes, full.choice().format_bytes / 4);
    EXPECT_LT(encoded.bytes(), full.bytes() / 2);
    const auto share_in_cache = [](const PowerCandidate& candidate) {
      return static_cast<double>(candidate.window_bytes) /
             static_cast<double>(candidate.format_bytes);
    };
    EXPECT_LE(full.choice().window_bytes, options.cache_bytes);
    EXPECT_LE(encoded.choice().window_bytes, options.cache_bytes);
    EXPECT_GT(share_in_cache(encoded.choice()), 2 * share_in_cache(full.choice()));
    EXPECT_EQ(powers_of(encoded, x), powers_of(full, x));
  }
}

TEST_F(GpuLevelPlanTest, AgreesWithTheReferenceInEveryFormatBasisAndPower) {
  int number = 0;
  for (const char* spec :
       {"stencil27:9x9x40", "mesh:3000,dim=3,nnzr=15,dof=2", "random:2000,nnzr=9",
        "rmat:11,edges=8", "arrow:9000", "band:20000,width=7", "stencil5:60x60,shuffle=1"}) {
    SCOPED_TRACE(spec);
    const auto matrix = generate<double, I>(spec);
    for (const PowerStrategy strategy : kByLevels) {
      for (const Format format : kFormats) {
        PowerOptions options = level_options(strategy);
        options.format = format;
        options.power = 1 + number % 9;
        options.block = number % 5;
        options.basis = test::basis_number(number % 5 == 3 ? 2 : number);  // complex shifts: below
        SCOPED_TRACE(testing::Message() << name_of(strategy) << ", " << name_of(format) << ", p = "
                                        << options.power << ", block " << options.block);
        expect_powers_or_refusal(matrix, options);
        ++number;
      }
    }
  }
}

TEST_F(GpuLevelPlanTest, AnyPowerAndBlockIsAccepted) {
  const auto matrix = generate<double, I>("stencil9:50x80");
  for (const PowerStrategy strategy : kByLevels) {
    for (int power = 1; power <= 9; ++power) {
      for (const int block : {0, 1, 2, 4, 20}) {
        PowerOptions options = level_options(strategy);
        options.power = power;
        options.block = block;
        options.basis = Basis::chebyshev(-10, 10);
        expect_powers(matrix, options);
      }
    }
  }
}

TEST_F(GpuLevelPlanTest, AgreesForEveryTypeAndNumberOfVectors) {
  for (const PowerStrategy strategy : kByLevels) {
    for (const Format format : kFormats) {
      for (const int vectors : {1, 2, 5, 8}) {
        PowerOptions options = level_options(strategy);
        options.format = format;
        options.power = 5;
        options.block = 3;
        options.vectors = vectors;
        options.basis = Basis::newton({{1, 0}, {2, 3}, {2, -3}, {-1, 0}, {4, 0}}, 15);
        expect_powers(generate<float, std::int64_t>("stencil7:8x8x40"), options);
        expect_powers(generate<double, I>("stencil7:8x8x40"), options);
        expect_powers(generate<std::complex<float>, I>("stencil5:40x60"), options);
        expect_powers(generate<std::complex<double>, I>("stencil5:40x60"), options);
      }
    }
  }
}

// Smaller than a tile, single levels, dense rows, no rows at all.
TEST_F(GpuLevelPlanTest, AwkwardMatricesComeOutRight) {
  int number = 0;
  for (const auto& [name, entries] : test::awkward_matrices<double, I>()) {
    const auto matrix = entries.to_csr();
    if (matrix.rows() != matrix.cols()) continue;
    for (const PowerStrategy strategy : kByLevels) {
      for (const Format format : kFormats) {
        for (const Offset cache : {Offset{1}, Offset{2000}, Offset{0}}) {
          SCOPED_TRACE(testing::Message()
                       << name << ", " << name_of(format) << ", cache " << cache);
          PowerOptions options = level_options(strategy);
          options.format = format;
          options.cache_bytes = cache;
          options.power = 2 + number % 4;
          options.vectors = 1 + number % 3;
          expect_powers_or_refusal(matrix, options);
          ++number;
        }
      }
    }
  }
}

// A row of 30000 entries is cut into pieces, and all of the matrix is one or two levels.
TEST_F(GpuLevelPlanTest, RowsLongerThanABlockComeOutRight) {
  for (const PowerStrategy strategy : kByLevels) {
    for (const Format format : {Format::automatic, Format::csr}) {
      PowerOptions options = level_options(strategy);
      options.format = format;
      options.power = 3;
      options.basis = Basis::scaled(300);
      expect_powers(generate<double, I>("arrow:30000"), options);
    }
  }
}

TEST_F(GpuLevelPlanTest, BitsAreTheSameFromRunToRunLaunchedAndAsAGraph) {
  const auto matrix = generate<double, I>("mesh:6000,dim=3,nnzr=16,shuffle=1");
  const auto x = test::random_vector<double>(matrix.rows(), 3);
  for (const Format format : kFormats) {
    SCOPED_TRACE(name_of(format));
    std::vector<double> expected;
    for (const PowerStrategy strategy : kByLevels) {
      PowerOptions options = level_options(strategy);
      options.format = format;
      options.power = 5;
      options.block = 3;
      const auto plan = plan_powers(matrix, options, stream());
      if (expected.empty()) expected = powers_of(plan, x);
      for (int run = 0; run < 3; ++run) EXPECT_EQ(powers_of(plan, x), expected);
    }
  }
}

TEST_F(GpuLevelPlanTest, AWorkspaceServesVectorsAtAnyAddress) {
  const auto matrix = generate<double, I>("stencil7:10x10x60");
  const Offset rows = matrix.rows();
  for (const PowerStrategy strategy : kByLevels) {
    for (const VectorOrder order : {VectorOrder::caller, VectorOrder::plan}) {
      PowerOptions options = level_options(strategy);
      options.format = Format::csr;  // no padded rows: both orders have the same length
      options.vector_order = order;
      options.power = 3;
      const auto plan = plan_powers(matrix, options, stream());
      ASSERT_EQ(plan.vector_rows(), rows);
      auto workspace = plan.make_workspace(stream());
      const auto first = test::random_vector<double>(rows, 1);
      const auto second = test::random_vector<double>(rows, 2);
      const auto x = to_device(std::span<const double>(first), stream());
      auto other_x = to_device(std::span<const double>(second), stream());
      auto powers = poisoned(3 * rows);
      auto other_powers = poisoned(3 * rows);
      for (int round = 0; round < 2; ++round) {
        plan.apply(x.span(), powers.span(), workspace, stream());
        plan.apply(std::as_const(other_x).span(), other_powers.span(), workspace, stream());
      }
      EXPECT_EQ(on_host(powers), powers_of(plan, first));
      EXPECT_EQ(on_host(other_powers), powers_of(plan, second));
      // What counts is what the vectors hold when it runs.
      copy(std::span<const double>(first), other_x.span(), stream());
      plan.apply(std::as_const(other_x).span(), other_powers.span(), workspace, stream());
      EXPECT_EQ(on_host(other_powers), on_host(powers));
    }
  }
}

TEST_F(GpuLevelPlanTest, AWorkspaceRemembersNoOldValues) {
  const auto matrix = generate<double, I>("stencil7:10x10x60");
  const auto other = scaled(matrix, 2.0);
  PowerOptions options = level_options(PowerStrategy::graph);
  options.power = 2;
  auto plan = plan_powers(matrix, options, stream());
  const auto start = test::random_vector<double>(matrix.rows(), 3);
  const auto x = to_device(std::span<const double>(start), stream());
  auto powers = poisoned(2 * x.size());
  auto workspace = plan.make_workspace(stream());
  const auto apply = [&] {
    plan.apply(x.span(), powers.span(), workspace, stream());
    return on_host(powers);
  };
  const auto before = apply();
  const auto twice = powers_of(plan_powers(other, options, stream()), start);
  EXPECT_NE(before, twice);
  plan.update_values(other, stream());
  EXPECT_EQ(apply(), twice);
  plan.update_values(matrix, stream());
  EXPECT_EQ(apply(), before);
}

TEST_F(GpuLevelPlanTest, CanBeCapturedIntoTheCallersGraph) {
  const auto matrix = generate<double, I>("stencil27:8x8x40,shuffle=1");
  const auto start = test::random_vector<double>(matrix.rows(), 3);
  for (const PowerStrategy strategy : kByLevels) {
    for (const bool used_before : {false, true}) {
      PowerOptions options = level_options(strategy);
      options.power = 5;
      options.block = 2;
      const auto plan = plan_powers(matrix, options, stream());
      auto workspace = plan.make_workspace(stream());
      const auto x = to_device(std::span<const double>(start), stream());
      auto powers = poisoned(5 * x.size());
      const auto apply = [&] { plan.apply(x.span(), powers.span(), workspace, stream()); };
      if (used_before) apply();
      const Graph graph = Graph::capture(stream(), apply);
      EXPECT_FALSE(is_captured(stream()));
      for (int run = 0; run < 2; ++run) graph.launch(stream());
      EXPECT_EQ(on_host(powers), powers_of(plan, start));
    }
  }
}

TEST_F(GpuLevelPlanTest, WorksInItsOwnOrderToo) {
  const auto matrix = generate<double, I>("mesh:4000,dim=3,nnzr=16,shuffle=1");
  const auto x = test::random_vector<double>(matrix.rows(), 3);
  for (const PowerStrategy strategy : kByLevels) {
    PowerOptions options = level_options(strategy);
    options.format = Format::packed_sell;
    options.power = 3;
    const auto expected = powers_of(plan_powers(matrix, options, stream()), x);
    options.vector_order = VectorOrder::plan;
    const auto plan = plan_powers(matrix, options, stream());
    ASSERT_GE(plan.padded_rows(), matrix.rows());
    const auto of_rows = to_device(std::span<const double>(x), stream());
    DeviceArray<double> in_order(plan.padded_rows());
    plan.to_plan_order(of_rows.span(), in_order.span(), stream());
    const auto powers = powers_of(plan, on_host(in_order));
    const auto last = last_of(plan, on_host(in_order));
    const auto each = static_cast<std::size_t>(plan.padded_rows());
    EXPECT_TRUE(std::ranges::equal(last, std::span(powers).last(each)));
    for (std::size_t k = 0; k < 3; ++k) {
      const auto one = to_device(std::span<const double>(powers).subspan(k * each, each), stream());
      DeviceArray<double> back(matrix.rows());
      plan.to_caller_order(one.span(), back.span(), stream());
      EXPECT_TRUE(
          std::ranges::equal(on_host(back), std::span(expected).subspan(k * x.size(), x.size())));
    }
  }
}

TEST_F(GpuLevelPlanTest, AreAmongTheCandidatesOfAPlanThatChooses) {
  PowerOptions options = quick_options();
  profile_.plateaus.front().bytes = 1 << 20;  // an L2 cache that the matrix does not fit
  const auto matrix = generate<double, I>(test::on_gpu_or_emulated(
      "stencil7:16x16x300,coefficients=random", "stencil7:8x8x400,coefficients=random"));
  const auto plan = plan_powers(matrix, options, stream());
  SCOPED_TRACE(plan.explain());
  for (const PowerStrategy strategy : kByLevels) {
    const auto found = std::ranges::find(plan.candidates(), strategy, &PowerCandidate::strategy);
    ASSERT_NE(found, plan.candidates().end());
    EXPECT_GT(found->predicted_seconds, 0);
    EXPECT_LE(found->window_bytes, 1 << 20);
    EXPECT_LT(found->window_bytes, found->format_bytes);
  }
  expect_powers(plan, matrix, options);
  options.autotune = true;
  expect_powers(matrix, options);
}

// The shares of the candidates by levels, and whether each of them was timed.
std::map<double, bool> shares_of(const PowerPlan<double>& plan) {
  std::map<double, bool> timed;
  for (const PowerCandidate& candidate : plan.candidates()) {
    if (candidate.placement != WindowPlacement::l2 || candidate.cache_share == 0) continue;
    bool& of_share = timed[candidate.cache_share];
    of_share = of_share || candidate.measured_seconds > 0;
  }
  return timed;
}

TEST_F(GpuLevelPlanTest, TimesLargerWindowsWhereNoShareIsGiven) {
  using Shares = std::map<double, bool>;
  const auto matrix = generate<double, I>("stencil7:10x10x60,coefficients=random");
  for (const PowerStrategy strategy : kByLevels) {
    PowerOptions options = level_options(strategy);
    options.format = Format::packed_sell;
    EXPECT_EQ(shares_of(plan_powers(matrix, options, stream())), (Shares{{1, false}}));
    options.autotune = true;
    const auto plan = plan_powers(matrix, options, stream());
    SCOPED_TRACE(plan.explain());
    EXPECT_EQ(shares_of(plan), (Shares{{1, true}, {2, true}, {4, true}}));
    const PowerCandidate& choice = plan.choice();
    for (const PowerCandidate& candidate : plan.candidates()) {
      if (candidate.strategy != strategy || candidate.measured_seconds == 0) continue;
      EXPECT_LE(choice.measured_seconds, candidate.measured_seconds);
      EXPECT_LE(static_cast<double>(candidate.window_bytes), 60000 * candidate.cache_share);
    }
    expect_powers(plan, matrix, options);
    options.cache_share = 3;
    EXPECT_EQ(shares_of(plan_powers(matrix, options, stream())), (Shares{{3, true}}));
    options.cache_share = 0;
    options.cache_bytes = Offset{1} << 40;  // one group whatever the share: timed once
    EXPECT_EQ(shares_of(plan_powers(matrix, options, stream())), (Shares{{1, true}}));
  }
}

TEST_F(GpuLevelPlanTest, APlanThatChoosesLooksAtOneShare) {
  PowerOptions options = level_options(PowerStrategy::automatic);
  options.autotune = true;
  const auto matrix = generate<double, I>("stencil7:10x10x60,coefficients=random");
  const auto shares = shares_of(plan_powers(matrix, options, stream()));
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_EQ(shares.begin()->first, 1);
}

TEST_F(GpuLevelPlanTest, RefusesANegativeCache) {
  PowerOptions options = level_options(PowerStrategy::levels);
  options.cache_bytes = -1;
  EXPECT_THROW(plan_powers(generate<double, I>("stencil5:9x9"), options, stream()),
               InvalidArgument);
}

}  // namespace
}  // namespace strata::gpu
