// Vectors in another order of the rows on a GPU: line i of the result is line source[i] of the
// given one, or 0 where source[i] is negative. Lines are those of interleaved vectors, or lie with
// strides, as a caller has them. Neighbouring threads write the elements of a line and then those
// of the next; their reads are scattered as the order says.
#pragma once

#include <cstdint>
#include <type_traits>

#include "strata/kernels/gpu/simt.hpp"

namespace strata::gpu {

// Of `count` elements one after another.
template <class T>
struct InterleavedLines {
  using Element = std::remove_const_t<T>;

  T* data = nullptr;
  int count = 1;

  STRATA_DEVICE T& at(std::int64_t line, int element) const { return data[line * count + element]; }
};

template <class T>
struct StridedLines {
  using Element = std::remove_const_t<T>;

  T* data = nullptr;
  std::int64_t line_stride = 1;
  std::int64_t element_stride = 0;

  STRATA_DEVICE T& at(std::int64_t line, int element) const {
    return data[line * line_stride + element * element_stride];
  }
};

template <class From, class To>
struct ReorderArguments {
  From from;
  To to;                                 // shares nothing with `from`
  const std::int32_t* source = nullptr;  // none: lines stay where they are
  std::int32_t lines = 0;                // of the result
  int count = 1;                         // elements of a line: a vector each
};

// A block takes as many lines at a time as it has threads: inside them, elements are counted with
// 32 bits, and divided so.
template <class Thread, class From, class To>
STRATA_DEVICE void reorder(Thread& thread, const ReorderArguments<From, To>& arguments) {
  const std::int64_t stride = static_cast<std::int64_t>(thread.blocks()) * thread.size();
  for (std::int64_t first = static_cast<std::int64_t>(thread.block()) * thread.size();
       first < arguments.lines; first += stride) {
    const std::int64_t left = arguments.lines - first;
    const int lines = left < thread.size() ? static_cast<int>(left) : thread.size();
    for (int i = thread.index(); i < lines * arguments.count; i += thread.size()) {
      const int inside = i / arguments.count;
      const int element = i - inside * arguments.count;
      const std::int64_t line = first + inside;
      const std::int64_t source = arguments.source == nullptr ? line : arguments.source[line];
      arguments.to.at(line, element) =
          source < 0 ? typename To::Element{} : arguments.from.at(source, element);
    }
  }
}

}  // namespace strata::gpu
