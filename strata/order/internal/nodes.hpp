// Nodes: rows with the same columns, such as the unknowns of a point of a mesh, taken together.
// With D unknowns per point the graph of nodes has 1/D² of the entries, and what is searched there
// takes as much less time.
//
// Rows of a node touch the same nodes, so levels of nodes are levels of rows: an entry (i, j) of
// the matrix is an entry of the node of i, or lies within it.
#pragma once

#include <span>
#include <vector>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/pattern.hpp"

namespace strata::detail {

template <Index I>
class Nodes {
 public:
  // The pattern must be square and outlive this. Where a sample of the rows says that few of them
  // have the columns of another, every row is a node.
  explicit Nodes(const PatternView<I>& pattern);
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;

  I count() const { return view_.rows; }
  I rows() const { return offsets_.empty() ? view_.rows : offsets_.back(); }
  // One row and one column for each node; columns increase within a row.
  const PatternView<I>& view() const { return view_; }
  // A row of the node; all of them have as many entries.
  I first_row(I node) const { return offsets_.empty() ? node : members_[offsets_[node]]; }
  I rows_of(I node) const { return offsets_.empty() ? 1 : offsets_[node + 1] - offsets_[node]; }
  // The rows of the node, in increasing order, from `to` on. Returns where they end.
  I* write_rows(I node, I* to) const;

 private:
  void gather(const PatternView<I>& pattern);
  void find_neighbours(I node, const PatternView<I>& pattern, std::span<const I> node_of_row,
                       std::vector<I>& found) const;
  void join(const PatternView<I>& pattern, std::span<const I> node_of_row);

  PatternView<I> view_;
  Pattern<I> joined_;  // unless every row is a node
  Array<I> offsets_;   // node k is members_[offsets_[k] … offsets_[k+1]); empty: node k is row k
  Array<I> members_;
};

}  // namespace strata::detail
