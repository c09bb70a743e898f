// Slices on a GPU: a warp per slice of C rows, warp_size / C threads per row, each taking every so
// manyth entry. How an entry finds its column is a parameter, as in kernels/cpu/slice.hpp:
// columns.at(entry, row). A row's sum is formed in the same order wherever the slice lies.
//
// Padding is multiplied like any entry. It has the value 0, so this changes nothing unless its x is
// not finite; rows that come out not finite are summed once more without it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "strata/formats/packed_sell.hpp"
#include "strata/kernels/gpu/products.hpp"
#include "strata/kernels/gpu/simt.hpp"
#include "strata/kernels/gpu/slice_values.hpp"
#include "strata/kernels/gpu/step.hpp"
#include "strata/kernels/gpu/value.hpp"
#include "strata/kernels/gpu/views.hpp"

namespace strata::gpu {

// The columns of a slice by its encoding (packed_sell.hpp): entry by entry, from a row's origin on.
template <class Loads>
struct DiaColumns {
  const std::int32_t* offsets;
  std::int32_t first_slot;

  STRATA_DEVICE std::int32_t origin(int row) const { return first_slot + row; }
  template <class Thread>
  STRATA_DEVICE std::int32_t at(Thread&, int entry, int) const {
    return offsets[entry];
  }
};
// Runs of columns, each with one delta; or every column with its own.
template <class Loads, int height, class Delta, class Run>
struct DeltaColumns {
  const std::int32_t* bases;
  const Delta* deltas;
  std::int32_t first_slot;
  Run run;

  STRATA_DEVICE std::int32_t origin(int) const { return first_slot; }
  template <class Thread>
  STRATA_DEVICE std::int32_t at(Thread& thread, int entry, int row) const {
    const int own = run.of(entry);
    return bases[own] + (entry - own * run.length) +
           static_cast<std::int32_t>(Loads::load(thread, deltas + own * height + row));
  }
};
template <class Loads, int height>
struct IndexColumns {
  const std::int32_t* columns;

  STRATA_DEVICE static std::int32_t origin(int) { return 0; }
  template <class Thread>
  STRATA_DEVICE std::int32_t at(Thread& thread, int entry, int row) const {
    return Loads::load(thread, columns + entry * height + row);
  }
};

// A row of a slice, for add_products(). `shifted`: its x begins at the origin of its columns.
template <bool shifted, class Values, class Columns>
struct RowOfSlice {
  const Values& values;
  const Columns& columns;
  int row;

  template <class Thread>
  STRATA_DEVICE std::int32_t column(Thread& thread, int entry) const {
    return (shifted ? 0 : columns.origin(row)) + columns.at(thread, entry, row);
  }
  template <class Thread>
  STRATA_DEVICE auto value(Thread& thread, int entry) const {
    return values.at(thread, entry, row);
  }
};

// One thread's part of its row.
template <class Loads, int height, int vectors, int ahead, class Thread, class T, class Values,
          class Columns>
STRATA_DEVICE void multiply(Thread& thread, const Values& values, int width, const Columns& columns,
                            const T* x, int count, T (&sums)[vectors]) {
  constexpr bool shifted = Loads::kShifted && vectors == 1;
  const int row = thread.lane() % height;
  const RowOfSlice<shifted, Values, Columns> entries{values, columns, row};
  add_products<Loads, Thread::warp_size / height, vectors, ahead>(
      thread, thread.lane() / height, 0, width, entries, shifted ? x + columns.origin(row) : x,
      count, sums);
}

// A row of one vector without its padding, for which is_entry(entry) is false. Formed in the same
// order as the sum of its threads.
template <int height, class Thread, class T, class Values, class Columns, class IsEntry>
STRATA_DEVICE T sum_without_padding(Thread& thread, const Values& values, int width,
                                    const Columns& columns, int row, const T* x, int count,
                                    const IsEntry& is_entry) {
  constexpr int parts = Thread::warp_size / height;
  T sums[parts] = {};
  // Rare, and unrolled it would need more registers than all the rest.
  STRATA_NO_UNROLL
  for (int entry = 0; entry < width; ++entry) {
    if (!is_entry(entry)) continue;
    const std::int64_t from =
        std::int64_t{columns.origin(row) + columns.at(thread, entry, row)} * count;
    const T value = values.at(thread, entry, row);
    STRATA_UNROLL
    for (int part = 0; part < parts; ++part) {
      if (part == entry % parts) sums[part] = multiply_add(value, x[from], sums[part]);
    }
  }
  STRATA_UNROLL
  for (int half = parts / 2; half > 0; half /= 2) {
    STRATA_UNROLL
    for (int part = 0; part < half; ++part) sums[part] = add(sums[part], sums[part + half]);
  }
  return sums[0];
}

// A slice of packed SELL, wherever its values and codes lie. Run: RunLength, or NoRuns where no
// slice has runs.
template <class T, class Run = RunLength>
struct PackedSlice {
  const T* values;
  const std::byte* codes;
  int width;
  SliceEncoding encoding;
  std::int32_t first_slot;
  std::uint64_t position;  // of its first value among the presence bits
  Run run = {};            // of the matrix
};

// Of a slice: that of the matrix if it has runs.
template <class Run>
STRATA_HOST_DEVICE Run run_of(SliceEncoding encoding, const Run& of_matrix) {
  return encoding == SliceEncoding::run8 || encoding == SliceEncoding::run16 ? of_matrix : Run{};
}

// The encoding of deltas, of runs or not.
template <class Run>
STRATA_HOST_DEVICE SliceEncoding without_runs(SliceEncoding encoding) {
  if constexpr (std::is_same_v<Run, RunLength>) {
    if (encoding == SliceEncoding::run8) return SliceEncoding::delta8;
    if (encoding == SliceEncoding::run16) return SliceEncoding::delta16;
  }
  return encoding;
}

// As delta_begin() of packed_sell.hpp, in the 32 bits that a slice needs.
template <class Run>
STRATA_HOST_DEVICE int delta_place(int width, int height, const Run& run) {
  const int alignment = height > 16 ? height : 16;
  return (run.of(width) * 4 + alignment - 1) / alignment * alignment;
}

// body(columns) with the columns of a slice in their encoding.
template <class Loads, int height, class T, class Run, class Body>
STRATA_DEVICE void with_columns(const PackedSlice<T, Run>& slice, const Body& body) {
  const auto* numbers = reinterpret_cast<const std::int32_t*>(slice.codes);
  const Run run = run_of(slice.encoding, slice.run);
  const std::byte* deltas = slice.codes + delta_place(slice.width, height, run);
  switch (without_runs<Run>(slice.encoding)) {
    case SliceEncoding::dia: body(DiaColumns<Loads>{numbers, slice.first_slot}); break;
    case SliceEncoding::delta8:
      body(DeltaColumns<Loads, height, std::uint8_t, Run>{
          numbers, reinterpret_cast<const std::uint8_t*>(deltas), slice.first_slot, run});
      break;
    case SliceEncoding::delta16:
      body(DeltaColumns<Loads, height, std::uint16_t, Run>{
          numbers, reinterpret_cast<const std::uint16_t*>(deltas), slice.first_slot, run});
      break;
    case SliceEncoding::index32: body(IndexColumns<Loads, height>{numbers}); break;
    default: break;
  }
}

// Any of the encodings, told apart entry by entry; all rows go the same way.
template <class Loads, int height, class Run = RunLength>
class AnyColumns {
 public:
  template <class T>
  STRATA_DEVICE explicit AnyColumns(const PackedSlice<T, Run>& slice)
      : numbers_(reinterpret_cast<const std::int32_t*>(slice.codes)),
        run_(run_of(slice.encoding, slice.run)),
        deltas_(slice.codes + delta_place(slice.width, height, run_)),
        first_slot_(slice.first_slot),
        encoding_(slice.encoding) {}

  STRATA_DEVICE std::int32_t origin(int row) const {
    if (encoding_ == SliceEncoding::index32) return 0;
    return first_slot_ + (encoding_ == SliceEncoding::dia ? row : 0);
  }
  template <class Thread>
  STRATA_DEVICE std::int32_t at(Thread& thread, int entry, int row) const {
    switch (encoding_) {
      case SliceEncoding::dia:
        return DiaColumns<Loads>{numbers_, first_slot_}.at(thread, entry, row);
      case SliceEncoding::run8:
      case SliceEncoding::delta8:
        return DeltaColumns<Loads, height, std::uint8_t, Run>{
            numbers_, reinterpret_cast<const std::uint8_t*>(deltas_), first_slot_, run_}
            .at(thread, entry, row);
      case SliceEncoding::run16:
      case SliceEncoding::delta16:
        return DeltaColumns<Loads, height, std::uint16_t, Run>{
            numbers_, reinterpret_cast<const std::uint16_t*>(deltas_), first_slot_, run_}
            .at(thread, entry, row);
      default: return IndexColumns<Loads, height>{numbers_}.at(thread, entry, row);
    }
  }

 private:
  const std::int32_t* numbers_;
  Run run_;
  const std::byte* deltas_;
  std::int32_t first_slot_;
  SliceEncoding encoding_;
};

// body(columns): for encoded values, which have bodies of their own, diagonals and all the rest.
template <class Loads, int height, class T, class Body>
STRATA_DEVICE void with_some_columns(const PackedSlice<T>& slice, const Body& body) {
  if (slice.encoding == SliceEncoding::dia) {
    body(DiaColumns<Loads>{reinterpret_cast<const std::int32_t*>(slice.codes), slice.first_slot});
  } else {
    body(AnyColumns<Loads, height>(slice));
  }
}

template <class Loads, int height, int vectors, int ahead, class Thread, class T, class Run>
STRATA_DEVICE void multiply(Thread& thread, const PackedSlice<T, Run>& slice, const T* x, int count,
                            T (&sums)[vectors]) {
  const FullValues<Loads, height, T> values{slice.values};
  with_columns<Loads, height>(slice, [&](const auto& columns) {
    multiply<Loads, height, vectors, ahead>(thread, values, slice.width, columns, x, count, sums);
  });
}

// Which rows a slice holds.
struct SliceRows {
  std::int32_t first_slot;
  std::int32_t rows;                // of the matrix
  const std::int32_t* row_of_slot;  // null when nothing is sorted
};

// What happens with an element once it is written: nothing.
struct AsItIs {
  template <class T>
  STRATA_DEVICE void operator()(const StepArguments<T>&, std::int64_t) const {}
};

// Adds up the threads of each row and writes the rows. sum_again(row, v) is vector v of a row
// without padding; written(step, i) is called after element i is.
template <int height, int vectors, class Thread, class T, class SumAgain, class Written = AsItIs>
STRATA_DEVICE void finish_slice(Thread& thread, const SliceRows& slice,
                                const StepArguments<T>& step, T (&sums)[vectors],
                                const SumAgain& sum_again, const Written& written = {}) {
  STRATA_UNROLL
  for (int v = 0; v < vectors; ++v) sums[v] = sum_of_lanes(thread, height, sums[v]);
  const int row = thread.lane();
  const std::int32_t slot = slice.first_slot + row;
  if (row >= height || slot >= slice.rows) return;
  const std::int64_t place =
      element<vectors>(slice.row_of_slot != nullptr ? slice.row_of_slot[slot] : slot, step.count);
  STRATA_UNROLL
  for (int v = 0; v < vectors; ++v) {
    if (vectors > 1 && v >= step.count) break;
    const T sum = is_finite(sums[v]) ? sums[v] : sum_again(row, v);
    finish(step, place + v, sum);
    written(step, place + v);
  }
}

}  // namespace strata::gpu
