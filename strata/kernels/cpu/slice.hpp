// Slices on the CPU: one vector at a time with a lane per row, several vectors row by row. How an
// entry finds its columns is a parameter, so that SELL and every encoding of packed SELL share the
// code:
//
//   columns.take<height>(x, entry, lanes)   lanes[i] = x[column of the entry in lane i]
//   columns.at(entry, lane)                 that column
//
// Padding is multiplied like any entry. It has the value 0, so this changes nothing unless its x is
// not finite; rows that come out not finite are summed once more without padding.
#pragma once

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/kernels/cpu/arithmetic.hpp"
#include "strata/kernels/cpu/lanes.hpp"
#include "strata/kernels/cpu/step.hpp"

namespace strata::cpu {

// Columns as they are stored in the slice, like its values.
template <class IndexType>
struct IndexColumns {
  const IndexType* columns;
  Offset height;

  Offset at(Offset entry, Offset lane) const { return columns[entry * height + lane]; }
  template <int height_, Value V>
  void take(const V* x, Offset entry, Lanes<V, height_>& lanes) const {
    lanes.gather(x, columns + entry * height_);
  }
};

template <Value V>
struct Slice {
  const V* values;  // entry e of lane l at e·height + l
  Offset width;     // entries per lane
  Offset height;
  Offset first_slot;
  Offset rows;  // of the height lanes so many hold a row, and the row of lane l is …
  bool sorted;  // … row_at(l) if sorted, else first_slot + l
};

// How far ahead values are asked for: the hardware's own prefetching ends with the page, and
// gathers leave it too little room. From memory this is worth 15 % (dia) to 40 % (deltas).
inline constexpr std::size_t kAheadBytes = 4096;
template <Value V>
inline constexpr int kLineValues = static_cast<int>(kCacheLine / sizeof(V));

// Inlined, so that the sums stay in registers and are not returned through memory.
template <Value V, int height, class Columns>
[[gnu::always_inline]] inline Lanes<V, height> multiply(const Slice<V>& slice,
                                                        const Columns& columns, const V* x) {
  Lanes<V, height> sums;
  for (Offset entry = 0; entry < slice.width; ++entry) {
    for (int lane = 0; lane < height; lane += kLineValues<V>) {
      __builtin_prefetch(slice.values + entry * height + lane + kAheadBytes / sizeof(V));
    }
    Lanes<V, height> factors;
    columns.template take<height>(x, entry, factors);
    sums.multiply_add(slice.values + entry * height, factors);
  }
  return sums;
}

// out for all rows of a slice that are whole and in order.
template <Value V, int height>
[[gnu::always_inline]] inline void finish(const StepCoefficients<V>& coefficients,
                                          const StepVectors<V>& vectors, Offset first_row,
                                          Lanes<V, height> sums) {
  if (coefficients.shift != V{}) sums.add_scaled(-coefficients.shift, vectors.x + first_row);
  if (coefficients.alpha != V{1}) sums.scale(coefficients.alpha);
  if (coefficients.beta != V{}) sums.add_scaled(coefficients.beta, vectors.previous + first_row);
  sums.store(vectors.out + first_row);
}

// Without its padding: is_entry(entry, lane) tells.
template <int count, Value V, class Columns, class IsEntry>
void multiply_lane(const Slice<V>& slice, Offset lane, const Columns& columns, const V* x,
                   const IsEntry& is_entry, V (&sums)[count]) {
  std::fill(sums, sums + count, V{});
  for (Offset entry = 0; entry < slice.width; ++entry) {
    if (!is_entry(entry, lane)) continue;
    const V* from = x + columns.at(entry, lane) * count;
    const V value = slice.values[entry * slice.height + lane];
    for (int v = 0; v < count; ++v) sums[v] = multiply_add(value, from[v], sums[v]);
  }
}

// One step of a slice for one vector. `padding` answers is_entry and row_at.
template <int height, Value V, class Columns, class Padding>
void step_slice(const Slice<V>& slice, const Columns& columns, const Padding& padding,
                const StepCoefficients<V>& coefficients, const StepVectors<V>& vectors) {
  const auto sums = multiply<V, height>(slice, columns, vectors.x);
  const bool finite = sums.all_finite();
  if (finite && slice.rows == height && !slice.sorted) {
    finish(coefficients, vectors, slice.first_slot, sums);
    return;
  }
  V numbers[height];
  sums.store(numbers);
  for (Offset lane = 0; lane < slice.rows; ++lane) {
    V sum[1] = {numbers[lane]};
    if (!finite) {
      multiply_lane(
          slice, lane, columns, vectors.x,
          [&](Offset e, Offset l) { return padding.is_entry(e, l); }, sum);
    }
    finish(coefficients, vectors, padding.row_at(lane), sum[0]);
  }
}

// The same for `count` vectors, and for one where the height has no code of its own.
template <int count, Value V, class Columns, class Padding>
void step_slice_rowwise(const Slice<V>& slice, const Columns& columns, const Padding& padding,
                        const StepCoefficients<V>& coefficients, const StepVectors<V>& vectors) {
  for (Offset lane = 0; lane < slice.rows; ++lane) {
    V sums[count];
    multiply_lane(slice, lane, columns, vectors.x, [](Offset, Offset) { return true; }, sums);
    if (!std::all_of(sums, sums + count, [](V sum) { return is_finite(sum); })) {
      multiply_lane(
          slice, lane, columns, vectors.x,
          [&](Offset e, Offset l) { return padding.is_entry(e, l); }, sums);
    }
    const Offset first = padding.row_at(lane) * count;
    for (int v = 0; v < count; ++v) finish(coefficients, vectors, first + v, sums[v]);
  }
}

// Calls body(std::integral_constant<int, height>) for the heights that have code of their own.
template <class Body>
bool with_slice_height(Offset height, Body&& body) {
  switch (height) {
    case 4: body(std::integral_constant<int, 4>()); return true;
    case 8: body(std::integral_constant<int, 8>()); return true;
    case 16: body(std::integral_constant<int, 16>()); return true;
    case 32: body(std::integral_constant<int, 32>()); return true;
    default: return false;
  }
}

}  // namespace strata::cpu
