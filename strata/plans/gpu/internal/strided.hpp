// Strided vectors of a caller as kernels know them.
#pragma once

#include "strata/kernels/gpu/reorder.hpp"
#include "strata/plans/strided_vectors.hpp"

namespace strata::gpu::detail {

template <class T>
StridedLines<T> lines_of(const StridedVectors<T>& vectors) {
  return {vectors.data, vectors.row_stride, vectors.vector_stride};
}

}  // namespace strata::gpu::detail
