// CSR on a GPU as a stream: one step of a recurrence, a block per part of consecutive rows
// (split_csr_stream makes them). All threads of a block read the part's columns and values in the
// order of memory, every load in flight at once, and leave them in shared memory; then some
// threads per row add it up from there.
//
// - Rows that are alike: the threads of a row gather x. At the same time neighbouring threads have
//   the same place in neighbouring rows, whose columns are mostly neighbours too: a load of a warp
//   touches fewer lines than if it took 32 entries in a row, one row's columns being far apart.
// - Other rows: whoever has read an entry multiplies it, so that no thread gathers more than
//   others, and shared memory has the products: CSR-Stream (Greathouse and Daga, SC 2014).
// - A row that fills a part, or a piece of an even longer one: the whole block, straight from
//   memory. The sum of a piece is a partial one, and the warp that is the last to have left one
//   adds up those of the row. Where there are too many such rows to count arrivals, a second launch
//   does, csr_long_rows_step.
//
// A part says how many threads a row has, so that its sum has one order whatever the range of rows,
// the grid and who is last. Vectors go one after the other through what has been read once.
#pragma once

#include <cstdint>
#include <type_traits>

#include "strata/base/types.hpp"
#include "strata/kernels/gpu/arrivals.hpp"
#include "strata/kernels/gpu/csr.hpp"
#include "strata/kernels/gpu/csr_parts.hpp"
#include "strata/kernels/gpu/products.hpp"
#include "strata/kernels/gpu/step.hpp"
#include "strata/kernels/gpu/views.hpp"

namespace strata::gpu {

// A StreamShape as a constant, and how many gathers of x a thread has in flight.
template <int threads_, int entries_per_thread_, int gathers_ = 8>
struct StreamConstants {
  static constexpr int threads = threads_;
  static constexpr int entries_per_thread = entries_per_thread_;
  static constexpr int entries = threads * entries_per_thread;
  static constexpr int gathers = gathers_;
};

// Registers of a thread: what it has in flight and some more. A multiprocessor has as many blocks
// as that allows, and with them enough loads in flight. Compilers left alone take twice as many.
template <class Shape, class T>
STRATA_HOST_DEVICE constexpr int stream_registers() {
  constexpr int in_flight =
      Shape::entries_per_thread > Shape::gathers ? Shape::entries_per_thread : Shape::gathers;
  constexpr int words = static_cast<int>(sizeof(T) / sizeof(std::int32_t));
  return (std::is_arithmetic_v<T> ? 24 : 40) + in_flight * (1 + words);
}
template <class Shape, class T>
STRATA_HOST_DEVICE constexpr int stream_blocks() {
#ifdef STRATA_GPU_HIP
  return 1;  // AMD's compilers count waves here, and have registers enough
#else
  // A multiprocessor has four times 16384 registers, each for whole warps of 32.
  return 16384 / (stream_registers<Shape, T>() * 32) * 4 * 32 / Shape::threads;
#endif
}

// Where element k of an array in shared memory lies. One place in 128 bytes stays free, so that
// rows of 8, 16, … entries do not begin in the same banks.
template <class T>
STRATA_HOST_DEVICE constexpr int stream_place(int k) {
  constexpr unsigned line = 128 / sizeof(T);
  return k + static_cast<int>(static_cast<unsigned>(k) / line);
}

template <class T>
STRATA_HOST_DEVICE constexpr int stream_shared_bytes(int entries) {
  return stream_place<T>(entries) * static_cast<int>(sizeof(T)) +
         stream_place<std::int32_t>(entries) * static_cast<int>(sizeof(std::int32_t));
}

// The entries of a part in shared memory, by their number in the part.
template <class T>
struct StreamEntries {
  T* values;
  std::int32_t* columns;

  template <class Thread>
  STRATA_DEVICE std::int32_t column(Thread&, int k) const {
    return columns[stream_place<std::int32_t>(k)];
  }
  template <class Thread>
  STRATA_DEVICE T value(Thread&, int k) const {
    return values[stream_place<T>(k)];
  }
};

// The sum of entries first, first + stride, … before `end` times vector `v` of `count`, with
// `ahead` gathers in flight. Without entries x may be null, and nothing is added to it.
template <int ahead, class Thread, class Position, class Entries, class T>
STRATA_DEVICE T sum_of_entries(Thread& thread, const Entries& entries, Position first, Position end,
                               int stride, const T* x, int v, int count) {
  T sum{};
  for (; first < end; first += ahead * stride) {
    const auto place = [&](int u) { return first + u * stride; };
    std::int32_t columns[ahead];
    STRATA_UNROLL
    for (int u = 0; u < ahead; ++u) {
      columns[u] = place(u) < end ? entries.column(thread, place(u)) : 0;
    }
    T factors[ahead];
    STRATA_UNROLL
    for (int u = 0; u < ahead; ++u) {
      const T* from = x + static_cast<std::int64_t>(columns[u]) * count + v;
      factors[u] = load_if(thread, place(u) < end, from, T{});
    }
    STRATA_UNROLL
    for (int u = 0; u < ahead; ++u) {
      const T value = place(u) < end ? entries.value(thread, place(u)) : T{};
      sum = multiply_add(value, factors[u], sum);
    }
  }
  return sum;
}

// What a thread does in a part of several rows.
template <class Shape, class Loads, class Thread, class T>
class StreamPart {
 public:
  STRATA_DEVICE StreamPart(Thread& thread, const CsrStreamView<T>& matrix,
                           const StepArguments<T>& step, RowRange<std::int32_t> range,
                           const CsrPart& part, const CsrPart& next)
      : thread_(thread),
        matrix_(matrix),
        step_(step),
        range_(range),
        first_entry_(part.first_entry),
        first_row_(part.first_row),
        entries_(static_cast<int>(next.first_entry - part.first_entry)),
        rows_(next.first_row - part.first_row),
        threads_per_row_(1 << StreamWay::of(part.partial).log_threads),
        row_(thread.index() >> StreamWay::of(part.partial).log_threads),
        lane_(thread.index() & (threads_per_row_ - 1)),
        shared_{thread.template shared<T>(),
                reinterpret_cast<std::int32_t*>(thread.template shared<T>() +
                                                stream_place<T>(Shape::entries))} {}

  // Everything that memory has to deliver, before any of it is used.
  STRATA_DEVICE void read() {
    if (row_ < rows_) {
      const std::uint16_t* ends = matrix_.row_ends + first_row_;
      end_ = ends[row_];
      if (row_ > 0) begin_ = ends[row_ - 1];
    }
    STRATA_UNROLL
    for (int u = 0; u < Shape::entries_per_thread; ++u) {
      if (place(u) < entries_) {
        columns_[u] = Loads::load(thread_, matrix_.split.csr.columns + first_entry_ + place(u));
        values_[u] = Loads::load(thread_, matrix_.split.csr.values + first_entry_ + place(u));
      }
    }
  }

  STRATA_DEVICE void add_by_rows() {
    STRATA_UNROLL
    for (int u = 0; u < Shape::entries_per_thread; ++u) {
      shared_.columns[stream_place<std::int32_t>(place(u))] = columns_[u];
      shared_.values[stream_place<T>(place(u))] = values_[u];
    }
    thread_.sync_block();
    for (int v = 0; v < step_.count; ++v) {
      finish_row(sum_of_entries<Shape::gathers>(thread_, shared_, begin_ + lane_, end_,
                                                threads_per_row_, step_.x, v, step_.count),
                 v);
    }
    thread_.sync_block();
  }

  STRATA_DEVICE void add_by_entries() {
    for (int v = 0; v < step_.count; ++v) {
      T factors[Shape::entries_per_thread];
      STRATA_UNROLL
      for (int u = 0; u < Shape::entries_per_thread; ++u) {
        const bool inside = place(u) < entries_;
        const std::int64_t at =
            inside ? static_cast<std::int64_t>(columns_[u]) * step_.count + v : 0;
        factors[u] = load_if(thread_, inside, step_.x + at, T{});
      }
      STRATA_UNROLL
      for (int u = 0; u < Shape::entries_per_thread; ++u) {
        shared_.values[stream_place<T>(place(u))] = multiply_add(values_[u], factors[u], T{});
      }
      thread_.sync_block();
      T sum{};
      for (int k = begin_ + lane_; k < end_; k += threads_per_row_) {
        sum = add(sum, shared_.value(thread_, k));
      }
      finish_row(sum, v);
      thread_.sync_block();
    }
  }

 private:
  // Of the thread's u-th entry in the part.
  STRATA_DEVICE int place(int u) const { return u * Shape::threads + thread_.index(); }

  STRATA_DEVICE void finish_row(T sum, int v) {
    sum = sum_of_group(thread_, threads_per_row_, sum);
    const std::int32_t number = first_row_ + row_;
    const bool writes = row_ < rows_ && number >= range_.begin && number < range_.end;
    if (writes && lane_ == 0) {
      finish(step_, static_cast<std::int64_t>(number) * step_.count + v, sum);
    }
  }

  Thread& thread_;
  const CsrStreamView<T>& matrix_;
  const StepArguments<T>& step_;
  RowRange<std::int32_t> range_;
  std::int64_t first_entry_;
  std::int32_t first_row_;
  int entries_;
  int rows_;
  int threads_per_row_;
  // The thread's row by its number in the part, which of its threads this is, and its entries.
  int row_;
  int lane_;
  int begin_ = 0;
  int end_ = 0;
  StreamEntries<T> shared_;
  std::int32_t columns_[Shape::entries_per_thread] = {};
  T values_[Shape::entries_per_thread] = {};
};

// The sum over the block in its first thread: of each warp, and then of the warps in their order.
template <class Thread, class T>
STRATA_DEVICE T sum_of_block(Thread& thread, T* shared, T sum) {
  sum = sum_of_lanes(thread, 1, sum);
  if (thread.lane() == 0) shared[thread.warp()] = sum;
  thread.sync_block();
  sum = shared[0];
  for (int warp = 1; warp < thread.warps(); ++warp) sum = add(sum, shared[warp]);
  thread.sync_block();
  return sum;
}

// A row, or a piece of one, by the whole block.
template <class Shape, class Loads, class Thread, class T>
STRATA_DEVICE void stream_one_row(Thread& thread, const CsrStreamView<T>& matrix,
                                  const StepArguments<T>& step, RowRange<std::int32_t> range,
                                  const CsrPart& part, const CsrPart& next) {
  const CsrEntries<Loads, T> entries{matrix.split.csr.columns, matrix.split.csr.values};
  for (int v = 0; v < step.count; ++v) {
    T sum = sum_of_entries<Shape::gathers>(thread, entries, part.first_entry + thread.index(),
                                           next.first_entry, Shape::threads, step.x, v, step.count);
    sum = sum_of_block(thread, thread.template shared<T>(), sum);
    if (thread.index() != 0) continue;
    if (part.partial >= 0) {
      matrix.split.partials[static_cast<std::int64_t>(part.partial) * step.count + v] = sum;
    } else if (part.first_row >= range.begin && part.first_row < range.end) {
      finish(step, static_cast<std::int64_t>(part.first_row) * step.count + v, sum);
    }
  }
}

// Ends the row of a piece if all others have left their partial sums, by the warp whose lane 0 has
// just written those of this piece.
template <class Thread, class T>
STRATA_DEVICE void arrive_with_piece(Thread& thread, const CsrPartsView<T>& matrix,
                                     const StepArguments<T>& step, const CsrPart& part) {
  if (matrix.counters == nullptr) return;
  const RowPieces pieces = matrix.pieces[part.partial];
  const bool last =
      thread.lane() == 0 && arrives_last(thread, matrix.counters + pieces.number,
                                         pieces.end_partial - pieces.first_partial - 1);
  if (!thread.any(last)) return;
  thread.sync_warp();
  end_long_row(thread, matrix, step, part.first_row, pieces.first_partial, pieces.end_partial);
}

// The parts that hold the rows, in blocks of Shape::threads; of the first and the last part some
// rows may be others. Without `pieces` there are no long rows, or a second launch ends them: what
// it takes to end them here costs all other parts registers.
template <class Shape, class Loads, bool pieces = true, class Thread, class T>
STRATA_DEVICE void csr_stream_step(Thread& thread, const CsrStreamView<T>& matrix,
                                   const StepArguments<T>& step, PartRange parts,
                                   RowRange<std::int32_t> range) {
  for (std::int64_t number = std::int64_t{parts.begin} + thread.block(); number < parts.end;
       number += thread.blocks()) {
    const CsrPart part = matrix.split.parts[number];
    const CsrPart next = matrix.split.parts[number + 1];
    if (next.first_row - part.first_row <= 1) {
      stream_one_row<Shape, Loads>(thread, matrix, step, range, part, next);
      continue;
    }
    StreamPart<Shape, Loads, Thread, T> rows(thread, matrix, step, range, part, next);
    rows.read();
    if (StreamWay::of(part.partial).by_entries) {
      rows.add_by_entries();
    } else {
      rows.add_by_rows();
    }
  }
  if constexpr (pieces) {
    if (thread.warp() != 0) return;
    for (std::int64_t number = std::int64_t{parts.begin} + thread.block(); number < parts.end;
         number += thread.blocks()) {
      const CsrPart part = matrix.split.parts[number];
      if (part.partial >= 0) arrive_with_piece(thread, matrix.split, step, part);
    }
  }
}

}  // namespace strata::gpu
