// Product plans in every format and kernel of processors: against exact steps for all shapes and
// numbers of vectors, with new values, transposed, and with what the tuning store knows.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <string>
#include <thread>

#include "strata/kernels/reference/spmv.hpp"
#include "strata/tune/tuning_store.hpp"
#include "tests/plans/any_products.hpp"
#include "tests/plans/products.hpp"
#include "tests/support/format_check.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

using Matrix = Csr<double, std::int32_t>;
using test::expect_products;
using test::expect_refused;
using test::quick_product;
using test::random_vector;

// All that a matrix can be stored in.
// More columns than rows, some of them empty, and some entries far from the others.
Matrix wide_matrix(int rows, int cols) {
  Array<Offset> offsets(1, 0);
  Array<std::int32_t> columns;
  for (int row = 0; row < rows; ++row) {
    for (int column = row * row % 11; row % 7 != 3 && column < cols; column += 13 + row % 29) {
      columns.push_back(column);
    }
    offsets.push_back(std::ssize(columns));
  }
  Array<double> values(columns.size(), 1.0);
  return {rows, cols, std::move(offsets), std::move(columns), std::move(values)};
}

ProductOptions options_for(const ProductSpec& spec, int vectors = 1, int threads = 2) {
  ProductOptions options = quick_product();
  options.product = spec;
  options.vectors = vectors;
  options.threads = threads;
  return options;
}

template <Value V, Index I>
std::vector<V> applied(const ProductPlan<V, I>& plan, const std::vector<V>& x) {
  std::vector<V> y(static_cast<std::size_t>(plan.y_rows()) * plan.vectors());
  auto workspace = plan.make_workspace();
  plan.apply(x, y, workspace);
  return y;
}

template <class Types>
class AnyProductTyped : public testing::Test {};
using SomeTypes = testing::Types<test::Types<double, std::int32_t>,
                                 test::Types<std::complex<float>, std::int64_t>>;
TYPED_TEST_SUITE(AnyProductTyped, SomeTypes);

TYPED_TEST(AnyProductTyped, AgreesWithExactStepsOnAwkwardMatrices) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  int turn = 0;
  int refused = 0;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    SCOPED_TRACE(name);
    const Csr<V, I> csr = entries.to_csr();
    for (const ProductSpec& spec : test::products_for(csr)) {
      SCOPED_TRACE(label_of(spec));
      ++turn;
      const ProductOptions options = options_for(spec, 1 + turn % 8, 1 + turn % 3);
      if (!test::is_taken([&] { expect_products(csr, options); })) ++refused;
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_LT(refused, turn / 4);
}

TYPED_TEST(AnyProductTyped, AgreesWithExactTransposedStepsOnAwkwardMatrices) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  int turn = 0;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    SCOPED_TRACE(name);
    const Csr<V, I> csr = entries.to_csr();
    std::vector<ProductSpec> specs = test::products_for(transposed(csr));
    for (const ProductSpec& spec : specs) {
      SCOPED_TRACE(label_of(spec));
      ++turn;
      ProductOptions options = options_for(spec, 1 + turn % 8, 1 + turn % 3);
      options.transposed = true;
      test::is_taken([&] { expect_products(csr, options); });
    }
    ProductOptions automatic = quick_product();
    automatic.transposed = true;
    automatic.vector_order = turn % 2 == 0 ? VectorOrder::plan : VectorOrder::caller;
    expect_products(csr, automatic);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(AnyProduct, FormatsByNameRunInTheirUsualParameters) {
  const auto matrix = generate<double, std::int32_t>("stencil5:20x20");
  for (const Format format : kFormats) {
    SCOPED_TRACE(name_of(format));
    for (const bool autotune : {false, true}) {
      ProductOptions options = quick_product();
      options.format = format;
      options.autotune = autotune;
      const auto plan = plan_product(matrix, options);
      EXPECT_EQ(plan.choice().spec().format.format(), format);
      test::expect_products_of(plan, matrix, options);
    }
  }
}

TEST(AnyProduct, ResultsDoNotDependOnThreads) {
  const Matrix matrix = test::with_other_values(wide_matrix(700, 900), 3);
  const auto x = random_vector<double>(2 * 900, 1);
  for (const ProductSpec& spec : test::products_for(matrix)) {
    SCOPED_TRACE(label_of(spec));
    test::is_taken([&] {
      const auto expected = applied(plan_product(matrix, options_for(spec, 2, 1)), x);
      for (const int threads : {3, 5}) {
        const auto plan = plan_product(matrix, options_for(spec, 2, threads));
        EXPECT_EQ(plan.threads(), threads);
        EXPECT_EQ(applied(plan, x), expected);
      }
    });
  }
}

TEST(AnyProduct, MoreThreadsThanRowsDoNoHarm) {
  const Matrix matrix(2, 5, {0, 1, 3}, {4, 0, 2}, {1, 2, 3});
  for (const ProductSpec& spec : test::products_for(matrix)) {
    SCOPED_TRACE(label_of(spec));
    test::is_taken([&] { expect_products(matrix, options_for(spec, 1, 9)); });
  }
}

// Formats in blocks of rows share rows out by their entries: there are none for a long time here.
TEST(AnyProduct, RowsBeforeTheFirstEntryAreComputed) {
  Array<Offset> offsets(140001, 0);
  offsets.back() = 1;
  const Matrix matrix(140000, 3, std::move(offsets), {2}, {4.0});
  for (const ProductSpec& spec : test::products_for(matrix)) {
    SCOPED_TRACE(label_of(spec));
    test::is_taken([&] { expect_products(matrix, options_for(spec)); });
  }
}

// NaN and infinity go where the reference has them, and nowhere else.
TEST(AnyProduct, KeepsNanAndInfinityToTheirRows) {
  Matrix matrix = generate<double, std::int32_t>("mesh:500,dim=2,nnzr=7");
  std::vector<double> x(500, 1.0);
  x[17] = std::nan("");
  x[300] = std::numeric_limits<double>::infinity();
  std::vector<double> expected(500);
  reference::spmv(matrix, 1.0, x, 0.0, expected);
  for (const ProductSpec& spec : test::products_for(matrix)) {
    SCOPED_TRACE(label_of(spec));
    test::is_taken([&] {
      const auto found = applied(plan_product(matrix, options_for(spec)), x);
      for (std::size_t row = 0; row < expected.size(); ++row) {
        ASSERT_EQ(std::isnan(found[row]), std::isnan(expected[row])) << row;
        ASSERT_EQ(std::isinf(found[row]), std::isinf(expected[row])) << row;
      }
    });
  }
}

TEST(AnyProduct, TakesNewValues) {
  const auto matrix = generate<double, std::int32_t>("stencil9:30x30");
  Matrix tripled = matrix;
  for (double& value : tripled.mutable_values()) value *= 3;
  const auto x = random_vector<double>(900, 2);
  for (const ProductSpec& spec : test::products_for(matrix)) {
    SCOPED_TRACE(label_of(spec));
    auto plan = plan_product(matrix, options_for(spec));
    auto workspace = plan.make_workspace();
    plan.update_values(tripled);
    std::vector<double> updated(x.size());
    plan.apply(x, updated, workspace);
    EXPECT_EQ(updated, applied(plan_product(tripled, options_for(spec)), x));
    expect_refused([&] { plan.update_values(generate<double, std::int32_t>("stencil5:30x30")); },
                   "new values come with a matrix of another pattern");
    EXPECT_EQ(applied(plan, x), updated);
  }
}

TEST(AnyProduct, ValuesThatAnAskedFormatRefusesLeaveThePlanAsItWas) {
  const auto matrix = generate<double, std::int32_t>("stencil5:30x30");
  ProductOptions options = quick_product();
  options.format = Format::symmetric_csr;
  auto plan = plan_product(matrix, options);
  const auto x = random_vector<double>(900, 2);
  const auto before = applied(plan, x);
  EXPECT_THROW(plan.update_values(test::with_other_values(matrix, 4)), InvalidMatrix);
  EXPECT_EQ(applied(plan, x), before);
  EXPECT_EQ(plan.choice().spec().format.format(), Format::symmetric_csr);
}

TEST(AnyProduct, TransposedPlansTakeNewValuesAndStridedVectors) {
  const Matrix matrix = wide_matrix(40, 70);
  const Matrix changed = test::with_other_values(matrix, 4);
  for (const ProductSpec& spec : test::products_for(matrix)) {
    SCOPED_TRACE(label_of(spec));
    if (spec.format.format() == Format::dia) continue;  // takes more than allowed
    ProductOptions options = options_for(spec, 2);
    options.transposed = true;
    auto plan = plan_product(matrix, options);
    plan.update_values(changed);
    test::expect_products_of(plan, changed, options);
    expect_refused([&] { plan.update_values(transposed(changed)); },
                   "new values come with a matrix of another pattern");
    // Columns of vectors beside each other.
    const auto x = random_vector<double>(80, 1);
    const auto expected = applied(plan, x);
    std::vector<double> x_columns(80);
    std::vector<double> y_columns(140);
    for (std::size_t i = 0; i < 80; ++i) x_columns[i % 2 * 40 + i / 2] = x[i];
    auto workspace = plan.make_strided_workspace();
    plan.apply(1.0, {x_columns.data(), 1, 40}, 0.0, {y_columns.data(), 1, 70}, workspace);
    for (std::size_t i = 0; i < 140; ++i) EXPECT_EQ(y_columns[i % 2 * 70 + i / 2], expected[i]);
  }
}

TEST(AnyProduct, ThreadsMayApplyAtOnceWithAWorkspaceEach) {
  const auto matrix = generate<double, std::int32_t>("mesh:3000,dim=2,nnzr=7");
  const auto x = random_vector<double>(3000, 1);
  for (const ProductSpec& spec : test::products_for(matrix)) {
    SCOPED_TRACE(label_of(spec));
    const auto plan = plan_product(matrix, options_for(spec));
    const auto expected = applied(plan, x);
    std::vector<std::vector<double>> found(3);
    std::vector<std::thread> callers;
    for (auto& y : found) {
      callers.emplace_back([&] { y = applied(plan, x); });
    }
    for (std::thread& caller : callers) caller.join();
    for (const auto& y : found) EXPECT_EQ(y, expected);
  }
}

class ProductSearchOfPlans : public test::FolderTest {
 protected:
  ProductSearchOfPlans() { setenv("STRATA_CACHE_DIR", file("cache").c_str(), 1); }
  ~ProductSearchOfPlans() override { unsetenv("STRATA_CACHE_DIR"); }

  static ProductOptions searching(TuningMemory memory) {
    ProductOptions options = quick_product();
    options.autotune = true;
    options.threads = 2;
    options.memory = memory;
    return options;
  }
  static TuningKey key_of(const Matrix& matrix) {
    return {.matrix = fingerprint_of(matrix.pattern()),
            .machine = machine_key(*quick_product().profile),
            .threads = 2,
            .encoded_eighths = encoded_eighths(matrix)};
  }
  static void store(const Matrix& matrix, const ProductSpec& spec) {
    EXPECT_EQ(
        TuningStore(tuning_store_path())
            .remember(
                key_of(matrix),
                {.format = spec.format, .kernel = spec.kernel, .seconds = 1e-4, .candidates = 7}),
        "");
  }
  static bool mentions(const ProductPlan<double, std::int32_t>& plan, const std::string& words) {
    return plan.explain().find(words) != std::string::npos;
  }
  // Of no use in general, so that nobody finds it by timing.
  const ProductSpec rare_{parse_format_spec("bcsr:block_rows=8,block_cols=1")};
  const Matrix matrix_ = generate<double, std::int32_t>("stencil5:60x60");
};

TEST_F(ProductSearchOfPlans, ConsidersAllFormatsAndTimesTheBestAndCsr) {
  const auto plan = plan_product(matrix_, searching(TuningMemory::ignore));
  EXPECT_GT(plan.choice().measured_seconds, 0);
  EXPECT_GT(plan.record().plain_seconds, 0);
  bool csr = false;
  std::vector<ProductSpec> seen;
  for (const PowerCandidate& candidate : plan.record().candidates) {
    csr = csr || (name_of(candidate.spec()) == "csr" && candidate.measured_seconds > 0);
    EXPECT_GT(candidate.predicted_seconds, 0) << label_of(candidate.spec());
    EXPECT_EQ(std::ranges::count(seen, candidate.spec()), 0) << label_of(candidate.spec());
    seen.push_back(candidate.spec());
  }
  EXPECT_TRUE(csr);
  EXPECT_TRUE(mentions(plan, "COO")) << plan.explain();
  EXPECT_FALSE(std::filesystem::exists(tuning_store_path()));
}

TEST_F(ProductSearchOfPlans, NeedsNoProfile) {
  const MachineProfile nothing;
  ProductOptions options = searching(TuningMemory::recall);
  options.profile = &nothing;
  expect_products(matrix_, options);
}

TEST_F(ProductSearchOfPlans, AgreesWithExactStepsWhateverItFinds) {
  std::vector<Matrix> matrices{wide_matrix(300, 2000)};
  for (const char* spec :
       {"arrow:2000", "stencil27:9x9x9,dof=2", "mesh:2000,dim=3,nnzr=12,shuffle=1"}) {
    matrices.push_back(generate<double, std::int32_t>(spec));
  }
  for (const Matrix& matrix : matrices) {
    for (const int vectors : {1, 3}) {
      for (const bool transposed : {false, true}) {
        ProductOptions options = searching(TuningMemory::ignore);
        options.vectors = vectors;
        options.transposed = transposed;
        expect_products(matrix, options);
      }
    }
  }
  expect_products(Matrix(), searching(TuningMemory::ignore));
  expect_products(Matrix(3, 0, {0, 0, 0, 0}, {}, {}), searching(TuningMemory::ignore));
}

bool considers_rcm(const ProductPlan<double, std::int32_t>& plan) {
  return std::ranges::any_of(plan.record().candidates, [](const PowerCandidate& candidate) {
    return candidate.order.kind == RowOrder::Kind::rcm && candidate.measured_seconds > 0;
  });
}

TEST_F(ProductSearchOfPlans, ReordersRowsWhereThatKeepsXInTheCache) {
  const auto shuffled = generate<double, std::int32_t>("stencil7:52x52x52,shuffle=1");
  for (const VectorOrder order : {VectorOrder::caller, VectorOrder::plan}) {
    ProductOptions options = searching(TuningMemory::ignore);
    options.vector_order = order;
    const auto plan = plan_product(shuffled, options);
    EXPECT_TRUE(considers_rcm(plan)) << plan.explain();
    EXPECT_TRUE(mentions(plan, "Cuthill-McKee")) << plan.explain();
    test::expect_products_of(plan, shuffled, options);
  }
  const auto as_given = generate<double, std::int32_t>("stencil7:52x52x52");
  EXPECT_FALSE(considers_rcm(plan_product(as_given, searching(TuningMemory::ignore))));
}

// What the store knows was found in the given order.
TEST_F(ProductSearchOfPlans, LooksForOrdersBesideTheStoreWhereMovingRowsIsFree) {
  const auto shuffled = generate<double, std::int32_t>("stencil7:52x52x52,shuffle=1");
  store(shuffled, rare_);
  ProductOptions options = searching(TuningMemory::recall);
  EXPECT_EQ(plan_product(shuffled, options).choice().spec(), rare_);
  options.vector_order = VectorOrder::plan;
  EXPECT_TRUE(considers_rcm(plan_product(shuffled, options)));
}

TEST_F(ProductSearchOfPlans, TakesWhatIsInTheStoreWithoutTiming) {
  store(matrix_, rare_);
  const auto plan = plan_product(matrix_, searching(TuningMemory::recall));
  EXPECT_EQ(plan.choice().spec(), rare_);
  EXPECT_EQ(plan.record().candidates.size(), 1U);
  EXPECT_EQ(plan.choice().measured_seconds, 0);
  EXPECT_TRUE(mentions(plan, "is in the tuning store as the fastest of 7")) << plan.explain();
  test::expect_products_of(plan, matrix_, searching(TuningMemory::recall));
  // Another number of vectors is another question, and who ignores the store does not ask.
  ProductOptions two = searching(TuningMemory::recall);
  two.vectors = 2;
  EXPECT_FALSE(mentions(plan_product(matrix_, two), "tuning store"));
  EXPECT_FALSE(mentions(plan_product(matrix_, searching(TuningMemory::ignore)), "tuning store"));
}

TEST_F(ProductSearchOfPlans, RemembersWhatItFinds) {
  const auto found = plan_product(matrix_, searching(TuningMemory::remember));
  const auto stored = TuningStore(tuning_store_path()).find(key_of(matrix_));
  ASSERT_TRUE(stored) << found.explain();
  EXPECT_EQ(stored->product(), found.choice().spec());
  const auto again = plan_product(matrix_, searching(TuningMemory::remember));
  EXPECT_EQ(again.choice().spec(), found.choice().spec());
  EXPECT_EQ(again.choice().measured_seconds, 0);
}

TEST_F(ProductSearchOfPlans, SaysWhyAStoreIsIgnored) {
  store(matrix_, rare_);
  write(tuning_store_path(), "{\"format\": 2, \"choices\": [{}, 1");
  const auto plan = plan_product(matrix_, searching(TuningMemory::recall));
  EXPECT_GT(plan.record().candidates.size(), 1U);
  EXPECT_TRUE(mentions(plan, "what cannot be read of the tuning store is ignored"))
      << plan.explain();
  // A format that does not exist, and one that does not take the matrix.
  store(matrix_, {parse_format_spec("dia"), "of another version"});
  EXPECT_TRUE(mentions(plan_product(matrix_, searching(TuningMemory::recall)),
                       "the tuning store has DIA, which does not take this matrix"));
  const Matrix general = test::with_other_values(matrix_, 3);
  store(general, {FormatSpec(Format::symmetric_csr)});
  EXPECT_TRUE(mentions(plan_product(general, searching(TuningMemory::recall)),
                       "which does not take this matrix"));
}

TEST_F(ProductSearchOfPlans, ValuesThatLoseTheirSymmetryAreStoredInCsr) {
  store(matrix_, {FormatSpec(Format::symmetric_csr)});
  auto plan = plan_product(matrix_, searching(TuningMemory::recall));
  ASSERT_EQ(plan.choice().spec().format.format(), Format::symmetric_csr);
  auto workspace = plan.make_workspace();
  const Matrix general = test::with_other_values(matrix_, 3);
  plan.update_values(general);
  EXPECT_EQ(plan.choice().spec(), ProductSpec{FormatSpec(Format::csr)});
  EXPECT_TRUE(mentions(plan, "products are in CSR since")) << plan.explain();
  const auto x = random_vector<double>(3600, 1);
  std::vector<double> y(x.size());
  plan.apply(x, y, workspace);
  EXPECT_TRUE(check_step(general, {}, x, {}, y).passed);
}

}  // namespace
}  // namespace strata
