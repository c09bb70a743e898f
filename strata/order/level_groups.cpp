#include "strata/order/level_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"

namespace strata {

namespace {

template <Index I>
Array<Offset> entries_of_levels(const PatternView<I>& pattern, const LevelStructure<I>& structure) {
  Array<Offset> entries(structure.levels());
  parallel_dynamic(structure.levels(), 16, [&](Offset begin, Offset end) {
    for (I level = static_cast<I>(begin); level < end; ++level) {
      entries[level] = 0;
      for (I i = structure.level_offsets[level]; i < structure.level_offsets[level + 1]; ++i) {
        entries[level] += pattern.row_length(structure.order.old_of(i));
      }
    }
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

// Level by level, so that the order of the rows does not depend on how levels are grouped: a row's
// sum is formed in the order of its columns, and its bits must not change with the group size.
template <Index I>
void sort_level(const PatternView<I>& pattern, const LevelGroupOptions<I>& options,
                std::span<I> rows) {
  if (options.inner == InnerOrder::natural) std::ranges::sort(rows);
  if (options.sort_window <= 1) return;
  const auto window = static_cast<std::size_t>(options.sort_window);
  for (std::size_t begin = 0; begin < rows.size(); begin += window) {
    std::ranges::stable_sort(rows.subspan(begin, std::min(window, rows.size() - begin)),
                             std::ranges::greater{},
                             [&](I row) { return pattern.row_length(row); });
  }
}

// The rows of a group, and empty padded rows after them.
template <Index I>
void fill_group(const PatternView<I>& pattern, const LevelStructure<I>& structure,
                const LevelGroupOptions<I>& options, RowRange<I> rows, std::span<I> to) {
  const auto from = structure.order.old_of_new().subspan(rows.begin, rows.end - rows.begin);
  const auto rest = std::ranges::copy(from, to.begin()).out;
  std::fill(rest, to.end(), PaddedOrder<I>::kEmpty);
  auto level = std::ranges::lower_bound(structure.level_offsets, rows.begin);
  for (; *level < rows.end; ++level) {
    sort_level(pattern, options, to.subspan(*level - rows.begin, level[1] - level[0]));
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
  Array<I> row_at(padded_rows);
  parallel_dynamic(static_cast<Offset>(starts.size()) - 1, 4, [&](Offset begin, Offset end) {
    for (Offset group = begin; group < end; ++group) {
      const auto to =
          std::span(row_at).subspan(groups.group_offsets[group],
                                    groups.group_offsets[group + 1] - groups.group_offsets[group]);
      fill_group<I>(pattern, structure, options, {starts[group], starts[group + 1]}, to);
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
