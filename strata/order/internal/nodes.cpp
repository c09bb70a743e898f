#include "strata/order/internal/nodes.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"

namespace strata::detail {

namespace {

// So many rows are asked whether another has the same columns, and so many of them must say yes.
constexpr Offset kSamples = 1024;
constexpr double kWorthJoining = 0.4;

template <Index I>
bool same_columns(const PatternView<I>& pattern, I a, I b) {
  return pattern.row_length(a) == pattern.row_length(b) &&
         std::ranges::equal(pattern.columns_of(a), pattern.columns_of(b));
}

template <Index I>
bool worth_joining(const PatternView<I>& pattern) {
  const Offset stride = std::max<Offset>(pattern.rows / kSamples, 1);
  const Offset asked = ceil_div<Offset>(pattern.rows, stride);
  // Other rows may be anywhere in memory.
  constexpr Offset kAskedAtATime = 32;
  std::atomic<Offset> joined{0};
  parallel_dynamic(asked, kAskedAtATime, [&](Offset begin, Offset end) {
    Offset here = 0;
    for (Offset position = begin; position < end; ++position) {
      const I row = static_cast<I>(position * stride);
      here += std::ranges::any_of(pattern.columns_of(row), [&](I other) {
        return other != row && same_columns(pattern, row, other);
      });
    }
    joined += here;
  });
  return static_cast<double>(joined) > kWorthJoining * static_cast<double>(asked);
}

// Rows with different sums have different columns.
template <Index I>
Array<std::uint64_t> sums_of_squares(const PatternView<I>& pattern) {
  Array<std::uint64_t> sums(pattern.rows);
  parallel_dynamic(pattern.rows, 4096, [&](Offset begin, Offset end) {
    for (Offset row = begin; row < end; ++row) {
      std::uint64_t squares = 0;
      for (const I column : pattern.columns_of(static_cast<I>(row))) {
        squares += static_cast<std::uint64_t>(column) * static_cast<std::uint64_t>(column);
      }
      sums[row] = squares;
    }
  });
  return sums;
}

// The first row with the same columns, for every row, among those columns; itself if there is none.
// Rows with the same columns have the same candidates, and so the same first one.
template <Index I>
Array<I> first_alike(const PatternView<I>& pattern) {
  constexpr I kNone = -1;
  const Array<std::uint64_t> sums = sums_of_squares(pattern);
  const auto alike = [&](I row, I other) {
    return sums[row] == sums[other] && same_columns(pattern, row, other);
  };
  Array<I> first(pattern.rows);
  parallel_dynamic(pattern.rows, 4096, [&](Offset begin, Offset end) {
    I found = kNone;
    for (I row = static_cast<I>(begin); row < end; ++row) {
      if (row == begin || !alike(row, row - 1)) {
        const auto columns = pattern.columns_of(row);
        const auto place =
            std::ranges::find_if(columns, [&](I other) { return alike(row, other); });
        found = place == columns.end() ? kNone : *place;
      }
      first[row] = found == kNone ? row : found;
    }
  });
  return first;
}

}  // namespace

template <Index I>
Nodes<I>::Nodes(const PatternView<I>& pattern) : view_(pattern) {
  if (worth_joining(pattern)) gather(pattern);
}

template <Index I>
void Nodes<I>::gather(const PatternView<I>& pattern) {
  Array<I> node_of_row = first_alike(pattern);
  // Nodes are numbered by their first rows, which are nobody else's. A row without itself among its
  // columns may come before the first row of its node.
  Array<I> names(pattern.rows);
  I count = 0;
  for (I row = 0; row < pattern.rows; ++row) {
    if (node_of_row[row] == row) names[row] = count++;
  }
  offsets_.assign(static_cast<std::size_t>(count) + 1, 0);
  for (I row = 0; row < pattern.rows; ++row) {
    node_of_row[row] = names[node_of_row[row]];
    ++offsets_[node_of_row[row] + 1];
  }
  for (I node = 0; node < count; ++node) offsets_[node + 1] += offsets_[node];
  members_.resize(pattern.rows);
  std::copy(offsets_.begin(), offsets_.end() - 1, names.begin());
  for (I row = 0; row < pattern.rows; ++row) members_[names[node_of_row[row]]++] = row;
  join(pattern, node_of_row);
}

// The nodes of the columns of a node, in increasing order. In a matrix with a symmetric pattern the
// columns of a node come all together or not at all, and then the first of each will do.
template <Index I>
void Nodes<I>::find_neighbours(I node, const PatternView<I>& pattern,
                               std::span<const I> node_of_row, std::vector<I>& found) const {
  found.clear();
  const auto columns = pattern.columns_of(first_row(node));
  for (const I column : columns) {
    const I other = node_of_row[column];
    if (first_row(other) == column) found.push_back(other);
  }
  std::ranges::sort(found);
  const bool complete = std::ranges::all_of(
      columns, [&](I column) { return std::ranges::binary_search(found, node_of_row[column]); });
  if (complete) return;
  found.clear();
  for (const I column : columns) found.push_back(node_of_row[column]);
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
}

template <Index I>
void Nodes<I>::join(const PatternView<I>& pattern, std::span<const I> node_of_row) {
  constexpr Offset kPiece = 4096;
  const auto count = static_cast<I>(offsets_.size() - 1);
  joined_ = {count, count, Array<Offset>(static_cast<std::size_t>(count) + 1), {}};
  joined_.row_offsets[count] = 0;
  std::vector<std::vector<I>> pieces(ceil_div<Offset>(count, kPiece));
  parallel_dynamic(count, kPiece, [&](Offset begin, Offset end) {
    std::vector<I>& piece = pieces[begin / kPiece];
    std::vector<I> found;
    for (I node = static_cast<I>(begin); node < end; ++node) {
      find_neighbours(node, pattern, node_of_row, found);
      joined_.row_offsets[node] = static_cast<Offset>(found.size());
      piece.insert(piece.end(), found.begin(), found.end());
    }
  });
  joined_.columns.resize(exclusive_scan(joined_.row_offsets));
  parallel_dynamic(count, kPiece, [&](Offset begin, Offset) {
    std::ranges::copy(pieces[begin / kPiece], joined_.columns.begin() + joined_.row_offsets[begin]);
  });
  view_ = joined_.view();
}

template <Index I>
I* Nodes<I>::write_rows(I node, I* to) const {
  if (offsets_.empty()) {
    *to = node;
    return to + 1;
  }
  return std::copy(members_.begin() + offsets_[node], members_.begin() + offsets_[node + 1], to);
}

#define STRATA_INSTANTIATE(I) template class Nodes<I>
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
