// Product plans on a GPU against exact steps.
#include "strata/plans/gpu/product_plan.hpp"

#include <gtest/gtest.h>

#include "strata/measure/validation.hpp"
#include "tests/plans/gpu/products.hpp"
#include "tests/support/repeated_values.hpp"
#include "tests/support/types.hpp"

namespace strata::gpu {
namespace {

// Three interleaved vectors as columns, with -7 between them.
std::vector<double> columns_of(const std::vector<double>& interleaved, Offset leading) {
  std::vector<double> columns(static_cast<std::size_t>(3 * leading), -7);
  for (std::size_t i = 0; i < interleaved.size(); ++i) {
    columns[i / 3 + i % 3 * static_cast<std::size_t>(leading)] = interleaved[i];
  }
  return columns;
}

std::vector<std::pair<std::string, Csr<double, std::int32_t>>> strided_matrices() {
  std::vector<std::pair<std::string, Csr<double, std::int32_t>>> matrices;
  for (const char* spec : {"stencil7:12x12x12", "stencil7:12x12x12,shuffle=1"}) {
    matrices.emplace_back(spec, generate<double, std::int32_t>(spec));
  }
  for (const auto& [name, entries] : test::awkward_matrices<double, std::int32_t>()) {
    auto matrix = entries.to_csr();
    if (matrix.rows() != matrix.cols()) matrices.emplace_back(name, std::move(matrix));
  }
  return matrices;
}

TEST_F(GpuProductPlanTest, AgreesWithExactStepsOnAwkwardMatrices) {
  int turn = 0;
  for (const auto& [name, entries] : test::awkward_matrices<double, std::int64_t>()) {
    SCOPED_TRACE(name);
    const Csr<double, std::int64_t> csr = entries.to_csr();
    for (const Format format :
         {Format::automatic, Format::csr, Format::sell, Format::packed_sell}) {
      SCOPED_TRACE(name_of(format));
      ProductOptions options = quick_product();
      options.format = format;
      options.vectors = 1 + turn++ % 8;
      expect_products(csr, options);
    }
  }
}

TEST_F(GpuProductPlanTest, AgreesWithExactStepsInAllPrecisions) {
  expect_products(generate<float, std::int32_t>("fem:30x30,degree=2"), quick_product());
  expect_products(generate<std::complex<float>, std::int32_t>("fem:30x30,degree=2"),
                  quick_product());
  expect_products(generate<std::complex<double>, std::int32_t>("fem:30x30,degree=2"),
                  quick_product());
}

TEST_F(GpuProductPlanTest, TimesItsCandidatesWhereItReorders) {
  const auto matrix = generate<double, std::int32_t>(
      test::on_gpu_or_emulated("stencil7:40x40x40,shuffle=1", "stencil7:24x24x24,shuffle=1"));
  ProductOptions options = quick_product();
  options.autotune = true;
  const auto plan = plan_product(matrix, options, stream());
  EXPECT_GT(plan.choice().measured_seconds, 0);
  const bool considered =
      std::ranges::any_of(plan.record().candidates, [](const PowerCandidate& candidate) {
        return candidate.order.kind == RowOrder::Kind::levels;
      });
  EXPECT_TRUE(considered) << plan.explain();
  expect_products_of(plan, matrix, options);
}

// From a few values to many and back, in the workspace that was made before.
TEST_F(GpuProductPlanTest, NewValuesThatRepeatOrNotMakeThePlanLikeANewOne) {
  using test::Repeats;
  const auto pattern = generate<double, std::int32_t>("stencil7:9x10x20");
  const auto start = test::random_vector<double>(static_cast<std::size_t>(pattern.rows()), 5);
  const auto x = to_device(std::span<const double>(start), stream());
  DeviceArray<double> y(x.size());
  ProductOptions options = quick_product();
  options.slice_height = 32;
  options.values = StoredValues::all;
  auto plan = plan_product(pattern, options, stream());
  auto workspace = plan.make_workspace(stream());
  const auto product_of = [&](const ProductPlan<double>& with, PlanWorkspace<double>& in) {
    with.apply(x.span(), y.span(), in, stream());
    const Array<double> found = to_host(y.span(), stream());
    return std::vector<double>(found.begin(), found.end());
  };
  for (const Repeats repeats : {Repeats::few, Repeats::never, Repeats::special, Repeats::one_value,
                                Repeats::never, Repeats::hundreds, Repeats::by_offset}) {
    SCOPED_TRACE(testing::Message() << "repeats " << static_cast<int>(repeats));
    const auto changed = test::with_repeats(pattern, repeats);
    plan.update_values(changed, stream());
    const auto fresh = plan_product(changed, options, stream());
    auto of_fresh = fresh.make_workspace(stream());
    EXPECT_TRUE(test::same_results(product_of(plan, workspace), product_of(fresh, of_fresh)));
    EXPECT_EQ(plan.bytes(), fresh.bytes());
    EXPECT_EQ(plan.record().values->encoded(), repeats != Repeats::never);
    EXPECT_EQ(plan.record().values->slices.values, fresh.record().values->slices.values);
    EXPECT_NE(plan.explain().find(repeats == Repeats::never ? "Values are stored in full"
                                                            : "Values are encoded"),
              std::string::npos)
        << plan.explain();
  }
}

TEST_F(GpuProductPlanTest, VectorsInThePlansOrderAreNotCopied) {
  const auto matrix = generate<double, std::int32_t>("stencil7:20x20x20,shuffle=1");
  ProductOptions options = quick_product();
  options.vector_order = VectorOrder::plan;
  const auto plan = plan_product(matrix, options, stream());
  const auto x = test::random_vector<double>(static_cast<std::size_t>(matrix.rows()), 5);
  const auto of_rows = to_device(std::span<const double>(x), stream());
  DeviceArray<double> padded_x(plan.x_rows());
  DeviceArray<double> padded_y(plan.y_rows());
  DeviceArray<double> result(plan.rows());
  plan.to_plan_order(of_rows.span(), padded_x.span(), stream());
  auto workspace = plan.make_workspace(stream());
  plan.apply(std::as_const(padded_x).span(), padded_y.span(), workspace, stream());
  plan.to_caller_order(std::as_const(padded_y).span(), result.span(), stream());
  const Array<double> found = to_host(result.span(), stream());
  const Check check =
      check_step(matrix, {}, std::span<const double>(x), {}, std::span<const double>(found));
  EXPECT_TRUE(check.passed) << check.explain();
}

// Columns with a leading dimension, of square matrices in both orders and of others.
TEST_F(GpuProductPlanTest, TakesVectorsWithStrides) {
  for (const auto& [name, matrix] : strided_matrices()) {
    SCOPED_TRACE(name);
    ProductOptions options = quick_product();
    options.vectors = 3;
    const auto plan = plan_product(matrix, options, stream());
    const Offset x_leading = Offset{matrix.cols()} + 5;
    const Offset y_leading = Offset{matrix.rows()} + 3;
    const auto x = test::random_vector<double>(3 * static_cast<std::size_t>(matrix.cols()), 1);
    const auto y = test::random_vector<double>(3 * static_cast<std::size_t>(matrix.rows()), 2);
    const auto x_columns = to_device(std::span<const double>(columns_of(x, x_leading)), stream());
    auto strided = plan.make_strided_workspace(stream());
    auto workspace = plan.make_workspace(stream());
    for (const double beta : {0.0, -1.0}) {
      const auto interleaved = to_device(std::span<const double>(x), stream());
      auto expected = to_device(std::span<const double>(y), stream());
      plan.apply(2.0, interleaved.span(), beta, expected.span(), workspace, stream());
      const Array<double> wanted = to_host(expected.span(), stream());
      auto y_columns = to_device(std::span<const double>(columns_of(y, y_leading)), stream());
      plan.apply(2.0, {x_columns.data(), 1, x_leading}, beta, {y_columns.data(), 1, y_leading},
                 strided, stream());
      EXPECT_TRUE(std::ranges::equal(to_host(y_columns.span(), stream()),
                                     columns_of({wanted.begin(), wanted.end()}, y_leading)));
    }
  }
}

TEST_F(GpuProductPlanTest, WorkspacesOfOtherPlansAndEmptyPlansAreRefused) {
  const auto matrix = generate<double, std::int32_t>("stencil5:20x20");
  const auto plan = plan_product(matrix, quick_product(), stream());
  const auto twin = plan_product(matrix, quick_product(), stream());
  auto workspace = plan.make_workspace(stream());
  const DeviceArray<double> x(plan.x_rows());
  DeviceArray<double> y(plan.y_rows());
  EXPECT_THROW(twin.apply(x.span(), y.span(), workspace, stream()), InvalidArgument);
  EXPECT_THROW(ProductPlan<double>().rows(), InvalidArgument);
  const auto apply_strided = [&](const ProductPlan<double>& to_plan, auto& with) {
    to_plan.apply(1.0, {x.data(), 1, 0}, 0.0, {y.data(), 1, 0}, with, stream());
  };
  auto strided = plan.make_strided_workspace(stream());
  test::expect_refused([&] { apply_strided(twin, strided); },
                       "the workspace was made for another plan");
  test::expect_refused([&] { apply_strided(plan, workspace); },
                       "the workspace was made for another function of the plan");
  EXPECT_NO_THROW(apply_strided(plan, strided));
  EXPECT_THROW(apply_strided({}, strided), InvalidArgument);
  EXPECT_THROW(ProductPlan<double>().make_strided_workspace(stream()), InvalidArgument);
}

}  // namespace
}  // namespace strata::gpu
