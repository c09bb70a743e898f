// Level structures: the rows in groups, the levels, such that every row touches only rows of its
// own level and of the two next to it. A wavefront of powers sweeps through the levels, and what
// has to stay on chip is a window of a few consecutive levels; so levels are chosen to make the
// widest window small.
//
// Any assignment of levels that differs by at most one between neighbours is a level structure.
// Breadth-first distances from a set of rows are one, and so are signed distances from a set of
// rows that cuts the matrix in two. Several such sets are tried, see internal/root_sets.hpp. The
// order of rows within a level is free: levels of a lattice are laid out like each other
// (internal/copied_levels.hpp), those of a mesh in patches (internal/patches.hpp).
#pragma once

#include <algorithm>
#include <string>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/pattern.hpp"
#include "strata/order/permutation.hpp"

namespace strata {

struct LevelOptions {
  Offset window = 3;  // how many consecutive levels have to be small together
};

template <Index I>
struct LevelStructure {
  Permutation<I> order;                     // rows level by level
  Array<I> level_offsets = Array<I>(1, 0);  // level l is rows [offsets[l], offsets[l+1]) of it
  I components = 0;                         // connected components of A + Aᵀ
  std::string root;                         // where the levels of the largest component start;
                                            // empty if every component fits into a level
  // Whether the levels of the largest component are laid out like each other, as those of a lattice
  // can be: the order of rows within levels is then better than any other.
  bool copies = false;

  I levels() const { return static_cast<I>(level_offsets.size() - 1); }
  I rows_of(I level) const { return level_offsets[level + 1] - level_offsets[level]; }
  I max_rows() const {
    I most = 0;
    for (I level = 0; level < levels(); ++level) most = std::max(most, rows_of(level));
    return most;
  }

  bool operator==(const LevelStructure&) const = default;
};

// Throws InvalidArgument unless the pattern is square and the window at least 1.
//
// Components follow one another, the largest first, each with levels of its own. Components so
// small that they fit into one level as a whole share levels, and so do rows without entries.
template <Index I>
LevelStructure<I> find_levels(const PatternView<I>& pattern, const LevelOptions& options = {});

// The weight of the heaviest `window` consecutive levels. A row weighs its entries plus one, for
// that is what a sweep moves: 12 bytes per entry in double precision, and about as much per row for
// its length and its elements of the vectors.
template <Index I>
Offset widest_window(const PatternView<I>& pattern, const LevelStructure<I>& structure,
                     Offset window);

// Throws InvalidArgument, naming the row, unless the structure belongs to the pattern and every row
// touches only rows of its own level and of the two next to it.
template <Index I>
void require_levels(const PatternView<I>& pattern, const LevelStructure<I>& structure);

}  // namespace strata
