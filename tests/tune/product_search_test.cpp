// The search for the fastest product. How fast any is, is no matter of tests: what is searched, how
// results are ordered and what they say about each other is.
#include "strata/tune/product_search.hpp"

#include <gtest/gtest.h>

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
    EXPECT_GT(product.predicted_seconds(), 0);
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
  EXPECT_LE(sample.nnz(), 10200);
  EXPECT_LT(sample.columns().front(), 5000);
  EXPECT_GT(sample.columns().back(), 95000);
  EXPECT_EQ(sample_of_rows(matrix, matrix.nnz()), matrix);
}

TEST(SampleOfRows, TakesTheBeginningOfARowThatIsTooLong) {
  const auto matrix = generate<double, std::int32_t>("arrow:100000");
  const Matrix sample = sample_of_rows(matrix, 16000);
  EXPECT_LE(sample.nnz(), 18000);
  EXPECT_GE(sample.nnz(), 16000);
}

}  // namespace
}  // namespace strata
