// The search for the fastest product of a GPU. How fast any is, is no matter of tests: what is
// searched, how results are ordered and what they say about each other is.
#include "strata/tune/gpu/product_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>

#include "strata/base/error.hpp"
#include "strata/device/memory.hpp"
#include "strata/formats/statistics.hpp"
#include "strata/gen/generate.hpp"
#include "tests/machine/gpu/support.hpp"
#include "tests/support/gpu.hpp"

namespace strata::gpu {
namespace {

using Matrix = Csr<double, std::int32_t>;

// With an imaginary profile of this device.
class GpuProductSearch : public test::GpuTest {
 protected:
  void SetUp() override {
    test::GpuTest::SetUp();
    if (IsSkipped()) return;
    profile_ = test::imaginary_gpu();
    profile_.device = device_properties(current_device());
    stream_.emplace();
  }

  void TearDown() override { set_device_memory_limit(0); }

  template <Value V, Index I>
  ProductSearch search(const Csr<V, I>& matrix, SearchOptions options) {
    options.min_seconds = 0;
    return search_products(matrix, profile_, options, *stream_);
  }

  GpuProfile profile_;
  std::optional<Stream> stream_;  // none without a GPU
};

const ProductSpec kCsr{FormatSpec(Format::csr)};

TEST_F(GpuProductSearch, TimesTheBestFewAndCsrAndPutsTheFastestFirst) {
  const auto found = search(generate<double, std::int32_t>("stencil27:5x5x5"), {.timed = 3});
  EXPECT_EQ(found.timed, 4);
  double before = 0;
  bool csr = false;
  for (int i = 0; i < found.timed; ++i) {
    const SearchedProduct& product = found.products[i];
    EXPECT_GE(product.seconds, before);
    EXPECT_GT(product.bytes, 0);
    EXPECT_GT(product.setup_seconds, 0);
    EXPECT_GT(product.predicted.seconds(), 0);
    before = product.seconds;
    csr = csr || product.spec == kCsr;
  }
  EXPECT_TRUE(csr);
  for (std::size_t i = found.timed; i < found.products.size(); ++i) {
    EXPECT_EQ(found.products[i].seconds, 0);
  }
}

TEST_F(GpuProductSearch, AnExhaustiveOneTimesEveryProductOfGpusThatTakesTheMatrix) {
  const auto matrix = generate<double, std::int32_t>("arrow:300");
  const auto found = search(matrix, {.exhaustive = true});
  for (const ProductSpec& spec :
       parse_product_list("all", statistics_of(matrix), KernelTarget::gpu)) {
    const auto product = std::ranges::find(found.products, spec, &SearchedProduct::spec);
    ASSERT_NE(product, found.products.end()) << label_of(spec);
    EXPECT_NE(product->seconds > 0, !product->refusal.empty()) << label_of(spec);
  }
  EXPECT_GT(found.products.back().refusal.size(), 0U);  // ELLPACK would be a dense matrix
  EXPECT_GE(found.distance(), 0);
  const auto only_on_processors = [](const SearchedProduct& product) {
    return name_of(product.spec) == "jds" || name_of(product.spec) == "csr-parts";
  };
  EXPECT_TRUE(std::ranges::none_of(found.products, only_on_processors));
}

template <class Types>
class GpuProductSearchTyped : public GpuProductSearch {};
struct DoubleAnd64 {
  using V = double;
  using I = std::int64_t;
};
struct SingleAnd32 {
  using V = float;
  using I = std::int32_t;
};
struct ComplexAnd32 {
  using V = std::complex<float>;
  using I = std::int32_t;
};
using SomeTypes = testing::Types<DoubleAnd64, SingleAnd32, ComplexAnd32>;
TYPED_TEST_SUITE(GpuProductSearchTyped, SomeTypes);

TYPED_TEST(GpuProductSearchTyped, TakesEmptyAndRectangularMatricesAndSeveralVectors) {
  using V = typename TypeParam::V;
  using I = typename TypeParam::I;
  using Typed = Csr<V, I>;
  for (const Typed& matrix : {Typed(), Typed(3, 0, {0, 0, 0, 0}, {}, {}),
                              Typed(2, 5, {0, 1, 3}, {4, 0, 2}, {V{1}, V{2}, V{3}}),
                              Typed(1, 2, {0, 2}, {0, 1},
                                    {V(std::numeric_limits<float>::infinity()),
                                     V(std::numeric_limits<float>::quiet_NaN())})}) {
    for (const int vectors : {1, 3}) {
      const auto found = this->search(matrix, {.timed = 1, .vectors = vectors});
      EXPECT_TRUE(found.best().refusal.empty()) << found.best().refusal;
      EXPECT_EQ(found.timed, matrix.nnz() > 0 ? 2 : 0);
    }
  }
}

TEST_F(GpuProductSearch, RefusesOptionsThatMakeNoSense) {
  EXPECT_THROW(search(Matrix(), {.timed = 0}), InvalidArgument);
  EXPECT_THROW(search(Matrix(), {.vectors = 9}), InvalidArgument);
  EXPECT_THROW(search(Matrix(), {.alpha = -1.0}), InvalidArgument);
}

// A third of the rows: kernels have to be scaled to all of them.
TEST_F(GpuProductSearch, RanksOnASample) {
  const auto matrix = generate<double, std::int32_t>("band:20000,width=41");
  constexpr Offset kL2 = Offset{2} << 20;
  profile_.plateaus = {{1, kL2, 8e12}, {1, 100 * kL2, 4e12}};
  ASSERT_LT(sample_entries(profile_, sizeof(double)), matrix.nnz());
  const ProductSpec dia{FormatSpec(Format::dia)};
  const ProductSpec ell{FormatSpec(Format::ell)};
  const auto ranked = rank_products(matrix, profile_, {.only = {kCsr, dia, ell}}, *stream_);
  ASSERT_EQ(ranked.size(), 3U);
  double before = 0;
  for (const SearchedProduct& product : ranked) {
    EXPECT_TRUE(product.refusal.empty()) << product.refusal;
    EXPECT_EQ(product.seconds, 0);
    EXPECT_GT(product.predicted.kernel_seconds, 0) << label_of(product.spec);
    EXPECT_GE(product.predicted.seconds(), before);
    before = product.predicted.seconds();
  }
  const auto of = [&](const ProductSpec& spec) {
    return *std::ranges::find(ranked, spec, &SearchedProduct::spec);
  };
  // Rows of a sample have other numbers: DIA goes by CSR.
  EXPECT_DOUBLE_EQ(of(dia).predicted.kernel_seconds, of(kCsr).predicted.kernel_seconds / 2);
  EXPECT_NEAR(of(kCsr).predicted_bytes, 12.0 * static_cast<double>(matrix.nnz()) + 8 * 20000,
              0.02 * of(kCsr).predicted_bytes);
}

TEST_F(GpuProductSearch, CountsXAsOftenAsAlphaSays) {
  const auto matrix = generate<double, std::int32_t>("random:2000,nnzr=9");
  SearchOptions options{.only = {kCsr}, .sampled = false};
  const double once = rank_products(matrix, profile_, options, *stream_)[0].predicted.seconds();
  options.alpha = 0.0;  // all of x counts nevertheless
  EXPECT_EQ(rank_products(matrix, profile_, options, *stream_)[0].predicted.seconds(), once);
  options.alpha = 1.0;
  const double more = rank_products(matrix, profile_, options, *stream_)[0].predicted.seconds();
  const double bytes = 8.0 * static_cast<double>(matrix.nnz() - matrix.cols());
  EXPECT_NEAR(more - once, bytes / profile_.l2_bandwidth(), 0.01 * (more - once));
}

TEST_F(GpuProductSearch, NeedsNoBandwidths) {
  GpuProfile unknown;
  unknown.device = profile_.device;
  const auto matrix = generate<double, std::int32_t>("stencil5:9x9");
  for (const SearchedProduct& product :
       rank_products(matrix, unknown, {.only = {kCsr}}, *stream_)) {
    EXPECT_TRUE(std::isfinite(product.predicted.seconds())) << label_of(product.spec);
  }
}

TEST_F(GpuProductSearch, WhatDoesNotFitTheDeviceTakesNoPart) {
  const auto matrix = generate<double, std::int32_t>("band:4000,width=9");
  set_device_memory_limit(device_memory_use().bytes + 1'000'000);  // either, but not both
  const ProductSpec wide{parse_format_spec("bcsr:block_rows=8,block_cols=8")};
  const auto found = search(matrix, {.exhaustive = true, .only = {kCsr, wide}});
  EXPECT_EQ(found.best().spec, kCsr);
  EXPECT_NE(found.products[1].refusal, "");
}

TEST(GpuSample, IsLargerThanTheCacheOfTheDevice) {
  GpuProfile profile = test::imaginary_gpu();  // 40 MB of L2
  EXPECT_EQ(sample_entries(profile, 8), 100'000'000 / 16);
  EXPECT_EQ(sample_entries(profile, 16), 100'000'000 / 24);
  profile.plateaus = {{1, 1 << 20, 8e12}, {1, 1 << 30, 4e12}};
  EXPECT_EQ(sample_entries(profile, 8), 1 << 18);
  profile.plateaus = {{1, 1 << 30, 4e12}};
  EXPECT_EQ(sample_entries(profile, 8), 1 << 24);
}

}  // namespace
}  // namespace strata::gpu
