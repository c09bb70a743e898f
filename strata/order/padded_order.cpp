#include "strata/order/padded_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"

namespace strata {

template <Index I>
PaddedOrder<I>::PaddedOrder(I rows, Array<I> row_at)
    : row_at_(std::move(row_at)), position_of_(rows, kEmpty) {
  std::atomic<bool> moved{padded_rows() != rows};
  std::atomic<Offset> placed{0};
  parallel_chunks(padded_rows(), [&](Offset begin, Offset end) {
    Offset here = 0;
    for (Offset position = begin; position < end; ++position) {
      const I row = row_at_[position];
      if (row == kEmpty) continue;
      if (row < 0 || row >= rows) {
        throw InvalidArgument(
            fmt::format("position {} of an order of {} rows holds {}", position, rows, row));
      }
      if (std::atomic_ref(position_of_[row])
              .exchange(static_cast<I>(position), std::memory_order_relaxed) != kEmpty) {
        throw InvalidArgument(fmt::format("row {} occurs twice in an order", row));
      }
      if (row != position) moved.store(true, std::memory_order_relaxed);
      ++here;
    }
    placed.fetch_add(here, std::memory_order_relaxed);
  });
  if (placed != rows) {
    throw InvalidArgument(fmt::format("an order of {} rows holds {}", rows, placed.load()));
  }
  identity_ = !moved;
}

template <Index I>
PaddedOrder<I> PaddedOrder<I>::identity(I rows) {
  PaddedOrder order;
  order.row_at_.resize(static_cast<std::size_t>(rows));
  order.position_of_.resize(static_cast<std::size_t>(rows));
  parallel_for(rows, [&](Offset row) {
    order.row_at_[row] = static_cast<I>(row);
    order.position_of_[row] = static_cast<I>(row);
  });
  return order;
}

namespace {

void require_elements(std::size_t elements, Offset lines, int count) {
  const Offset expected = checked_multiply<Offset>(lines, count, "the elements of vectors");
  if (elements != static_cast<std::size_t>(expected)) {
    throw InvalidArgument(
        fmt::format("{} vectors of {} rows do not have {} elements", count, lines, elements));
  }
}

// The columns of one row in the padded order, increasing, with their values.
template <Value V, Index I>
class RowMover {
 public:
  RowMover(const Csr<V, I>& matrix, const PaddedOrder<I>& order) : matrix_(matrix), order_(order) {}

  void move(I row, I* columns, V* values) {
    const Offset begin = matrix_.row_offsets()[row];
    const auto length = static_cast<std::size_t>(matrix_.row_offsets()[row + 1] - begin);
    const V* const from = matrix_.values().data() + begin;
    moved_.resize(length);
    bool increasing = true;
    for (std::size_t k = 0; k < length; ++k) {
      moved_[k] = order_.position_of(matrix_.columns()[begin + k]);
      increasing &= k == 0 || moved_[k - 1] < moved_[k];
    }
    if (increasing) {
      std::ranges::copy(moved_, columns);
      std::copy_n(from, length, values);
    } else if (length <= kShort) {
      move_by_counting(from, columns, values);
    } else {
      move_by_sorting(from, columns, values);
    }
  }

 private:
  // Up to here it is faster to compare all columns with each other, many at a time, than to sort.
  static constexpr std::size_t kShort = 64;

  // The place of an entry is how many come before it.
  void move_by_counting(const V* from, I* columns, V* values) const {
    for (std::size_t k = 0; k < moved_.size(); ++k) {
      const I column = moved_[k];
      I place = 0;
      for (const I other : moved_) place += other < column ? 1 : 0;
      columns[place] = column;
      values[place] = from[k];
    }
  }

  void move_by_sorting(const V* from, I* columns, V* values) {
    entries_.resize(moved_.size());
    for (std::size_t k = 0; k < moved_.size(); ++k) entries_[k] = {moved_[k], from[k]};
    std::ranges::sort(entries_, {}, &std::pair<I, V>::first);
    for (std::size_t k = 0; k < moved_.size(); ++k) {
      columns[k] = entries_[k].first;
      values[k] = entries_[k].second;
    }
  }

  const Csr<V, I>& matrix_;
  const PaddedOrder<I>& order_;
  std::vector<I> moved_;  // columns of the row
  std::vector<std::pair<I, V>> entries_;
};

}  // namespace

template <Index I>
template <Value V>
void PaddedOrder<I>::gather(std::span<const V> of_rows, std::span<V> padded, int count) const {
  require_elements(of_rows.size(), rows(), count);
  require_elements(padded.size(), padded_rows(), count);
  parallel_for(padded_rows(), [&](Offset position) {
    const Offset row = row_at_[position];
    for (int v = 0; v < count; ++v) {
      padded[position * count + v] = row == kEmpty ? V{} : of_rows[row * count + v];
    }
  });
}

template <Index I>
template <Value V>
void PaddedOrder<I>::scatter(std::span<const V> padded, std::span<V> of_rows, int count) const {
  require_elements(of_rows.size(), rows(), count);
  require_elements(padded.size(), padded_rows(), count);
  // By row: every thread then writes its own part of the result, whole cache lines.
  parallel_for(rows(), [&](Offset row) {
    const Offset position = position_of_[row];
    for (int v = 0; v < count; ++v) of_rows[row * count + v] = padded[position * count + v];
  });
}

template <Value V, Index I>
Csr<V, I> reordered_rows(const Csr<V, I>& matrix, const PaddedOrder<I>& order,
                         std::span<const RowRange<I>> ranges) {
  if (matrix.rows() != matrix.cols() || matrix.rows() != order.rows()) {
    throw InvalidArgument(fmt::format("an order of {} rows does not fit a {} x {} matrix",
                                      order.rows(), matrix.rows(), matrix.cols()));
  }
  Array<I> rows;
  for (const RowRange<I>& range : ranges) {
    for (I position = range.begin; position < range.end; ++position) {
      rows.push_back(order.row_at(position));
    }
  }
  const auto count = narrow<I>(rows.size(), "the number of rows");
  Array<Offset> offsets(rows.size() + 1);
  offsets[count] = 0;
  parallel_for(count, [&](Offset i) {
    offsets[i] = rows[i] == PaddedOrder<I>::kEmpty ? 0 : matrix.pattern().row_length(rows[i]);
  });
  const Offset entries = exclusive_scan(offsets);
  Array<I> columns(entries);
  Array<V> values(entries);
  parallel_dynamic(count, 1024, [&](Offset begin, Offset end) {
    RowMover<V, I> mover(matrix, order);
    for (Offset i = begin; i < end; ++i) {
      if (offsets[i] < offsets[i + 1]) {
        mover.move(rows[i], columns.data() + offsets[i], values.data() + offsets[i]);
      }
    }
  });
  return Csr<V, I>(count, order.padded_rows(), std::move(offsets), std::move(columns),
                   std::move(values));
}

template <Value V, Index I>
void read_reordered(const Csr<V, I>& matrix, const PaddedOrder<I>& order, RowRange<I> positions,
                    RowBlock<V, I>& block) {
  block.row_offsets.resize(static_cast<std::size_t>(positions.end - positions.begin) + 1);
  Offset entries = 0;
  for (I position = positions.begin; position < positions.end; ++position) {
    const I row = order.row_at(position);
    block.row_offsets[position - positions.begin] = entries;
    if (row != PaddedOrder<I>::kEmpty) entries += matrix.pattern().row_length(row);
  }
  block.row_offsets.back() = entries;
  block.columns.resize(static_cast<std::size_t>(entries));
  block.values.resize(static_cast<std::size_t>(entries));
  RowMover<V, I> mover(matrix, order);
  for (I position = positions.begin; position < positions.end; ++position) {
    const I row = order.row_at(position);
    const Offset begin = block.row_offsets[position - positions.begin];
    if (row == PaddedOrder<I>::kEmpty) continue;
    mover.move(row, block.columns.data() + begin, block.values.data() + begin);
  }
}

template <Value V, Index I>
Csr<V, I> reordered(const Csr<V, I>& matrix, const PaddedOrder<I>& order) {
  const RowRange<I> all{0, order.padded_rows()};
  return reordered_rows<V, I>(matrix, order, std::span(&all, 1));
}

template <Index I>
Permutation<I> without_padding(const PaddedOrder<I>& order) {
  Array<I> rows;
  rows.reserve(static_cast<std::size_t>(order.rows()));
  for (I position = 0; position < order.padded_rows(); ++position) {
    if (order.row_at(position) != PaddedOrder<I>::kEmpty) rows.push_back(order.row_at(position));
  }
  return Permutation<I>(std::move(rows));
}

#define STRATA_INSTANTIATE(V, I)                                                      \
  template void PaddedOrder<I>::gather(std::span<const V>, std::span<V>, int) const;  \
  template void PaddedOrder<I>::scatter(std::span<const V>, std::span<V>, int) const; \
  template Csr<V, I> reordered(const Csr<V, I>&, const PaddedOrder<I>&);              \
  template void read_reordered(const Csr<V, I>&, const PaddedOrder<I>&, RowRange<I>,  \
                               RowBlock<V, I>&);                                      \
  template Csr<V, I> reordered_rows(const Csr<V, I>&, const PaddedOrder<I>&,          \
                                    std::span<const RowRange<I>>)
#define STRATA_INSTANTIATE_INDEX(I) \
  template class PaddedOrder<I>;    \
  template Permutation<I> without_padding(const PaddedOrder<I>&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE_INDEX);
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
