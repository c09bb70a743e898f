// A matrix stacked in layers: large matrices with the structure of small real ones.
#pragma once

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"

namespace strata {

// The Kronecker sum A⊗I + I⊗T with T = tridiag(−1, 2, −1) of order `layers`, layers kept together:
// row i of layer l is row l·n + i. Every diagonal entry is stored, also where A lacks it. Throws
// InvalidArgument unless A is square and there is a layer, OverflowError when the result does not
// fit I.
template <Value V, Index I>
Csr<V, I> extruded(const Csr<V, I>& matrix, Offset layers);

}  // namespace strata
