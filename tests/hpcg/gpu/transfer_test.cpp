// What goes between levels, on an emulated GPU.
#include "strata/hpcg/gpu/transfer.hpp"

#include "tests/kernels/gpu/emulated.hpp"

namespace strata {
namespace {

TEST(GpuTransfer, GathersDifferencesTimesFactorsAndZeros) {
  const std::vector<double> from{1, 2, 3}, minus{0.5, 0, 1}, factor{10, 20, 30, 40};
  const std::vector<std::int32_t> source{2, -1, 0, 1};
  std::vector<double> target(4, NAN);
  test::launch_somehow<32>(0, [&](auto& thread) {
    gpu::gather(thread, gpu::GatherArguments<double>{from.data(), minus.data(), source.data(),
                                                     factor.data(), target.data(), 4});
  });
  EXPECT_EQ(target, (std::vector<double>{20, 0, 15, 80}));
  test::launch_somehow<64>(0, [&](auto& thread) {
    gpu::gather(thread, gpu::GatherArguments<double>{from.data(), nullptr, source.data(), nullptr,
                                                     target.data(), 4});
  });
  EXPECT_EQ(target, (std::vector<double>{3, 0, 1, 2}));
}

TEST(GpuTransfer, AddsWhereThereIsAPlace) {
  const std::vector<double> from{1, 2, 3};
  const std::vector<std::int32_t> place{3, -1, 0};
  std::vector<double> target{10, 20, 30, 40};
  test::launch_somehow<32>(0, [&](auto& thread) {
    gpu::add_at(thread, gpu::AddAtArguments<double>{from.data(), place.data(), target.data(), 3});
  });
  EXPECT_EQ(target, (std::vector<double>{13, 20, 30, 41}));
}

}  // namespace
}  // namespace strata
