#include "strata/device/internal/launch.hpp"

#include <cstdlib>

#include "strata/device/error.hpp"
#include "tests/device/kernels.hpp"
#include "tests/support/gpu.hpp"

namespace strata::test {
namespace {

class Launch : public GpuTest {};

TEST_F(Launch, OfNoBlocksDoesNothing) {
  gpu::Stream stream;
  EXPECT_NO_THROW(add_to_all({}, 1, stream));
  EXPECT_NO_THROW(stream.synchronize());
}

TEST_F(Launch, CooperativeBlocksSeeEachOther) {
  gpu::Stream stream;
  const int blocks = blocks_that_fit();
  ASSERT_GT(blocks, 0);
  gpu::DeviceArray<int> results(blocks), state(2);
  gpu::fill_zero(state.span(), stream);
  sum_across_blocks(results.span(), state.span(), stream);
  for (const int sum : gpu::to_host(results.span(), stream)) {
    EXPECT_EQ(sum, blocks * (blocks - 1) / 2);
  }
}

TEST_F(Launch, OfMoreBlocksThanCanBeResidentSaysHowManyFit) {
  gpu::Stream stream;
  const int blocks = blocks_that_fit();
  gpu::DeviceArray<int> results(blocks + 1), state(2);
  try {
    sum_across_blocks(results.span(), state.span(), stream);
    ADD_FAILURE() << "one block too many was accepted";
  } catch (const gpu::DeviceError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("sum_kernel"), std::string::npos) << text;
    EXPECT_NE(text.find(std::to_string(blocks + 1) + " blocks"), std::string::npos) << text;
    EXPECT_NE(text.find(std::to_string(blocks) + " fit"), std::string::npos) << text;
  }
  EXPECT_NO_THROW(stream.synchronize());
}

TEST_F(Launch, SharedMemoryGoesUpToWhatABlockCanHave) {
  gpu::Stream stream;
  const Offset most = gpu::device_properties(gpu::current_device()).shared_bytes_per_block;
  gpu::DeviceArray<double> results(3);
  for (const Offset bytes : {Offset{1} << 10, Offset{48} << 10, most}) {
    const int elements = static_cast<int>(bytes / Offset{sizeof(double)});
    sum_in_shared_memory(results.span(), elements, stream);
    for (const double sum : gpu::to_host(results.span(), stream)) {
      EXPECT_EQ(sum, 0.5 * elements * (elements - 1.0)) << bytes;
    }
  }
  EXPECT_THROW(sum_in_shared_memory(results.span(), static_cast<int>(most / 8 + 1), stream),
               gpu::DeviceError);
  EXPECT_NO_THROW(stream.synchronize());
}

// Such an error spoils the device for all that follows in the process, hence in one of its own,
// which starts a new program: a device does not survive a fork.
TEST_F(Launch, FailuresOfKernelsArriveWithTheNextSynchronisation) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        gpu::Stream stream;
        write_to_nowhere(stream);
        try {
          stream.synchronize();
        } catch (const gpu::DeviceError&) {
          std::_Exit(0);
        }
        std::_Exit(1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace strata::test
