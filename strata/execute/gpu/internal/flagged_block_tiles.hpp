// One power of a tile of D × D blocks (flagged_tile.hpp): x goes by way of shared memory, where
// every lane finds all of it. That of diagonals is gathered and staged in the same way. For
// compilers of device code alone.
#pragma once

#include <cstdint>

#include "strata/execute/gpu/internal/flagged_worker.hpp"
#include "strata/kernels/gpu/products.hpp"

namespace strata::gpu::hopper {

template <int D, class T>
class BlockTile {
 public:
  // lane_bits: 2 to this power lanes share a block row.
  __device__ __forceinline__ BlockTile(FlaggedWorker<T>& worker, const FlaggedTile& tile,
                                       int lane_bits)
      : worker_(worker), tile_(tile), lane_bits_(lane_bits) {}

  // False, for all lanes, if the block gives up.
  __device__ __forceinline__ bool gather() {
    const int lane = worker_.thread.lane();
    const std::uint32_t* sectors = tile_.sector_list();
    const int count = tile_.sectors;
    STRATA_UNROLL
    for (int c = 0; c < kChunksOfLane; ++c) {
      const int s = c * (kWarpLanes / 2) + lane / 2;
      held_[c] = {};
      from_[c] =
          s < count ? static_cast<std::int32_t>(sectors[s]) * (2 * kElements) + lane % 2 * kElements
                    : -1;
    }
    return tile_.whole && worker_.a.aligned ? gather<true>() : gather<false>();
  }
  // What was gathered, to where multiply finds it.
  __device__ __forceinline__ void stage(std::byte* near) const {
    STRATA_UNROLL
    for (int c = 0; c < kChunksOfLane; ++c) {
      if (from_[c] >= 0) {
        reinterpret_cast<Words*>(near)[c * kWarpLanes + worker_.thread.lane()] = held_[c];
      }
    }
  }
  __device__ __forceinline__ void multiply(const T* near) {
    const int lane = worker_.thread.lane();
    const int lanes = 1 << lane_bits_;
    const int part = lane & (lanes - 1);
    const int rows = tile_.rows / D;
    const int first_row = tile_.first_row;
    const std::uint16_t* ends = tile_.row_ends();
    const std::uint16_t* columns = tile_.block_columns(rows);
    const T* values = tile_.template part<T>(tile_.values);
    for (int row = lane >> lane_bits_; row - (lane >> lane_bits_) < rows;
         row += kWarpLanes >> lane_bits_) {
      T sums[D] = {};
      T others[D] = {};
      if (row < rows) {
        const int end = ends[row];
        int entry = (row == 0 ? 0 : ends[row - 1]) + part;
        for (; entry + lanes < end; entry += 2 * lanes) {
          add_blocks(columns, values, near, entry, entry + lanes, sums, others);
        }
        if (entry < end) add_block(values + entry * (D * D), near + columns[entry], sums);
      }
      STRATA_UNROLL
      for (int r = 0; r < D; ++r) sums[r] = add(sums[r], others[r]);
      for (int bits = lanes / 2; bits > 0; bits /= 2) {
        STRATA_UNROLL
        for (int r = 0; r < D; ++r) sums[r] = add(sums[r], from_other(sums[r], bits));
      }
      if (row < rows) store(std::int64_t{first_row} + row * D, sums, part, lanes);
    }
  }

 private:
  static constexpr int kElements = kChunk<T>;

  template <bool whole>
  __device__ __forceinline__ bool gather() {
    load<whole, false>();
    if (!worker_.waits()) return true;
    for (typename FlaggedWorker<T>::Patience patience;;) {
      bool missing = false;
      STRATA_UNROLL
      for (int c = 0; c < kChunksOfLane; ++c) missing |= has_flag<T>(held_[c]);
      if (!worker_.thread.any(missing)) return true;
      if (!worker_.go_on(patience)) return false;
      load<whole, true>();
    }
  }
  // again: those that are missing.
  template <bool whole, bool again>
  __device__ __forceinline__ void load() {
    const T* x = worker_.x();
    STRATA_UNROLL
    for (int c = 0; c < kChunksOfLane; ++c) {
      const bool wanted = again ? has_flag<T>(held_[c]) : from_[c] >= 0;
      if constexpr (whole) {
        load_if(wanted, x + from_[c], held_[c]);
      } else {
        STRATA_UNROLL
        for (int e = 0; e < kElements; ++e) {
          load_element_if(wanted & (from_[c] + e < worker_.a.rows), x, from_[c] + e, held_[c], e);
        }
      }
    }
  }

  __device__ __forceinline__ static void add_block(const T* block, const T* from, T (&sums)[D]) {
    T x[D];
    STRATA_UNROLL
    for (int c = 0; c < D; ++c) x[c] = from[c];
    STRATA_UNROLL
    for (int r = 0; r < D; ++r) {
      STRATA_UNROLL
      for (int c = 0; c < D; ++c) sums[r] = multiply_add(block[r * D + c], x[c], sums[r]);
    }
  }
  // Two at a time hide each other's latency.
  __device__ __forceinline__ static void add_blocks(const std::uint16_t* columns, const T* values,
                                                    const T* near, int one, int other, T (&sums)[D],
                                                    T (&others)[D]) {
    add_block(values + one * (D * D), near + columns[one], sums);
    add_block(values + other * (D * D), near + columns[other], others);
  }

  // Lanes that share a row all have its sums.
  __device__ __forceinline__ void store(std::int64_t first, const T (&sums)[D], int part,
                                        int lanes) const {
    const auto put = [&](int r, T sum) {
      Words words{};
      set_element(words, 0, worker_.finished(first + r, sum));
      store_element(worker_.y() + first + r, words, 0);
    };
    if (lanes >= D) {
      T own = sums[0];
      STRATA_UNROLL
      for (int r = 1; r < D; ++r) own = part == r ? sums[r] : own;
      if (part < D) put(part, own);
    } else {
      STRATA_UNROLL
      for (int r = 0; r < D; ++r) {
        if ((r & (lanes - 1)) == part) put(r, sums[r]);
      }
    }
  }

  FlaggedWorker<T>& worker_;
  const FlaggedTile& tile_;
  const int lane_bits_;
  Words held_[kChunksOfLane];
  std::int32_t from_[kChunksOfLane];
};

}  // namespace strata::gpu::hopper
