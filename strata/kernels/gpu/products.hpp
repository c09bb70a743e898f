// The inner loop of every product on a GPU: one thread's part of a row. Gathers of x take hundreds
// of cycles, so a thread asks for `ahead` of them before it uses the first. A sum is formed in the
// same order whatever `ahead` is.
#pragma once

#include <cstdint>

#include "strata/kernels/gpu/simt.hpp"
#include "strata/kernels/gpu/value.hpp"

#ifdef STRATA_SIMT_NATIVE
#define STRATA_UNROLL _Pragma("unroll")
#else
#define STRATA_UNROLL
#endif

namespace strata::gpu {

// Matrix data in device memory, read once per product.
struct FromMemory {
  template <class Thread, class T>
  STRATA_DEVICE static T load(Thread& thread, const T* pointer) {
    return load_once(thread, pointer);
  }
};
// Matrix data that is near: in shared memory, or in a cache that should keep it.
struct FromCache {
  template <class Thread, class T>
  STRATA_DEVICE static T load(Thread&, const T* pointer) {
    return *pointer;
  }
};

// How many gathers to have in flight for so many vectors at a time: registers set the limit.
constexpr int gathers_ahead(int vectors) {
  return vectors >= 4 ? 2 : 8 / vectors;
}

// Adds entries first + part, first + part + parts, … before `end` to the sums. The entries tell
// column(thread, entry) and value(thread, entry).
template <int parts, int vectors, int ahead, class Thread, class Position, class Entries, class T>
STRATA_DEVICE void add_products(Thread& thread, int part, Position first, Position end,
                                const Entries& entries, const T* x, int count, T (&sums)[vectors]) {
  const auto some = [&](Position begin, auto inside) {
    T factors[ahead][vectors] = {};
    STRATA_UNROLL
    for (int u = 0; u < ahead; ++u) {
      const Position entry = begin + u * parts + part;
      if (!inside(entry)) continue;
      const std::int64_t from = static_cast<std::int64_t>(entries.column(thread, entry)) * count;
      STRATA_UNROLL
      for (int v = 0; v < vectors; ++v) {
        if (vectors == 1 || v < count) factors[u][v] = x[from + v];
      }
    }
    STRATA_UNROLL
    for (int u = 0; u < ahead; ++u) {
      const Position entry = begin + u * parts + part;
      if (!inside(entry)) continue;
      const T value = entries.value(thread, entry);
      STRATA_UNROLL
      for (int v = 0; v < vectors; ++v) {
        if (vectors == 1 || v < count) sums[v] = multiply_add(value, factors[u][v], sums[v]);
      }
    }
  };
  for (; first + parts * ahead <= end; first += parts * ahead) {
    some(first, [](Position) { return true; });
  }
  if (first < end) some(first, [end](Position entry) { return entry < end; });
}

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
