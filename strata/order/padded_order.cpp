#include "strata/order/padded_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <utility>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"

namespace strata {

template <Index I>
PaddedOrder<I>::PaddedOrder(I rows, Array<I> row_at) {
  auto position_of = std::make_shared<Array<I>>(rows, kEmpty);
  owned_row_at_ = std::make_shared<const Array<I>>(std::move(row_at));
  row_at_ = *owned_row_at_;
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
      if (std::atomic_ref((*position_of)[row])
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
  position_of_ = *position_of;
  owned_position_of_ = std::move(position_of);
}

template <Index I>
PaddedOrder<I> PaddedOrder<I>::identity(I rows) {
  auto numbers = std::make_shared<Array<I>>(rows);
  parallel_for(rows, [&](Offset row) { (*numbers)[row] = static_cast<I>(row); });
  PaddedOrder order;
  order.row_at_ = order.position_of_ = *numbers;
  order.owned_row_at_ = std::move(numbers);
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

// Rows in the padded order: their columns, increasing, with their values.
template <Value V, Index I>
class RowMover {
 public:
  RowMover(const Csr<V, I>& matrix, const PaddedOrder<I>& order) : matrix_(matrix), order_(order) {}

  // Moves these rows, or padded ones, to where the offsets say; no values if that is null.
  void move(std::span<const I> rows, const Offset* offsets, I* columns, V* values) {
    const auto count = static_cast<Offset>(rows.size());
    for (Offset i = 0; i < count; ++i) {
      if (i + kOffsetsAhead < count) prefetch_offsets(rows[i + kOffsetsAhead]);
      if (i + kEntriesAhead < count) prefetch_entries(rows[i + kEntriesAhead], values != nullptr);
      if (rows[i] == PaddedOrder<I>::kEmpty) continue;
      move(rows[i], columns + offsets[i], values == nullptr ? nullptr : values + offsets[i]);
    }
  }

 private:
  // Up to here it is faster to compare all columns with each other, many at a time, than to sort.
  static constexpr std::size_t kShort = 64;
  static constexpr std::size_t kLanes = 16;
  // The rows may be anywhere in memory: so many ahead are fetched, of each so much.
  static constexpr Offset kOffsetsAhead = 16;
  static constexpr Offset kEntriesAhead = 8;
  static constexpr Offset kMostFetched = 64;

  void prefetch_offsets(I row) const {
    if (row != PaddedOrder<I>::kEmpty) __builtin_prefetch(&matrix_.row_offsets()[row]);
  }
  void prefetch_entries(I row, bool with_values) const {
    if (row == PaddedOrder<I>::kEmpty) return;
    const Offset begin = matrix_.row_offsets()[row];
    const Offset end = std::min(matrix_.row_offsets()[row + 1], begin + kMostFetched);
    const auto fetch = [&]<class T>(const T* elements) {
      for (Offset k = begin; k < end; k += Offset{kCacheLine / sizeof(T)}) {
        __builtin_prefetch(elements + k);
      }
    };
    fetch(matrix_.columns().data());
    if (with_values) fetch(matrix_.values().data());
  }

  void move(I row, I* columns, V* values) {
    const Offset begin = matrix_.row_offsets()[row];
    length_ = static_cast<std::size_t>(matrix_.row_offsets()[row + 1] - begin);
    const V* const from = matrix_.values().data() + begin;
    moved_.resize(length_ + kLanes);
    bool increasing = true;
    for (std::size_t k = 0; k < length_; ++k) {
      moved_[k] = order_.position_of(matrix_.columns()[begin + k]);
      increasing &= k == 0 || moved_[k - 1] < moved_[k];
    }
    if (increasing) {
      std::copy_n(moved_.begin(), length_, columns);
      if (values != nullptr) std::copy_n(from, length_, values);
      return;
    }
    find_places();
    for (std::size_t k = 0; k < length_; ++k) columns[places_[k]] = moved_[k];
    if (values == nullptr) return;
    for (std::size_t k = 0; k < length_; ++k) values[places_[k]] = from[k];
  }

  // The place of an entry is how many come before it.
  void find_places() {
    places_.resize(length_ + kLanes);
    if (length_ > kShort) return find_places_by_sorting();
    for (std::size_t first = 0; first < length_; first += kLanes) {
      std::array<I, kLanes> before{};
      for (std::size_t k = 0; k < length_; ++k) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
          before[lane] += moved_[k] < moved_[first + lane] ? 1 : 0;
        }
      }
      std::ranges::copy(before, places_.begin() + first);
    }
  }
  void find_places_by_sorting() {
    by_column_.resize(length_);
    for (std::size_t k = 0; k < length_; ++k) by_column_[k] = {moved_[k], k};
    std::ranges::sort(by_column_);
    for (std::size_t i = 0; i < length_; ++i) places_[by_column_[i].second] = static_cast<I>(i);
  }

  const Csr<V, I>& matrix_;
  const PaddedOrder<I>& order_;
  std::size_t length_ = 0;  // of the row
  std::vector<I> moved_;    // its columns, and room for lanes that nobody asks
  std::vector<I> places_;   // of its entries, likewise
  std::vector<std::pair<I, std::size_t>> by_column_;
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
    RowMover<V, I>(matrix, order)
        .move(std::span<const I>(rows).subspan(begin, end - begin), offsets.data() + begin,
              columns.data(), values.data());
  });
  return Csr<V, I>(count, order.padded_rows(), std::move(offsets), std::move(columns),
                   std::move(values));
}

template <Value V, Index I>
void read_reordered(const Csr<V, I>& matrix, const PaddedOrder<I>& order, RowRange<I> positions,
                    RowBlock<V, I>& block) {
  const std::span<const I> rows = order.rows_at(positions);
  block.row_offsets.resize(rows.size() + 1);
  Offset entries = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    block.row_offsets[i] = entries;
    if (rows[i] != PaddedOrder<I>::kEmpty) entries += matrix.pattern().row_length(rows[i]);
  }
  block.row_offsets.back() = entries;
  block.columns.resize(static_cast<std::size_t>(entries));
  block.values.resize(block.needs_values ? static_cast<std::size_t>(entries) : 0);
  RowMover<V, I>(matrix, order)
      .move(rows, block.row_offsets.data(), block.columns.data(),
            block.needs_values ? block.values.data() : nullptr);
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
