// Trace: plays the memory accesses of a power sweep into a cache simulator, to know its misses
// without a kernel or a measurement.
//
// One core runs the tasks in the order of the schedule. Power k reads vector k − 1 and writes
// vector k. The accesses of a task are those of a kernel, array by array as it goes through the
// formats:
//   CSR          per row its end, per entry column, value and x, then y
//   SELL         per slice its offset, per entry of the slice the columns, values and x of all
//                lanes, then y and, if rows are sorted, where they belong; padding is loaded too
//   packed SELL  the same with the codes as each encoding stores them
// A slice cut by a task's rows is played for the lanes inside.
#pragma once

#include <cstdint>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/packed_sell.hpp"
#include "strata/formats/sell.hpp"
#include "strata/model/cache_simulator.hpp"
#include "strata/schedule/schedule.hpp"
#include "strata/schedule/tiling.hpp"

namespace strata {

// Where the arrays of a sweep begin. Those that a format does not have are not used.
struct SweepAddresses {
  std::uint64_t values = 0;
  std::uint64_t columns = 0;           // the columns, or the codes of packed SELL
  std::uint64_t offsets = 0;           // of rows or slices
  std::uint64_t code_offsets = 0;      // of packed SELL
  std::uint64_t encodings = 0;         // of packed SELL
  std::uint64_t data_offsets = 0;      // of packed SELL, whose value data are the values
  std::uint64_t value_encodings = 0;   // of packed SELL
  std::uint64_t table = 0;             // of packed SELL
  std::uint64_t row_of_slot = 0;       // of sorted formats
  std::vector<std::uint64_t> vectors;  // power + 1; the same address twice is the same vector
};

// All arrays one after another, each starting on a page of its own, as large allocations do.
template <Value V, Index I>
SweepAddresses place_arrays(const Csr<V, I>& matrix, int power);
template <Value V, Index I>
SweepAddresses place_arrays(const Sell<V, I>& matrix, int power);
template <Value V, Index I>
SweepAddresses place_arrays(const PackedSell<V, I>& matrix, int power);

// Lines that missed in the last level, by what they hold.
struct SweepMisses {
  Offset values = 0;
  Offset indices = 0;  // columns, codes, offsets, encodings, permutations
  Offset vectors = 0;

  Offset total() const { return values + indices + vectors; }
};

// For Csr, Sell and PackedSell. Throws InvalidArgument unless there are vectors for the schedule
// and the tiling cuts the rows of the matrix. The cache is used as it comes, and stays as the sweep
// leaves it.
template <class Matrix>
SweepMisses play_sweep(const Matrix& matrix, const Tiling<typename Matrix::index_type>& tiling,
                       const Schedule& schedule, const SweepAddresses& addresses,
                       CacheSimulator& cache);

}  // namespace strata
