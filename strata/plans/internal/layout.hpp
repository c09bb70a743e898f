// How rows are laid out level by level: which order inside the levels makes the format cheap.
#pragma once

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/order/level_groups.hpp"
#include "strata/order/levels.hpp"
#include "strata/plans/candidate.hpp"
#include "strata/plans/internal/storage.hpp"

namespace strata::detail {

template <Index I>
struct Layout {
  RowOrder order;
  LevelGroups<I> groups;
  SampledFormat storage;
};

// Rows of a level as in the matrix, if that makes slices cheap; otherwise as the search found them,
// which keeps neighbours together; and sorted by length if the padding asks for it. Levels are put
// together up to about group_bytes, counted as the format stores them; entry_bytes is a first guess
// at the bytes of an entry.
template <Value V, Index I>
Layout<I> choose_layout(const Csr<V, I>& matrix, const LevelStructure<I>& structure,
                        const PowerOptions& options, Offset group_bytes, double entry_bytes);

}  // namespace strata::detail
