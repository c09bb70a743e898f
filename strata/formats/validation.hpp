// The checks that formats share when they are built from a caller's arrays. All of them throw
// InvalidMatrix with the place in the message.
#pragma once

#include <span>
#include <string_view>

#include "strata/base/parallel.hpp"
#include "strata/base/types.hpp"

namespace strata {

// What the message calls the lines that a format compresses, and the indices inside them.
struct LineNames {
  std::string_view line;
  std::string_view index;
};
inline constexpr LineNames kRows{"row", "column"};
inline constexpr LineNames kColumns{"column", "row"};
inline constexpr LineNames kBlockRows{"block row", "block column"};

namespace detail {
[[noreturn]] void throw_outside(const LineNames& names, Offset line, Offset index, Offset bound);
[[noreturn]] void throw_not_increasing(const LineNames& names, Offset line, Offset previous,
                                       Offset index);
}  // namespace detail

void require_shape(Offset rows, Offset cols);

// `actual` elements where the format needs `expected`.
void require_size(std::string_view array, std::size_t actual, Offset expected);

// The lines' offsets start at 0, never decrease, and end at the number of indices.
void require_offsets(const LineNames& names, Offset lines, std::span<const Offset> offsets,
                     std::size_t indices);

inline void require_inside(const LineNames& names, Offset line, Offset index, Offset bound) {
  if (index < 0 || index >= bound) detail::throw_outside(names, line, index, bound);
}

// index_at(0 … length−1) lie in 0 … bound−1 and increase strictly.
template <class IndexAt>
void require_increasing(const LineNames& names, Offset line, Offset length, Offset bound,
                        IndexAt&& index_at) {
  Offset previous = -1;
  for (Offset j = 0; j < length; ++j) {
    const Offset index = index_at(j);
    require_inside(names, line, index, bound);
    if (index <= previous) detail::throw_not_increasing(names, line, previous, index);
    previous = index;
  }
}

// The same for all lines of a compressed format whose offsets are known to be good.
template <Index I>
void require_increasing(const LineNames& names, Offset bound, std::span<const Offset> offsets,
                        std::span<const I> indices) {
  parallel_for(static_cast<Offset>(offsets.size()) - 1, [&](Offset line) {
    require_increasing(names, line, offsets[line + 1] - offsets[line], bound,
                       [&](Offset j) { return Offset{indices[offsets[line] + j]}; });
  });
}

}  // namespace strata
