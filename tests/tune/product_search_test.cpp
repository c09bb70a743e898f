// The search for the fastest product. How fast any is, is no matter of tests: what is searched, how
// results are ordered and what they say about each other is.
#include "strata/tune/product_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "strata/base/error.hpp"
#include "strata/gen/generate.hpp"
#include "strata/machine/default_profile.hpp"

namespace strata {
namespace {

using Matrix = Csr<double, std::int32_t>;

ProductSearch quick_search(const Matrix& matrix, SearchOptions options) {
  options.min_seconds = 0;
  return search_products(matrix, default_profile(), options);
}

TEST(ProductSearch, TimesTheBestFewAndCsrAndPutsTheFastestFirst) {
  const auto found =
      quick_search(generate<double, std::int32_t>("stencil27:12x12x12"), {.timed = 3});
  EXPECT_EQ(found.timed, 4);
  EXPECT_GT(found.seconds, 0);
  double before = 0;
  bool csr = false;
  for (int i = 0; i < found.timed; ++i) {
    const SearchedProduct& product = found.products[i];
    EXPECT_GE(product.seconds, before);
    EXPECT_GT(product.bytes, 0);
    EXPECT_GT(product.predicted.seconds(), 0);
    before = product.seconds;
    csr = csr || name_of(product.spec) == "csr";
  }
  EXPECT_TRUE(csr);
  for (std::size_t i = found.timed; i < found.products.size(); ++i) {
    EXPECT_EQ(found.products[i].seconds, 0);
    EXPECT_FALSE(found.products[i].break_even);
  }
}

TEST(ProductSearch, AnExhaustiveOneTimesAllThatTakeTheMatrix) {
  const auto found =
      quick_search(generate<double, std::int32_t>("arrow:3000"), {.exhaustive = true});
  int refused = 0;
  for (const SearchedProduct& product : found.products) {
    EXPECT_NE(product.seconds > 0, !product.refusal.empty()) << label_of(product.spec);
    refused += product.refusal.empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 0);  // ELLPACK would be a dense matrix
  EXPECT_EQ(found.timed + refused, static_cast<int>(found.products.size()));
}

TEST(ProductSearch, KnowsTheDistanceOfTheContendersToTheBest) {
  const auto found =
      quick_search(generate<double, std::int32_t>("stencil5:50x50"), {.exhaustive = true});
  double chosen = 0;
  int contenders = 0;
  for (const SearchedProduct& product : found.products) {
    if (!product.contender) continue;
    ++contenders;
    if (chosen == 0) chosen = product.seconds;  // the fastest comes first
  }
  EXPECT_EQ(contenders, 6);
  EXPECT_DOUBLE_EQ(found.distance(), chosen / found.best().seconds - 1);
  ProductSearch made;
  made.products.resize(3);
  made.products[0].seconds = 2;
  made.products[1].seconds = 3;
  made.products[1].contender = true;
  EXPECT_DOUBLE_EQ(made.distance(), 0.5);
}

TEST(ProductSearch, TimesNotOnlyOneFormat) {
  const auto found =
      quick_search(generate<double, std::int32_t>("stencil27:12x12x12"), {.timed = 5});
  std::vector<Format> formats;
  for (int i = 0; i < found.timed; ++i) {
    formats.push_back(found.products[i].spec.format.format());
  }
  for (const Format format : formats) EXPECT_LE(std::ranges::count(formats, format), 4);
}

TEST(RankProducts, PutsTheBestFirstAndStoresNothing) {
  const auto matrix = generate<double, std::int32_t>("stencil27:30x30x30");
  const auto ranked = rank_products(matrix, default_profile(), {.timed = 2, .vectors = 3});
  double before = 0;
  int symmetric = 0;
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    EXPECT_EQ(ranked[i].rank, static_cast<int>(i));
    EXPECT_EQ(ranked[i].seconds, 0);
    if (!ranked[i].refusal.empty()) continue;
    EXPECT_GE(ranked[i].predicted.seconds(), before);
    EXPECT_GT(ranked[i].predicted_bytes, 0);
    before = ranked[i].predicted.seconds();
    symmetric += ranked[i].spec.format.format() == Format::symmetric_csr ? 1 : 0;
  }
  EXPECT_EQ(symmetric, 1);  // although a sample of rows is no symmetric matrix
  EXPECT_THROW(rank_products(matrix, default_profile(), {.vectors = 9}), InvalidArgument);
}

TEST(RankProducts, OneOfTheContendersHasEncodedValues) {
  // Slow kernels beside many others: nothing but the rule lets them take part.
  const auto matrix = generate<double, std::int32_t>("random:20000,nnzr=20");
  for (const int timed : {2, 5}) {
    int contenders = 0;
    int encoded = 0;
    for (const SearchedProduct& product :
         rank_products(matrix, default_profile(), {.timed = timed})) {
      contenders += product.contender ? 1 : 0;
      encoded += product.contender && encodes_values(product.spec.format) ? 1 : 0;
    }
    EXPECT_EQ(contenders, timed + 1);
    EXPECT_GE(encoded, 1);
  }
}

TEST(RankProducts, NeedsNoBandwidths) {
  for (const SearchedProduct& product :
       rank_products(generate<double, std::int32_t>("stencil27:30x30x30"), MachineProfile())) {
    EXPECT_TRUE(std::isfinite(product.predicted.seconds())) << label_of(product.spec);
  }
}

TEST(RankProducts, ByBytesAloneWhereNothingMayBeTimed) {
  const auto matrix = generate<double, std::int32_t>("band:2000,width=5");
  const ProductSpec csr{FormatSpec(Format::csr)};
  const ProductSpec dia{FormatSpec(Format::dia)};
  const auto ranked =
      rank_products(matrix, default_profile(), {.only = {csr, dia}, .sampled = false});
  ASSERT_EQ(ranked.size(), 2U);
  EXPECT_EQ(ranked[0].spec, dia);
  EXPECT_EQ(ranked[1].spec, csr);
  EXPECT_EQ(ranked[0].predicted.kernel_seconds, 0);
  EXPECT_LT(ranked[0].predicted_bytes, ranked[1].predicted_bytes);
}

TEST(ProductSearch, TakesCandidatesOfTheCaller) {
  const ProductSpec own{parse_format_spec("bcsr:block_rows=4,block_cols=6")};
  const auto found = quick_search(generate<double, std::int32_t>("stencil5:20x20"),
                                  {.exhaustive = true, .more = {own, own}});
  EXPECT_EQ(std::ranges::count(found.products, own, &SearchedProduct::spec), 1);
}

TEST(ProductSearch, EmptyAndRectangularMatricesHaveABestProductToo) {
  for (const Matrix& matrix : {Matrix(), Matrix(3, 0, {0, 0, 0, 0}, {}, {}),
                               Matrix(2, 5, {0, 1, 3}, {4, 0, 2}, {1, 2, 3})}) {
    const auto found = quick_search(matrix, {.exhaustive = true});
    EXPECT_TRUE(found.best().refusal.empty());
  }
}

TEST(ProductSearch, RefusesOptionsThatMakeNoSense) {
  EXPECT_THROW(quick_search(Matrix(), {.timed = 0}), InvalidArgument);
}

TEST(SampleOfRows, HasRunsOfRowsFromEverywhere) {
  const auto matrix = generate<double, std::int32_t>("band:100000,width=9");
  const Matrix sample = sample_of_rows(matrix, 10000);
  EXPECT_EQ(sample.cols(), matrix.cols());
  EXPECT_GE(sample.nnz(), 9900);
  EXPECT_LE(sample.nnz(), 10400);  // runs of 24 rows or multiples
  EXPECT_LT(sample.columns().front(), 5000);
  EXPECT_GT(sample.columns().back(), 95000);
  EXPECT_EQ(sample_of_rows(matrix, matrix.nnz()), matrix);
}

TEST(SampleOfRows, KeepsBlocksOfRowsTogether) {
  const auto matrix = generate<double, std::int32_t>("stencil27:20x20x20,dof=3");
  const Matrix sample = sample_of_rows(matrix, 50000);
  ASSERT_LT(sample.nnz(), matrix.nnz());
  // Three rows of a point have the same columns.
  for (std::int32_t row = 0; row + 2 < sample.rows(); row += 3) {
    const auto first = sample.pattern().columns_of(row);
    ASSERT_TRUE(std::ranges::equal(first, sample.pattern().columns_of(row + 2))) << row;
  }
}

TEST(SampleOfRows, TakesTheBeginningOfARowThatIsTooLong) {
  const auto matrix = generate<double, std::int32_t>("arrow:100000");
  const Matrix sample = sample_of_rows(matrix, 16000);
  EXPECT_LE(sample.nnz(), 18000);
  EXPECT_GE(sample.nnz(), 16000);
}

}  // namespace
}  // namespace strata
