// Which workspace belongs to which plan, and what plans and workspaces do that were moved from or
// never made: they throw InvalidArgument, every function of them.
#include <gtest/gtest.h>

#include <utility>

#include "strata/plans/power_plan.hpp"
#include "tests/plans/support.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

using test::expect_refused;
using test::kFormats;
using test::kStrategies;
using test::plan_of;
using test::random_vector;

using I = std::int32_t;
using Matrix = Csr<double, I>;
using Plan = PowerPlan<double, I>;

constexpr std::string_view kEmptyPlan = "the plan is empty: it was moved from or never made";
constexpr std::string_view kEmptyWorkspace =
    "the workspace is empty: it was moved from or no plan made it";
constexpr std::string_view kOtherPlan = "the workspace was made for another plan";
constexpr std::string_view kOtherFunction =
    "the workspace was made for another function of the plan";

Matrix stencil() {
  return generate<double, I>("stencil7:10x10x30,shuffle=1");
}

// Calls every function of the plan; none may do anything but refuse.
template <Value V, Index Ix>
void expect_empty(PowerPlan<V, Ix>& plan, typename PowerPlan<V, Ix>::Workspace& workspace) {
  std::vector<V> vector(3), powers(12);
  const auto refused = [](auto&& call) { expect_refused(call, kEmptyPlan); };
  refused([&] { plan.rows(); });
  refused([&] { plan.padded_rows(); });
  refused([&] { plan.power(); });
  refused([&] { plan.vectors(); });
  refused([&] { plan.vector_rows(); });
  refused([&] { plan.make_workspace(); });
  refused([&] { plan.make_workspace_for_last(); });
  refused([&] { plan.apply(vector, powers, workspace); });
  refused([&] { plan.apply({}, {}, workspace); });
  refused([&] { plan.apply_last(vector, vector, workspace); });
  refused([&] { plan.apply_last({}, {}, workspace); });
  refused([&] { plan.to_plan_order(vector, vector); });
  refused([&] { plan.to_plan_order({}, {}); });
  refused([&] { plan.to_caller_order(vector, vector); });
  refused([&] { plan.to_caller_order({}, {}); });
  refused([&] { plan.update_values({}); });
  refused([&] { plan.choice(); });
  refused([&] { plan.candidates(); });
  refused([&] { plan.levels(); });
  refused([&] { plan.threads(); });
  refused([&] { plan.setup_seconds(); });
  refused([&] { plan.break_even(); });
  refused([&] { plan.explain(); });
}

template <class Types>
class EmptyPlan : public testing::Test {};
TYPED_TEST_SUITE(EmptyPlan, test::AllTypes);

TYPED_TEST(EmptyPlan, RefusesEverything) {
  using V = typename TypeParam::Value;
  using Ix = typename TypeParam::Index;
  PowerPlan<V, Ix> plan;
  typename PowerPlan<V, Ix>::Workspace none;
  EXPECT_EQ(none.bytes(), 0);
  expect_empty(plan, none);

  const auto matrix = generate<V, Ix>("stencil5:20x20");
  plan = plan_of(matrix, PowerStrategy::levels, Format::packed_sell);
  auto workspace = plan.make_workspace();
  auto taken = std::move(plan);
  expect_empty(plan, workspace);
  expect_empty(plan, none);
  plan = std::move(taken);
  expect_empty(taken, workspace);

  auto workspace_taken = std::move(workspace);
  EXPECT_EQ(workspace.bytes(), 0);
  EXPECT_GT(workspace_taken.bytes(), 0);
  const auto x = random_vector<V>(400, 1);
  std::vector<V> powers(4 * x.size());
  EXPECT_NO_THROW(plan.apply(x, powers, workspace_taken));
  for (auto* empty : {&workspace, &none}) {
    expect_refused([&] { plan.apply(x, powers, *empty); }, kEmptyWorkspace);
    expect_refused([&] { plan.apply_last(x, std::span(powers).first(400), *empty); },
                   kEmptyWorkspace);
  }
  workspace = std::move(none);
  EXPECT_EQ(workspace.bytes(), 0);
}

// An empty plan can be assigned, moved and destroyed.
TEST(EmptyPlans, CanBeMoved) {
  Plan first;
  Plan second = std::move(first);
  first = std::move(second);
  first = Plan();
  Plan::Workspace none;
  expect_empty(first, none);
  expect_empty(second, none);
}

TEST(Workspace, OfAPlanForTheSameMatrixIsRefused) {
  const Matrix matrix = stencil();
  for (const PowerStrategy strategy : kStrategies) {
    for (const Format format : kFormats) {
      for (const VectorOrder order : {VectorOrder::caller, VectorOrder::plan}) {
        SCOPED_TRACE(testing::Message() << name_of(strategy) << ", " << name_of(format));
        const Plan plan = plan_of(matrix, strategy, format, order);
        const Plan twin = plan_of(matrix, strategy, format, order);
        std::vector<double> start(plan.vector_rows(), 1), powers(4 * start.size(), -1);
        const auto untouched = powers;
        const auto last = std::span(powers).first(start.size());
        auto workspace = twin.make_workspace();
        auto for_last = twin.make_workspace_for_last();
        EXPECT_EQ(workspace.bytes(), plan.make_workspace().bytes());
        expect_refused([&] { plan.apply(start, powers, workspace); }, kOtherPlan);
        expect_refused([&] { plan.apply(start, powers, for_last); }, kOtherPlan);
        expect_refused([&] { plan.apply_last(start, last, workspace); }, kOtherPlan);
        expect_refused([&] { plan.apply_last(start, last, for_last); }, kOtherPlan);
        EXPECT_EQ(powers, untouched);
        EXPECT_NO_THROW(twin.apply(start, powers, workspace));
        EXPECT_NO_THROW(twin.apply_last(start, last, for_last));
      }
    }
  }
}

TEST(Workspace, OfAnotherFunctionIsRefusedWhereItIsTooSmall) {
  const Plan plan = plan_of(stencil(), PowerStrategy::levels, Format::csr);
  std::vector<double> x(plan.rows(), 1), powers(4 * x.size()), last(x.size());
  auto for_last = plan.make_workspace_for_last();
  expect_refused([&] { plan.apply(x, powers, for_last); }, kOtherFunction);
  EXPECT_NO_THROW(plan.apply_last(x, last, for_last));
  EXPECT_LT(for_last.bytes(), plan.make_workspace().bytes());
  // A plan that keeps the rows where they are works in the caller's vectors, but for one.
  const Plan direct = plan_of(stencil(), PowerStrategy::spmv, Format::csr);
  auto workspace = direct.make_workspace();
  expect_refused([&] { direct.apply_last(x, last, workspace); }, kOtherFunction);
}

TEST(Workspace, StaysGoodWhenItOrItsPlanIsMoved) {
  const auto x = random_vector<double>(stencil().rows(), 1);
  for (const PowerStrategy strategy : kStrategies) {
    Plan first = plan_of(stencil(), strategy, Format::packed_sell);
    const auto expected = test::powers_of(first, VectorOrder::caller, x);
    auto workspace = first.make_workspace();
    Plan second = std::move(first);
    std::vector<double> powers(4 * x.size());
    const auto expect_good = [&](const Plan& plan, Plan::Workspace& memory) {
      std::ranges::fill(powers, -1);
      plan.apply(x, powers, memory);
      EXPECT_EQ(powers, expected) << name_of(strategy);
    };
    expect_good(second, workspace);
    auto moved = std::move(workspace);
    expect_good(second, moved);
    workspace = std::move(moved);
    expect_good(second, workspace);
    // Onto themselves.
    Plan& same_plan = second;
    second = std::move(same_plan);
    Plan::Workspace& same_workspace = workspace;
    workspace = std::move(same_workspace);
    expect_good(second, workspace);
    // Another plan in the old place is another plan.
    first = plan_of(stencil(), strategy, Format::packed_sell);
    expect_refused([&] { first.apply(x, powers, workspace); }, kOtherPlan);
    expect_good(second, workspace);
    std::swap(first, second);
    expect_good(first, workspace);
    expect_refused([&] { second.apply(x, powers, workspace); }, kOtherPlan);
    // Its plan is gone.
    first = Plan();
    expect_refused([&] { first.apply(x, powers, workspace); }, kEmptyPlan);
  }
}

TEST(Workspace, IsCheckedWhenPlansMoveInAVector) {
  std::vector<Plan> plans;
  std::vector<Plan::Workspace> workspaces;
  for (int i = 0; i < 5; ++i) {
    plans.push_back(plan_of(stencil(), PowerStrategy::wavefront, Format::csr));
    workspaces.push_back(plans.back().make_workspace());
  }
  const std::vector<double> x(plans[0].rows(), 1);
  std::vector<double> powers(4 * x.size());
  for (int i = 0; i < 5; ++i) {
    EXPECT_NO_THROW(plans[i].apply(x, powers, workspaces[i]));
    expect_refused([&] { plans[i].apply(x, powers, workspaces[(i + 1) % 5]); }, kOtherPlan);
  }
}

}  // namespace
}  // namespace strata
