// The product contest: who takes part, and whether all are right.

#include "strata/measure/product_contest.hpp"

#include <set>

#include "strata/formats/statistics.hpp"
#include "tests/measure/support.hpp"

namespace strata::test {
namespace {

template <class V>
class ProductContest : public testing::Test {
 protected:
  ProductContest() {
    options_.min_seconds = 0;
    options_.min_repetitions = 1;
  }

  std::vector<ProductResult> contest(const Matrix<V>& matrix,
                                     const ProductField<V, std::int32_t>& field) const {
    std::vector<ProductResult> results;
    hold_product_contest(matrix, field, profile_, options_,
                         [&](const ProductResult& result) { results.push_back(result); });
    return results;
  }

  MachineProfile profile_ = imaginary_machine();
  ContestOptions options_;
};
TYPED_TEST_SUITE(ProductContest, AllValues);

TYPED_TEST(ProductContest, KernelsThePlanAndTheReferenceAreRight) {
  using V = TypeParam;
  const auto matrix = grid<V>(12, 9);
  const MatrixStatistics statistics = statistics_of(matrix);
  const auto products = parse_product_list("all", statistics, KernelTarget::processor);
  const auto reference = parse_product_list("all", statistics, KernelTarget::reference);
  EXPECT_EQ(reference.size(), usual_specs(statistics).size());
  std::set<std::string> backends;
  std::size_t kernels = 0;
  for (const ProductResult& result :
       this->contest(matrix, {.products = products, .reference = reference})) {
    SCOPED_TRACE(result.backend + " " + result.label);
    ASSERT_EQ(result.refusal, "");
    EXPECT_TRUE(result.measurement.check->passed) << result.measurement.check->explain();
    EXPECT_EQ(result.measurement.flops, (is_complex<V> ? 8 : 2) * matrix.nnz());
    EXPECT_EQ(result.minimum_bytes, Offset{sizeof(V)} * (matrix.nnz() + 2 * 108));
    EXPECT_EQ(result.precision, precision_of<V>());
    EXPECT_EQ(result.speed_up, 0) << "there are no peers";
    backends.insert(result.backend);
    kernels += result.backend == "cpu" ? 1 : 0;
  }
  EXPECT_EQ(backends, (std::set<std::string>{"cpu", "reference"}));
  EXPECT_EQ(kernels, products.size() + 1) << "each of them, and the plan";
}

TYPED_TEST(ProductContest, PeersComeFirstAndOthersAreComparedWithThem) {
  using V = TypeParam;
  const auto matrix = grid<V>(12, 9);
  ProductField<V, std::int32_t> field{.products = {{FormatSpec(Format::csr)}}, .plan = false};
  field.peers = [](const Matrix<V>& of) {
    Peer<V> right{.name = "right", .threads = 3, .bytes = 1000, .setup_seconds = 0.5};
    right.multiply = [&of](V alpha, std::span<const V> x, std::span<V> y) {
      reference::spmv(of, alpha, x, V{}, y);
    };
    Peer<V> wrong{.name = "wrong",
                  .format = {Format::bcsr, 1},
                  .parameters = {{"block_rows", 3}, {"block_cols", 4}}};
    wrong.multiply = [](V, std::span<const V>, std::span<V>) {};
    return std::vector<Peer<V>>{right, wrong};
  };
  const auto results = this->contest(matrix, field);
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results[0].label, "right");
  EXPECT_TRUE(results[0].of_peer());
  EXPECT_EQ(results[0].threads, 3);
  EXPECT_EQ(results[0].format_bytes, 1000);
  EXPECT_EQ(results[0].setup_seconds, 0.5);
  EXPECT_TRUE(results[0].measurement.check->passed);
  EXPECT_EQ(results[0].format, FormatSpec(Format::csr));
  EXPECT_FALSE(results[1].measurement.check->passed) << "what another left is not its own";
  EXPECT_EQ(text_of(results[1].format), "bcsr:block_rows=3,block_cols=4");
  EXPECT_EQ(results[2].label, "CSR");
  EXPECT_GT(results[2].speed_up, 0);
}

using ProductContestOfDoubles = ProductContest<double>;

TEST_F(ProductContestOfDoubles, FormatsThatRefuseSayWhy) {
  Entries<double, std::int32_t> entries(4000, 4000, 1);
  for (std::int32_t i = 0; i < 4000; ++i) entries.add(0, i);
  const auto results =
      contest(entries.coo().to_csr(), {.plan = false, .reference = {{FormatSpec(Format::ell)}}});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_NE(results[0].refusal, "");
  EXPECT_EQ(json_of(results[0]).keys().back(), "refused");
}

TEST_F(ProductContestOfDoubles, ModelsJudgeEveryTime) {
  profile_.plateaus = {{1, 100, 40 * kGiga}, {1, 10000, 10 * kGiga}};  // nothing stays in cache
  const auto matrix = grid<double>(12, 9);
  ProductField<double, std::int32_t> field{
      .products = parse_product_list("csr,sell", statistics_of(matrix), KernelTarget::processor),
      .plan = false,
      .alpha = 0.25};
  const auto results = contest(matrix, field);
  ASSERT_EQ(results.size(), 6U);  // CSR with four kernels, SELL with two windows
  const SetupAndProduct csr{results[0].setup_seconds, results[0].measurement.timing.median};
  EXPECT_EQ(results[0].break_even, 0);
  for (const ProductResult& result : results) {
    SCOPED_TRACE(result.label);
    const double seconds = result.measurement.timing.median;
    EXPECT_TRUE(result.compared_with_csr);
    EXPECT_EQ(result.break_even, break_even_products({result.setup_seconds, seconds}, csr));
    EXPECT_EQ(result.predicted_alpha, 0.25);
    const auto entries = static_cast<double>(matrix.nnz());
    const double moved = static_cast<double>(result.format_bytes) + 24 * 108;
    EXPECT_EQ(result.roofline->limit, "dram");
    EXPECT_NEAR(result.roofline->flops_per_second, 2 * entries / (moved / 10e9), 1);
    EXPECT_NEAR(result.roofline_share(), moved / seconds / 10e9, 1e-9);
    const double of_x = seconds * 10e9 - static_cast<double>(result.format_bytes) - 16 * 108;
    EXPECT_NEAR(*result.inferred_alpha, of_x / (8 * entries), 1e-6);
    const Json json = json_of(result);
    EXPECT_EQ(json.keys()[json.keys().size() - 3], "break_even_products");
    EXPECT_EQ(json.keys()[json.keys().size() - 2], "roofline");
    EXPECT_EQ(json.keys().back(), "alpha");
  }
}

TEST_F(ProductContestOfDoubles, WhatStaysInCacheSaysNothingAboutX) {
  const auto results =
      contest(grid<double>(12, 9), {.products = {{FormatSpec(Format::csr)}}, .plan = false});
  EXPECT_FALSE(results[0].inferred_alpha);
  EXPECT_EQ(results[0].roofline->limit, "L1");
}

TEST_F(ProductContestOfDoubles, WithoutCsrAndWithoutEntriesThereIsNothingToCompareWith) {
  const auto results = contest(grid<double>(12, 9), {.products = {{FormatSpec(Format::sell)}},
                                                     .plan = false,
                                                     .reference = {{FormatSpec(Format::csr)}}});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_FALSE(results[0].compared_with_csr);
  EXPECT_FALSE(results[1].compared_with_csr) << "the reference is no baseline";
  const auto empty = contest(Entries<double, std::int32_t>(4, 4, 1).coo().to_csr(),
                             {.products = {{FormatSpec(Format::csr)}}, .plan = false});
  EXPECT_FALSE(empty[0].roofline);
  EXPECT_FALSE(empty[0].inferred_alpha);
}

TEST_F(ProductContestOfDoubles, JsonHasItsKeysInTheOrderOfTheContract) {
  const auto results =
      contest(grid<double>(12, 9), {.products = {{FormatSpec(Format::sell)}}, .plan = false});
  const std::vector<std::string> keys{"kernel",        "backend",
                                      "format",        "variant",
                                      "power",         "parameters",
                                      "threads",       "precision",
                                      "setup_seconds", "seconds",
                                      "gflops",        "gbytes_per_second",
                                      "error",         "percent_of_memory_bandwidth",
                                      "bytes",         "roofline"};
  EXPECT_EQ(json_of(results.front()).keys(), keys);
}

}  // namespace
}  // namespace strata::test
