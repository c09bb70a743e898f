// ReuseProfile: how much matrix data a schedule loads through a cache of any size.
//
// A visit of a tile finds it in a cache with least-recently-used replacement if the tiles visited
// since its last visit, and itself, fit. These distances are computed once, exactly, tile by tile;
// every question about a cache size is then a lookup.
#pragma once

#include <utility>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/schedule/schedule.hpp"

namespace strata {

class ReuseProfile {
 public:
  // `row_bytes`: the bytes of each row besides its matrix data, its elements of the vectors.
  template <Index I>
  ReuseProfile(const Tiling<I>& tiling, const Schedule& schedule, Offset row_bytes);

  // Matrix bytes that come from behind a cache of this size in one sweep.
  Offset bytes_loaded(Offset cache_bytes) const;
  // Matrix bytes that the tasks read, from cache or from behind it.
  Offset bytes_read() const { return bytes_read_; }
  // The whole matrix once: no schedule loads less.
  Offset bytes_once() const { return bytes_once_; }
  // The smallest cache that keeps what is loaded within `factor` of loading everything once.
  Offset window_bytes(double factor = 1.05) const;

 private:
  Offset bytes_once_ = 0;
  Offset bytes_read_ = 0;
  // Distance of a revisit, and the bytes of this and all farther revisits; by distance.
  std::vector<std::pair<Offset, Offset>> revisits_;
};

}  // namespace strata
