// Which entries of a matrix a file of a given symmetry stores.
#pragma once

#include "strata/base/array.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/symmetry.hpp"

namespace strata::detail {

// Throws InvalidArgument, naming the first entry without its mirror image, unless the matrix has
// the symmetry exactly; the values do not matter when only the pattern counts.
template <Value V, Index I>
void require_symmetric(const Csr<V, I>& matrix, Symmetry symmetry, bool pattern);

// Starting positions of the rows among the stored entries, which are the first ones of each row:
// up to the diagonal, or all of them when the symmetry is general.
template <Index I>
Array<Offset> stored_offsets(const PatternView<I>& pattern, Symmetry symmetry);

}  // namespace strata::detail
