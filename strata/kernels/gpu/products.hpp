// The inner loop of every product on a GPU: one thread's part of a row. Gathers of x take hundreds
// of cycles, so a thread has `ahead` of them in flight before it uses the first. A sum is formed in
// the same order whatever `ahead` is.
#pragma once

#include <cstdint>
#include <type_traits>

#include "strata/kernels/gpu/simt.hpp"
#include "strata/kernels/gpu/value.hpp"

#ifdef STRATA_SIMT_NATIVE
#define STRATA_UNROLL _Pragma("unroll")
#define STRATA_NO_UNROLL _Pragma("unroll 1")
#else
#define STRATA_UNROLL
#define STRATA_NO_UNROLL
#endif

namespace strata::gpu {

// Matrix data in device memory, read once per product.
struct FromMemory {
  static constexpr bool kEarly = false;   // values are loaded while loads of x are in flight
  static constexpr bool kShifted = true;  // columns count from where a row's x begins
  template <class Thread, class T>
  STRATA_DEVICE static T load(Thread& thread, const T* pointer) {
    return load_once(thread, pointer);
  }
};
// Matrix data that is near: in shared memory, or in a cache that should keep it.
struct FromCache {
  static constexpr bool kEarly = false;
  static constexpr bool kShifted = false;
  template <class Thread, class T>
  STRATA_DEVICE static T load(Thread&, const T* pointer) {
    return *pointer;
  }
};
// The same for rows so short that a thread's few gathers do not keep memory busy.
template <class Loads>
struct Early : Loads {
  static constexpr bool kEarly = true;  // values are loaded before x
  static constexpr bool kShifted = false;
};

// How many gathers to have in flight for so many vectors at a time: registers set the limit. Rows
// of 27 entries, and blocks of such, are common, and 9 divides them.
constexpr int gathers_ahead(int vectors) {
  return vectors == 1 ? 9 : vectors == 2 ? 4 : 2;
}

// Where the vectors of a row or column begin. One vector needs no multiplication.
template <int vectors>
STRATA_DEVICE std::int64_t element(std::int64_t row, int count) {
  return vectors == 1 ? row : row * count;
}

// Adds entries first + part, first + part + parts, … before `end` to the sums. `Entries` has
// column(thread, entry) and value(thread, entry). The last few are rounded up to `ahead`: what is
// beyond the end reads the last entry once more and counts as zero, without a branch that would
// keep loads from being in flight together.
template <class Loads, int parts, int vectors, int ahead, class Thread, class Position,
          class Entries, class T>
STRATA_DEVICE void add_products(Thread& thread, int part, Position first, Position end,
                                const Entries& entries, const T* x, int count, T (&sums)[vectors]) {
  const auto some = [&](Position begin, auto whole) {
    const auto entry_at = [&](int u) {
      const Position entry = begin + u * parts + part;
      return whole || entry < end ? entry : end - 1;
    };
    [[maybe_unused]] T early[Loads::kEarly ? ahead : 1];
    if constexpr (Loads::kEarly) {
      STRATA_UNROLL
      for (int u = 0; u < ahead; ++u) early[u] = entries.value(thread, entry_at(u));
    }
    T factors[ahead][vectors];
    STRATA_UNROLL
    for (int u = 0; u < ahead; ++u) {
      const T* from = x + element<vectors>(entries.column(thread, entry_at(u)), count);
      STRATA_UNROLL
      for (int v = 0; v < vectors; ++v) factors[u][v] = from[vectors == 1 || v < count ? v : 0];
    }
    STRATA_UNROLL
    for (int u = 0; u < ahead; ++u) {
      T value;
      if constexpr (Loads::kEarly) {
        value = early[u];
      } else {
        value = entries.value(thread, entry_at(u));
      }
      const bool inside = whole || begin + u * parts + part < end;
      if (!inside) value = T{};
      STRATA_UNROLL
      for (int v = 0; v < vectors; ++v) {
        const T factor = inside ? factors[u][v] : T{};
        sums[v] = multiply_add(value, factor, sums[v]);
      }
    }
  };
  for (; first + parts * ahead <= end; first += parts * ahead) some(first, std::true_type());
  if (first < end) some(first, std::false_type());
}

// Every so manyth of some entries, from one of them on, for add_products(): a thread's part of a
// row that is shared by a number of threads known at run time.
template <class Entries>
struct EveryNth {
  Entries all;
  int first;
  int stride;

  // How many there are of the first `length`.
  STRATA_DEVICE int count(int length) const {
    return length <= first ? 0 : (length - first - 1) / stride + 1;
  }
  template <class Thread>
  STRATA_DEVICE std::int32_t column(Thread& thread, int entry) const {
    return all.column(thread, first + entry * stride);
  }
  template <class Thread>
  STRATA_DEVICE auto value(Thread& thread, int entry) const {
    return all.value(thread, first + entry * stride);
  }
};

// The sum of lane, lane + distance, lane + 2·distance, … in each of the first `distance` lanes of a
// warp. `distance` is a power of two.
template <class Thread, class T>
STRATA_DEVICE T sum_of_lanes(Thread& thread, int distance, T sum) {
  STRATA_UNROLL
  for (int delta = Thread::warp_size / 2; delta >= distance; delta /= 2) {
    sum = add(sum, shuffle_down(thread, sum, delta, Thread::warp_size));
  }
  return sum;
}

// The sum of `threads` neighbouring lanes in the first of them. `threads` is a power of two.
template <class Thread, class T>
STRATA_DEVICE T sum_of_group(Thread& thread, int threads, T sum) {
  for (int delta = threads / 2; delta > 0; delta /= 2) {
    sum = add(sum, shuffle_down(thread, sum, delta, Thread::warp_size));
  }
  return sum;
}

}  // namespace strata::gpu
