// Vectors in another order of the rows on a GPU: line i of the result is line source[i] of the
// given one, or 0 where source[i] is negative. Neighbouring threads write neighbouring elements;
// their reads are scattered as the order says.
#pragma once

#include <cstdint>

#include "strata/kernels/gpu/simt.hpp"

namespace strata::gpu {

template <class T>
struct ReorderArguments {
  const T* from = nullptr;
  T* to = nullptr;  // shares nothing with `from`
  const std::int32_t* source = nullptr;
  std::int32_t lines = 0;  // of the result
  int count = 1;           // elements of a line: interleaved vectors
};

// A block takes as many lines at a time as it has threads: inside them, elements are counted with
// 32 bits, and divided so.
template <class Thread, class T>
STRATA_DEVICE void reorder(Thread& thread, const ReorderArguments<T>& arguments) {
  const std::int64_t stride = static_cast<std::int64_t>(thread.blocks()) * thread.size();
  for (std::int64_t first = static_cast<std::int64_t>(thread.block()) * thread.size();
       first < arguments.lines; first += stride) {
    const std::int64_t left = arguments.lines - first;
    const int lines = left < thread.size() ? static_cast<int>(left) : thread.size();
    T* to = arguments.to + first * arguments.count;
    for (int i = thread.index(); i < lines * arguments.count; i += thread.size()) {
      const int line = i / arguments.count;
      const std::int64_t source = arguments.source[first + line];
      const int v = i - line * arguments.count;
      to[i] = source < 0 ? T{} : arguments.from[source * arguments.count + v];
    }
  }
}

}  // namespace strata::gpu
