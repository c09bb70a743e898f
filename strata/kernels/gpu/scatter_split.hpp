// How products that add to elements of y all over, y = Aᵀx and those of a stored triangle, are
// shared out to the warps of a GPU without atomics. Every warp takes a part: consecutive rows of
// about equal numbers of entries. It adds to a window of its own, which covers the elements of y
// that its part has entries for; a second pass adds up the windows that cover an element in the
// order of the parts. Parts and windows follow from the matrix alone.
#pragma once

#include <cstdint>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/pattern.hpp"

namespace strata::gpu {

// Rows and window from here to the next part's.
struct alignas(16) ScatterPart {
  std::int64_t window;  // where it begins in the scratch, for one vector
  std::int32_t first_row;
  std::int32_t first_element;  // of y, that the window begins with
};

// What the windows of a part add to.
enum class ScatterTargets {
  columns,           // of the entries
  columns_and_rows,  // and the rows themselves
};

struct ScatterSplit {
  Array<ScatterPart> parts;        // one more than there are
  Array<std::int64_t> tiles;       // of kScatterTile elements of y: where their parts begin …
  Array<std::int32_t> tile_parts;  // … in this list, in increasing order

  std::int32_t count() const { return static_cast<std::int32_t>(parts.size()) - 1; }
  // Of all windows, for one vector.
  Offset elements() const { return parts.back().window; }
};
inline constexpr std::int32_t kScatterTile = 128;
// A part has at least about so many entries, and windows have in all at most so many elements for
// each that the matrix has of entries and of y.
inline constexpr Offset kScatterEntries = 512;
inline constexpr Offset kScatterWindows = 2;

// Parts have more entries than that where windows would be too large otherwise. Throws
// InvalidArgument if this would leave too few parts of a large matrix to keep a GPU busy,
// OverflowError if numbers need more than 31 bits.
template <Index I>
ScatterSplit split_scatter(const PatternView<I>& pattern, ScatterTargets targets,
                           Offset entries_of_part = kScatterEntries);

// Whether split_scatter would take it.
template <Index I>
bool can_scatter(const PatternView<I>& pattern, ScatterTargets targets);

}  // namespace strata::gpu
