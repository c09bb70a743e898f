// Product plans on a GPU in every format and with every kernel, transposed ones, what they search
// and remember.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>

#include "strata/base/error.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "strata/tune/tuning_store.hpp"
#include "tests/plans/any_products.hpp"
#include "tests/plans/gpu/products.hpp"
#include "tests/support/format_check.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/types.hpp"

namespace strata::gpu {
namespace {

using Matrix = Csr<double, std::int32_t>;

template <Value V, Index I>
std::vector<ProductSpec> products_for(const Csr<V, I>& matrix) {
  return test::products_for(matrix, KernelTarget::gpu);
}

class GpuAnyProduct : public GpuProductPlanTest {
 protected:
  ProductOptions options_for(const ProductSpec& spec, int vectors = 1) {
    ProductOptions options = quick_product();
    options.product = spec;
    options.vectors = vectors;
    return options;
  }

  // Every product of every awkward matrix, or of its transpose; how many were taken.
  template <Value V, Index I>
  void expect_all_products(bool transposes) {
    int turn = 0;
    int refused = 0;
    for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
      SCOPED_TRACE(name);
      const Csr<V, I> csr = entries.to_csr();
      for (const ProductSpec& spec : products_for(transposes ? transposed(csr) : csr)) {
        SCOPED_TRACE(label_of(spec));
        ++turn;
        ProductOptions options = options_for(spec, 1 + turn % 8);
        options.transposed = transposes;
        if (!test::is_taken([&] { expect_products(csr, options); })) ++refused;
      }
      if (HasFailure()) return;
    }
    EXPECT_LT(refused, turn / 3);
  }
};

TEST_F(GpuAnyProduct, AgreesWithExactStepsOnAwkwardMatrices) {
  expect_all_products<double, std::int32_t>(false);
}
TEST_F(GpuAnyProduct, AgreesWithExactStepsOnAwkwardMatricesOfComplexNumbersAndWideIndices) {
  expect_all_products<std::complex<float>, std::int64_t>(false);
}
TEST_F(GpuAnyProduct, AgreesWithExactTransposedStepsOnAwkwardMatrices) {
  expect_all_products<double, std::int32_t>(true);
}

TEST_F(GpuAnyProduct, TakesExactlyWhatIsAskedFor) {
  const auto matrix = generate<double, std::int32_t>("stencil5:20x20");
  for (const ProductSpec& spec : products_for(matrix)) {
    SCOPED_TRACE(label_of(spec));
    const auto plan = plan_product(matrix, options_for(spec), stream());
    EXPECT_EQ(plan.choice().spec(), spec);
    EXPECT_EQ(plan.record().candidates.size(), 1U);
    EXPECT_GT(plan.choice().format_bytes, 0);
    EXPECT_GT(plan.bytes(), 0);
  }
}

TEST_F(GpuAnyProduct, FormatsByNameRunInTheirUsualParameters) {
  const auto matrix = generate<double, std::int32_t>("stencil5:20x20");
  for (const Format format : kFormats) {
    SCOPED_TRACE(name_of(format));
    for (const bool autotune : {false, true}) {
      ProductOptions options = quick_product();
      options.format = format;
      options.autotune = autotune;
      if (!has_kernel(format, KernelTarget::gpu)) {
        EXPECT_THROW(plan_product(matrix, options, stream()), Unavailable);
        continue;
      }
      const auto plan = plan_product(matrix, options, stream());
      EXPECT_EQ(plan.choice().spec().format.format(), format);
      expect_products_of(plan, matrix, options);
    }
  }
}

TEST_F(GpuAnyProduct, RefusesWhatMakesNoSense) {
  const auto matrix = generate<double, std::int32_t>("stencil5:20x20");
  ProductOptions both = options_for({FormatSpec(Format::csr)});
  both.format = Format::csr;
  test::expect_refused([&] { plan_product(matrix, both, stream()); },
                       "a plan is for a product or for a format, not for both");
  EXPECT_THROW(plan_product(matrix, options_for({FormatSpec(Format::csr), "parts"}), stream()),
               Unavailable);
  EXPECT_THROW(plan_product(matrix, options_for({FormatSpec(Format::jds)}), stream()), Unavailable);
  const auto arrow = generate<double, std::int32_t>("arrow:2000");
  EXPECT_THROW(plan_product(arrow, options_for({FormatSpec(Format::ell)}), stream()),
               InvalidArgument);
  EXPECT_THROW(plan_product(test::with_other_values(matrix, 4),
                            options_for({FormatSpec(Format::symmetric_csr)}), stream()),
               Error);
}

// NaN and infinity go where the reference has them, and nowhere else.
TEST_F(GpuAnyProduct, KeepsNanAndInfinityToTheirRows) {
  const Matrix matrix = generate<double, std::int32_t>("mesh:500,dim=2,nnzr=7");
  std::vector<double> x(500, 1.0);
  x[17] = std::nan("");
  x[300] = std::numeric_limits<double>::infinity();
  std::vector<double> expected(500);
  reference::spmv(matrix, 1.0, x, 0.0, expected);
  for (const ProductSpec& spec : products_for(matrix)) {
    SCOPED_TRACE(label_of(spec));
    test::is_taken([&] {
      const auto found = applied(plan_product(matrix, options_for(spec), stream()), x);
      for (std::size_t row = 0; row < expected.size(); ++row) {
        ASSERT_EQ(std::isnan(found[row]), std::isnan(expected[row])) << row;
        ASSERT_EQ(std::isinf(found[row]), std::isinf(expected[row])) << row;
      }
    });
  }
}

TEST_F(GpuAnyProduct, TakesNewValues) {
  const auto matrix = generate<double, std::int32_t>("stencil9:20x20");
  const Matrix tripled = scaled(matrix, 3.0);
  const auto x = test::random_vector<double>(400, 2);
  for (const ProductSpec& spec : products_for(matrix)) {
    SCOPED_TRACE(label_of(spec));
    auto plan = plan_product(matrix, options_for(spec), stream());
    auto workspace = plan.make_workspace(stream());
    plan.update_values(tripled, stream());
    const auto updated = applied(plan, x, workspace);
    EXPECT_EQ(updated, applied(plan_product(tripled, options_for(spec), stream()), x));
    const auto other = generate<double, std::int32_t>("stencil5:20x20");
    test::expect_refused([&] { plan.update_values(other, stream()); },
                         "new values come with a matrix of another pattern");
    EXPECT_EQ(applied(plan, x, workspace), updated);
  }
}

TEST_F(GpuAnyProduct, ValuesThatAnAskedFormatRefusesLeaveThePlanAsItWas) {
  const auto matrix = generate<double, std::int32_t>("stencil5:20x20");
  ProductOptions options = quick_product();
  options.format = Format::symmetric_csr;
  auto plan = plan_product(matrix, options, stream());
  const auto x = test::random_vector<double>(400, 2);
  const auto before = applied(plan, x);
  EXPECT_THROW(plan.update_values(test::with_other_values(matrix, 4), stream()), InvalidMatrix);
  EXPECT_EQ(applied(plan, x), before);
  EXPECT_EQ(plan.choice().spec().format.format(), Format::symmetric_csr);
}

TEST_F(GpuAnyProduct, TransposedPlansTakeNewValuesAndStridedVectors) {
  // More columns than rows.
  const Matrix matrix = [] {
    test::Entries<double, std::int32_t> entries(40, 70, 3);
    for (int row = 0; row < 40; ++row) {
      for (int column = row * row % 11; row % 7 != 3 && column < 70; column += 13 + row % 29) {
        entries.add(row, column);
      }
    }
    return entries.coo().to_csr();
  }();
  const Matrix changed = test::with_other_values(matrix, 4);
  for (const ProductSpec& spec : products_for(transposed(matrix))) {
    SCOPED_TRACE(label_of(spec));
    ProductOptions options = options_for(spec, 2);
    options.transposed = true;
    test::is_taken([&] {
      auto plan = plan_product(matrix, options, stream());
      EXPECT_NE(plan.explain().find("The transposed product"), std::string::npos);
      plan.update_values(changed, stream());
      expect_products_of(plan, changed, options);
      test::expect_refused([&] { plan.update_values(transposed(changed), stream()); },
                           "new values come with a matrix of another pattern");
      // Columns of vectors beside each other.
      const auto x = test::random_vector<double>(80, 1);
      const auto expected = applied(plan, x);
      std::vector<double> columns(80);
      for (std::size_t i = 0; i < 80; ++i) columns[i % 2 * 40 + i / 2] = x[i];
      const auto x_columns = to_device(std::span<const double>(columns), stream());
      DeviceArray<double> y_columns(140);
      auto workspace = plan.make_strided_workspace(stream());
      plan.apply(1.0, {x_columns.data(), 1, 40}, 0.0, {y_columns.data(), 1, 70}, workspace,
                 stream());
      const Array<double> y = to_host(y_columns.span(), stream());
      for (std::size_t i = 0; i < 140; ++i) EXPECT_EQ(y[i % 2 * 70 + i / 2], expected[i]);
    });
  }
}

class GpuProductSearch : public GpuAnyProduct {
 protected:
  GpuProductSearch() { setenv("STRATA_CACHE_DIR", files_.file("cache").c_str(), 1); }
  ~GpuProductSearch() override { unsetenv("STRATA_CACHE_DIR"); }

  ProductOptions searching(TuningMemory memory = TuningMemory::ignore) {
    ProductOptions options = quick_product();
    options.autotune = true;
    options.memory = memory;
    return options;
  }
  TuningKey key_of(const Matrix& matrix) {
    return {.matrix = fingerprint_of(matrix.pattern()),
            .machine = machine_key(*searching().gpu_profile),
            .encoded_eighths = encoded_eighths(matrix)};
  }
  void store(const Matrix& matrix, const ProductSpec& spec) {
    EXPECT_EQ(
        TuningStore(tuning_store_path())
            .remember(
                key_of(matrix),
                {.format = spec.format, .kernel = spec.kernel, .seconds = 1e-4, .candidates = 7}),
        "");
  }
  static bool mentions(const ProductPlan<double>& plan, const std::string& words) {
    return plan.explain().find(words) != std::string::npos;
  }

  test::TemporaryFolder files_;
  const ProductSpec rare_{parse_format_spec("bcsr:block_rows=8,block_cols=1")};
  const Matrix matrix_ = generate<double, std::int32_t>("stencil5:20x20");
};

TEST_F(GpuProductSearch, TimesEveryFormatOfASmallMatrixOnce) {
  const auto plan = plan_product(matrix_, searching(), stream());
  EXPECT_GT(plan.choice().measured_seconds, 0);
  EXPECT_GT(plan.record().plain_seconds, 0);
  std::vector<ProductSpec> seen;
  std::vector<Format> formats;
  for (const PowerCandidate& candidate : plan.record().candidates) {
    if (candidate.order.moves_rows()) continue;
    EXPECT_GT(candidate.predicted_seconds, 0) << label_of(candidate.spec());
    EXPECT_EQ(std::ranges::count(seen, candidate.spec()), 0) << label_of(candidate.spec());
    seen.push_back(candidate.spec());
    formats.push_back(candidate.spec().format.format());
  }
  for (const Format format : {Format::csr, Format::coo, Format::ell, Format::dia, Format::hyb,
                              Format::sell, Format::packed_sell}) {
    EXPECT_GT(std::ranges::count(formats, format), 0) << name_of(format);
  }
  EXPECT_EQ(std::ranges::count(formats, Format::csr), 3);
  EXPECT_TRUE(mentions(plan, "CSR in equal parts")) << plan.explain();
  EXPECT_FALSE(std::filesystem::exists(tuning_store_path()));
}

TEST_F(GpuProductSearch, AgreesWithExactStepsWhateverItFinds) {
  for (const char* spec : {"arrow:600", "stencil27:5x5x5,dof=2", "mesh:600,dim=3,nnzr=12"}) {
    SCOPED_TRACE(spec);
    const auto matrix = generate<double, std::int32_t>(spec);
    for (const bool transposed : {false, true}) {
      ProductOptions options = searching();
      options.vectors = transposed ? 3 : 1;
      options.transposed = transposed;
      expect_products(matrix, options);
    }
  }
  expect_products(Matrix(), searching());
  expect_products(Matrix(3, 0, {0, 0, 0, 0}, {}, {}), searching());
}

TEST_F(GpuProductSearch, TakesWhatIsInTheStoreWithoutTiming) {
  store(matrix_, rare_);
  const auto plan = plan_product(matrix_, searching(TuningMemory::recall), stream());
  EXPECT_EQ(plan.choice().spec(), rare_);
  EXPECT_EQ(plan.record().candidates.size(), 1U);
  EXPECT_EQ(plan.choice().measured_seconds, 0);
  EXPECT_TRUE(mentions(plan, "is in the tuning store as the fastest of 7")) << plan.explain();
  expect_products_of(plan, matrix_, searching());
  EXPECT_FALSE(mentions(plan_product(matrix_, searching(), stream()), "tuning store"));
}

TEST_F(GpuProductSearch, RemembersWhatItFinds) {
  const auto found = plan_product(matrix_, searching(TuningMemory::remember), stream());
  const auto stored = TuningStore(tuning_store_path()).find(key_of(matrix_));
  ASSERT_TRUE(stored) << found.explain();
  EXPECT_EQ(stored->product(), found.choice().spec());
  const auto again = plan_product(matrix_, searching(TuningMemory::remember), stream());
  EXPECT_EQ(again.choice().spec(), found.choice().spec());
  EXPECT_EQ(again.choice().measured_seconds, 0);
}

TEST_F(GpuProductSearch, SaysWhyAChoiceOfTheStoreIsIgnored) {
  store(matrix_, {parse_format_spec("dia"), "of another version"});
  EXPECT_TRUE(mentions(plan_product(matrix_, searching(TuningMemory::recall), stream()),
                       "the tuning store has DIA, which does not take this matrix"));
}

TEST_F(GpuProductSearch, ValuesThatLoseTheirSymmetryAreStoredInCsr) {
  store(matrix_, {FormatSpec(Format::symmetric_csr)});
  auto plan = plan_product(matrix_, searching(TuningMemory::recall), stream());
  ASSERT_EQ(plan.choice().spec().format.format(), Format::symmetric_csr);
  auto workspace = plan.make_workspace(stream());
  const Matrix general = test::with_other_values(matrix_, 3);
  plan.update_values(general, stream());
  EXPECT_EQ(plan.choice().spec().format.format(), Format::csr);
  EXPECT_TRUE(mentions(plan, "products are in CSR since")) << plan.explain();
  const auto x = test::random_vector<double>(400, 1);
  const auto y = applied(plan, x, workspace);
  EXPECT_TRUE(
      check_step(general, {}, std::span<const double>(x), {}, std::span<const double>(y)).passed);
}

}  // namespace
}  // namespace strata::gpu
