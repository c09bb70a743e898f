// Product plans against exact steps: every format, order, shape, number of vectors and threads.
#include "strata/plans/product_plan.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include "strata/measure/validation.hpp"
#include "strata/plans/power_plan.hpp"
#include "tests/plans/products.hpp"
#include "tests/plans/support.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

using test::expect_products;
using test::expect_refused;
using test::quick_product;
using test::random_vector;

constexpr Format kFormats[] = {Format::automatic, Format::csr, Format::sell, Format::packed_sell};

template <class Types>
class ProductPlanTyped : public testing::Test {};
TYPED_TEST_SUITE(ProductPlanTyped, test::AllTypes);

TYPED_TEST(ProductPlanTyped, AgreesWithExactStepsOnAwkwardMatrices) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  int turn = 0;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    SCOPED_TRACE(name);
    const Csr<V, I> csr = entries.to_csr();
    for (const Format format : kFormats) {
      SCOPED_TRACE(name_of(format));
      ++turn;
      ProductOptions options = quick_product();
      options.format = format;
      options.vectors = 1 + turn % 8;
      options.threads = 1 + turn % 3;
      options.vector_order = turn % 2 == 0 ? VectorOrder::plan : VectorOrder::caller;
      expect_products(csr, options);
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST(ProductPlan, AgreesWithExactStepsWhereItReorders) {
  const auto matrix = generate<double, std::int32_t>("stencil7:30x30x30,shuffle=1");
  for (const VectorOrder order : {VectorOrder::caller, VectorOrder::plan}) {
    for (const int vectors : {1, 3}) {
      ProductOptions options = quick_product();
      options.vector_order = order;
      options.vectors = vectors;
      options.threads = 2;
      expect_products(matrix, options);
    }
  }
}

TEST(ProductPlan, ConsidersAnotherOrderOfRowsThatReadFarApart) {
  const auto considers_levels = [](const char* spec) {
    const auto plan = plan_product(generate<double, std::int32_t>(spec), quick_product());
    return std::ranges::any_of(plan.record().candidates, [](const PowerCandidate& candidate) {
      return candidate.order.kind == RowOrder::Kind::levels;
    });
  };
  EXPECT_TRUE(considers_levels("stencil7:30x30x30,shuffle=1"));
  EXPECT_FALSE(considers_levels("stencil7:30x30x30"));
}

TEST(ProductPlan, TimesItsCandidates) {
  const auto matrix = generate<double, std::int32_t>("stencil7:30x30x30,shuffle=1");
  ProductOptions options = quick_product();
  options.autotune = true;
  options.threads = 2;
  const auto plan = plan_product(matrix, options);
  EXPECT_GT(plan.choice().measured_seconds, 0);
  expect_products(matrix, options);
}

TEST(ProductPlan, IsAPowerPlanOfOnePower) {
  const auto matrix = generate<double, std::int32_t>("mesh:3000,dim=3,nnzr=16");
  const auto x = random_vector<double>(static_cast<std::size_t>(matrix.rows()), 1);
  const auto product = plan_product(matrix, quick_product());
  PowerOptions options = test::quick_options();
  options.power = 1;
  const auto powers = plan_powers(matrix, options);
  EXPECT_EQ(product.choice().format, powers.choice().format);
  std::vector<double> y(x.size());
  std::vector<double> power(x.size());
  auto product_workspace = product.make_workspace();
  auto power_workspace = powers.make_workspace();
  product.apply(x, y, product_workspace);
  powers.apply(x, power, power_workspace);
  EXPECT_EQ(y, power);
}

TEST(ProductPlan, TakesNewValuesOnItsPatternOnly) {
  const auto matrix = generate<double, std::int32_t>("stencil7:12x12x12");
  Array<double> values(matrix.values().begin(), matrix.values().end());
  for (double& value : values) value *= 3;
  const Csr<double, std::int32_t> tripled(
      matrix.rows(), matrix.cols(), {matrix.row_offsets().begin(), matrix.row_offsets().end()},
      {matrix.columns().begin(), matrix.columns().end()}, std::move(values));
  const auto x = random_vector<double>(static_cast<std::size_t>(matrix.rows()), 2);
  for (const Format format : kFormats) {
    ProductOptions options = quick_product();
    options.format = format;
    auto plan = plan_product(matrix, options);
    const auto fresh = plan_product(tripled, options);
    plan.update_values(tripled);
    std::vector<double> updated(x.size());
    std::vector<double> expected(x.size());
    auto workspace = plan.make_workspace();
    auto fresh_workspace = fresh.make_workspace();
    plan.apply(x, updated, workspace);
    fresh.apply(x, expected, fresh_workspace);
    EXPECT_EQ(updated, expected);
    expect_refused([&] { plan.update_values(generate<double, std::int32_t>("stencil5:48x36")); },
                   "new values come with a matrix of another pattern");
    plan.apply(x, updated, workspace);
    EXPECT_EQ(updated, expected);
  }
}

TEST(ProductPlan, TakesVectorsWithStrides) {
  for (const char* spec : {"stencil7:12x12x12", "stencil7:12x12x12,shuffle=1"}) {
    const auto matrix = generate<double, std::int32_t>(spec);
    const auto rows = static_cast<std::size_t>(matrix.rows());
    ProductOptions options = quick_product();
    options.vectors = 3;
    const auto plan = plan_product(matrix, options);
    const auto x = random_vector<double>(3 * rows, 1);
    const auto y = random_vector<double>(3 * rows, 2);
    std::vector<double> expected = y;
    auto workspace = plan.make_workspace();
    plan.apply(2.0, x, -1.0, expected, workspace);
    // Columns with a leading dimension; what is between them stays as it was.
    const std::size_t leading = rows + 5;
    std::vector<double> x_columns(3 * leading, -7);
    std::vector<double> y_columns(3 * leading, -7);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t v = 0; v < 3; ++v) {
        x_columns[v * leading + row] = x[row * 3 + v];
        y_columns[v * leading + row] = y[row * 3 + v];
      }
    }
    auto strided = plan.make_strided_workspace();
    const auto ld = static_cast<Offset>(leading);
    plan.apply(2.0, {x_columns.data(), 1, ld}, -1.0, {y_columns.data(), 1, ld}, strided);
    for (std::size_t v = 0; v < 3; ++v) {
      for (std::size_t row = 0; row < leading; ++row) {
        const double wanted = row < rows ? expected[row * 3 + v] : -7;
        ASSERT_EQ(y_columns[v * leading + row], wanted) << spec << " " << row << " " << v;
      }
    }
  }
}

TEST(ProductPlan, RunsOnTheProcessorsThatItIsGiven) {
  const auto matrix = generate<double, std::int32_t>("stencil7:20x20x20");
  const auto x = random_vector<double>(static_cast<std::size_t>(matrix.rows()), 1);
  std::vector<double> y(x.size());
  ProductOptions options = quick_product();
  options.threads = 2;
  options.affinity = {1 << 20};
  EXPECT_THROW(plan_product(matrix, options), InvalidArgument);
  options.affinity = {sched_getcpu()};
  const auto plan = plan_product(matrix, options);
  auto workspace = plan.make_workspace();
  plan.apply(x, y, workspace);
  EXPECT_TRUE(check_step(matrix, {}, x, {}, y).passed);
}

TEST(ProductPlan, KeepsItsOwnCopyOfTheMatrix) {
  const auto matrix = generate<double, std::int32_t>("mesh:3000,dim=2,nnzr=7");
  const auto x = random_vector<double>(static_cast<std::size_t>(matrix.cols()), 1);
  for (const char* kernel : {"", "loop", "gathers", "parts"}) {
    ProductOptions options = quick_product();
    options.product = ProductSpec{FormatSpec(Format::csr), kernel};
    options.threads = 3;
    auto gone = std::make_unique<Csr<double, std::int32_t>>(matrix);
    const auto plan = plan_product(*gone, options);
    std::ranges::fill(gone->mutable_values(), 0.0);
    gone.reset();
    std::vector<double> y(static_cast<std::size_t>(matrix.rows()));
    auto workspace = plan.make_workspace();
    plan.apply(x, y, workspace);
    EXPECT_TRUE(check_step(matrix, {}, x, {}, y).passed) << kernel;
  }
}

TEST(ProductPlan, RefusesWhatMakesNoSense) {
  const auto matrix = generate<double, std::int32_t>("stencil5:10x10");
  ProductOptions options = quick_product();
  options.vectors = 9;
  expect_refused([&] { plan_product(matrix, options); },
                 "a plan is for 1 to 8 vectors at a time, not 9");
  options = quick_product();
  options.product = ProductSpec{FormatSpec(Format::dia)};
  options.format = Format::dia;
  expect_refused([&] { plan_product(matrix, options); },
                 "a plan is for a product or for a format, not for both");
  options.format = Format::automatic;
  options.product->kernel = "unknown";
  EXPECT_THROW(plan_product(matrix, options), Unavailable);

  const auto plan = plan_product(matrix, quick_product());
  auto workspace = plan.make_workspace();
  std::vector<double> both(150, 1);
  const std::span<double> all(both);
  expect_refused([&] { plan.apply(all.first(99), all.first(100), workspace); },
                 "x has 99 elements; 100 rows and 1 vectors make 100");
  expect_refused([&] { plan.apply(all.first(100), all.last(100), workspace); },
                 "x overlaps the vectors that results are written to");
  std::vector<double> y(100);
  const auto twin = plan_product(matrix, quick_product());
  expect_refused([&] { twin.apply(all.first(100), y, workspace); },
                 "the workspace was made for another plan");
  const ProductPlan<double, std::int32_t> empty;
  expect_refused([&] { empty.rows(); }, "the plan is empty: it was moved from or never made");
}

TEST(ProductPlan, ExplainsItselfInWords) {
  const auto plan =
      plan_product(generate<double, std::int32_t>("stencil7:12x12x12"), quick_product());
  const std::string text = plan.explain();
  EXPECT_NE(text.find("The product of a matrix with 1728 rows"), std::string::npos) << text;
  EXPECT_NE(text.find("Chosen: plain products in"), std::string::npos) << text;
}

}  // namespace
}  // namespace strata
