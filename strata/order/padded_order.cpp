#include "strata/order/padded_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"

namespace strata {

namespace {

// Of rows that are in range, some of which may be empty positions.
template <Index I>
[[noreturn]] void throw_not_each_once(I rows, std::span<const I> row_at, Offset placed) {
  Array<unsigned char> seen(rows, 0);
  for (const I row : row_at) {
    if (row == PaddedOrder<I>::kEmpty) continue;
    if (std::exchange(seen[row], 1) != 0) {
      throw InvalidArgument(fmt::format("row {} occurs twice in an order", row));
    }
  }
  throw InvalidArgument(fmt::format("an order of {} rows holds {}", rows, placed));
}

}  // namespace

template <Index I>
PaddedOrder<I>::PaddedOrder(I rows, Array<I> row_at)
    : rows_(rows), padded_rows_(narrow<I>(row_at.size(), "the number of padded rows")) {
  auto position_of = std::make_shared<Array<I>>(rows);
  parallel_for(rows, [&](Offset row) { (*position_of)[row] = kEmpty; });
  std::atomic<bool> moved{padded_rows() != rows};
  std::atomic<Offset> placed{0};
  parallel_chunks(padded_rows(), [&](Offset begin, Offset end) {
    Offset here = 0;
    for (Offset position = begin; position < end; ++position) {
      const I row = row_at[position];
      if (row == kEmpty) continue;
      if (row < 0 || row >= rows) {
        throw InvalidArgument(
            fmt::format("position {} of an order of {} rows holds {}", position, rows, row));
      }
      // No exchange, which would wait for each of these places in memory.
      std::atomic_ref((*position_of)[row])
          .store(static_cast<I>(position), std::memory_order_relaxed);
      if (row != position) moved.store(true, std::memory_order_relaxed);
      ++here;
    }
    placed.fetch_add(here, std::memory_order_relaxed);
  });
  // As many as there are rows, and none without a position: each occurs once.
  const auto without = parallel_reduce(
      rows, Offset{0},
      [&](Offset begin, Offset end) {
        return std::count(position_of->begin() + begin, position_of->begin() + end, kEmpty);
      },
      std::plus<>());
  if (placed != rows || without > 0) throw_not_each_once<I>(rows, row_at, placed);
  identity_ = !moved;
  if (identity_) return;
  owned_row_at_ = std::make_shared<const Array<I>>(std::move(row_at));
  owned_position_of_ = std::move(position_of);
  row_at_ = *owned_row_at_;
  position_of_ = *owned_position_of_;
}

template <Index I>
PaddedOrder<I> PaddedOrder<I>::identity(I rows) {
  PaddedOrder order;
  order.rows_ = rows;
  order.padded_rows_ = rows;
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

// A row in the padded order: its columns, increasing, and the places that its entries take.
template <Index I>
class RowMover {
 public:
  explicit RowMover(const PaddedOrder<I>& order) : order_(order) {}

  // Moves the columns of a row. Returns whether entries stay in their sequence.
  bool move(std::span<const I> columns, I* to) {
    length_ = columns.size();
    moved_.resize(length_ + kLanes);
    bool increasing = true;
    for (std::size_t k = 0; k < length_; ++k) {
      moved_[k] = order_.position_of(columns[k]);
      increasing &= k == 0 || moved_[k - 1] < moved_[k];
    }
    if (increasing) {
      std::copy_n(moved_.begin(), length_, to);
      return true;
    }
    find_places();
    for (std::size_t k = 0; k < length_; ++k) to[places_[k]] = moved_[k];
    return false;
  }

  // Where the entries go of the row that was moved last, if they do not stay in their sequence.
  std::span<const I> places() const { return std::span(places_).first(length_); }

 private:
  // Up to here it is faster to compare all columns with each other, many at a time, than to sort.
  static constexpr std::size_t kShort = 64;
  static constexpr std::size_t kLanes = 16;

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

  const PaddedOrder<I>& order_;
  std::size_t length_ = 0;  // of the row
  std::vector<I> moved_;    // its columns, and room for lanes that nobody asks
  std::vector<I> places_;   // of its entries, likewise
  std::vector<std::pair<I, std::size_t>> by_column_;
};

// Moves values to their places.
template <Value V, class Place>
void move_values(const V* from, std::span<const Place> places, V* to) {
  for (std::size_t k = 0; k < places.size(); ++k) to[places[k]] = from[k];
}

// Visits rows, or padded ones, that may be anywhere in memory: so many ahead of them are fetched,
// of each so many entries of the arrays.
template <Index I, class Visit, class... Arrays>
void for_each_row_ahead(std::span<const Offset> row_offsets, std::span<const I> rows,
                        const Visit& visit, const Arrays*... arrays) {
  constexpr Offset kOffsetsAhead = 16;
  constexpr Offset kEntriesAhead = 8;
  constexpr Offset kMostFetched = 64;
  const auto is_row = [&](Offset i) {
    return i < std::ssize(rows) && rows[i] != PaddedOrder<I>::kEmpty;
  };
  for (Offset i = 0; i < std::ssize(rows); ++i) {
    if (is_row(i + kOffsetsAhead)) __builtin_prefetch(&row_offsets[rows[i + kOffsetsAhead]]);
    if (is_row(i + kEntriesAhead)) {
      const I row = rows[i + kEntriesAhead];
      const Offset begin = row_offsets[row];
      const Offset end = std::min(row_offsets[row + 1], begin + kMostFetched);
      const auto fetch = [&]<class T>(const T* elements) {
        for (Offset k = begin; k < end; k += Offset{kCacheLine / sizeof(T)}) {
          __builtin_prefetch(elements + k);
        }
      };
      (fetch(arrays), ...);
    }
    if (is_row(i)) visit(i);
  }
}

}  // namespace

template <Index I>
template <Value V>
void PaddedOrder<I>::gather(std::span<const V> of_rows, std::span<V> padded, int count) const {
  require_elements(of_rows.size(), rows(), count);
  require_elements(padded.size(), padded_rows(), count);
  parallel_for(padded_rows(), [&](Offset position) {
    const Offset row = row_at(static_cast<I>(position));
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
    const Offset position = position_of(static_cast<I>(row));
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
  Offset all = 0;
  for (const RowRange<I>& range : ranges) all += range.end - range.begin;
  const auto count = narrow<I>(all, "the number of rows");
  Array<I> rows(count);
  Offset first = 0;
  for (const RowRange<I>& range : ranges) {
    parallel_for(range.end - range.begin, [&](Offset i) {
      rows[first + i] = order.row_at(static_cast<I>(range.begin + i));
    });
    first += range.end - range.begin;
  }
  Array<Offset> offsets(rows.size() + 1);
  offsets[count] = 0;
  parallel_for(count, [&](Offset i) {
    offsets[i] = rows[i] == PaddedOrder<I>::kEmpty ? 0 : matrix.pattern().row_length(rows[i]);
  });
  const Offset entries = exclusive_scan(offsets);
  Array<I> columns(entries);
  Array<V> values(entries);
  parallel_dynamic(count, 1024, [&](Offset begin, Offset end) {
    RowMover<I> mover(order);
    const auto some = std::span<const I>(rows).subspan(begin, end - begin);
    const auto move = [&](Offset i) {
      const I row = some[i];
      const auto from = matrix.pattern().columns_of(row);
      const V* const values_from = matrix.values().data() + matrix.row_offsets()[row];
      V* const values_to = values.data() + offsets[begin + i];
      if (mover.move(from, columns.data() + offsets[begin + i])) {
        std::copy_n(values_from, from.size(), values_to);
      } else {
        move_values(values_from, mover.places(), values_to);
      }
    };
    for_each_row_ahead(matrix.row_offsets(), some, move, matrix.columns().data(),
                       matrix.values().data());
  });
  return Csr<V, I>(count, order.padded_rows(), std::move(offsets), std::move(columns),
                   std::move(values));
}

template <Value V, Index I>
ReorderedRows<V, I>::ReorderedRows(const Csr<V, I>& matrix, const PaddedOrder<I>& order)
    : matrix_(matrix),
      order_(order),
      offsets_(static_cast<std::size_t>(order.padded_rows()) + 1),
      known_(static_cast<std::size_t>(order.padded_rows())),
      columns_(static_cast<std::size_t>(matrix.nnz())),
      places_(static_cast<std::size_t>(matrix.nnz())) {
  offsets_.back() = 0;
  parallel_for(order.padded_rows(), [&](Offset position) {
    const I row = order.row_at(static_cast<I>(position));
    offsets_[position] = row == PaddedOrder<I>::kEmpty ? 0 : matrix.pattern().row_length(row);
    known_[position] = Known::nothing;
  });
  exclusive_scan(offsets_);
}

template <Value V, Index I>
void ReorderedRows<V, I>::read(RowRange<I> positions, RowBlock<V, I>& block) {
  const Offset first = offsets_[positions.begin];
  const Offset entries = offsets_[positions.end] - first;
  std::vector<I> rows;
  bool all_known = true;
  block.row_offsets.clear();
  for (I position = positions.begin; position < positions.end; ++position) {
    rows.push_back(order_.row_at(position));
    block.row_offsets.push_back(offsets_[position] - first);
    all_known &= known_[position] != Known::nothing || rows.back() == PaddedOrder<I>::kEmpty;
  }
  block.row_offsets.push_back(entries);
  block.columns.resize(static_cast<std::size_t>(entries));
  block.values.resize(block.needs_values ? static_cast<std::size_t>(entries) : 0);
  RowMover<I> mover(order_);
  const auto read_row = [&](Offset i) {
    const auto source = matrix_.pattern().columns_of(rows[i]);
    const std::size_t length = source.size();
    const I position = positions.begin + static_cast<I>(i);
    const Offset begin = offsets_[position];
    I* const columns = block.columns.data() + (begin - first);
    const std::span places = std::span(places_).subspan(begin, length);
    const bool keeps = length <= kLongestKept;
    Known known = known_[position];
    if (known != Known::nothing) {
      std::copy_n(columns_.begin() + begin, length, columns);
    } else {
      known = mover.move(source, columns) ? Known::in_sequence : Known::places;
      if (keeps) {
        std::copy_n(columns, length, columns_.begin() + begin);
        if (known == Known::places) std::ranges::copy(mover.places(), places.begin());
        known_[position] = known;
      }
    }
    if (!block.needs_values) return;
    const V* const from = matrix_.values().data() + matrix_.row_offsets()[rows[i]];
    V* const values = block.values.data() + (begin - first);
    if (known == Known::in_sequence) {
      std::copy_n(from, length, values);
    } else if (keeps) {
      move_values<V, std::uint8_t>(from, places, values);
    } else {
      move_values<V, I>(from, mover.places(), values);
    }
  };
  const std::span<const Offset> row_offsets = matrix_.row_offsets();
  const I* const columns = matrix_.columns().data();
  const V* const values = matrix_.values().data();
  if (!block.needs_values) {
    for_each_row_ahead<I>(row_offsets, rows, read_row, columns);
  } else if (all_known) {
    for_each_row_ahead<I>(row_offsets, rows, read_row, values);
  } else {
    for_each_row_ahead<I>(row_offsets, rows, read_row, columns, values);
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
  template class ReorderedRows<V, I>;                                                 \
  template Csr<V, I> reordered_rows(const Csr<V, I>&, const PaddedOrder<I>&,          \
                                    std::span<const RowRange<I>>)
#define STRATA_INSTANTIATE_INDEX(I) \
  template class PaddedOrder<I>;    \
  template Permutation<I> without_padding(const PaddedOrder<I>&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE_INDEX);
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
