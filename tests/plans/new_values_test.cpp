// New values for a plan: the same as a new plan where the pattern is the same, and nothing changed
// where it is not.
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "strata/order/permutation.hpp"
#include "strata/plans/power_plan.hpp"
#include "tests/plans/support.hpp"
#include "tests/support/format_check.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

using test::kFormats;
using test::kStrategies;
using test::plan_of;
using test::random_vector;

// Row i has entries in the columns i + distance, round the end: all rows are of equal length.
template <Value V, Index I>
Csr<V, I> circulant(I rows, const std::vector<Offset>& distances) {
  test::Entries<V, I> entries(rows, rows, 3);
  for (Offset row = 0; row < rows; ++row) {
    for (const Offset distance : distances) entries.add(row, (row + distance) % rows);
  }
  return entries.coo().to_csr();
}

// The matrix with the columns of one row changed.
template <Value V, Index I>
Csr<V, I> with_columns(const Csr<V, I>& matrix, I row, const std::vector<I>& columns) {
  Array<Offset> offsets(matrix.row_offsets().begin(), matrix.row_offsets().end());
  Array<I> all(matrix.columns().begin(), matrix.columns().end());
  std::ranges::copy(columns, all.begin() + offsets[row]);
  return Csr<V, I>(matrix.rows(), matrix.cols(), std::move(offsets), std::move(all),
                   {matrix.values().begin(), matrix.values().end()});
}

// The same number of entries, one of them in row 1 instead of row 0.
template <Value V, Index I>
Csr<V, I> with_an_entry_in_another_row(const Csr<V, I>& matrix) {
  Array<Offset> offsets(matrix.row_offsets().begin(), matrix.row_offsets().end());
  Array<I> columns(matrix.columns().begin(), matrix.columns().end());
  --offsets[1];
  std::iota(columns.begin(), columns.begin() + offsets[2], I{0});
  return Csr<V, I>(matrix.rows(), matrix.cols(), std::move(offsets), std::move(columns),
                   {matrix.values().begin(), matrix.values().end()});
}

template <class Types>
class NewValues : public testing::Test {};
using SomeTypes =
    testing::Types<test::Types<double, std::int32_t>, test::Types<float, std::int64_t>,
                   test::Types<std::complex<double>, std::int32_t>>;
TYPED_TEST_SUITE(NewValues, SomeTypes);

constexpr std::string_view kOtherPattern = "new values come with a matrix of another pattern";

TYPED_TEST(NewValues, OnAnotherPatternAreRefusedAndThePlanStaysAsItWas) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  const std::vector<Offset> distances{0, 1, 7, 60};
  const auto matrix = circulant<V, I>(3600, distances);
  const auto moved = reordered(matrix, Permutation<I>::random(matrix.rows(), 1));
  const std::pair<const char*, Csr<V, I>> others[] = {
      {"other columns in rows of the same lengths", circulant<V, I>(3600, {0, 2, 9, 60})},
      {"transposed", transposed(matrix)},
      {"rows and columns permuted", moved},
      {"one entry in another column", with_columns<V, I>(matrix, 100, {100, 101, 107, 161})},
      {"one entry in another row", with_an_entry_in_another_row(matrix)},
      {"an entry more", circulant<V, I>(3600, {0, 1, 7, 60, 61})},
      {"smaller", circulant<V, I>(3599, distances)},
      {"nothing", {}}};
  const auto x = random_vector<V>(3600, 1);
  const auto new_values = test::with_other_values(matrix, 5);
  for (const PowerStrategy strategy : kStrategies) {
    for (const Format format : kFormats) {
      auto plan = plan_of(matrix, strategy, format);
      const auto expected = test::powers_of(plan, VectorOrder::caller, x);
      for (const auto& [name, other] : others) {
        SCOPED_TRACE(testing::Message()
                     << name_of(strategy) << ", " << name_of(format) << ", " << name);
        test::expect_refused([&, &matrix = other] { plan.update_values(matrix); }, kOtherPattern);
        EXPECT_EQ(test::powers_of(plan, VectorOrder::caller, x), expected);
      }
      plan.update_values(new_values);
      EXPECT_NE(test::powers_of(plan, VectorOrder::caller, x), expected);
    }
  }
}

TYPED_TEST(NewValues, OnTheSamePatternMakeThePlanLikeANewOne) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  const auto matrix = generate<V, I>("stencil7:10x10x30,shuffle=1");
  auto changed = test::with_other_values(matrix, 5);
  // Explicit zeros are values like any other: they make no hole.
  for (Offset k = 0; k < changed.nnz(); k += 3) changed.mutable_values()[k] = V{};
  const auto x = random_vector<V>(matrix.rows(), 1);
  for (const PowerStrategy strategy : kStrategies) {
    for (const Format format : kFormats) {
      SCOPED_TRACE(testing::Message() << name_of(strategy) << ", " << name_of(format));
      auto plan = plan_of(matrix, strategy, format);
      plan.update_values(changed);
      const auto powers = test::powers_of(plan, VectorOrder::caller, x);
      const auto fresh = plan_of(changed, strategy, format);
      ASSERT_EQ(plan.choice().order, fresh.choice().order);
      ASSERT_EQ(plan.choice().format, fresh.choice().format);
      EXPECT_EQ(powers, test::powers_of(fresh, VectorOrder::caller, x));
      test::expect_close(powers, test::expected_powers(changed, Basis::monomial(), 4, x, 1), 4,
                         test::longest_row(matrix));
      plan.update_values(matrix);
      EXPECT_EQ(test::powers_of(plan, VectorOrder::caller, x),
                test::powers_of(plan_of(matrix, strategy, format), VectorOrder::caller, x));
    }
  }
}

// Values say nothing about the layout, not even those that are no numbers.
TEST(NewValuesOfAPlan, MayBeNotANumberAndComeBack) {
  using I = std::int32_t;
  const auto matrix = generate<double, I>("band:3000,width=9,shuffle=1");
  auto poisoned = matrix;
  for (double& value : poisoned.mutable_values()) value = std::numeric_limits<double>::quiet_NaN();
  const auto x = random_vector<double>(matrix.rows(), 1);
  for (const Format format : kFormats) {
    auto plan = plan_of(poisoned, PowerStrategy::levels, format);
    plan.update_values(matrix);
    const auto expected =
        test::powers_of(plan_of(matrix, PowerStrategy::levels, format), VectorOrder::caller, x);
    EXPECT_EQ(test::powers_of(plan, VectorOrder::caller, x), expected);
    plan.update_values(poisoned);
    const auto powers = test::powers_of(plan, VectorOrder::caller, x);
    EXPECT_TRUE(std::ranges::all_of(powers, [](double y) { return y != y; }));
    plan.update_values(matrix);
    EXPECT_EQ(test::powers_of(plan, VectorOrder::caller, x), expected);
  }
}

// Nothing of a plan depends on where it lies.
TEST(NewValuesOfAPlan, AreTakenAfterAMoveAndLeaveWorkspacesGood) {
  const auto matrix = generate<double, std::int32_t>("stencil5:40x50");
  const auto changed = test::with_other_values(matrix, 5);
  auto first = plan_of(matrix, PowerStrategy::levels, Format::packed_sell);
  auto workspace = first.make_workspace();
  auto second = std::move(first);
  second.update_values(changed);
  const auto x = random_vector<double>(matrix.rows(), 1);
  std::vector<double> powers(4 * x.size());
  second.apply(x, powers, workspace);
  EXPECT_EQ(powers, test::powers_of(second, VectorOrder::caller, x));
  test::expect_close(powers, test::expected_powers(changed, Basis::monomial(), 4, x, 1), 4,
                     test::longest_row(matrix));
}

}  // namespace
}  // namespace strata
