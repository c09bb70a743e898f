// SELL-C-σ on an emulated GPU, for heights that divide a warp.
#include "strata/kernels/gpu/sell.hpp"

#include "strata/kernels/gpu/slice_headers.hpp"
#include "tests/kernels/gpu/emulated.hpp"

namespace strata {
namespace {

using test::Index32;

template <class Types>
class GpuSell : public testing::Test {};
TYPED_TEST_SUITE(GpuSell, test::ValuesOnWarps);

template <int warp_size, int height, Value V>
auto on_emulator(const Sell<V, Index32>& matrix) {
  return test::emulated<V>(
      matrix.rows(), matrix.cols(),
      [matrix, values = test::device_copy(matrix.values())](const auto& arguments, auto rows,
                                                            auto vectors) {
        const gpu::SellView<gpu::DeviceValue<V>> view{
            matrix.slice_offsets().data(),
            matrix.columns().data(),
            values.data(),
            matrix.row_lengths().data(),
            matrix.sorted() ? matrix.row_of_slot().data() : nullptr,
            matrix.rows()};
        test::launch_somehow<warp_size>(0, [&](auto& thread) {
          gpu::sell_step<gpu::FromMemory, height, vectors, gpu::gathers_ahead(vectors)>(
              thread, view, arguments, gpu::slices_of(matrix, rows));
        });
      });
}

template <int warp_size, Value V>
auto low_on_emulator(const Sell<V, Index32>& matrix, int threads) {
  return test::emulated<V>(
      matrix.rows(), matrix.cols(),
      [matrix, threads, values = test::device_copy(matrix.values())](const auto& arguments,
                                                                     auto rows, auto vectors) {
        const gpu::SellView<gpu::DeviceValue<V>> view{
            matrix.slice_offsets().data(),
            matrix.columns().data(),
            values.data(),
            matrix.row_lengths().data(),
            matrix.sorted() ? matrix.row_of_slot().data() : nullptr,
            matrix.rows()};
        test::launch_somehow<warp_size>(0, [&](auto& thread) {
          gpu::low_sell_step<gpu::FromMemory, vectors, gpu::gathers_ahead(vectors)>(
              thread, view, matrix.slice_height(), threads, arguments,
              gpu::slices_of(matrix, rows));
        });
      });
}

template <int warp_size, Value V>
void expect_low_slices_work(int height, Offset window, int threads) {
  SCOPED_TRACE(testing::Message() << "C = " << height << ", sigma = " << window << ", " << threads
                                  << " threads per row");
  const auto alignment = static_cast<Index32>(std::lcm<Offset>(height, window));
  test::expect_gpu_steps_on_all<V>(alignment, [&](const Csr<V, Index32>& csr) {
    const auto matrix = Sell<V, Index32>::from_csr(
        csr, {.slice_height = height, .sort_window = window, .max_fill = 1e9});
    return low_on_emulator<warp_size>(matrix, threads);
  });
}

TYPED_TEST(GpuSell, SeveralSlicesPerWarpAgreeWithTheReference) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  expect_low_slices_work<warp, V>(1, 1, 1);
  expect_low_slices_work<warp, V>(1, 7, 4);
  expect_low_slices_work<warp, V>(2, 1, 2);
  expect_low_slices_work<warp, V>(4, 12, 1);
}

TYPED_TEST(GpuSell, LowSlicesWithAllThreadsOfAWarpAgreeWithTheReference) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  expect_low_slices_work<warp, V>(1, 1, warp);
  expect_low_slices_work<warp, V>(4, 1, warp / 4);
}

template <int warp_size, int height, Value V>
void expect_height_works(Offset window) {
  SCOPED_TRACE(testing::Message() << "C = " << height << ", sigma = " << window);
  const auto alignment = static_cast<Index32>(std::lcm<Offset>(height, window));
  test::expect_gpu_steps_on_all<V>(alignment, [&](const Csr<V, Index32>& csr) {
    const auto matrix = Sell<V, Index32>::from_csr(
        csr, {.slice_height = height, .sort_window = window, .max_fill = 1e9});
    return on_emulator<warp_size, height>(matrix);
  });
}

TYPED_TEST(GpuSell, SomeThreadsPerRowAgreeWithTheReference) {
  using V = typename TypeParam::Value;
  expect_height_works<TypeParam::warp_size, 8, V>(24);
  expect_height_works<TypeParam::warp_size, 16, V>(1);
}

TYPED_TEST(GpuSell, FewThreadsPerRowAgreeWithTheReference) {
  using V = typename TypeParam::Value;
  expect_height_works<TypeParam::warp_size, 32, V>(1);
  expect_height_works<TypeParam::warp_size, 32, V>(64);
  if constexpr (TypeParam::warp_size == 64) expect_height_works<64, 64, V>(1);
}

TYPED_TEST(GpuSell, PaddingNeverLetsAnythingThrough) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  const auto csr = test::tridiagonal_with_a_hole<V, Index32>(70);
  for (const int count : {1, 3}) {
    const auto matrix = Sell<V, Index32>::from_csr(csr, {.slice_height = 8});
    test::expect_holes_let_nothing_through(csr, count, on_emulator<warp, 8>(matrix));
    const auto low = Sell<V, Index32>::from_csr(csr, {.slice_height = 4});
    test::expect_holes_let_nothing_through(csr, count, low_on_emulator<warp>(low, 2));
    const auto sorted = Sell<V, Index32>::from_csr(csr, {.slice_height = 32, .sort_window = 64});
    test::expect_holes_let_nothing_through(csr, count, on_emulator<warp, 32>(sorted));
  }
}

}  // namespace
}  // namespace strata
