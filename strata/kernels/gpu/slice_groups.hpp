// Groups of slices that have their description in common, for the kernels for encoded values.
//
// Equal slices need not be neighbours, for boundaries lie between them: they are looked for among
// some that follow one another, few enough for the x that they read to stay in a cache.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "strata/kernels/gpu/views.hpp"

namespace strata::gpu {

struct GroupRange {
  std::int32_t begin = 0;
  std::int32_t end = 0;
};

// Where the groups of slices are.
struct GroupPlaces {
  std::vector<std::int32_t> begins;  // of the groups of every kSlices slices, and the end of all

  // The slices among which equal ones are looked for, and as many more for those that are left.
  static constexpr std::int32_t kSlices = 64;
  // All groups with slices of a range.
  GroupRange of(SliceRange range) const;
};

struct SliceGroups {
  std::vector<SliceGroup> groups;
  GroupPlaces places;
};

// The slices that the kernel for such values takes, or the others. The slices of a group have one
// description, and every slice is in one group.
SliceGroups slice_groups(std::span<const SliceHeader> headers, EncodedKind kind, bool taken);

}  // namespace strata::gpu
