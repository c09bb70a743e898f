// ELLPACK on an emulated GPU.
#include "strata/kernels/gpu/ell.hpp"

#include "strata/formats/ell.hpp"
#include "tests/kernels/gpu/emulated.hpp"

namespace strata {
namespace {

using test::Index32;

template <class Types>
class GpuEll : public testing::Test {};
TYPED_TEST_SUITE(GpuEll, test::ValuesOnWarps);

template <int warp_size, Value V>
auto on_emulator(const Csr<V, Index32>& csr) {
  const auto matrix = Ell<V, Index32>::from_csr(csr, {.max_fill = 1e9});
  return test::emulated<V>(matrix.rows(), matrix.cols(),
                           [matrix, values = test::device_copy(matrix.values())](
                               const auto& arguments, auto rows, auto vectors) {
                             const gpu::EllView<gpu::DeviceValue<V>> view{
                                 matrix.columns().data(), values.data(),
                                 matrix.row_lengths().data(), matrix.rows(), matrix.width()};
                             test::launch_somehow<warp_size>(0, [&](auto& thread) {
                               gpu::ell_step<gpu::FromMemory, vectors, gpu::gathers_ahead(vectors)>(
                                   thread, view, arguments, rows);
                             });
                           });
}

TYPED_TEST(GpuEll, AThreadPerRowAgreesWithTheReference) {
  using V = typename TypeParam::Value;
  test::expect_gpu_steps_on_all<V>(
      1, [](const Csr<V, Index32>& csr) { return on_emulator<TypeParam::warp_size>(csr); });
}

TYPED_TEST(GpuEll, PaddingNeverLetsAnythingThrough) {
  using V = typename TypeParam::Value;
  const auto csr = test::tridiagonal_with_a_hole<V, Index32>(70);
  for (const int count : {1, 3}) {
    test::expect_holes_let_nothing_through(csr, count, on_emulator<TypeParam::warp_size>(csr));
  }
}

// Padding of an empty row stands in column 0, of others in their last column.
TYPED_TEST(GpuEll, EmptyRowsStayZeroWhateverIsInX) {
  using V = typename TypeParam::Value;
  test::Entries<V, Index32> entries(40, 40, 3);
  for (Index32 row = 0; row < 40; row += 3) {
    for (Index32 column = 0; column <= row % 5; ++column) entries.add(row, column);
  }
  const Csr<V, Index32> csr = entries.coo().to_csr();
  const std::vector<V> x(40, test::not_a_number<V>());
  std::vector<V> out(40, V{7});
  on_emulator<TypeParam::warp_size>(csr)({}, {x.data(), nullptr, out.data(), 1}, csr.all_rows());
  for (Index32 row = 0; row < 40; ++row) {
    if (row % 3 == 0) {
      EXPECT_NE(out[row], out[row]);
    } else {
      EXPECT_EQ(out[row], V{});
    }
  }
}

}  // namespace
}  // namespace strata
