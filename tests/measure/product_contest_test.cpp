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

  const MachineProfile profile_ = imaginary_machine();
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
                                      "bytes"};
  EXPECT_EQ(json_of(results.front()).keys(), keys);
}

}  // namespace
}  // namespace strata::test
