#include "strata/machine/internal/stream_kernels.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "strata/machine/internal/read_meter.hpp"

namespace strata::detail {
namespace {

std::vector<double> count_from(double first, Offset length) {
  std::vector<double> values(length);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST(StreamKernels, ReadEveryElementInEverySweep) {
  for (const Offset length : {Offset{0}, kLanes, 5 * kLanes}) {
    const std::vector<double> data = count_from(1, length);
    const double sum = std::accumulate(data.begin(), data.end(), 0.0);
    EXPECT_EQ(read_again_and_again(data, 0), 0);
    EXPECT_EQ(read_again_and_again(data, 1), sum);
    EXPECT_EQ(read_again_and_again(data, 3), 3 * sum);
  }
}

TEST(StreamKernels, ComputeWhatTheirNamesSay) {
  const Offset length = 3 * kLanes;
  std::vector<double> a = count_from(1, length);
  std::vector<double> b = count_from(2, length);
  std::vector<double> c(length);
  stream_copy(a, c);
  EXPECT_EQ(c, a);
  stream_add(a, b, c);
  for (Offset i = 0; i < length; ++i) EXPECT_EQ(c[i], 2.0 * static_cast<double>(i) + 3);
  EXPECT_EQ(stream_dot(a, b), std::inner_product(a.begin(), a.end(), b.begin(), 0.0));
  stream_scale(0.5, c, b);
  for (Offset i = 0; i < length; ++i) EXPECT_EQ(b[i], c[i] / 2);
  stream_triad(2, b, c, a);
  for (Offset i = 0; i < length; ++i) EXPECT_EQ(a[i], b[i] + 2 * c[i]);
}

TEST(TeamMemory, SharesAreFilledDisjointAndWholeBlocks) {
  for (const int threads : {1, 2, 5}) {
    TeamMemory memory(threads, 100000);
    EXPECT_EQ(memory.team(), threads);
    EXPECT_EQ(memory.length() % kLanes, 0);
    for (int thread = 0; thread < threads; ++thread) {
      for (const double value : memory.share(thread)) ASSERT_GE(value, 1);
      if (thread > 0) {
        EXPECT_EQ(memory.share(thread).data(), &memory.share(thread - 1).back() + 1);
      }
    }
  }
}

TEST(ReadMeter, MeasuresAnyWorkingSetOfItsMemory) {
  TeamMemory memory(3, 1 << 20);
  ReadMeter meter(memory);
  for (const Offset bytes : {Offset{1}, Offset{50000}, Offset{1} << 20, Offset{1} << 40}) {
    EXPECT_GT(meter.bandwidth(bytes, 1e-4), 0) << bytes;
    EXPECT_GT(meter.time_of_read(bytes, 1e-4), 0) << bytes;
  }
}

}  // namespace
}  // namespace strata::detail
