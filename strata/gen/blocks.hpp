// A matrix with several unknowns per row: block matrices with the structure of real scalar ones.
#pragma once

#include <cstdint>

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"

namespace strata {

// Every entry a of the matrix becomes a dense dof × dof block a·B, the unknowns of a row one after
// another. The entries of B are random in [0.5, 1.5) and differ from block to block (a file may
// hold nothing but ones), mirrored at the diagonal of the result: a symmetric or hermitian matrix
// stays so. Throws InvalidArgument unless dof ≥ 1, OverflowError when the result does not fit I.
template <Value V, Index I>
Csr<V, I> with_dense_blocks(const Csr<V, I>& matrix, Offset dof, std::uint64_t seed);

}  // namespace strata
