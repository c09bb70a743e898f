// Plain powers by products in every format and kernel of processors, those that sweeps do not run
// in among them: against the reference, and in all that a plan for powers does besides. And how
// plans come to take them.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <complex>
#include <string>
#include <vector>

#include "strata/plans/internal/product_request.hpp"
#include "strata/tune/tuning_store.hpp"
#include "tests/plans/any_products.hpp"
#include "tests/plans/support.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

using I = std::int32_t;
using Matrix = Csr<double, I>;
using Plan = PowerPlan<double, I>;
using test::quick_options;
using test::random_vector;

template <Value V, Index Ix>
PowerPlan<V, Ix> plan_with(const Csr<V, Ix>& matrix, const ProductSpec& spec,
                           const PowerOptions& options) {
  return detail::plan_powers_with(matrix, options, {.only = {spec}});
}

template <class Types>
class PlainPowersTyped : public testing::Test {};
using SomeTypes = testing::Types<test::Types<double, std::int32_t>,
                                 test::Types<std::complex<float>, std::int64_t>>;
TYPED_TEST_SUITE(PlainPowersTyped, SomeTypes);

TYPED_TEST(PlainPowersTyped, AgreeWithTheReferenceOnAwkwardMatrices) {
  using V = typename TypeParam::Value;
  using Ix = typename TypeParam::Index;
  int turn = 0;
  int refused = 0;
  for (const auto& [name, entries] : test::awkward_matrices<V, Ix>()) {
    SCOPED_TRACE(name);
    const Csr<V, Ix> csr = entries.to_csr();
    if (csr.rows() != csr.cols()) continue;
    for (const ProductSpec& spec : test::products_for(csr)) {
      SCOPED_TRACE(label_of(spec));
      ++turn;
      PowerOptions options = quick_options();
      options.power = 1 + turn % 5;
      options.vectors = 1 + turn % 8;
      options.threads = 1 + turn % 3;
      options.basis = test::basis_number(turn);
      options.vector_order = turn % 2 == 0 ? VectorOrder::plan : VectorOrder::caller;
      if (!test::is_taken([&] {
            const auto plan = plan_with(csr, spec, options);
            EXPECT_TRUE(plan.choice().plain());
            EXPECT_EQ(plan.choice().spec(), spec);
            test::expect_powers_of(plan, csr, options);
          })) {
        ++refused;
      }
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(turn, 100);
  EXPECT_LT(refused, turn / 4);
}

TYPED_TEST(PlainPowersTyped, DoAllThatPlansForPowersDo) {
  using V = typename TypeParam::Value;
  using Ix = typename TypeParam::Index;
  // More rows than threads sum up at once.
  const auto csr = generate<V, Ix>("stencil5:70x70");
  int turn = 0;
  for (const ProductSpec& spec : test::products_for(csr)) {
    SCOPED_TRACE(label_of(spec));
    ++turn;
    PowerOptions options = quick_options();
    options.power = 4;
    options.threads = 1 + turn % 3;
    options.vectors = std::array{1, 3}[turn % 2];
    auto plan = plan_with(csr, spec, options);
    const auto each = static_cast<std::size_t>(csr.rows()) * options.vectors;
    const auto x = random_vector<V>(each, 3);
    const std::vector<V> powers = test::powers_of(plan, VectorOrder::caller, x);

    const auto c = random_vector<V>(5, 4);
    std::vector<V> sum(each, V(-7));
    auto workspace = plan.make_workspace_for_sum();
    plan.apply_sum(x, c, sum, workspace);
    test::expect_sum_of_powers(sum, x, c, powers);

    std::vector<V> y(each, V(-7));
    plan.multiply(x, y, workspace);
    EXPECT_TRUE(std::ranges::equal(y, std::span(powers).first(each)));

    std::vector<V> first(2 * each, V(-7));
    auto for_powers = plan.make_workspace();
    plan.apply_first(2, x, first, for_powers);
    EXPECT_TRUE(std::ranges::equal(first, std::span(powers).first(2 * each)));

    std::vector<V> traced(4 * each, V(-7));
    const TaskTrace trace = plan.trace(x, traced, for_powers);
    EXPECT_EQ(traced, powers);
    EXPECT_EQ(trace.tasks.size(), 4 * static_cast<std::size_t>(plan.threads()));
    EXPECT_EQ(trace.tasks.front().power, 1);
    EXPECT_EQ(trace.tasks.back().power, 4);

    std::vector<V> spread(powers.size(), V(-7));
    auto strided = plan.make_strided_workspace();
    plan.apply({x.data(), options.vectors, 1}, {spread.data(), options.vectors, 1},
               static_cast<Offset>(each), strided);
    EXPECT_EQ(spread, powers);

    options.basis = Basis::chebyshev(-8, 8);
    plan.set_basis(options.basis);
    test::expect_powers_of(plan, csr, options);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(PlainPowers, DoNotDependOnThreads) {
  const auto matrix = generate<double, I>("random:3000,nnzr=12");
  const auto x = random_vector<double>(static_cast<std::size_t>(matrix.rows()), 1);
  PowerOptions options = quick_options();
  options.power = 3;
  for (const ProductSpec& spec : test::products_for(matrix)) {
    SCOPED_TRACE(label_of(spec));
    test::is_taken([&] {
      options.threads = 1;
      const auto expected =
          test::powers_of(plan_with(matrix, spec, options), VectorOrder::caller, x);
      for (const int threads : {2, 5}) {
        options.threads = threads;
        const Plan plan = plan_with(matrix, spec, options);
        EXPECT_EQ(plan.threads(), threads);
        EXPECT_EQ(test::powers_of(plan, VectorOrder::caller, x), expected);
      }
    });
  }
}

TEST(PlainPowers, TakeNewValues) {
  const auto matrix = generate<double, I>("stencil27:8x8x8,dof=2,coefficients=random");
  const auto other = generate<double, I>("stencil27:8x8x8,dof=2,coefficients=random,seed=9");
  ASSERT_NE(matrix, other);
  PowerOptions options = quick_options();
  for (const ProductSpec& spec : test::products_for(matrix)) {
    SCOPED_TRACE(label_of(spec));
    test::is_taken([&] {
      Plan plan = plan_with(matrix, spec, options);
      plan.update_values(other);
      test::expect_powers_of(plan, other, options);
    });
  }
}

TEST(PlainPowers, AreExplainedByTheirProduct) {
  const auto matrix = generate<double, I>("stencil27:6x6x6,dof=3");
  const ProductSpec bcsr{parse_format_spec("bcsr:block_rows=3,block_cols=3")};
  const Plan plan = plan_with(matrix, bcsr, quick_options());
  const std::string text = plan.explain();
  EXPECT_NE(text.find("Chosen: plain products in BCSR 3x3, rows given."), std::string::npos)
      << text;
  // Four products read the matrix four times, two of them twice.
  PowerOptions options = quick_options();
  options.power = 2;
  EXPECT_DOUBLE_EQ(plan_with(matrix, bcsr, options).choice().memory_bytes * 2,
                   plan.choice().memory_bytes);
}

// What an autotuned plan finds, with a tuning store of its own.
class PlainPowersOfPlans : public test::FolderTest {
 protected:
  PlainPowersOfPlans() { setenv("STRATA_CACHE_DIR", file("cache").c_str(), 1); }
  ~PlainPowersOfPlans() override { unsetenv("STRATA_CACHE_DIR"); }

  // On a machine that reads so many bytes per second from anywhere.
  PowerOptions timing(double bytes_per_second) {
    for (BandwidthPoint& point : profile_.read) point.bytes_per_second = bytes_per_second;
    for (Plateau& plateau : profile_.plateaus) plateau.bytes_per_second = bytes_per_second;
    PowerOptions options = quick_options();
    options.autotune = true;
    options.threads = 2;
    options.profile = &profile_;
    return options;
  }
  static bool mentions(const Plan& plan, const std::string& words) {
    return plan.explain().find(words) != std::string::npos;
  }
  static bool is_candidate(const Plan& plan, const ProductSpec& spec) {
    return std::ranges::any_of(plan.candidates(), [&](const PowerCandidate& candidate) {
      return candidate.spec() == spec && candidate.measured_seconds > 0;
    });
  }

  MachineProfile profile_ = test::imaginary_machine();
  const Matrix matrix_ = generate<double, I>("stencil27:9x9x9,dof=3");
};

TEST_F(PlainPowersOfPlans, AreSearchedWhereReadingTheMatrixDoesNotTakeLonger) {
  EXPECT_TRUE(mentions(plan_powers(matrix_, timing(1e18)), "products that sweeps do not run in"));
  EXPECT_FALSE(mentions(plan_powers(matrix_, timing(1)), "products that sweeps do not run in"));
}

TEST_F(PlainPowersOfPlans, AreNotSearchedWhereTheyWereNotAskedFor) {
  PowerOptions options = timing(1e18);
  options.strategy = PowerStrategy::wavefront;
  EXPECT_FALSE(mentions(plan_powers(matrix_, options), "products that sweeps do not run in"));
  options.strategy = PowerStrategy::automatic;
  options.format = Format::csr;
  const Plan plan = plan_powers(matrix_, options);
  EXPECT_FALSE(mentions(plan, "products that sweeps do not run in"));
  for (const PowerCandidate& candidate : plan.candidates()) {
    EXPECT_EQ(candidate.format.format, Format::csr);
    EXPECT_FALSE(candidate.product);
  }
  options = timing(1e18);
  options.autotune = false;
  EXPECT_FALSE(mentions(plan_powers(matrix_, options), "products that sweeps do not run in"));
}

TEST_F(PlainPowersOfPlans, StayInTheGivenOrderWhereTheyAreAskedFor) {
  const auto scattered = generate<double, I>("stencil7:30x30x30,shuffle=1");
  PowerOptions options = timing(1e9);
  options.strategy = PowerStrategy::spmv;
  const Plan asked = plan_powers(scattered, options);
  for (const PowerCandidate& candidate : asked.candidates()) {
    EXPECT_FALSE(candidate.order.moves_rows());
  }
  // Others move them though no sweep may run.
  options.strategy = PowerStrategy::automatic;
  options.processors = {.usable = 1, .quota = 0};
  const Plan plan = plan_powers(scattered, options);
  EXPECT_TRUE(plan.choice().plain());
  EXPECT_TRUE(std::ranges::any_of(plan.candidates(), [](const PowerCandidate& candidate) {
    return candidate.order.moves_rows();
  })) << plan.explain();
}

TEST_F(PlainPowersOfPlans, KnowWhatTheTuningStoreKnows) {
  // Of no use in general, so that nobody finds it by rank.
  const ProductSpec rare{parse_format_spec("bcsr:block_rows=8,block_cols=1")};
  const PowerOptions options = timing(1e18);
  EXPECT_FALSE(is_candidate(plan_powers(matrix_, options), rare));
  const TuningKey key{.matrix = fingerprint_of(matrix_.pattern()),
                      .machine = machine_key(profile_),
                      .threads = 2,
                      .encoded_eighths = encoded_eighths(matrix_)};
  EXPECT_EQ(TuningStore(tuning_store_path())
                .remember(key, {.format = rare.format, .seconds = 1e-4, .candidates = 7}),
            "");
  const Plan plan = plan_powers(matrix_, options);
  EXPECT_TRUE(is_candidate(plan, rare)) << plan.explain();
  EXPECT_TRUE(mentions(plan, "is in the tuning store")) << plan.explain();
  test::expect_powers_of(plan, matrix_, options);
}

TEST_F(PlainPowersOfPlans, AgreeWithTheReferenceWhateverIsFound) {
  for (const char* spec : {"stencil27:9x9x9,dof=3", "arrow:2000", "mesh:3000,dim=3,nnzr=15",
                           "random:2000,nnzr=20", "band:3000,width=9", "rmat:10,edges=8"}) {
    SCOPED_TRACE(spec);
    const auto matrix = generate<double, I>(spec);
    for (const int vectors : {1, 3}) {
      for (const PowerStrategy strategy : {PowerStrategy::automatic, PowerStrategy::spmv}) {
        PowerOptions options = timing(1e18);
        options.vectors = vectors;
        options.strategy = strategy;
        options.vector_order = vectors == 1 ? VectorOrder::caller : VectorOrder::plan;
        test::expect_powers(matrix, options);
      }
    }
  }
  PowerOptions options = timing(1e18);
  test::expect_powers(Matrix(), options);
  test::expect_powers(Matrix(3, 3, {0, 0, 0, 0}, {}, {}), options);
}

}  // namespace
}  // namespace strata
