// A slice of a tile in a wavefront sweep, by all threads of a warp. Tiles of full values have
// kernels of their own: what decodes values takes registers, and sweeps have none to spare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "strata/execute/gpu/sweep_arguments.hpp"
#include "strata/kernels/gpu/packed_sell.hpp"
#include "strata/kernels/gpu/slice_values.hpp"

namespace strata::gpu {

// As value_block_begin() of packed_sell.hpp, in the 32 bits that a slice needs.
STRATA_HOST_DEVICE inline int value_block_place(SliceEncoding encoding, int width, int height) {
  const int alignment = height > 16 ? height : 16;
  const auto aligned = [=](int bytes) { return (bytes + alignment - 1) / alignment * alignment; };
  switch (encoding) {
    case SliceEncoding::dia: return aligned(width * 4);
    case SliceEncoding::delta8:
      return delta_place(width, height, NoRuns{}) + aligned(width * height);
    case SliceEncoding::delta16:
      return delta_place(width, height, NoRuns{}) + aligned(width * height * 2);
    default: return aligned(width * height * 4);
  }
}

// The position of slice s's first value among the presence bits; values of any encoding. Only rows
// that come out not finite need it.
template <int height>
STRATA_DEVICE std::uint64_t position_of_slice(const TileRecord& tile, int s) {
  std::uint64_t position = tile.first_value;
  for (int before = 0; before < s; ++before) {
    position += static_cast<std::uint64_t>(tile.slice_list()[before].width()) * height;
  }
  return position;
}

// How many elements of x a thread has in flight where entries are decoded one by one, if it could
// have `ahead` of them otherwise: what tells encodings apart takes 20 registers more.
template <class Loads, class T>
constexpr int gathers_while_decoding(int ahead) {
  const int doubles = Loads::kEarly ? 5 : 9;
  const int most = doubles * 8 / (sizeof(T) > 8 ? static_cast<int>(sizeof(T)) : 8);
  return ahead < most ? ahead : most;
}

// A slice of any values. Diagonals, which slices with few distinct values mostly are, have a loop
// for each encoding of the values, all others one that decodes entry by entry.
template <class Loads, int height, int vectors, int ahead, class Thread, class T>
STRATA_DEVICE void encoded_tile_slice(Thread& thread, const SweepArguments<T>& sweep,
                                      const TileRecord& tile, int s, const std::byte* with_data,
                                      const T* near_table, const StepArguments<T>& step, int k) {
  const RecordSlice here = tile.slice_list()[s];
  const std::byte* codes = reinterpret_cast<const std::byte*>(&tile) + here.codes * kRecordUnit;
  const int width = here.width();
  const PackedSlice<T, NoRuns> slice{nullptr, codes, width, here.encoding(), here.first_slot, 0};
  const ValuePlace<T> place{here.value_encoding(),
                            codes + value_block_place(slice.encoding, width, height),
                            with_data + here.values * kRecordUnit, near_table, sweep.table};
  T sums[vectors] = {};
  const auto add = [&]<int in_flight>(const auto& values, const auto& columns) {
    multiply<Loads, height, vectors, in_flight>(thread, values, width, columns, step.x, step.count,
                                                sums);
  };
  using Any = AnyValues<Loads, height, T>;
  constexpr int fewer = gathers_while_decoding<Loads, T>(ahead);
  if (slice.encoding == SliceEncoding::dia) {
    const DiaColumns<Loads> columns{reinterpret_cast<const std::int32_t*>(codes), slice.first_slot};
    with_values<Loads, height>(place, width, [&]<class Values>(const Values& values) {
      add.template operator()<std::is_same_v<Values, Any> ? fewer : ahead>(values, columns);
    });
  } else {
    add.template operator()<fewer>(Any(place, width), AnyColumns<Loads, height, NoRuns>(slice));
  }
  finish_slice<height>(
      thread, {slice.first_slot, sweep.rows.rows, sweep.rows.row_of_slot}, step, sums,
      [&](int row, int v) {
        const EntriesOfRow<height> is_entry{
            sweep.rows.presence, position_of_slice<height>(tile, s) + static_cast<unsigned>(row)};
        return sum_without_padding<height>(thread, AnyValues<FromCache, height, T>(place, width),
                                           width, AnyColumns<FromCache, height, NoRuns>(slice), row,
                                           step.x + v, step.count, is_entry);
      },
      AddToSum<T>{sweep, k});
}

// Slice s of a tile at power k, whose step is given. The record with its value data may be
// elsewhere. near_table: of encoded values.
template <bool encoded, class Loads, int height, int vectors, int ahead, class Thread, class T>
STRATA_DEVICE void tile_slice(Thread& thread, const SweepArguments<T>& sweep,
                              const TileRecord& tile, int s, const std::byte* with_data,
                              const T* near_table, const StepArguments<T>& step, int k) {
  if constexpr (encoded) {
    encoded_tile_slice<Loads, height, vectors, ahead>(thread, sweep, tile, s, with_data, near_table,
                                                      step, k);
  } else {
    packed_sell_slice<Loads, height, vectors, ahead>(thread, tile.template slice<T>(s, with_data),
                                                     sweep.rows, step, AddToSum<T>{sweep, k});
  }
}

}  // namespace strata::gpu
