#include "strata/distributed/internal/rank_part.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"

namespace strata::distributed::detail {

namespace {

// Rows in increasing order with columns of the whole matrix: the matrix itself, or what came from
// others.
template <Value V, Index I>
struct Rows {
  std::vector<Offset> numbers;  // of the rows; empty: from `first` on, one after another
  Offset first = 0;
  std::span<const Offset> offsets;
  std::span<const I> columns;
  std::span<const V> values;

  Offset count() const { return std::ssize(offsets) - 1; }
  Offset number(Offset row) const {
    return numbers.empty() ? first + row : numbers[static_cast<std::size_t>(row)];
  }
  std::span<const I> columns_of(Offset row) const {
    return columns.subspan(static_cast<std::size_t>(offsets[row]),
                           static_cast<std::size_t>(offsets[row + 1] - offsets[row]));
  }
};

// Entries of a grid with several columns, and the rows that they make.
template <Value V, Index I>
struct MovedRows {
  std::vector<Offset> offsets = {0};
  std::vector<I> columns;
  std::vector<V> values;
  std::vector<Offset> numbers;

  MovedRows(const Communicator& ranks, const DistributedMatrix<V, I>& matrix,
            const RankGrid& grid) {
    std::vector<std::vector<Entry<V, I>>> to(static_cast<std::size_t>(ranks.size()));
    const Offset first = matrix.rows.begin(ranks.rank());
    ranks.together([&] {
      const auto offsets_of = matrix.local.row_offsets();
      for (Offset row = 0; row < matrix.local.rows(); ++row) {
        for (Offset k = offsets_of[row]; k < offsets_of[row + 1]; ++k) {
          const I column = matrix.local.columns()[k];
          const int rank = grid.holder(ranks.rank(), matrix.cols.owner(column));
          to[static_cast<std::size_t>(rank)].push_back(
              {static_cast<I>(first + row), column, matrix.local.values()[k]});
        }
      }
    });
    const auto from = ranks.exchange(to);
    ranks.together([&] {
      // Own rows are there even if they have no entries here: others add to them.
      Offset next_own = first;
      const auto open_row = [&](Offset row) {
        if (!numbers.empty() && numbers.back() == row) return;
        numbers.push_back(row);
        offsets.push_back(offsets.back());
      };
      const auto open_own_rows = [&](Offset end) {
        while (next_own < std::min(end, matrix.rows.end(ranks.rank()))) open_row(next_own++);
      };
      // Ranks have rows in their order, so lists one after another are sorted.
      for (const auto& list : from) {
        for (const Entry<V, I>& entry : list) {
          if (entry.row >= first) open_own_rows(Offset{entry.row} + 1);
          open_row(entry.row);
          ++offsets.back();
          columns.push_back(entry.column);
          values.push_back(entry.value);
        }
      }
      open_own_rows(matrix.rows.elements());
    });
  }
};

// Rows of this rank as they are used: interior ones of a run, or of all rows with gaps.
struct Interior {
  Offset begin = 0;  // of the given rows
  Offset end = 0;
  bool gaps = false;  // rows of the border among them
};

// How much of the interior rows must be in one run that nothing interrupts, so that the others may
// join the border; and how many rows there must be for a matrix with gaps.
constexpr double kRunShare = 0.95;
constexpr double kInteriorShare = 0.5;

Interior choose_interior(const std::vector<char>& needs_others, Offset own_begin, Offset own_end) {
  Interior longest{own_begin, own_begin, false};
  Offset interior = 0;
  for (Offset row = own_begin; row < own_end;) {
    Offset end = row;
    while (end < own_end && !needs_others[static_cast<std::size_t>(end)]) ++end;
    interior += end - row;
    if (end - row > longest.end - longest.begin) longest = {row, end, false};
    row = end == row ? row + 1 : end;
  }
  const auto share = static_cast<double>(interior);
  if (static_cast<double>(longest.end - longest.begin) >= kRunShare * share) return longest;
  if (share >= kInteriorShare * static_cast<double>(own_end - own_begin)) {
    return {own_begin, own_end, true};
  }
  return longest;
}

template <Value V, Index I>
class Builder {
 public:
  Builder(const Rows<V, I>& rows, const Partition& row_parts, const Partition& col_parts, int rank)
      : rows_(rows), row_parts_(row_parts), col_parts_(col_parts), rank_(rank) {
    first_column_ = col_parts.begin(rank);
    end_column_ = col_parts.end(rank);
    own_begin_ = row_below(row_parts.begin(rank));
    own_end_ = row_below(row_parts.end(rank));
  }

  RankPart<V> build() {
    narrow<Local>(row_parts_.size(rank_), "the number of rows of a rank");
    narrow<Local>(col_parts_.size(rank_), "the number of columns of a rank");
    narrow<Local>(rows_.count(), "the number of rows that a rank has parts of");
    find_needs();
    const Interior interior = choose_interior(needs_others_, own_begin_, own_end_);
    const auto in_interior = [&](Offset row) {
      return interior.begin <= row && row < interior.end &&
             !(interior.gaps && needs_others_[static_cast<std::size_t>(row)]);
    };
    for (Offset row = 0; row < rows_.count(); ++row) {
      if (!in_interior(row)) border_.push_back(row);
    }
    part_.interior_rows = own_end_ - own_begin_;
    for (const Offset row : border_) {
      if (own_begin_ <= row && row < own_end_) --part_.interior_rows;
    }
    // Local numbers count all rows of the rank, also those that it has no entries of.
    if (interior.begin < interior.end) {
      part_.interior_begin =
          static_cast<Local>(rows_.number(interior.begin) - row_parts_.begin(rank_));
      take_interior(interior);
    }
    take_border();
    return std::move(part_);
  }

 private:
  Offset row_below(Offset number) const {
    if (rows_.numbers.empty()) {
      return std::clamp<Offset>(number - rows_.first, 0, rows_.count());
    }
    return std::ranges::lower_bound(rows_.numbers, number) - rows_.numbers.begin();
  }

  bool is_own(I column) const { return first_column_ <= column && column < end_column_; }

  void find_needs() {
    needs_others_.assign(static_cast<std::size_t>(rows_.count()), 0);
    part_.cut_entries = parallel_reduce(
        rows_.count(), Offset{0},
        [&](Offset begin, Offset end) {
          Offset cut = 0;
          for (Offset row = begin; row < end; ++row) {
            Offset others = 0;
            for (const I column : rows_.columns_of(row)) others += is_own(column) ? 0 : 1;
            needs_others_[static_cast<std::size_t>(row)] = others > 0;
            cut += others;
          }
          return cut;
        },
        [](Offset a, Offset b) { return a + b; });
  }

  // Columns become the rank's own; values stay where they are unless there are gaps. Rows that are
  // not among the given ones are empty: there are none if they have no numbers of their own.
  void take_interior(const Interior& interior) {
    const Offset first = rows_.number(interior.begin);
    const Offset last = rows_.number(interior.end - 1) + 1;
    Array<Offset> offsets(static_cast<std::size_t>(last - first) + 1, 0);
    const auto given = [&](Offset row) {
      return interior.gaps && needs_others_[static_cast<std::size_t>(row)] ? Offset{0}
                                                                           : length_of(row);
    };
    for (Offset row = interior.begin; row < interior.end; ++row) {
      offsets[rows_.number(row) - first] = given(row);
    }
    const Offset entries = exclusive_scan(offsets);
    Array<Local> columns(static_cast<std::size_t>(entries));
    Array<V> values(static_cast<std::size_t>(interior.gaps ? entries : 0));
    parallel_for(interior.end - interior.begin, [&](Offset i) {
      const Offset row = interior.begin + i;
      if (given(row) == 0) return;
      Offset place = offsets[rows_.number(row) - first];
      for (Offset k = rows_.offsets[row]; k < rows_.offsets[row + 1]; ++k, ++place) {
        columns[place] = static_cast<Local>(rows_.columns[k] - first_column_);
        if (interior.gaps) values[place] = rows_.values[k];
      }
    });
    const auto cols = static_cast<Local>(end_column_ - first_column_);
    const auto count = static_cast<Local>(last - first);
    if (!interior.gaps && entries > 0) {
      part_.own_interior_columns = std::move(columns);
      part_.own_interior_offsets = std::move(offsets);
      part_.interior = Csr<V, Local>::borrow(
          count, cols, std::span<const Offset>(part_.own_interior_offsets),
          part_.own_interior_columns,
          rows_.values.subspan(static_cast<std::size_t>(rows_.offsets[interior.begin]),
                               static_cast<std::size_t>(entries)));
      return;
    }
    part_.interior =
        Csr<V, Local>(count, cols, std::move(offsets), std::move(columns), std::move(values));
  }

  Offset length_of(Offset row) const { return rows_.offsets[row + 1] - rows_.offsets[row]; }

  void take_border() {
    Array<Offset> offsets(border_.size() + 1, 0);
    std::vector<char> used(static_cast<std::size_t>(end_column_ - first_column_), 0);
    for (std::size_t i = 0; i < border_.size(); ++i) {
      const Offset row = border_[i];
      offsets[i] = length_of(row);
      const Offset number = rows_.number(row);
      part_.border_rows.push_back(number);
      if (number < row_parts_.begin(rank_)) ++part_.border_below;
      if (row_parts_.contains(rank_, number)) {
        part_.own_border_rows.push_back(static_cast<Local>(number - row_parts_.begin(rank_)));
      }
      for (const I column : rows_.columns_of(row)) {
        if (is_own(column)) {
          used[static_cast<std::size_t>(column - first_column_)] = 1;
        } else {
          part_.ghosts.push_back(column);
        }
      }
    }
    std::ranges::sort(part_.ghosts);
    const auto repeated = std::ranges::unique(part_.ghosts);
    part_.ghosts.erase(repeated.begin(), repeated.end());
    const Offset below =
        std::ranges::lower_bound(part_.ghosts, first_column_) - part_.ghosts.begin();
    // Where own columns are in the room.
    std::vector<Local> place_of(used.size(), 0);
    for (std::size_t column = 0; column < used.size(); ++column) {
      if (!used[column]) continue;
      place_of[column] = static_cast<Local>(below + std::ssize(part_.own_columns));
      part_.own_columns.push_back(static_cast<Local>(column));
    }
    const Offset own = std::ssize(part_.own_columns);
    const Local cols =
        narrow<Local>(own + std::ssize(part_.ghosts), "the number of columns of a rank");
    const Offset entries = exclusive_scan(offsets);
    Array<Local> columns(static_cast<std::size_t>(entries));
    Array<V> values(static_cast<std::size_t>(entries));
    parallel_for(std::ssize(border_), [&](Offset i) {
      const Offset row = border_[static_cast<std::size_t>(i)];
      Offset place = offsets[i];
      for (Offset k = rows_.offsets[row]; k < rows_.offsets[row + 1]; ++k, ++place) {
        const I column = rows_.columns[k];
        values[place] = rows_.values[k];
        if (is_own(column)) {
          columns[place] = place_of[static_cast<std::size_t>(column - first_column_)];
          continue;
        }
        const Offset ghost =
            std::ranges::lower_bound(part_.ghosts, Offset{column}) - part_.ghosts.begin();
        columns[place] = static_cast<Local>(ghost + (ghost >= below ? own : 0));
      }
    });
    part_.border = Csr<V, Local>(static_cast<Local>(border_.size()), cols, std::move(offsets),
                                 std::move(columns), std::move(values));
  }

  const Rows<V, I>& rows_;
  const Partition& row_parts_;
  const Partition& col_parts_;
  int rank_;
  Offset first_column_ = 0, end_column_ = 0;
  Offset own_begin_ = 0, own_end_ = 0;  // of the given rows, those of this rank
  std::vector<char> needs_others_;
  std::vector<Offset> border_;
  RankPart<V> part_;
};

}  // namespace

template <Value V>
std::vector<Offset> RankPart<V>::foreign_rows() const {
  std::vector<Offset> rows(border_rows.begin(), border_rows.begin() + border_below);
  rows.insert(rows.end(), border_rows.begin() + border_below + std::ssize(own_border_rows),
              border_rows.end());
  return rows;
}

template <Value V, Index I>
RankPart<V> rank_part(const Communicator& ranks, const DistributedMatrix<V, I>& matrix,
                      const RankGrid& grid) {
  const auto build = [&](const Rows<V, I>& rows) {
    return ranks.together_make(
        [&] { return Builder<V, I>(rows, matrix.rows, matrix.cols, ranks.rank()).build(); });
  };
  if (grid.cols == 1) {
    return build({{},
                  matrix.rows.begin(ranks.rank()),
                  matrix.local.row_offsets(),
                  matrix.local.columns(),
                  matrix.local.values()});
  }
  const MovedRows<V, I> moved(ranks, matrix, grid);
  RankPart<V> part = build({moved.numbers, 0, moved.offsets, moved.columns, moved.values});
  // What was borrowed from the lists that moved is gone with them.
  part.interior = Csr<V, Local>(part.interior);
  return part;
}

#define STRATA_INSTANTIATE(V, I)                                                      \
  template RankPart<V> rank_part(const Communicator&, const DistributedMatrix<V, I>&, \
                                 const RankGrid&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);
#define STRATA_INSTANTIATE_VALUE(V, I) template struct RankPart<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_VALUE, );

}  // namespace strata::distributed::detail
