// Slices on a GPU: a warp per slice of C rows, warp_size / C threads per row, each taking every so
// manyth entry. How an entry finds its column is a parameter, as in kernels/cpu/slice.hpp:
// columns.at(entry, row).
//
// Gathers of x take hundreds of cycles, so a thread asks for `ahead` of them before it uses the
// first. A row's sum is formed in the same order whatever `ahead` is and wherever the slice lies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "strata/formats/packed_sell.hpp"
#include "strata/kernels/gpu/simt.hpp"
#include "strata/kernels/gpu/step.hpp"
#include "strata/kernels/gpu/value.hpp"

#ifdef STRATA_SIMT_NATIVE
#define STRATA_UNROLL _Pragma("unroll")
#else
#define STRATA_UNROLL
#endif

namespace strata::gpu {

// Matrix data in device memory, read once per product.
struct FromMemory {
  static constexpr bool kEarly = true;  // values are asked for together with x
  template <class Thread, class T>
  STRATA_DEVICE static T load(Thread& thread, const T* pointer) {
    return load_once(thread, pointer);
  }
};
// Matrix data that is near: in shared memory, or in a cache that should keep it.
struct FromCache {
  static constexpr bool kEarly = false;
  template <class Thread, class T>
  STRATA_DEVICE static T load(Thread&, const T* pointer) {
    return *pointer;
  }
};

// The columns of a slice by its encoding (packed_sell.hpp).
template <class Loads>
struct DiaColumns {
  const std::int32_t* offsets;
  std::int32_t first_slot;

  template <class Thread>
  STRATA_DEVICE std::int32_t at(Thread&, int entry, int row) const {
    return first_slot + row + offsets[entry];
  }
};
template <class Loads, int height, class Delta>
struct DeltaColumns {
  const std::int32_t* bases;
  const Delta* deltas;

  template <class Thread>
  STRATA_DEVICE std::int32_t at(Thread& thread, int entry, int row) const {
    return bases[entry] +
           static_cast<std::int32_t>(Loads::load(thread, deltas + entry * height + row));
  }
};
template <class Loads, int height>
struct IndexColumns {
  const std::int32_t* columns;

  template <class Thread>
  STRATA_DEVICE std::int32_t at(Thread& thread, int entry, int row) const {
    return Loads::load(thread, columns + entry * height + row);
  }
};

// Where the vectors of a row or column begin. One vector needs no multiplication.
template <int vectors>
STRATA_DEVICE std::int64_t element(std::int32_t row, int count) {
  return vectors == 1 ? row : static_cast<std::int64_t>(row) * count;
}

// One thread's part of its row: entries part, part + parts, … The last few are rounded up to
// `ahead`; what is beyond the end reads the last entry once more and counts as zero, without a
// branch that would keep loads from being under way together.
template <class Loads, int height, int vectors, int ahead, class Thread, class T, class Columns>
STRATA_DEVICE void multiply(Thread& thread, const T* values, int width, const Columns& columns,
                            const T* x, int count, T (&sums)[vectors]) {
  constexpr int parts = Thread::warp_size / height;
  const int row = thread.lane() % height;
  const int part = thread.lane() / height;
  const auto some = [&](int first, auto whole) {
    T factors[ahead][vectors];
    T early[Loads::kEarly ? ahead : 1];
    const auto entry_at = [&](int u) {
      const int entry = first + u * parts + part;
      return whole || entry < width ? entry : width - 1;
    };
    if constexpr (Loads::kEarly) {
      STRATA_UNROLL
      for (int u = 0; u < ahead; ++u) {
        early[u] = Loads::load(thread, values + entry_at(u) * height + row);
      }
    }
    STRATA_UNROLL
    for (int u = 0; u < ahead; ++u) {
      const T* from = x + element<vectors>(columns.at(thread, entry_at(u), row), count);
      STRATA_UNROLL
      for (int v = 0; v < vectors; ++v) factors[u][v] = from[vectors == 1 || v < count ? v : 0];
    }
    STRATA_UNROLL
    for (int u = 0; u < ahead; ++u) {
      T value = Loads::kEarly ? early[Loads::kEarly ? u : 0] : values[entry_at(u) * height + row];
      const bool inside = whole || first + u * parts + part < width;
      if (!inside) value = T{};
      STRATA_UNROLL
      for (int v = 0; v < vectors; ++v) {
        const T factor = inside ? factors[u][v] : T{};
        sums[v] = multiply_add(value, factor, sums[v]);
      }
    }
  };
  int first = 0;
  for (; first + parts * ahead <= width; first += parts * ahead) some(first, std::true_type());
  if (first < width) some(first, std::false_type());
}

// The sum of a row's threads, in the thread of its first entry.
template <int height, class Thread, class T>
STRATA_DEVICE T sum_of_parts(Thread& thread, T sum) {
  STRATA_UNROLL
  for (int delta = Thread::warp_size / 2; delta >= height; delta /= 2) {
    sum = add(sum, shuffle_down(thread, sum, delta, Thread::warp_size));
  }
  return sum;
}

// A slice of packed SELL, wherever its values and codes lie.
template <class T>
struct PackedSlice {
  const T* values;
  const std::byte* codes;
  int width;
  SliceEncoding encoding;
  std::int32_t first_slot;
  std::uint64_t position;  // of its first value among the presence bits
};

template <class Loads, int height, int vectors, int ahead, class Thread, class T>
STRATA_DEVICE void multiply(Thread& thread, const PackedSlice<T>& slice, const T* x, int count,
                            T (&sums)[vectors]) {
  const auto* numbers = reinterpret_cast<const std::int32_t*>(slice.codes);
  const auto with = [&](const auto& columns) {
    multiply<Loads, height, vectors, ahead>(thread, slice.values, slice.width, columns, x, count,
                                            sums);
  };
  // As delta_begin() of packed_sell.hpp, in the 32 bits that a slice needs.
  constexpr int alignment = static_cast<int>(code_alignment(height));
  const std::byte* deltas = slice.codes + (slice.width * 4 + alignment - 1) / alignment * alignment;
  switch (slice.encoding) {
    case SliceEncoding::dia: with(DiaColumns<Loads>{numbers, slice.first_slot}); break;
    case SliceEncoding::delta8:
      with(DeltaColumns<Loads, height, std::uint8_t>{
          numbers, reinterpret_cast<const std::uint8_t*>(deltas)});
      break;
    case SliceEncoding::delta16:
      with(DeltaColumns<Loads, height, std::uint16_t>{
          numbers, reinterpret_cast<const std::uint16_t*>(deltas)});
      break;
    case SliceEncoding::index32: with(IndexColumns<Loads, height>{numbers}); break;
  }
}

}  // namespace strata::gpu
