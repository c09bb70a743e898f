// HYB on an emulated GPU: the ELLPACK part writes the rows, the rest is added to them.
#include "strata/formats/hyb.hpp"

#include "strata/kernels/gpu/coo.hpp"
#include "strata/kernels/gpu/ell.hpp"
#include "tests/kernels/gpu/emulated.hpp"

namespace strata {
namespace {

using test::Index32;

template <class Types>
class GpuHyb : public testing::Test {};
TYPED_TEST_SUITE(GpuHyb, test::ValuesOnWarps);

template <int warp_size, Value V>
auto on_emulator(const Csr<V, Index32>& csr, const HybOptions& options) {
  using T = gpu::DeviceValue<V>;
  const auto matrix = Hyb<V, Index32>::from_csr(csr, options);
  const auto split =
      gpu::split_coo(matrix.rest().row_indices(), matrix.rows(), Offset{2} * warp_size);
  return test::emulated<V>(
      matrix.rows(), matrix.cols(),
      [matrix, split, ell_values = test::device_copy(matrix.ell().values()),
       rest_values = test::device_copy(matrix.rest().values())](const auto& arguments, auto rows,
                                                                auto vectors) {
        const Ell<V, Index32>& ell = matrix.ell();
        const gpu::EllView<T> first{ell.columns().data(), ell_values.data(),
                                    ell.row_lengths().data(), ell.rows(), ell.width()};
        test::launch_somehow<warp_size>(0, [&](auto& thread) {
          gpu::ell_step<gpu::FromMemory, vectors, gpu::gathers_ahead(vectors)>(thread, first,
                                                                               arguments, rows);
        });
        std::vector<T> pieces(2 * static_cast<std::size_t>(split.chunks) * arguments.count,
                              gpu::device_value(test::not_a_number<V>()));
        const Coo<V, Index32>& rest = matrix.rest();
        const gpu::CooView<T> second{rest.row_indices().data(),
                                     rest.column_indices().data(),
                                     rest_values.data(),
                                     rest.nnz(),
                                     split.chunk,
                                     split.chunks,
                                     split.cut_rows.data(),
                                     static_cast<Index32>(split.cut_rows.size()),
                                     split.empty_rows.data(),
                                     static_cast<Index32>(split.empty_rows.size()),
                                     pieces.data()};
        test::launch_somehow<warp_size>(0, [&](auto& thread) {
          gpu::coo_step<gpu::FromMemory, gpu::AddsToRows, vectors>(thread, second, arguments);
        });
        test::launch_somehow<warp_size>(0, [&](auto& thread) {
          gpu::coo_cut_rows_step<gpu::AddsToRows, 1>(thread, second, arguments);
        });
      });
}

TYPED_TEST(GpuHyb, BothPartsTogetherAgreeWithTheReference) {
  using V = typename TypeParam::Value;
  for (const Offset width : {kAutomaticWidth, Offset{0}, Offset{2}}) {
    SCOPED_TRACE(testing::Message() << "width " << width);
    test::expect_whole_gpu_steps_on_all<V>([&](const Csr<V, Index32>& csr) {
      return on_emulator<TypeParam::warp_size>(csr, {.width = width, .max_fill = 1e9});
    });
  }
}

TYPED_TEST(GpuHyb, RowsOfAnyLengthAgreeWithTheReference) {
  using V = typename TypeParam::Value;
  const auto csr = test::uneven_rows<V>(TypeParam::warp_size * 30);
  for (std::size_t number = 0; number < 4; ++number) {
    test::expect_gpu_steps(csr, test::whole(csr), number,
                           on_emulator<TypeParam::warp_size>(csr, {.hybrid = 33}));
  }
}

TYPED_TEST(GpuHyb, PaddingNeverLetsAnythingThrough) {
  using V = typename TypeParam::Value;
  const auto csr = test::tridiagonal_with_a_hole<V, Index32>(70);
  for (const int count : {1, 3}) {
    test::expect_holes_let_nothing_through(csr, count,
                                           on_emulator<TypeParam::warp_size>(csr, {.width = 2}));
  }
}

}  // namespace
}  // namespace strata
