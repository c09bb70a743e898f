// StridedVectors: a caller's vectors as they lie, for plans that would otherwise ask for them to be
// interleaved. Plans copy them in and out, in the same pass that changes the order of the rows. For
// plans on GPUs they are in device memory.
#pragma once

#include "strata/base/types.hpp"

namespace strata {

// Element v of row r is at data[r·row_stride + v·vector_stride]. The columns of a dense matrix with
// leading dimension ld are {data, 1, ld}; one vector with a gap between its elements is {data,
// gap}.
template <class T>
struct StridedVectors {
  T* data = nullptr;
  Offset row_stride = 1;
  Offset vector_stride = 0;
};

}  // namespace strata
