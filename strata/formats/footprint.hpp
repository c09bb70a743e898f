// Footprint: the bytes of a matrix in some format, known exactly before anything is built. Sparse
// products run at memory speed, so these bytes are what plans compare.
//
// Counted are the arrays that a product has to read. Bookkeeping that only conversions and the
// reference kernels use (row lengths and presence bits of padded formats) is not.
#pragma once

#include <string_view>

#include "strata/base/checked.hpp"
#include "strata/base/types.hpp"

namespace strata {

struct Footprint {
  Offset value_bytes = 0;     // the values, padding included
  Offset index_bytes = 0;     // everything else a product reads: offsets, columns, permutations
  Offset stored_entries = 0;  // how many values are stored, padding included
  Offset entries = 0;         // how many of them are entries of the matrix

  // Throws OverflowError where a hopeless format passes 2^63, as bytes_of does.
  Offset bytes() const {
    return checked_add(value_bytes, index_bytes, "the size of a matrix in bytes");
  }
  // Stored values per entry of the matrix: 1 without padding, below 1 when half is stored.
  double fill() const {
    return entries == 0 ? 1.0 : static_cast<double>(stored_entries) / static_cast<double>(entries);
  }
  double bytes_per_entry() const {
    return entries == 0 ? 0.0 : static_cast<double>(bytes()) / static_cast<double>(entries);
  }

  bool operator==(const Footprint&) const = default;
};

// The bytes of `count` elements; throws OverflowError where a hopeless format passes 2^63.
template <class T>
Offset bytes_of(Offset count) {
  return checked_multiply<Offset>(count, sizeof(T), "the size of a matrix in bytes");
}

// Formats that pad can explode on matrices they do not fit (one full row makes ELLPACK dense).
// Their options carry a largest fill; beyond it a conversion fails before it allocates anything.
inline constexpr double kDefaultMaxFill = 32.0;

// Throws InvalidArgument if the footprint's fill is above max_fill.
void require_fill(const Footprint& footprint, double max_fill, std::string_view format);

}  // namespace strata
