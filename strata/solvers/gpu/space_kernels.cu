#include <algorithm>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/device/internal/launch.hpp"
#include "strata/kernels/gpu/dispatch.hpp"
#include "strata/solvers/gpu/internal/space_kernels.hpp"

namespace strata::gpu::detail {

namespace {

template <int vectors, int dots, class T>
__global__ void __launch_bounds__(kPassThreads, (kResidentPasses<dots, T>))
    pass_kernel(const ProgramPass<T> pass) {
  NativeThread thread;
  run_pass<vectors, dots>(thread, pass);
}

template <int columns_of_b, class T>
__global__ void __launch_bounds__(kGramThreads) gram_kernel(const GramArguments<T> arguments) {
  NativeThread thread;
  gram<columns_of_b>(thread, arguments);
}

template <int columns, class T>
__global__ void __launch_bounds__(kBlockThreads)
    add_product_kernel(const AddProductArguments<T> arguments) {
  NativeThread thread;
  add_product<columns>(thread, arguments);
}

template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    transform_kernel(const TransformArguments<T> arguments) {
  NativeThread thread;
  transform(thread, arguments);
}

template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    block_jacobi_kernel(const BlockJacobiArguments<T> arguments) {
  NativeThread thread;
  block_jacobi(thread, arguments);
}

// Calls body(std::integral_constant) with the smallest of the numbers that is enough.
template <int... numbers, class Body>
void with_enough(int wanted, const Body& body) {
  bool done = false;
  const auto try_one = [&](auto number) {
    if (done || number() < wanted) return;
    done = true;
    body(number);
  };
  (try_one(std::integral_constant<int, numbers>()), ...);
}

}  // namespace

template <Value V>
void launch_pass(const ProgramPass<DeviceValue<V>>& pass, Stream& stream) {
  using T = DeviceValue<V>;
  int used = pass.loaded;
  for (int v = pass.loaded; v < kPassVectors; ++v) {
    if ((pass.stored >> v & 1) != 0) used = v + 1;
  }
  with_enough<2, 4, 8>(used, [&](auto vectors) {
    with_enough<0, 2, 6>(pass.dot_count, [&](auto dots) {
      const Offset blocks = std::clamp<Offset>(
          ceil_div<Offset>(pass.rows, Offset{kPassThreads} * kPassElements<vectors(), T>), 1,
          kMostPassBlocks<dots(), T>);
      launch("pass_kernel", pass_kernel<vectors(), dots(), T>,
             {blocks, kPassThreads, kPassShared * Offset{sizeof(T)}}, stream, pass);
    });
  });
}

template <Value V>
GramShape gram_shape(Offset rows, int columns_of_a, int columns_of_b) {
  using T = DeviceValue<V>;
  GramShape shape;
  shape.columns_of_b = columns_of_b == 1 ? 1 : 4;
  shape.tiles_of_a = ceil_div(columns_of_a, kGramColumns<T>);
  shape.tiles = narrow<std::int32_t>(
      Offset{shape.tiles_of_a} * ceil_div(columns_of_b, shape.columns_of_b), "tiles of blocks");
  // Multiprocessors have room for one block of many sums, or for two of few.
  shape.row_blocks = static_cast<std::int32_t>(
      std::clamp<Offset>(ceil_div<Offset>(rows, 64), 1, shape.columns_of_b == 1 ? 264 : 132));
  shape.sums = Offset{shape.tiles} * kGramColumns<T> * shape.columns_of_b * shape.row_blocks;
  return shape;
}

template <Value V>
void launch_gram(const GramArguments<DeviceValue<V>>& arguments, const GramShape& shape,
                 Stream& stream) {
  using T = DeviceValue<V>;
  const Offset panels = ceil_div<Offset>(shape.tiles, kGramTiles);
  with_enough<1, 4>(shape.columns_of_b, [&](auto columns) {
    launch("gram_kernel", gram_kernel<columns(), T>,
           {panels * shape.row_blocks, kGramThreads, kGramShared<T> * Offset{sizeof(T)}}, stream,
           arguments);
  });
}

template <Value V>
void launch_add_product(const AddProductArguments<DeviceValue<V>>& arguments, Stream& stream) {
  using T = DeviceValue<V>;
  const Offset blocks =
      std::min<Offset>(ceil_div<Offset>(arguments.rows, kBlockThreads), kBlockGrid);
  with_vectors(arguments.target.columns, [&](auto columns) {
    launch("add_product_kernel", add_product_kernel<columns(), T>,
           {blocks, kBlockThreads, Offset{arguments.a.columns} * columns() * Offset{sizeof(T)}},
           stream, arguments);
  });
}

template <Value V>
void launch_transform(const TransformArguments<DeviceValue<V>>& arguments, Stream& stream) {
  using T = DeviceValue<V>;
  const int rows = transform_rows<T>(arguments.block.columns);
  const Offset blocks = std::min<Offset>(ceil_div<Offset>(arguments.rows, rows), kBlockGrid);
  launch("transform_kernel", transform_kernel<T>,
         {blocks, kBlockThreads, Offset{arguments.block.columns} * rows * Offset{sizeof(T)}},
         stream, arguments);
}

template <Value V>
void launch_block_jacobi(const BlockJacobiArguments<DeviceValue<V>>& arguments, Stream& stream) {
  const Offset blocks =
      std::min<Offset>(ceil_div<Offset>(arguments.rows, kBlockThreads), kBlockGrid);
  launch("block_jacobi_kernel", block_jacobi_kernel<DeviceValue<V>>, {blocks, kBlockThreads},
         stream, arguments);
}

#define STRATA_INSTANTIATE(V, unused)                                                            \
  template void launch_pass<V>(const ProgramPass<DeviceValue<V>>&, Stream&);                     \
  template GramShape gram_shape<V>(Offset, int, int);                                            \
  template void launch_gram<V>(const GramArguments<DeviceValue<V>>&, const GramShape&, Stream&); \
  template void launch_add_product<V>(const AddProductArguments<DeviceValue<V>>&, Stream&);      \
  template void launch_transform<V>(const TransformArguments<DeviceValue<V>>&, Stream&);         \
  template void launch_block_jacobi<V>(const BlockJacobiArguments<DeviceValue<V>>&, Stream&)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu::detail
