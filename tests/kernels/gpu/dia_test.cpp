// DIA on an emulated GPU.
#include "strata/kernels/gpu/dia.hpp"

#include "strata/formats/dia.hpp"
#include "tests/kernels/gpu/emulated.hpp"

namespace strata {
namespace {

using test::Index32;

template <class Types>
class GpuDia : public testing::Test {};
TYPED_TEST_SUITE(GpuDia, test::ValuesOnWarps);

template <int warp_size, Value V>
auto on_emulator(const Csr<V, Index32>& csr) {
  const auto matrix = Dia<V, Index32>::from_csr(csr, {.max_fill = 1e9});
  return test::emulated<V>(
      matrix.rows(), matrix.cols(),
      [matrix, values = test::device_copy(matrix.values())](const auto& arguments, auto rows,
                                                            auto vectors) {
        const auto words = matrix.presence().words();
        const gpu::DiaView<gpu::DeviceValue<V>> view{
            matrix.offsets().data(), values.data(), {words.empty() ? nullptr : words.data()},
            matrix.rows(),           matrix.cols(), static_cast<Index32>(matrix.diagonals())};
        test::launch_somehow<warp_size>(sizeof(Index32) * warp_size, [&](auto& thread) {
          gpu::dia_step<gpu::FromMemory, vectors, gpu::gathers_ahead(vectors)>(thread, view,
                                                                               arguments, rows);
        });
      });
}

// Some of these have more diagonals than a block has threads.
TYPED_TEST(GpuDia, AThreadPerRowAgreesWithTheReference) {
  using V = typename TypeParam::Value;
  test::expect_gpu_steps_on_all<V>(
      1, [](const Csr<V, Index32>& csr) { return on_emulator<TypeParam::warp_size>(csr); });
}

TYPED_TEST(GpuDia, HolesLetNothingThrough) {
  using V = typename TypeParam::Value;
  const auto csr = test::tridiagonal_with_a_hole<V, Index32>(70);
  for (const int count : {1, 3}) {
    test::expect_holes_let_nothing_through(csr, count, on_emulator<TypeParam::warp_size>(csr));
  }
}

// Places outside the matrix are multiplied by the first or the last x.
TYPED_TEST(GpuDia, WhatIsOutsideTheMatrixLetsNothingThrough) {
  using V = typename TypeParam::Value;
  test::Entries<V, Index32> entries(50, 50, 3);
  for (Index32 row = 0; row < 50; ++row) {
    if (row >= 20) entries.add(row, row - 20);
    if (row < 30) entries.add(row, row + 20);
  }
  const Csr<V, Index32> csr = entries.coo().to_csr();
  std::vector<V> x = test::random_vector<V>(50, 1);
  x.front() = x.back() = test::not_a_number<V>();
  std::vector<V> out(50);
  on_emulator<TypeParam::warp_size>(csr)({}, {x.data(), nullptr, out.data(), 1}, csr.all_rows());
  for (Index32 row = 0; row < 50; ++row) {
    EXPECT_EQ(out[row] == out[row], row != 20 && row != 29) << "row " << row;
  }
}

TYPED_TEST(GpuDia, MoreDiagonalsThanThreadsAgreeWithTheReference) {
  using V = typename TypeParam::Value;
  test::Entries<V, Index32> entries(90, 400, 5);
  for (Index32 row = 0; row < 90; ++row) {
    for (Index32 column = row; column < 400; column += 1 + row % 3) entries.add(row, column);
  }
  const Csr<V, Index32> csr = entries.coo().to_csr();
  for (std::size_t number = 0; number < 3; ++number) {
    test::expect_gpu_steps(csr, 1, number, on_emulator<TypeParam::warp_size>(csr));
  }
}

}  // namespace
}  // namespace strata
