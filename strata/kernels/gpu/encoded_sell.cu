#include "strata/kernels/gpu/encoded_sell.hpp"

#include <algorithm>
#include <span>

#include "strata/kernels/gpu/internal/encoded_step.hpp"
#include "strata/kernels/gpu/internal/step_launch.hpp"

namespace strata::gpu {

namespace {

// How many entries of how many slices a thread has in flight, the registers that this takes, and
// how many groups a warp takes at most, by trials on an H200: more slices share what a description
// costs, more blocks hide latency.
struct GroupShape {
  int members;
  int ahead;
  int threads;
  int blocks;  // per multiprocessor, at least
  int groups = kGroupsAtOnce;
};
template <EncodedKind kind, bool short_rows, class T>
constexpr GroupShape group_shape() {
  constexpr bool large = sizeof(T) > 8;
  if constexpr (large) return {2, 2, 128, 2};
  switch (kind) {
    case EncodedKind::constants: return {4, 7, 128, short_rows ? 5 : 4, 4};
    case EncodedKind::one_full: return {4, 7, 128, 5, 4};
    case EncodedKind::scattered_constants: return {4, 4, 128, 4, 4};
    case EncodedKind::codes8: return {4, 4, 256, 2};
    case EncodedKind::scattered_codes8:
    case EncodedKind::codes16: return {4, 4, 512, 1};
    default: return {4, 2, 256, 2};
  }
}

template <EncodedKind kind, bool short_rows, int height, class T>
__global__ void __launch_bounds__((group_shape<kind, short_rows, T>().threads),
                                  (group_shape<kind, short_rows, T>().blocks))
    encoded_sell_kernel(PackedSellView<T> matrix, StepArguments<T> step, SliceRange range,
                        GroupList list, GroupList left_out, EncodedShape shape) {
  constexpr GroupShape group = group_shape<kind, short_rows, T>();
  NativeThread thread;
  encoded_sell_step<kind, height, group.members, group.ahead>(thread, matrix, step, range, list,
                                                              left_out, shape);
}

// For several vectors: slices one by one.
template <int height, int vectors, class T>
__global__ void __launch_bounds__(kThreads)
    encoded_vectors_kernel(PackedSellView<T> matrix, StepArguments<T> step, SliceRange range) {
  NativeThread thread;
  encoded_vectors_step<FromCache, height, vectors, gathers_ahead(vectors)>(thread, matrix, step,
                                                                           range);
}

// The near table, of kernels that have one.
template <EncodedKind kind, class T>
EncodedShape shape_of_table(int table_size) {
  EncodedShape shape;
  constexpr bool codes = kind == EncodedKind::codes8 || kind == EncodedKind::scattered_codes8 ||
                         kind == EncodedKind::codes16;
  if constexpr (!codes && kind != EncodedKind::other) return shape;
  shape.near_values = std::min(table_size, kLargestNearTable);
  if constexpr (codes) {
    // Up to as many copies as a warp reads in one go, as long as they leave room for x in the
    // cache.
    constexpr int kReadAtOnce = 128;
    constexpr int kMostBytes = 32768;
    const int size = static_cast<int>(sizeof(T));
    while (shape.copies * size < kReadAtOnce &&
           2 * shape.copies * size * shape.near_values <= kMostBytes) {
      shape.copies *= 2;
    }
  }
  return shape;
}

template <EncodedKind kind, bool short_rows, Value V>
void launch_groups(const DevicePackedSell<V>& matrix,
                   const StepArguments<DeviceValue<V>>& arguments, SliceRange range,
                   Stream& stream) {
  using T = DeviceValue<V>;
  constexpr GroupShape group = group_shape<kind, short_rows, T>();
  constexpr int kLowest = kind == EncodedKind::other ? 4 : kLowestEncoded;
  const std::span<const SliceGroup> groups = matrix.groups(range);
  const std::span<const SliceGroup> left_out = matrix.left_out(range);
  const auto count = static_cast<Offset>(groups.size());
  const int warps = group.threads / matrix.shape().warp;
  const Offset resident = Offset{group.blocks} * warps * matrix.shape().multiprocessors;
  EncodedShape shape = shape_of_table<kind, T>(matrix.table_size());
  // Groups that follow one another are likely to be alike; few of them leave processors idle.
  shape.groups_per_warp = static_cast<int>(
      std::clamp<Offset>(ceil_div(count, std::max<Offset>(resident, 1)), 1, group.groups));
  const Offset shares = ceil_div<Offset>(count, shape.groups_per_warp);
  const Offset slices = range.end - range.begin;
  const Offset reach = matrix.traits().reach / matrix.slice_height();  // slices
  const Offset plane = slices > 0 ? std::max<Offset>(shares * reach / slices, 1) : 1;
  // The warps of the last blocks may have nothing to do.
  constexpr Offset kFewestBlocks = 8;
  if (shares >= kFewestBlocks * warps * plane) shape.plane = static_cast<int>(plane);
  // Twice as far as slices reach: what is read from memory next.
  const Offset distance = 2 * Offset{matrix.traits().reach};
  shape.prefetch = distance < matrix.cols() ? static_cast<std::int32_t>(distance) : 0;
  shape.columns = matrix.cols();
  Offset blocks = ceil_div<Offset>(shares, Offset{warps} * shape.plane) * shape.plane;
  // Those that fill a table stay.
  if (shape.near_values > 0) {
    blocks = std::min(blocks, Offset{group.blocks} * matrix.shape().multiprocessors);
  }
  shape.left_out_blocks = static_cast<int>(ceil_div<Offset>(left_out.size(), warps));
  const LaunchShape launched{blocks + shape.left_out_blocks, group.threads,
                             encoded_shared_bytes<T>(shape, warps)};
  const auto list_of = [](std::span<const SliceGroup> some) {
    return GroupList{some.data(), static_cast<std::int32_t>(some.size())};
  };
  with_power_of_two<kLowest, 32>(matrix.slice_height(), [&](auto height) {
    launch("encoded_sell_kernel", encoded_sell_kernel<kind, short_rows, height(), T>, launched,
           stream, matrix.view(), arguments, range, list_of(groups), list_of(left_out), shape);
  });
}

}  // namespace

template <Value V>
void encoded_step(const DevicePackedSell<V>& matrix, const StepArguments<DeviceValue<V>>& arguments,
                  SliceRange range, Stream& stream) {
  if (arguments.count > 1) {
    LaunchShape shape = shape_for(range.end - range.begin, matrix.shape());
    shape.shared_bytes = std::min(matrix.table_size(), kNearTable) * sizeof(V);
    with_vectors(arguments.count, [&](auto count) {
      if constexpr (count() > 1) {
        with_power_of_two<4, 32>(matrix.slice_height(), [&](auto height) {
          launch("encoded_vectors_kernel",
                 encoded_vectors_kernel<height(), count(), DeviceValue<V>>, shape, stream,
                 matrix.view(), arguments, range);
        });
      }
    });
    return;
  }
  const auto run = [&]<EncodedKind kind, bool short_rows>() {
    launch_groups<kind, short_rows>(matrix, arguments, range, stream);
  };
  switch (matrix.traits().kind) {
    case EncodedKind::constants:
      if (has_short_rows(matrix)) {
        run.template operator()<EncodedKind::constants, true>();
      } else {
        run.template operator()<EncodedKind::constants, false>();
      }
      break;
    case EncodedKind::one_full: run.template operator()<EncodedKind::one_full, false>(); break;
    case EncodedKind::codes8: run.template operator()<EncodedKind::codes8, false>(); break;
    case EncodedKind::scattered_constants:
      run.template operator()<EncodedKind::scattered_constants, false>();
      break;
    case EncodedKind::scattered_codes8:
      run.template operator()<EncodedKind::scattered_codes8, false>();
      break;
    case EncodedKind::codes16: run.template operator()<EncodedKind::codes16, false>(); break;
    case EncodedKind::other: run.template operator()<EncodedKind::other, false>(); break;
  }
}

#define STRATA_INSTANTIATE(V, unused)                                                          \
  template void encoded_step(const DevicePackedSell<V>&, const StepArguments<DeviceValue<V>>&, \
                             SliceRange, Stream&)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu
