#include "strata/distributed/internal/ghost_rows.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"

namespace strata::distributed::detail {

template <Value V, Index I>
GhostRows<V, I>::GhostRows(const Communicator& ranks, const DistributedMatrix<V, I>& matrix)
    : ranks_(ranks), matrix_(matrix) {
  ranks.together([&] { find_next(matrix.local.columns()); });
}

template <Value V, Index I>
void GhostRows<V, I>::extend() {
  rows_.push_back(fetch(at_.back()));
  ranks_.together([&] { find_next(rows_.back().columns); });
}

template <Value V, Index I>
void GhostRows<V, I>::find_next(std::span<const I> columns) {
  const int rank = ranks_.rank();
  const Offset first = matrix_.cols.begin(rank), end = matrix_.cols.end(rank);
  std::vector<Offset> met;
  for (const I column : columns) {
    if (column < first || column >= end) met.push_back(column);
  }
  std::ranges::sort(met);
  const auto repeated = std::ranges::unique(met);
  met.erase(repeated.begin(), repeated.end());
  std::vector<Offset> next;
  std::ranges::set_difference(met, known_, std::back_inserter(next));
  std::vector<Offset> all;
  std::ranges::merge(known_, next, std::back_inserter(all));
  known_ = std::move(all);
  at_.push_back(std::move(next));
}

template <Value V, Index I>
auto GhostRows<V, I>::fetch(std::span<const Offset> wanted) const -> Rows {
  const auto each = static_cast<std::size_t>(ranks_.size());
  std::vector<std::vector<Offset>> asked(each);
  ranks_.together([&] {
    for (const Offset row : wanted) {
      asked[static_cast<std::size_t>(matrix_.rows.owner(row))].push_back(row);
    }
  });
  const auto to_send = ranks_.exchange(asked);
  std::vector<std::vector<Offset>> lengths(each);
  std::vector<std::vector<I>> columns(each);
  std::vector<std::vector<V>> values(each);
  ranks_.together([&] {
    const Offset first = matrix_.rows.begin(ranks_.rank());
    const auto offsets = matrix_.local.row_offsets();
    for (std::size_t rank = 0; rank < each; ++rank) {
      for (const Offset number : to_send[rank]) {
        const Offset row = number - first;
        const auto part = [&](const auto& all, auto& list) {
          list.insert(list.end(), all.begin() + offsets[row], all.begin() + offsets[row + 1]);
        };
        lengths[rank].push_back(offsets[row + 1] - offsets[row]);
        part(matrix_.local.columns(), columns[rank]);
        part(matrix_.local.values(), values[rank]);
      }
    }
  });
  const auto got_lengths = ranks_.exchange(lengths);
  const auto got_columns = ranks_.exchange(columns);
  const auto got_values = ranks_.exchange(values);
  Rows rows;
  ranks_.together([&] {
    // Owners of increasing elements are increasing.
    for (std::size_t rank = 0; rank < each; ++rank) {
      for (const Offset length : got_lengths[rank]) {
        rows.offsets.push_back(rows.offsets.back() + length);
      }
      rows.columns.insert(rows.columns.end(), got_columns[rank].begin(), got_columns[rank].end());
      rows.values.insert(rows.values.end(), got_values[rank].begin(), got_values[rank].end());
    }
  });
  return rows;
}

template <Value V, Index I>
Offset GhostRows<V, I>::count_within(int distance) const {
  Offset count = 0;
  for (int d = 1; d <= distance; ++d) count += std::ssize(at(d));
  return count;
}

template <Value V, Index I>
Offset GhostRows<V, I>::owners_within(int distance) const {
  std::vector<char> owns(static_cast<std::size_t>(ranks_.size()), 0);
  for (int d = 1; d <= distance; ++d) {
    for (const Offset element : at(d))
      owns[static_cast<std::size_t>(matrix_.cols.owner(element))] = 1;
  }
  return std::ranges::count(owns, 1);
}

template <Value V, Index I>
auto GhostRows<V, I>::extended(int depth) const -> Extended {
  Extended result;
  struct Ghost {
    Offset element;
    std::int32_t distance;
    Offset place;  // among those of its distance
  };
  std::vector<Ghost> ghosts;
  for (int d = 1; d <= depth; ++d) {
    for (Offset i = 0; i < std::ssize(at(d)); ++i) {
      ghosts.push_back({at(d)[static_cast<std::size_t>(i)], d, i});
    }
  }
  std::ranges::sort(ghosts, {}, &Ghost::element);
  const int rank = ranks_.rank();
  const Offset first = matrix_.rows.begin(rank), own = matrix_.rows.size(rank);
  for (const Ghost& ghost : ghosts) {
    result.ghosts.push_back(ghost.element);
    if (ghost.element < first) ++result.below;
  }
  const Offset below = result.below;
  const Local rows = narrow<Local>(own + std::ssize(ghosts), "the rows of a rank with its ghosts");
  // visit(row, entries' range, columns, values) of each row in its place; nothing for empty ones.
  const auto for_each_row = [&](const auto& visit) {
    const auto ghost_row = [&](Offset row, const Ghost& ghost) {
      if (ghost.distance == depth) return;
      const Rows& from = this->rows(ghost.distance);
      visit(row, from.offsets[static_cast<std::size_t>(ghost.place)],
            from.offsets[static_cast<std::size_t>(ghost.place) + 1],
            std::span<const I>(from.columns), std::span<const V>(from.values));
    };
    parallel_for(below, [&](Offset i) { ghost_row(i, ghosts[static_cast<std::size_t>(i)]); });
    parallel_for(own, [&](Offset i) {
      const auto offsets = matrix_.local.row_offsets();
      visit(below + i, offsets[i], offsets[i + 1], matrix_.local.columns(), matrix_.local.values());
    });
    parallel_for(std::ssize(ghosts) - below, [&](Offset i) {
      ghost_row(below + own + i, ghosts[static_cast<std::size_t>(below + i)]);
    });
  };
  Array<Offset> offsets(static_cast<std::size_t>(rows) + 1, 0);
  for_each_row(
      [&](Offset row, Offset begin, Offset end, auto, auto) { offsets[row] = end - begin; });
  const Offset entries = exclusive_scan(offsets);
  Array<Local> columns(static_cast<std::size_t>(entries));
  Array<V> values(static_cast<std::size_t>(entries));
  const auto place_of = [&](Offset column) {
    if (column >= first && column < first + own) return static_cast<Local>(below + column - first);
    const Offset ghost = std::ranges::lower_bound(result.ghosts, column) - result.ghosts.begin();
    return static_cast<Local>(ghost < below ? ghost : ghost + own);
  };
  for_each_row([&](Offset row, Offset begin, Offset end, std::span<const I> from_columns,
                   std::span<const V> from_values) {
    Offset place = offsets[row];
    for (Offset k = begin; k < end; ++k, ++place) {
      columns[place] = place_of(from_columns[static_cast<std::size_t>(k)]);
      values[place] = from_values[static_cast<std::size_t>(k)];
    }
  });
  result.matrix =
      Csr<V, Local>(rows, rows, std::move(offsets), std::move(columns), std::move(values));
  result.distances.assign(static_cast<std::size_t>(rows), 0);
  for (Offset i = 0; i < std::ssize(ghosts); ++i) {
    result.distances[static_cast<std::size_t>(i < below ? i : i + own)] =
        ghosts[static_cast<std::size_t>(i)].distance;
  }
  return result;
}

#define STRATA_INSTANTIATE(V, I) template class GhostRows<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::distributed::detail
