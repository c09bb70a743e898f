// Local matrices on a GPU.
#include "strata/fem/gpu/device_local_matrices.hpp"

#include <gtest/gtest.h>

#include "strata/base/error.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/matrices.hpp"

namespace strata::gpu {
namespace {

class GpuLocalMatrices : public test::GpuTest {};

TEST_F(GpuLocalMatrices, MultiplyAsThoseOfTheProcessorAndTheSameEveryTime) {
  Stream stream;
  for (int degree = 1; degree <= 4; ++degree) {
    for (const bool symmetric : {false, true}) {
      const fem::QuadMesh mesh{.nx = 31, .ny = 18, .degree = degree};
      const fem::LocalMatrices local(mesh, fem::manufactured_diffusion().diffusivity,
                                     {.symmetric = symmetric, .block = 0});
      const auto x = test::random_vector<double>(mesh.unknowns(), 1);
      std::vector<double> expected(x.size());
      local.multiply(x, expected);
      const DeviceLocalMatrices device(local, stream);
      EXPECT_GE(device.bytes(), local.bytes());
      const auto device_x = to_device(std::span<const double>(x), stream);
      auto y = to_device(std::span<const double>(x), stream);
      device.multiply(device_x.span(), y.span(), stream);
      const auto found = to_host(y.span(), stream);
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-13) << i;
      device.multiply(device_x.span(), y.span(), stream);
      EXPECT_EQ(to_host(y.span(), stream), found);
    }
  }
}

TEST_F(GpuLocalMatrices, RefuseBlocksAndOtherLengths) {
  Stream stream;
  const fem::QuadMesh mesh{.nx = 9, .ny = 9, .degree = 1};
  const fem::Field one = [](double, double) { return 1.0; };
  EXPECT_THROW(DeviceLocalMatrices(fem::LocalMatrices(mesh, one), stream), InvalidArgument);
  const DeviceLocalMatrices device(fem::LocalMatrices(mesh, one, {.block = 0}), stream);
  DeviceArray<double> x(mesh.unknowns()), y(mesh.unknowns() + 1);
  EXPECT_THROW(device.multiply(x.span(), y.span(), stream), InvalidArgument);
}

}  // namespace
}  // namespace strata::gpu
