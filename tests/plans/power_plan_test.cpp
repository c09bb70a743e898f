// Plans against repeated reference products: every strategy, format, order and number of threads.
#include "strata/plans/power_plan.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "strata/base/parallel.hpp"
#include "strata/kernels/cpu/cheap_values.hpp"
#include "strata/order/permutation.hpp"
#include "tests/plans/support.hpp"
#include "tests/support/graphs.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

using test::expect_powers;
using test::quick_options;
using test::random_vector;

constexpr PowerStrategy kStrategies[] = {PowerStrategy::automatic, PowerStrategy::spmv,
                                         PowerStrategy::levels, PowerStrategy::wavefront};
constexpr Format kFormats[] = {Format::automatic, Format::csr, Format::sell, Format::packed_sell};

using I = std::int32_t;
using Matrix = Csr<double, I>;
using Plan = PowerPlan<double, I>;

Matrix matrix_of(const Pattern<I>& pattern, std::uint64_t seed) {
  const auto values = random_vector<double>(pattern.columns.size(), seed);
  return Matrix(pattern.rows, pattern.cols, pattern.row_offsets, pattern.columns,
                {values.begin(), values.end()});
}

// Large enough for several threads and groups, small enough for hundreds of plans.
std::vector<std::pair<std::string, Matrix>> plan_matrices() {
  std::vector<std::pair<std::string, Matrix>> all;
  for (const char* spec :
       {"stencil7:12x12x40", "stencil27:8x8x50,shuffle=1", "stencil5:60x100", "band:6000,width=13",
        "band:5000,width=9,shuffle=1", "mesh:1200,dim=2,nnzr=8,dof=3,aspect=1x8",
        "mesh:3000,dim=3,nnzr=16,shuffle=1", "random:3000,nnzr=12", "arrow:5000",
        "stencil27:4x4x30,dof=3", "rmat:10,edges=12"}) {
    all.emplace_back(spec, generate<double, I>(spec));
  }
  const auto box = test::box<I>(6, 6, 60, test::Touching::corners);
  const auto tree = test::random_tree<I>(2000, 3);
  all.emplace_back("components", matrix_of(test::shuffled(test::interleaved(box, tree), 1), 2));
  all.emplace_back("empty rows",
                   matrix_of(test::interleaved(test::pattern_of<I>(1000, {}), box), 3));
  all.emplace_back("not symmetric", matrix_of(test::random_pattern<I>(4000, 20000, 5), 5));
  return all;
}

template <class Types>
class PowerPlanTyped : public testing::Test {};
TYPED_TEST_SUITE(PowerPlanTyped, test::AllTypes);

TYPED_TEST(PowerPlanTyped, AgreesWithTheReferenceOnAwkwardMatrices) {
  using V = typename TypeParam::Value;
  using Ix = typename TypeParam::Index;
  int turn = 0;
  for (const auto& [name, entries] : test::awkward_matrices<V, Ix>()) {
    SCOPED_TRACE(name);
    const Csr<V, Ix> csr = entries.to_csr();
    PowerOptions options = quick_options();
    if (csr.rows() != csr.cols()) {
      EXPECT_THROW(plan_powers(csr, options), InvalidArgument);
      continue;
    }
    for (const PowerStrategy strategy : kStrategies) {
      for (const Format format : kFormats) {
        SCOPED_TRACE(testing::Message() << name_of(strategy) << " " << name_of(format));
        ++turn;
        options.strategy = strategy;
        options.format = format;
        options.power = 1 + turn % 9;
        options.vectors = 1 + turn % 8;
        options.basis = test::basis_number(turn);
        options.vector_order = turn % 3 == 0 ? VectorOrder::plan : VectorOrder::caller;
        expect_powers(csr, options);
      }
    }
    if (testing::Test::HasFailure()) return;
  }
}

TYPED_TEST(PowerPlanTyped, AgreesWithTheReferenceOnAStencilAndThreads) {
  using V = typename TypeParam::Value;
  using Ix = typename TypeParam::Index;
  const auto csr = generate<V, Ix>("stencil27:8x8x40,shuffle=1");
  int turn = 0;
  for (const PowerStrategy strategy : kStrategies) {
    for (const Format format : kFormats) {
      SCOPED_TRACE(testing::Message() << name_of(strategy) << " " << name_of(format));
      PowerOptions options = quick_options();
      options.strategy = strategy;
      options.format = format;
      options.threads = std::array{1, 2, 5}[turn % 3];
      options.vectors = std::array{1, 4, 1, 3}[turn % 4];
      options.basis = test::basis_number(turn);
      options.cache_bytes = 300000;
      expect_powers(csr, options);
      ++turn;
    }
  }
}

// The same vectors as apply has, added up one after the other.
TYPED_TEST(PowerPlanTyped, SumsArePowersAddedUp) {
  using V = typename TypeParam::Value;
  using Ix = typename TypeParam::Index;
  int turn = 0;
  for (const char* spec : {"stencil7:10x10x40,shuffle=1", "random:3000,nnzr=12", "arrow:900"}) {
    const auto csr = generate<V, Ix>(spec);
    for (const PowerStrategy strategy : kStrategies) {
      for (const VectorOrder order : {VectorOrder::caller, VectorOrder::plan}) {
        SCOPED_TRACE(testing::Message() << spec << " " << name_of(strategy));
        PowerOptions options = quick_options();
        options.strategy = strategy;
        options.vector_order = order;
        options.power = std::array{5, 1, 9}[turn % 3];
        options.vectors = std::array{1, 3}[turn % 2];
        options.threads = 1 + turn % 4;
        options.basis = test::basis_number(turn++);
        options.cache_bytes = 300000;
        const auto plan = plan_powers(csr, options);
        const auto each = static_cast<std::size_t>(plan.vector_rows() * plan.vectors());
        const auto x = random_vector<V>(each, 3);
        const auto c = random_vector<V>(static_cast<std::size_t>(options.power) + 1, 4);
        std::vector<V> powers(each * static_cast<std::size_t>(options.power));
        auto workspace = plan.make_workspace();
        plan.apply(x, powers, workspace);
        std::vector<V> sum(each, V(-7));
        auto for_sum = plan.make_workspace_for_sum();
        plan.apply_sum(x, c, sum, for_sum);
        test::expect_sum_of_powers(sum, x, c, powers);
      }
    }
  }
}

TYPED_TEST(PowerPlanTyped, OtherBasesAndSingleProductsNeedNoOtherPlan) {
  using V = typename TypeParam::Value;
  using Ix = typename TypeParam::Index;
  const auto csr = generate<V, Ix>("stencil7:10x10x40,shuffle=1");
  for (const PowerStrategy strategy : kStrategies) {
    for (const VectorOrder order : {VectorOrder::caller, VectorOrder::plan}) {
      SCOPED_TRACE(testing::Message() << name_of(strategy));
      PowerOptions options = quick_options();
      options.strategy = strategy;
      options.vector_order = order;
      options.power = 5;
      options.threads = 3;
      options.cache_bytes = 300000;
      auto plan = plan_powers(csr, options);
      options.basis = Basis::chebyshev(-1, 13);
      const auto other = plan_powers(csr, options);
      const auto each = static_cast<std::size_t>(plan.vector_rows());
      std::vector<V> x(each);
      {
        const auto numbers = random_vector<V>(static_cast<std::size_t>(csr.rows()), 3);
        order == VectorOrder::plan ? plan.to_plan_order(numbers, x) : void(x = numbers);
      }
      auto workspace = plan.make_workspace(), of_other = other.make_workspace();
      std::vector<V> powers(5 * each), expected(5 * each), product(each), first(each);
      plan.apply(x, powers, workspace);
      plan.multiply(x, product, workspace);
      EXPECT_TRUE(std::equal(product.begin(), product.end(), powers.begin()));
      EXPECT_THROW(plan.set_basis(Basis::newton({1.0})), InvalidArgument);
      plan.set_basis(options.basis);
      plan.apply(x, powers, workspace);
      other.apply(x, expected, of_other);
      EXPECT_EQ(powers, expected);
      std::vector<V> few(3 * each, V(-7));
      plan.apply_first(3, x, few, workspace);
      EXPECT_TRUE(std::equal(few.begin(), few.end(), expected.begin()));
      EXPECT_THROW(plan.apply_first(3, x, powers, workspace), InvalidArgument);
      EXPECT_THROW(plan.apply_first(6, x, powers, workspace), InvalidArgument);
      plan.multiply(x, first, workspace);
      EXPECT_EQ(first, product);
      EXPECT_NE(plan.explain().find("Chebyshev on [-1, 13]"), std::string::npos);
    }
  }
}

TEST(PowerPlan, SumsRefuseWhatDoesNotFit) {
  const auto matrix = generate<double, I>("stencil5:20x20,shuffle=1");
  PowerOptions options = quick_options();
  options.power = 3;
  const Plan plan = plan_powers(matrix, options);
  std::vector<double> x(400), sum(400), c(4);
  auto workspace = plan.make_workspace_for_sum();
  EXPECT_NO_THROW(plan.apply_sum(x, c, sum, workspace));
  EXPECT_THROW(plan.apply_sum(x, std::span(c).first(3), sum, workspace), InvalidArgument);
  EXPECT_THROW(plan.apply_sum(x, c, x, workspace), InvalidArgument);
  EXPECT_THROW(plan.apply_sum(x, c, std::span(sum).first(399), workspace), InvalidArgument);
  EXPECT_THROW(plan.multiply(x, std::span(sum).first(399), workspace), InvalidArgument);
  Plan empty;
  EXPECT_THROW(empty.apply_sum(x, c, sum, workspace), InvalidArgument);
  EXPECT_THROW(empty.multiply(x, sum, workspace), InvalidArgument);
  EXPECT_THROW(empty.set_basis(Basis::monomial()), InvalidArgument);
}

TEST(PowerPlan, TakesVectorsWithStrides) {
  for (const PowerStrategy strategy : {PowerStrategy::spmv, PowerStrategy::levels}) {
    const auto matrix = generate<double, I>("stencil7:12x12x12,shuffle=1");
    PowerOptions options = quick_options();
    options.strategy = strategy;
    options.power = 3;
    const Plan plan = plan_powers(matrix, options);
    const auto x = random_vector<double>(static_cast<std::size_t>(matrix.rows()), 1);
    std::vector<double> expected(3 * x.size());
    auto workspace = plan.make_workspace();
    plan.apply(x, expected, workspace);
    std::vector<double> spread(2 * x.size());
    for (std::size_t row = 0; row < x.size(); ++row) spread[2 * row] = x[row];
    // Every power in a column of a row-major array with room for four.
    std::vector<double> powers(4 * x.size(), -7);
    auto strided = plan.make_strided_workspace();
    plan.apply({spread.data(), 2}, {powers.data(), 4}, 1, strided);
    for (std::size_t row = 0; row < x.size(); ++row) {
      for (std::size_t k = 0; k < 3; ++k) {
        ASSERT_EQ(powers[4 * row + k], expected[k * x.size() + row]) << row << " " << k;
      }
      ASSERT_EQ(powers[4 * row + 3], -7);
    }
  }
}

TEST(PowerPlan, AgreesWithTheReferenceInEveryWay) {
  int turn = 0;
  for (const auto& [name, matrix] : plan_matrices()) {
    for (const PowerStrategy strategy : kStrategies) {
      for (const Format format : kFormats) {
        PowerOptions options = quick_options();
        options.strategy = strategy;
        options.format = format;
        options.power = 1 + turn % 9;
        options.basis = test::basis_number(turn / 2);
        options.vectors = turn % 3 == 0 ? 1 + turn / 3 % 8 : 1;
        options.vector_order = turn % 2 == 0 ? VectorOrder::caller : VectorOrder::plan;
        options.threads = std::array{1, 2, 5, 16}[turn % 4];
        options.slice_height = std::array{0, 4, 8, 16, 32}[turn % 5];
        options.block = std::array{0, 4, 3}[turn % 3];
        options.cache_bytes =
            std::array<Offset, 4>{1, 50000, 400000, Offset{1} << 60}[turn / 3 % 4];
        SCOPED_TRACE(testing::Message() << name << ", " << name_of(strategy) << ", turn " << turn);
        expect_powers(matrix, options);
        if (HasFailure()) return;
        turn += 7;
      }
    }
  }
}

// SELL takes any slice height; where groups of levels start has to follow.
TEST(PowerPlan, AgreesWithTheReferenceForAnySliceHeightOfSell) {
  const auto matrix = generate<double, I>("stencil27:8x8x50,shuffle=1");
  for (const PowerStrategy strategy : kStrategies) {
    for (const Offset height : {1, 3, 5, 12, 24, 33, 48, 100, 10000}) {
      SCOPED_TRACE(testing::Message() << name_of(strategy) << ", C = " << height);
      PowerOptions options = quick_options();
      options.strategy = strategy;
      options.format = Format::sell;
      options.slice_height = height;
      options.threads = 2;
      options.cache_bytes = 300000;
      expect_powers(matrix, options);
    }
  }
}

TEST(PowerPlan, RunsEightPowersAsFourAndFourAndSevenAsFourAndThree) {
  const auto matrix = generate<double, I>("stencil7:10x10x60");
  for (const auto& [power, block, text] :
       {std::tuple{8, 4, "4+4"}, {7, 4, "4+3"}, {9, 2, "2+2+2+2+1"}, {5, 9, ""}}) {
    for (const PowerStrategy strategy : {PowerStrategy::levels, PowerStrategy::wavefront}) {
      PowerOptions options = quick_options();
      options.power = power;
      options.block = block;
      options.strategy = strategy;
      options.basis = Basis::chebyshev(-6, 6);  // three terms: a block needs the last two powers
      expect_powers(matrix, options);
      const Plan plan = plan_powers(matrix, options);
      EXPECT_EQ(plan.choice().block, std::min(power, block));
      EXPECT_NE(plan.explain().find(text), std::string::npos) << plan.explain();
    }
  }
}

// Where the window fits into the threads' own caches, values come as they are, and there is time.
TEST(PowerPlan, AsksForUpcomingRowsWhileItComputesPowersOfOthers) {
  MachineProfile profile = test::imaginary_machine();
  profile.plateaus = {{1, 100 * test::kKilo, 100 * test::kGiga},
                      {1, 100 * test::kMega, 0.001 * test::kGiga}};
  PowerOptions options = quick_options();
  options.profile = &profile;
  options.strategy = PowerStrategy::wavefront;
  options.cache_bytes = 1000000;
  options.threads = 2;
  options.power = 4;
  const auto random = generate<double, I>("stencil7:16x16x128,coefficients=random");
  const auto expect = [&](const Matrix& matrix, const PowerOptions& asked, bool asks_ahead) {
    expect_powers(matrix, asked);
    const Plan plan = plan_powers(matrix, asked);
    EXPECT_EQ(plan.choice().asks_ahead, asks_ahead) << plan.explain();
    EXPECT_EQ(plan.explain().find("asked for while") != std::string::npos, asks_ahead);
  };
  expect(random, options, true);
  PowerOptions other = options;
  other.power = 2;
  expect(random, other, false);
  other = options;
  other.vectors = 2;
  expect(random, other, false);
  other = options;
  other.cache_bytes = 20000;
  expect(random, other, false);
  other = options;
  other.format = Format::csr;
  expect(random, other, false);
  expect(generate<double, I>("stencil7:16x16x128"), options, false);
}

// Planes of 32 × 32 rows on a machine with small caches and a slow memory.
TEST(PowerPlan, SweepsInBandsWhereLevelsAreTooLarge) {
  MachineProfile profile = test::imaginary_machine();
  profile.plateaus = {{1, 100 * test::kKilo, 100 * test::kGiga},
                      {1, 100 * test::kMega, 0.001 * test::kGiga}};
  const auto matrix = generate<double, I>("stencil27:32x32x24,coefficients=random");
  std::set<int> considered;
  std::set<int> chosen;
  for (const Offset cache : {200000, 300000, 500000, 800000, 1200000}) {
    for (const int threads : {1, 2}) {
      PowerOptions options = quick_options();
      options.profile = &profile;
      options.strategy = PowerStrategy::wavefront;
      options.vector_order = VectorOrder::plan;
      options.cache_bytes = cache;
      options.threads = threads;
      options.block = 4;
      const Plan plan = plan_powers(matrix, options);
      for (const PowerCandidate& candidate : plan.candidates()) considered.insert(candidate.bands);
      chosen.insert(plan.choice().bands);
      if (plan.choice().bands > 1) {
        EXPECT_NE(plan.explain().find(" bands"), std::string::npos);
        expect_powers(matrix, options);
      }
    }
  }
  EXPECT_GT(*considered.rbegin(), 1) << "no plan considered bands";
  EXPECT_GT(*chosen.rbegin(), 1) << "no plan chose bands";
}

bool considers_rows_as_given(const Plan& plan) {
  return std::ranges::any_of(plan.candidates(), [](const PowerCandidate& candidate) {
    return !candidate.order.moves_rows();
  });
}

// Products of scattered rows only wait for x.
TEST(PowerPlan, SearchesForLevelsBeforeItStoresScatteredRows) {
  MachineProfile profile = test::imaginary_machine();
  profile.plateaus = {{1, 100 * test::kKilo, 100 * test::kGiga},
                      {1, 100 * test::kMega, 0.001 * test::kGiga}};
  PowerOptions options = quick_options();
  options.profile = &profile;
  options.power = 2;
  options.vector_order = VectorOrder::plan;
  options.cache_bytes = 250000;
  options.threads = 2;
  const auto shuffled = generate<double, I>("stencil7:16x16x128,shuffle=1,coefficients=random");
  expect_powers(shuffled, options);
  const Plan plan = plan_powers(shuffled, options);
  EXPECT_FALSE(plan.choice().plain());
  EXPECT_FALSE(considers_rows_as_given(plan));
  EXPECT_GT(plan.record().plain_seconds, plan.choice().seconds());
  EXPECT_NE(plan.explain().find("neither stored nor timed"), std::string::npos) << plan.explain();

  // All is stored where x fits into the cache of a core, where rows are not shuffled, and where
  // vectors have to be copied for rows as short as these.
  PowerOptions other = options;
  other.cache_bytes = 1000000;
  EXPECT_TRUE(considers_rows_as_given(plan_powers(shuffled, other)));
  const auto in_order = generate<double, I>("stencil7:16x16x128,coefficients=random");
  EXPECT_TRUE(considers_rows_as_given(plan_powers(in_order, options)));
  other = options;
  other.vector_order = VectorOrder::caller;
  EXPECT_TRUE(considers_rows_as_given(plan_powers(shuffled, other)));
}

TEST(PowerPlan, StoresScatteredRowsIfThereAreNoLevels) {
  PowerOptions options = quick_options();
  options.vector_order = VectorOrder::plan;
  options.cache_bytes = 20000;
  options.threads = 2;
  for (const char* spec : {"random:60000,nnzr=8", "random:90000,nnzr=4,shuffle=1"}) {
    SCOPED_TRACE(spec);
    const auto matrix = generate<double, I>(spec);
    expect_powers(matrix, options);
    const Plan plan = plan_powers(matrix, options);
    EXPECT_TRUE(plan.choice().plain());
    EXPECT_TRUE(considers_rows_as_given(plan));
  }
}

// Each thread has the same lines of all planes: groups of other rows are for windows of planes that
// do not fit.
TEST(PowerPlan, SweepsOfGridsTakePlanesWhereTheirWindowsFit) {
  const auto matrix = generate<double, I>("stencil27:32x32x30,coefficients=random");
  PowerOptions options = quick_options();
  options.power = 3;
  options.strategy = PowerStrategy::wavefront;
  options.threads = 2;
  for (const bool fits : {true, false}) {
    options.cache_bytes = fits ? Offset{64} << 20 : Offset{64} << 10;
    std::set<RowOrder::Kind> orders;
    const auto plan = plan_powers(matrix, options);
    for (const PowerCandidate& candidate : plan.candidates()) orders.insert(candidate.order.kind);
    EXPECT_TRUE(orders.contains(RowOrder::Kind::planes));
    EXPECT_EQ(orders.contains(RowOrder::Kind::given), !fits);
  }
}

// What is cheap to decode is taken where it saves bytes, and of that what saves more than the one
// before: codes for a few values save nothing here beside constants. Where anything is timed, a
// sample of the rows tells whether encoded values, full ones or both are stored: encoded ones alone
// if they are surely faster, which depends on the processor.
TEST(PowerPlan, EncodesValuesWhereThatSavesBytes) {
  const auto repeated = generate<double, I>("stencil5:100x100");
  const auto random = generate<double, I>("stencil5:100x100,coefficients=random");
  const StoredValues cheap = cpu::cheap_values(cpu::level());
  for (const bool autotune : {false, true}) {
    PowerOptions options = quick_options();
    options.autotune = autotune;
    const Plan of_random = plan_powers(random, options);
    for (const PowerCandidate& candidate : of_random.candidates()) {
      EXPECT_EQ(candidate.spec().format.parameter("values").value_or(0), 0) << of_random.explain();
    }
    bool encoded = false;
    const Plan of_repeated = plan_powers(repeated, options);
    for (const PowerCandidate& candidate : of_repeated.candidates()) {
      encoded = encoded || (candidate.plain() && candidate.format.values != StoredValues::full);
      EXPECT_TRUE(autotune || candidate.format.values == std::min(cheap, StoredValues::constants));
    }
    EXPECT_TRUE(autotune || encoded == (cheap != StoredValues::full)) << of_repeated.explain();
    options.values = StoredValues::full;
    EXPECT_FALSE(plan_powers(repeated, options).record().values->encoded());
    options.values = StoredValues::constants;
    EXPECT_EQ(plan_powers(repeated, options).choice().format.values, StoredValues::constants);
  }
}

// Slices that may not lead to other planes need more bytes, which only sweeps are paid for.
TEST(PowerPlan, EncodedValuesAreStoredForPlainProductsUnlessTheyAreSwept) {
  const auto matrix = generate<double, I>("stencil27:32x32x64");
  PowerOptions options = quick_options();
  options.values = StoredValues::constants;
  const auto bytes = [&](PowerStrategy strategy) {
    options.strategy = strategy;
    return plan_powers(matrix, options).record().values->footprint.bytes();
  };
  EXPECT_EQ(bytes(PowerStrategy::automatic), bytes(PowerStrategy::spmv));
  EXPECT_GT(bytes(PowerStrategy::wavefront), bytes(PowerStrategy::spmv));
}

TEST(PowerPlan, AgreesWithTheReferenceOnRandomMatricesAndOptions) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Random random(seed, 11);
    const auto number = [&](std::uint64_t counter, Offset least, Offset most) {
      return least + static_cast<Offset>(random.below(counter, most - least + 1));
    };
    const auto rows = number(0, 1, 3000);
    Pattern<I> pattern;
    switch (number(1, 0, 3)) {
      case 0: pattern = test::random_pattern<I>(rows, number(2, 0, 6 * rows), seed); break;
      case 1: pattern = test::random_tree<I>(rows, seed); break;
      case 2:
        pattern = test::box<I>(number(2, 1, 12), number(3, 1, 12), number(4, 1, 60),
                               test::Touching::corners);
        break;
      default:
        pattern = test::interleaved(
            test::box<I>(number(2, 1, 40), number(3, 1, 80), 1, test::Touching::faces),
            test::random_pattern<I>(number(4, 1, 300), number(5, 0, 500), seed));
    }
    if (number(6, 0, 1) == 1) pattern = test::shuffled(pattern, seed);
    PowerOptions options = quick_options();
    options.power = static_cast<int>(number(7, 1, 9));
    options.basis = test::basis_number(static_cast<int>(number(8, 0, 4)));
    options.vectors = static_cast<int>(number(9, 0, 1) == 0 ? 1 : number(10, 1, 8));
    options.vector_order = number(11, 0, 1) == 0 ? VectorOrder::caller : VectorOrder::plan;
    options.strategy = kStrategies[number(12, 0, 3)];
    options.format = kFormats[number(13, 0, 3)];
    options.slice_height = std::array{0, 4, 8, 16, 32}[number(14, 0, 4)];
    options.block = static_cast<int>(number(15, 0, 5));
    options.cache_bytes = number(16, 0, 2) == 0 ? 0 : number(17, 1, 500000);
    options.threads = static_cast<int>(number(18, 0, 6));
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    expect_powers(matrix_of(pattern, seed), options);
    if (HasFailure()) return;
  }
}

TEST(PowerPlan, AgreesWithTheReferenceWhenItTimesItsCandidates) {
  for (const char* spec :
       {"stencil27:10x10x40", "mesh:3000,dim=3,nnzr=16,shuffle=1", "random:2000,nnzr=8"}) {
    SCOPED_TRACE(spec);
    PowerOptions options = quick_options();
    options.autotune = true;
    options.threads = 2;
    options.cache_bytes = 200000;
    expect_powers(generate<double, I>(spec), options);
    options.vectors = 3;
    options.vector_order = VectorOrder::plan;
    expect_powers(generate<double, I>(spec), options);
  }
}

TEST(PowerPlan, TakesMorePowersThanThereAreLevels) {
  for (const PowerStrategy strategy : kStrategies) {
    PowerOptions options = quick_options();
    options.strategy = strategy;
    options.power = 40;
    options.basis = Basis::scaled(10);
    expect_powers(generate<double, I>("stencil27:10x10x3"), options);
    expect_powers(matrix_of(test::clique<I>(60), 1), options);
    expect_powers(matrix_of(test::graph_of<I>(60, {}), 1), options);
  }
}

// The rows in the order of the plan, without padded rows.
std::vector<double> row_order(const Plan& plan) {
  std::vector<double> rows(static_cast<std::size_t>(plan.rows()) * plan.vectors());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<double>(i) + 1;
  std::vector<double> order(static_cast<std::size_t>(plan.padded_rows()) * plan.vectors());
  plan.to_plan_order(rows, order);
  std::erase(order, 0.0);
  return order;
}

std::vector<double> apply_to_random(const Plan& plan, VectorOrder order) {
  return test::powers_of(
      plan, order,
      random_vector<double>(static_cast<std::size_t>(plan.rows()) * plan.vectors(), 1));
}

TEST(PowerPlan, GivesTheSameBitsForAnyNumberOfThreads) {
  for (const char* spec : {"stencil27:12x12x40", "mesh:5000,dim=3,nnzr=16,shuffle=1"}) {
    const auto matrix = generate<double, I>(spec);
    for (const PowerStrategy strategy :
         {PowerStrategy::spmv, PowerStrategy::levels, PowerStrategy::wavefront}) {
      for (const Format format : {Format::csr, Format::packed_sell}) {
        SCOPED_TRACE(testing::Message()
                     << spec << ", " << name_of(strategy) << ", " << name_of(format));
        PowerOptions options = quick_options();
        options.strategy = strategy;
        options.format = format;
        options.slice_height = format == Format::csr ? 0 : 8;
        options.cache_bytes = 300000;  // of all threads: the order of the rows is the same for any
        options.threads = 1;
        const Plan serial = plan_powers(matrix, options);
        const auto expected = apply_to_random(serial, options.vector_order);
        EXPECT_EQ(apply_to_random(serial, options.vector_order), expected);
        for (const int threads : {2, 5, 16}) {
          options.threads = threads;
          const Plan plan = plan_powers(matrix, options);
          ASSERT_EQ(plan.threads(), threads);
          ASSERT_EQ(row_order(plan), row_order(serial)) << threads;
          EXPECT_EQ(apply_to_random(plan, options.vector_order), expected) << threads;
          EXPECT_EQ(apply_to_random(plan, options.vector_order), expected) << threads;
        }
      }
    }
  }
}

TEST(PowerPlan, GivesTheSameBitsForAnyStrategyWithTheSameRowsAndFormat) {
  int compared = 0;
  for (const char* spec : {"stencil27:16x16x40", "band:20000,width=9"}) {
    const auto matrix = generate<double, I>(spec);
    for (const Format format : {Format::csr, Format::sell, Format::packed_sell}) {
      for (const VectorOrder order : {VectorOrder::caller, VectorOrder::plan}) {
        PowerOptions options = quick_options();
        options.format = format;
        options.slice_height = 32;
        options.vector_order = order;
        options.threads = 2;
        options.cache_bytes = 300000;
        options.strategy = PowerStrategy::spmv;
        const Plan plain = plan_powers(matrix, options);
        const auto expected = apply_to_random(plain, order);
        for (const PowerStrategy strategy : {PowerStrategy::levels, PowerStrategy::wavefront}) {
          options.strategy = strategy;
          const Plan plan = plan_powers(matrix, options);
          EXPECT_EQ(plan.choice().strategy, strategy);
          EXPECT_EQ(plan.choice().format.format, format);
          EXPECT_EQ(plan.choice().format.alignment(), plain.choice().format.alignment());
          if (row_order(plan) != row_order(plain)) continue;
          ++compared;
          EXPECT_EQ(apply_to_random(plan, order), expected)
              << spec << ", " << name_of(strategy) << ", " << name_of(format);
        }
      }
    }
  }
  EXPECT_GE(compared, 12);
}

}  // namespace
}  // namespace strata
