// Cuts of a matrix whose entries are in row order into parts of equal work, where a cut may fall
// inside a row: threads then share a row that is longer than the share of each.
//
// Work is rows and entries together, and cuts are those of the merge path (Merrill, Garland:
// Merge-Based Parallel Sparse Matrix-Vector Multiplication, SC 2016): part p has the entries
// from cuts[p].entry up to cuts[p+1].entry, completes the rows cuts[p].row … cuts[p+1].row − 1, and
// may begin row cuts[p+1].row. Pieces of rows that are cut are added up in the order of the parts
// when all of them are done. Parts depend on the matrix alone, so that results do not depend on the
// number of threads.
#pragma once

#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/coo.hpp"
#include "strata/formats/csr.hpp"
#include "strata/kernels/cpu/step_arguments.hpp"

namespace strata::cpu {

struct EntryParts {
  std::vector<PartCut> cuts;  // one more than parts

  int count() const { return static_cast<int>(cuts.size()) - 1; }
};

template <Value V, Index I>
EntryParts entry_parts_of(const Csr<V, I>& matrix);
// Throws InvalidArgument unless the entries are in row order.
template <Value V, Index I>
EntryParts entry_parts_of(const Coo<V, I>& matrix);

}  // namespace strata::cpu
