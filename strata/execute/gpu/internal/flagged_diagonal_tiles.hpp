// One power of a tile of diagonals (flagged_tile.hpp), whose x is in shared memory. For compilers
// of device code alone.
#pragma once

#include <cstdint>

#include "strata/execute/gpu/internal/flagged_worker.hpp"
#include "strata/kernels/gpu/products.hpp"

namespace strata::gpu::hopper {

// A row once more, without the zeros where it has no entries: its x may be infinite there.
template <class T>
__device__ __noinline__ T sum_of_entries(const std::uint64_t* presence, const FlaggedTile& tile,
                                         const T* near, int place) {
  T even{};
  T odd{};
  const int first =
      place / kSegmentRows<T> * tile.diagonals * kSegmentRows<T> + place % kSegmentRows<T>;
  for (int d = 0; d < tile.diagonals; ++d) {
    const int at = first + d * kSegmentRows<T>;
    const std::uint64_t bit = tile.first_value + static_cast<std::uint64_t>(at);
    if ((presence[bit / 64] >> (bit % 64) & 1) == 0) continue;
    T& sum = d < tile.even_diagonals ? even : odd;
    sum = multiply_add(tile.part<T>(tile.values)[at], near[tile.runs()[d] + place], sum);
  }
  return add(even, odd);
}

template <class T>
class DiagonalTile {
 public:
  // near: the sectors of the tile, one after another.
  __device__ __forceinline__ DiagonalTile(FlaggedWorker<T>& worker, const FlaggedTile& tile,
                                          const T* near)
      : worker_(worker), tile_(tile), near_(near) {}

  __device__ __forceinline__ void multiply() {
    const FlaggedArguments<T>& a = worker_.a;
    const int lane = worker_.thread.lane();
    const auto* values = tile_.template part<Words>(tile_.values) + lane;
    const int even = tile_.even_diagonals;
    const int count = tile_.diagonals;
    for (int first = 0; first < tile_.rows; first += kSegmentRows<T>) {
      const int place = first + kElements * lane;
      T sums[kElements] = {};
      T odd_sums[kElements] = {};
      values = add_diagonals(values, place, 0, even, sums);
      values = add_diagonals(values, place, even, count, odd_sums);
      bool finite = true;
      STRATA_UNROLL
      for (int e = 0; e < kElements; ++e) {
        sums[e] = add(sums[e], odd_sums[e]);
        finite &= is_finite(sums[e]);
      }
      if (!finite && a.presence != nullptr) {
        STRATA_UNROLL
        for (int e = 0; e < kElements; ++e) {
          if (!is_finite(sums[e])) sums[e] = sum_of_entries(a.presence, tile_, near_, place + e);
        }
      }
      const std::int64_t row = std::int64_t{tile_.first_row} + place;
      T* out = worker_.y() + row;
      Words results{};
      STRATA_UNROLL
      for (int e = 0; e < kElements; ++e) {
        set_element(results, e, worker_.finished(row + e, sums[e]));
      }
      if (a.aligned) {
        store_words(out, results, worker_.k < a.power);
      } else {
        STRATA_UNROLL
        for (int e = 0; e < kElements; ++e) store_element(out + e, results, e);
      }
    }
  }

 private:
  static constexpr int kElements = kChunk<T>;

  // Of the rows from `place` on. Returns where the values of the next diagonal are.
  __device__ __forceinline__ const Words* add_diagonals(const Words* values, int place, int begin,
                                                        int end, T (&sums)[kElements]) const {
    const std::uint16_t* runs = tile_.runs();
    const T* x = near_ + place;
#pragma unroll 4
    for (int d = begin; d < end; ++d) {
      const Words here = *values;
      values += kWarpLanes;
      const T* from = x + runs[d];
      STRATA_UNROLL
      for (int e = 0; e < kElements; ++e) {
        sums[e] = multiply_add(element<T>(here, e), from[e], sums[e]);
      }
    }
    return values;
  }
  FlaggedWorker<T>& worker_;
  const FlaggedTile& tile_;
  const T* near_;
};

}  // namespace strata::gpu::hopper
