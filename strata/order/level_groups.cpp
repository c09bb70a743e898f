#include "strata/order/level_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/order/internal/breadth_first.hpp"

namespace strata {

namespace {

using detail::for_each_level;

template <Index I>
Array<Offset> entries_of_levels(const PatternView<I>& pattern, const LevelStructure<I>& structure) {
  Array<Offset> entries(structure.levels());
  for_each_level<I>(structure.level_offsets, [&](I level) {
    Offset sum = 0;
    for (I i = structure.level_offsets[level]; i < structure.level_offsets[level + 1]; ++i) {
      sum += pattern.row_length(structure.order.old_of(i));
    }
    entries[level] = sum;
  });
  return entries;
}

// Where groups start, in rows of the level order; without padding.
template <Index I>
Array<I> cut_levels(const PatternView<I>& pattern, const LevelStructure<I>& structure,
                    Offset group_entries) {
  const Array<Offset> entries = entries_of_levels(pattern, structure);
  Array<I> starts(1, 0);
  Offset filled = 0;
  for (I level = 0; level < structure.levels(); ++level) {
    if (filled > 0 && filled + entries[level] > group_entries) {
      starts.push_back(structure.level_offsets[level]);
      filled = 0;
    }
    filled += entries[level];
  }
  if (structure.levels() > 0) starts.push_back(pattern.rows);
  return starts;
}

// The rows level by level, those of each in increasing order. Rows are counted and dealt out to
// their levels, which takes less than sorting these; with hardly more rows than levels, counting
// would take more.
template <Index I>
Array<I> in_natural_order(const LevelStructure<I>& structure) {
  const Offset rows = structure.order.size();
  const Offset levels = structure.levels();
  const std::span<const I> from = structure.order.old_of_new();
  Array<I> result(rows);
  const Offset pieces = std::min<Offset>(thread_count(), rows / std::max<Offset>(levels, 1));
  if (pieces == 0) {
    for_each_level<I>(structure.level_offsets, [&](I level) {
      const auto begin = result.begin() + structure.level_offsets[level];
      const auto end =
          std::ranges::copy(from.subspan(structure.level_offsets[level], structure.rows_of(level)),
                            begin)
              .out;
      std::sort(begin, end);
    });
    return result;
  }
  Array<I> level_of(rows);
  for_each_level<I>(structure.level_offsets, [&](I level) {
    for (I i = structure.level_offsets[level]; i < structure.level_offsets[level + 1]; ++i) {
      level_of[from[i]] = level;
    }
  });
  // Where the rows of a piece go: how many there are in each level, then where they begin.
  std::vector<Array<I>> places(pieces);
  parallel_dynamic(pieces, 1, [&](Offset piece, Offset) {
    Array<I> counts(levels, 0);
    const Chunk chunk = chunk_of(rows, static_cast<int>(piece), static_cast<int>(pieces));
    for (Offset row = chunk.begin; row < chunk.end; ++row) ++counts[level_of[row]];
    places[piece] = std::move(counts);
  });
  parallel_for(levels, [&](Offset level) {
    I place = structure.level_offsets[level];
    for (Array<I>& of_piece : places) place += std::exchange(of_piece[level], place);
  });
  parallel_dynamic(pieces, 1, [&](Offset piece, Offset) {
    const Chunk chunk = chunk_of(rows, static_cast<int>(piece), static_cast<int>(pieces));
    for (Offset row = chunk.begin; row < chunk.end; ++row) {
      result[places[piece][level_of[row]]++] = static_cast<I>(row);
    }
  });
  return result;
}

// Sorts rows by length, the longest first; those of equal length keep their order.
template <Index I>
class LengthSorter {
 public:
  void sort(const PatternView<I>& pattern, std::span<I> rows) {
    lengths_.resize(rows.size());
    I least = std::numeric_limits<I>::max();
    I most = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      lengths_[i] = pattern.row_length(rows[i]);
      least = std::min(least, lengths_[i]);
      most = std::max(most, lengths_[i]);
    }
    if (least >= most) return;
    if (most - least >= kMostLengths) {
      std::ranges::stable_sort(rows, std::ranges::greater{},
                               [&](I row) { return pattern.row_length(row); });
      return;
    }
    starts_.assign(static_cast<std::size_t>(most - least) + 2, 0);
    for (const I length : lengths_) ++starts_[most - length + 1];
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    copy_.assign(rows.begin(), rows.end());
    for (std::size_t i = 0; i < copy_.size(); ++i) rows[starts_[most - lengths_[i]]++] = copy_[i];
  }

 private:
  static constexpr I kMostLengths = 1024;  // that are counted

  std::vector<I> lengths_;
  std::vector<std::size_t> starts_;
  std::vector<I> copy_;
};

// Level by level, so that the order of the rows does not depend on how levels are grouped: a row's
// sum is formed in the order of its columns, and its bits must not change with the group size.
template <Index I>
void sort_level_by_length(const PatternView<I>& pattern, I sort_window, LengthSorter<I>& sorter,
                          std::span<I> rows) {
  const auto window = static_cast<std::size_t>(sort_window);
  for (std::size_t begin = 0; begin < rows.size(); begin += window) {
    sorter.sort(pattern, rows.subspan(begin, std::min(window, rows.size() - begin)));
  }
}

// The rows of a group, which are `from` level by level, and empty padded rows after them.
template <Index I>
void fill_group(const PatternView<I>& pattern, const LevelStructure<I>& structure,
                std::span<const I> from, I sort_window, RowRange<I> rows, std::span<I> to) {
  const auto rest = std::ranges::copy(from.subspan(rows.begin, rows.end - rows.begin), to.begin());
  std::fill(rest.out, to.end(), PaddedOrder<I>::kEmpty);
  if (sort_window <= 1) return;
  LengthSorter<I> sorter;
  auto level = std::ranges::lower_bound(structure.level_offsets, rows.begin);
  for (; *level < rows.end; ++level) {
    sort_level_by_length(pattern, sort_window, sorter,
                         to.subspan(*level - rows.begin, level[1] - level[0]));
  }
}

}  // namespace

template <Index I>
LevelGroups<I> group_levels(const PatternView<I>& pattern, const LevelStructure<I>& structure,
                            const LevelGroupOptions<I>& options) {
  if (options.group_entries < 1 || options.alignment < 1 || options.sort_window < 1) {
    throw InvalidArgument(fmt::format("groups of {} entries at multiples of {} sorted by {}",
                                      options.group_entries, options.alignment,
                                      options.sort_window));
  }
  if (structure.order.size() != pattern.rows) {
    throw InvalidArgument(fmt::format("levels of {} rows do not fit a matrix of {}",
                                      structure.order.size(), pattern.rows));
  }
  const Array<I> starts = cut_levels(pattern, structure, options.group_entries);
  LevelGroups<I> groups;
  Offset padded_rows = 0;
  for (std::size_t group = 1; group < starts.size(); ++group) {
    padded_rows +=
        ceil_div<Offset>(starts[group] - starts[group - 1], options.alignment) * options.alignment;
    groups.group_offsets.push_back(narrow<I>(padded_rows, "the number of padded rows"));
  }
  const bool natural = options.inner == InnerOrder::natural;
  const Array<I> sorted = natural ? in_natural_order(structure) : Array<I>();
  const std::span<const I> from = natural ? sorted : structure.order.old_of_new();
  Array<I> row_at(padded_rows);
  const Offset count = std::ssize(starts) - 1;
  // Groups may have a few rows each, or a hundredth of all.
  const Offset grain = ceil_div(count * kSerialBelow, std::max<Offset>(padded_rows, 1));
  parallel_dynamic(count, grain, [&](Offset begin, Offset end) {
    for (Offset group = begin; group < end; ++group) {
      const auto to =
          std::span(row_at).subspan(groups.group_offsets[group],
                                    groups.group_offsets[group + 1] - groups.group_offsets[group]);
      fill_group<I>(pattern, structure, from, options.sort_window,
                    {starts[group], starts[group + 1]}, to);
    }
  });
  groups.order = PaddedOrder<I>(pattern.rows, std::move(row_at));
  return groups;
}

#define STRATA_INSTANTIATE(I)                                                           \
  template LevelGroups<I> group_levels(const PatternView<I>&, const LevelStructure<I>&, \
                                       const LevelGroupOptions<I>&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
