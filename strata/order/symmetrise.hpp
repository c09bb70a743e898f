// The pattern of A + Aᵀ. Orderings treat a matrix as an undirected graph, and this is the graph:
// rows i and j are neighbours where A has an entry at (i, j) or at (j, i).
#pragma once

#include "strata/base/types.hpp"
#include "strata/formats/pattern.hpp"

namespace strata {

// True if A is square and has an entry at (j, i) wherever it has one at (i, j).
template <Index I>
bool has_symmetric_pattern(const PatternView<I>& pattern);

// Borrows a pattern that is symmetric already, and owns A + Aᵀ otherwise. The pattern it was made
// from must outlive it. Throws InvalidArgument unless the pattern is square.
template <Index I>
class SymmetrisedPattern {
 public:
  explicit SymmetrisedPattern(const PatternView<I>& pattern);
  SymmetrisedPattern(const SymmetrisedPattern&) = delete;
  SymmetrisedPattern& operator=(const SymmetrisedPattern&) = delete;

  const PatternView<I>& view() const { return view_; }

 private:
  Pattern<I> sum_;
  PatternView<I> view_;
};

}  // namespace strata
