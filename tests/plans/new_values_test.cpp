// New values for a plan: the same as a new plan where the pattern is the same, and nothing changed
// where it is not.
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "strata/order/permutation.hpp"
#include "strata/plans/power_plan.hpp"
#include "strata/plans/product_plan.hpp"
#include "tests/plans/support.hpp"
#include "tests/support/format_check.hpp"
#include "tests/support/repeated_values.hpp"
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
      ASSERT_EQ(plan.choice().format.format, fresh.choice().format.format);
      ASSERT_EQ(plan.choice().format.slice_height, fresh.choice().format.slice_height);
      EXPECT_EQ(powers, test::powers_of(fresh, VectorOrder::caller, x));
      test::expect_close(powers, test::expected_powers(changed, Basis::monomial(), 4, x, 1), 4,
                         test::longest_row(matrix));
      plan.update_values(matrix);
      EXPECT_EQ(test::powers_of(plan, VectorOrder::caller, x),
                test::powers_of(plan_of(matrix, strategy, format), VectorOrder::caller, x));
    }
  }
}

// From a few values to many and back, whatever they were stored in before.
TYPED_TEST(NewValues, ThatRepeatOrNotMakeThePlanLikeANewOne) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  const auto pattern = generate<V, I>("stencil7:9x10x20");
  const auto x = random_vector<V>(pattern.rows(), 1);
  using test::Repeats;
  const Repeats sequence[] = {Repeats::by_offset, Repeats::never,    Repeats::one_value,
                              Repeats::special,   Repeats::few,      Repeats::random_diagonal,
                              Repeats::hundreds,  Repeats::one_value};
  for (const auto& values : test::kAskedValues) {
    for (const PowerStrategy strategy : kStrategies) {
      PowerOptions options = test::quick_options();
      options.strategy = strategy;
      options.format = Format::packed_sell;
      options.values = values;
      auto plan = plan_powers(test::with_repeats(pattern, sequence[0]), options);
      for (const Repeats repeats : sequence) {
        SCOPED_TRACE(testing::Message()
                     << name_of(strategy) << ", repeats " << static_cast<int>(repeats)
                     << ", values " << (values ? name_of(*values) : "auto"));
        const auto changed = test::with_repeats(pattern, repeats);
        plan.update_values(changed);
        const auto fresh = plan_powers(changed, options);
        EXPECT_TRUE(test::same_results(test::powers_of(plan, VectorOrder::caller, x),
                                       test::powers_of(fresh, VectorOrder::caller, x)));
        ASSERT_TRUE(plan.record().values.has_value());
        EXPECT_EQ(plan.choice().format_bytes, plan.record().values->footprint.bytes());
        if (values == StoredValues::full) {
          EXPECT_FALSE(plan.record().values->encoded());
          EXPECT_EQ(plan.choice().format_bytes, fresh.choice().format_bytes);
        }
        if (values == StoredValues::all) {
          EXPECT_EQ(plan.record().values->encoded(), repeats != Repeats::never);
        }
      }
    }
  }
}

TEST(NewValuesOfAPlan, AreExplainedWhereTheyNeedAnotherEncoding) {
  const auto matrix = generate<double, std::int32_t>("stencil5:60x60");
  ProductOptions options;
  options.autotune = false;
  auto plan = plan_product(matrix, options);
  const auto says = [&](std::string_view words) {
    return plan.explain().find(words) != std::string::npos;
  };
  EXPECT_TRUE(plan.record().values->encoded());
  EXPECT_TRUE(says("Values are encoded")) << plan.explain();
  EXPECT_TRUE(says("New values are encoded again")) << plan.explain();
  plan.update_values(matrix);
  EXPECT_FALSE(says("another encoding")) << plan.explain();
  plan.update_values(test::with_repeats(matrix, test::Repeats::never));
  EXPECT_FALSE(plan.record().values->encoded());
  EXPECT_TRUE(says("Values are stored in full")) << plan.explain();
  EXPECT_TRUE(says("another encoding")) << plan.explain();
  plan.update_values(matrix);
  EXPECT_TRUE(plan.record().values->encoded());
  EXPECT_TRUE(says("another encoding")) << plan.explain();

  options.values = StoredValues::full;
  plan = plan_product(matrix, options);
  EXPECT_TRUE(says("Values are stored in full")) << plan.explain();
  options.format = Format::csr;
  plan = plan_product(matrix, options);
  EXPECT_FALSE(plan.record().values.has_value());
  options.values = StoredValues::all;
  test::expect_refused([&] { plan_product(matrix, options); },
                       "values are encoded in the format packed-sell, not in csr");
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
