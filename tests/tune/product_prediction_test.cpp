#include "strata/tune/product_prediction.hpp"

#include <gtest/gtest.h>

#include "strata/base/error.hpp"

namespace strata {
namespace {

TEST(PredictedTime, IsBetweenTheLongerTimeAndTheSum) {
  EXPECT_EQ(PredictedTime().seconds(), 0);
  EXPECT_DOUBLE_EQ((PredictedTime{.kernel_seconds = 3}).seconds(), 3);
  EXPECT_DOUBLE_EQ((PredictedTime{.memory_seconds = 3}).seconds(), 3);
  EXPECT_NEAR((PredictedTime{3, 3}).seconds(), 3.568, 1e-3);  // 3 · 2^¼
  EXPECT_DOUBLE_EQ((PredictedTime{2, 3}).seconds(), (PredictedTime{3, 2}).seconds());
  EXPECT_GT((PredictedTime{2, 3}).seconds(), 3);
  EXPECT_LT((PredictedTime{2, 3}).seconds(), (PredictedTime{2.5, 3}).seconds());
}

TEST(Extrapolated, CountsOnceWhatDoesNotGrow) {
  // 5 and 0.1 per entry.
  EXPECT_DOUBLE_EQ(extrapolated({10, 6}, {100, 15}, 1000), 105);
  EXPECT_DOUBLE_EQ(extrapolated({10, 6}, {100, 15}, 100), 15);
  // A disturbed small sample does not make more entries cheaper.
  EXPECT_DOUBLE_EQ(extrapolated({10, 20}, {100, 15}, 1000), 15);
  EXPECT_THROW(extrapolated({100, 6}, {100, 15}, 1000), InvalidArgument);
}

class CauseOfMiss : public ::testing::Test {
 protected:
  std::string cause(Format format, double seconds) const {
    MeasuredProduct product;
    product.spec = {FormatSpec(format), kernel};
    product.predicted = predicted;
    product.predicted_bytes = 100;
    product.seconds = seconds;
    product.bytes = bytes;
    product.threads = 4;
    product.target = target;
    return cause_of_miss(product, matrix);
  }

  PredictedTime predicted{.kernel_seconds = 1};
  double bytes = 100;
  std::string kernel;
  KernelTarget target = KernelTarget::processor;
  MatrixStatistics matrix{.rows = 100,
                          .cols = 100,
                          .entries = 1000,
                          .row_lengths = {.max = 12, .histogram = {}},
                          .lower_bandwidth = 5,
                          .upper_bandwidth = 5};
};

TEST_F(CauseOfMiss, IsNoneWithinFifteenPercent) {
  EXPECT_EQ(cause(Format::csr, 1), "");
  EXPECT_EQ(cause(Format::csr, 1.15), "");
  EXPECT_EQ(cause(Format::csr, 0.88), "");
  EXPECT_NE(cause(Format::csr, 1.2), "");
  EXPECT_NE(cause(Format::csr, 0.8), "");
  predicted = {};
  EXPECT_EQ(cause(Format::csr, 1), "");  // nothing was predicted
}

TEST_F(CauseOfMiss, NamesWhatTheProductHasAndTheModelLeavesOut) {
  EXPECT_NE(cause(Format::csr, 2).find("memory gave less"), std::string::npos);
  EXPECT_NE(cause(Format::ell, 2).find("streams"), std::string::npos);
  EXPECT_NE(cause(Format::csc, 2).find("all over y"), std::string::npos);
  EXPECT_NE(cause(Format::packed_sell, 0.5).find("encoded"), std::string::npos);
  EXPECT_NE(cause(Format::csr, 0.5).find("share more of x"), std::string::npos);
  predicted = {.memory_seconds = 1};
  EXPECT_NE(cause(Format::csr, 0.5).find("in cache"), std::string::npos);
  EXPECT_NE(cause(Format::ell, 0.5).find("padding"), std::string::npos);
  matrix.upper_bandwidth = 90;
  EXPECT_NE(cause(Format::csr, 2).find("all over x"), std::string::npos);
  matrix.row_lengths.max = 500;
  EXPECT_NE(cause(Format::csr, 2).find("200 % of what a thread has"), std::string::npos);
  bytes = 150;
  EXPECT_NE(cause(Format::csr, 2).find("1.50 times the bytes"), std::string::npos);
}

TEST_F(CauseOfMiss, KnowsGpus) {
  target = KernelTarget::gpu;
  EXPECT_NE(cause(Format::ell, 2).find("memory gave less"), std::string::npos);
  matrix.row_lengths.max = 500;
  EXPECT_NE(cause(Format::ell, 2).find("200 % of what a multiprocessor has"), std::string::npos);
  kernel = "balanced";  // cuts it
  EXPECT_EQ(cause(Format::csr, 2).find("multiprocessor"), std::string::npos);
}

}  // namespace
}  // namespace strata
