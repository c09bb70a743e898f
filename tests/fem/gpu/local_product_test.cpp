// Products of local matrices on an emulated GPU, against those of the processor.
#include "strata/fem/gpu/local_product.hpp"

#include "strata/base/random.hpp"
#include "strata/fem/local_matrices.hpp"
#include "tests/kernels/gpu/emulated.hpp"

namespace strata::fem {
namespace {

using Vector = std::vector<double>;

template <int nodes, bool symmetric, int warp>
Vector product(const LocalMatrices<>& local, const Vector& x) {
  Vector y(x.size(), 0.0);
  // Arrays of their exact sizes, for AddressSanitizer.
  const Vector values(local.values().begin(), local.values().end());
  const std::vector<Unknown> unknowns(local.unknowns().begin(), local.unknowns().end());
  for (int colour = 0; colour < kMeshColours; ++colour) {
    const RowRange<Offset> slots = local.slots_of(colour);
    const gpu::LocalProductArguments<double> arguments{
        values.data(), unknowns.data(), local.slots(), slots.begin, slots.end, x.data(), y.data()};
    test::launch_somehow<warp>(
        0, [&](auto& thread) { gpu::multiply_local<nodes, symmetric>(thread, arguments); });
  }
  return y;
}

template <int degree, bool symmetric, int warp>
void expect_products() {
  constexpr int nodes = (degree + 1) * (degree + 1);
  for (const auto& [nx, ny] :
       {std::pair<Offset, Offset>{2, 2}, {1, 1}, {1, 3}, {5, 3}, {12, 7}, {25, 2}}) {
    const QuadMesh mesh{.nx = nx, .ny = ny, .degree = degree};
    if (mesh.unknowns() == 0) continue;
    const LocalMatrices local(mesh, manufactured_diffusion().diffusivity,
                              {.symmetric = symmetric, .block = 0});
    const Random random(5);
    Vector x(mesh.unknowns()), expected(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = random.uniform(i, -1, 1);
    local.multiply(x, expected);
    const Vector y = product<nodes, symmetric, warp>(local, x);
    for (std::size_t i = 0; i < y.size(); ++i) {
      ASSERT_NEAR(y[i], expected[i], 1e-13) << nx << 'x' << ny << ", row " << i;
    }
    const Vector again = product<nodes, symmetric, warp>(local, x);
    EXPECT_EQ(again, y) << "in another order of threads";
  }
}

TEST(GpuLocalProduct, EqualsThatOfTheProcessorForAllDegrees) {
  expect_products<1, false, 32>();
  expect_products<2, false, 64>();
  expect_products<3, false, 32>();
  expect_products<4, false, 32>();
}

TEST(GpuLocalProduct, EqualsThatOfTheProcessorWithHalfOfTheValues) {
  expect_products<1, true, 64>();
  expect_products<2, true, 32>();
  expect_products<3, true, 32>();
  expect_products<4, true, 64>();
}

}  // namespace
}  // namespace strata::fem
