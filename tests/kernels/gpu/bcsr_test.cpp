// BCSR on an emulated GPU.
#include "strata/kernels/gpu/bcsr.hpp"

#include "strata/formats/bcsr.hpp"
#include "tests/kernels/gpu/emulated.hpp"

namespace strata {
namespace {

using test::Index32;

template <class Types>
class GpuBcsr : public testing::Test {};
TYPED_TEST_SUITE(GpuBcsr, test::ValuesOnWarps);

// block_cols: what the kernel for one vector is compiled for; 0 is for any.
template <int warp_size, int block_cols, Value V>
auto on_emulator(const Csr<V, Index32>& csr, Offset rows_of_block, Offset cols_of_block,
                 int threads) {
  const auto matrix = Bcsr<V, Index32>::from_csr(
      csr, {.block_rows = rows_of_block, .block_cols = cols_of_block, .max_fill = 1e9});
  return test::emulated<V>(
      matrix.rows(), matrix.cols(),
      [matrix, threads, values = test::device_copy(matrix.values())](const auto& arguments,
                                                                     auto rows, auto vectors) {
        const auto words = matrix.presence().words();
        const gpu::BcsrView<gpu::DeviceValue<V>> view{matrix.block_row_offsets().data(),
                                                      matrix.block_columns().data(),
                                                      values.data(),
                                                      {words.empty() ? nullptr : words.data()},
                                                      matrix.rows(),
                                                      matrix.cols(),
                                                      matrix.block_rows(),
                                                      matrix.block_cols()};
        test::launch_somehow<warp_size>(0, [&](auto& thread) {
          gpu::bcsr_step<gpu::FromMemory, vectors == 1 ? block_cols : 0, vectors>(
              thread, view, threads, arguments, rows);
        });
      });
}

template <int warp_size, int block_cols, Value V>
void expect_blocks_work(Offset rows_of_block, Offset cols_of_block, int threads) {
  SCOPED_TRACE(testing::Message() << rows_of_block << " x " << cols_of_block << ", " << threads
                                  << " threads per row");
  test::expect_gpu_steps_on_all<V>(1, [&](const Csr<V, Index32>& csr) {
    return on_emulator<warp_size, block_cols>(csr, rows_of_block, cols_of_block, threads);
  });
}

TYPED_TEST(GpuBcsr, AgreesWithTheReferenceForAnyBlocks) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  expect_blocks_work<warp, 1, V>(1, 1, 2);
  expect_blocks_work<warp, 2, V>(2, 2, 1);
  expect_blocks_work<warp, 3, V>(3, 3, 4);
  expect_blocks_work<warp, 8, V>(4, 8, 2);
}

TYPED_TEST(GpuBcsr, OddBlocksAndWholeWarpsPerRowAgreeWithTheReference) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  expect_blocks_work<warp, 0, V>(5, 7, warp);
  expect_blocks_work<warp, 0, V>(40, 3, 8);
}

TYPED_TEST(GpuBcsr, RowsOfAnyLengthAgreeWithTheReference) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  const auto csr = test::uneven_rows<V>(warp * 20);
  for (std::size_t number = 0; number < 3; ++number) {
    test::expect_gpu_steps(csr, 1, number, on_emulator<warp, 2>(csr, 2, 2, 8));
  }
}

TYPED_TEST(GpuBcsr, HolesOfBlocksLetNothingThrough) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  const auto csr = test::tridiagonal_with_a_hole<V, Index32>(70);
  for (const int count : {1, 3}) {
    test::expect_holes_let_nothing_through(csr, count, on_emulator<warp, 2>(csr, 2, 2, 4));
    test::expect_holes_let_nothing_through(csr, count, on_emulator<warp, 0>(csr, 3, 5, 1));
  }
}

}  // namespace
}  // namespace strata
