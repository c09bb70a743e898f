// Devices as the models of a product see them: levels of memory, rooflines, α, saturation.

#include "strata/measure/product_device.hpp"

#include <gtest/gtest.h>

#include "strata/base/error.hpp"
#include "strata/gen/generate.hpp"
#include "tests/machine/gpu/support.hpp"

namespace strata::test {
namespace {

using Matrix = Csr<double, std::int32_t>;

// Caches of 40 kB behind 10 kB, 40 GB/s behind 80, and 10 from memory.
MachineProfile small_machine() {
  MachineProfile profile;
  profile.cores = 1;
  profile.caches = {{1, 10 * kKilo, 1}, {2, 40 * kKilo, 1}};
  profile.read = {{1, 5 * kKilo, 80 * kGiga},
                  {1, 20 * kKilo, 40 * kGiga},
                  {1, 40 * kKilo, 40 * kGiga},
                  {1, 400 * kKilo, 10 * kGiga}};
  profile.plateaus = {
      {1, 10 * kKilo, 80 * kGiga}, {1, 40 * kKilo, 40 * kGiga}, {1, 400 * kKilo, 10 * kGiga}};
  return profile;
}

TEST(ProductDevice, HasTheCachesOfAProcessorAndItsMemory) {
  const ProductDevice device = product_device(small_machine(), 1);
  const std::vector<MemoryLevel> levels{
      {"L1", 10 * kKilo, 80 * kGiga}, {"L2", 40 * kKilo, 40 * kGiga}, {"dram", 0, 10 * kGiga}};
  EXPECT_EQ(device.levels, levels);
  EXPECT_EQ(device.cached_bytes(), 40 * kKilo);
  EXPECT_EQ(device.memory_bandwidth(), 10 * kGiga);
  EXPECT_EQ(device.cache.bytes, 39 * 1024) << "whole sets of 16 lines";
}

TEST(ProductDevice, ArithmeticLimitsWhereMemoryDoesNot) {
  MachineProfile profile = small_machine();
  EXPECT_EQ(product_device(profile, 1).peak_flops, 0);
  profile.cores = 4;
  profile.flops_per_second = 8 * kMega;
  const ProductDevice device = product_device(profile, 2);
  EXPECT_EQ(device.peak_flops, 4 * kMega);
  EXPECT_EQ(product_device(profile, 8).peak_flops, 8 * kMega) << "no more than all cores";
  const ProductWork work{.rows = 10, .cols = 10, .entries = 100};
  const Roofline roof = product_roofline(device, work, FormatSpec(Format::csr), 1200);
  EXPECT_EQ(roof.limit, "peak");
  EXPECT_EQ(roof.flops_per_second, 4 * kMega);
  EXPECT_EQ(device.peak_of({.value_bytes = 4}), 8 * kMega);
  EXPECT_EQ(device.peak_of({.value_bytes = 8, .flops_per_entry = 8}), 8 * kMega)
      << "complex numbers of two floats";
  EXPECT_EQ(device.peak_of({.value_bytes = 16, .flops_per_entry = 8}), 4 * kMega);
}

TEST(ProductDevice, ThreadsShareTheLastCacheAndHaveTheOthers) {
  const ProductDevice device = product_device(imaginary_machine(), 4);
  ASSERT_EQ(device.levels.size(), 4U);
  EXPECT_EQ(device.levels[1].name, "L2");
  EXPECT_EQ(device.levels[1].bytes, 4 * kMega);
  EXPECT_EQ(device.levels[1].bytes_per_second, 300 * kGiga);
  EXPECT_EQ(device.levels[2].bytes, 16 * kMega);
  EXPECT_NEAR(device.levels[2].bytes_per_second, 180 * kGiga, 1e-3 * kGiga);
  EXPECT_EQ(device.cache.bytes, 4 * kMega / 1024 * 1024) << "a quarter, in whole sets";
}

TEST(ProductDevice, MoreThreadsThanCoresShareTheCacheInTurns) {
  EXPECT_EQ(product_device(imaginary_machine(), 100).cache.bytes,
            product_device(imaginary_machine(), 4).cache.bytes);
}

TEST(ProductDevice, CachesThatAreNotReportedAreKnownFromTheirBandwidth) {
  MachineProfile profile = small_machine();
  profile.caches.clear();
  const std::vector<MemoryLevel> levels{{"cache", 40 * kKilo, 40 * kGiga}, {"dram", 0, 10 * kGiga}};
  EXPECT_EQ(product_device(profile, 1).levels, levels);
}

TEST(ProductDevice, OfAGpuIsItsL2AndItsMemory) {
  const ProductDevice device = product_device(imaginary_gpu());
  const std::vector<MemoryLevel> levels{{"L2", 40 * kMega, 8000 * kGiga},
                                        {"dram", 0, 4000 * kGiga}};
  EXPECT_EQ(device.levels, levels);
  EXPECT_FALSE(device.write_allocate);
  EXPECT_EQ(device.cache.line_bytes, 32);
}

// 1000 rows of 10 entries: x and y move 24 kB, or 16 without write-allocate.
constexpr ProductWork kWork{.rows = 1000, .cols = 1000, .entries = 10000};

TEST(ProductRoofline, IsThatOfMemoryBeyondTheCaches) {
  const ProductDevice device = product_device(small_machine(), 1);
  const Roofline roof = product_roofline(device, kWork, FormatSpec(Format::csr), 120000);
  EXPECT_EQ(roof.limit, "dram");
  EXPECT_NEAR(roof.seconds, 144e3 / 10e9, 1e-12);
  EXPECT_NEAR(roof.flops_per_second, 20000 / roof.seconds, 1);
}

TEST(ProductRoofline, OfEncodedValuesIsThatOfXInTheFirstCache) {
  const ProductDevice device = product_device(small_machine(), 1);
  const Roofline roof = product_roofline(device, kWork, FormatSpec(Format::packed_sell), 1000);
  EXPECT_EQ(roof.limit, "L1");
  // The matrix, y twice, and an element of x for every entry.
  EXPECT_NEAR(roof.seconds, (1000 + 16000 + 80000) / 80e9, 1e-15);
  // Blocks load their elements once for all their rows: then it is the second cache.
  const FormatSpec blocks(Format::bcsr, {{"block_rows", 8}, {"block_cols", 1}});
  EXPECT_EQ(product_roofline(device, kWork, blocks, 1000).limit, "L2");
}

TEST(ProductRoofline, OfAGpuCountsXOnce) {
  const ProductDevice device = product_device(imaginary_gpu());
  const Roofline roof = product_roofline(device, kWork, FormatSpec(Format::csr), 120000);
  EXPECT_EQ(roof.limit, "L2");
  EXPECT_NEAR(roof.seconds, 136e3 / 8e12, 1e-15);
}

TEST(ProductRoofline, NeedsEntries) {
  const ProductDevice device = product_device(small_machine(), 1);
  EXPECT_THROW(product_roofline(device, {.rows = 3, .cols = 3}, FormatSpec(Format::csr), 32),
               InvalidArgument);
}

TEST(PredictAlpha, IsThatOfTheCacheUnlessTheMatrixStaysThere) {
  const ProductDevice device = product_device(small_machine(), 1);
  const Matrix large = generate<double, std::int32_t>("stencil5:100x100");
  const AlphaPrediction predicted = predict_alpha(large.pattern(), device);
  EXPECT_EQ(predicted.sampled_share, 1);
  EXPECT_EQ(predicted.alpha, predicted_alpha(large.pattern(), device.cache));
  EXPECT_NEAR(predicted.alpha * 49600 / 10000, 1, 0.05) << "three rows of the grid stay";
  const Matrix small = generate<double, std::int32_t>("stencil5:10x10");
  EXPECT_EQ(predict_alpha(small.pattern(), device), (AlphaPrediction{0, 0}));
}

TEST(PredictAlpha, OfASampleIsAboutThatOfAllRows) {
  const ProductDevice device = product_device(small_machine(), 1);
  for (const char* spec : {"stencil5:100x1000", "random:60000,nnzr=8", "rmat:14,edges=16"}) {
    SCOPED_TRACE(spec);
    const Matrix matrix = generate<double, std::int32_t>(spec);
    const double whole = predict_alpha(matrix.pattern(), device).alpha;
    const AlphaPrediction sampled = predict_alpha(matrix.pattern(), device, {}, matrix.nnz() / 4);
    EXPECT_GT(sampled.sampled_share, 0.1);
    EXPECT_LT(sampled.sampled_share, 0.5);
    EXPECT_NEAR(sampled.alpha, whole, 0.15 * whole);
  }
}

TEST(PredictAlpha, WithoutACacheEveryEntryLoads) {
  MachineProfile profile = small_machine();
  profile.caches.clear();
  profile.plateaus = {{1, 400 * kKilo, 10 * kGiga}};
  const Matrix matrix = generate<double, std::int32_t>("stencil5:9x9");
  EXPECT_EQ(predict_alpha(matrix.pattern(), product_device(profile, 1)).alpha, 1);
}

TEST(PredictAlpha, OneRowThatIsLongerThanASampleIsPlayedWhole) {
  const ProductDevice device = product_device(small_machine(), 1);
  const Matrix matrix = generate<double, std::int32_t>("arrow:20000");
  const AlphaPrediction sampled = predict_alpha(matrix.pattern(), device, {}, 10);
  EXPECT_GE(sampled.alpha, 0);
  EXPECT_LE(sampled.sampled_share, 1);
}

TEST(Saturation, IsTheFewestThreadsWithMostOfTheBest) {
  const std::vector<ScalingPoint> points{{1, 10}, {2, 19}, {4, 28.6}, {8, 30}, {16, 29}};
  EXPECT_EQ(saturating_threads(points), 4);
  EXPECT_EQ(saturating_threads(points, 0.96), 8);
  EXPECT_EQ(saturating_threads(points, 0.5), 2);
  EXPECT_EQ(saturating_threads({}), 0);
}

TEST(Saturation, IsShownByAllNumbersUpToEightThenPowersOfTwoAndTheLast) {
  EXPECT_EQ(scaling_thread_counts(1, 4), (std::vector{1, 2, 3, 4}));
  EXPECT_EQ(scaling_thread_counts(2, 40), (std::vector{2, 3, 4, 5, 6, 7, 8, 16, 32, 40}));
  EXPECT_EQ(scaling_thread_counts(3, 3), (std::vector{3}));
}

}  // namespace
}  // namespace strata::test
