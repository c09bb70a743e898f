// Rows whose pieces several warps or blocks have are ended by whoever comes last, in the launch
// that adds up the pieces: nobody waits, and the pieces are added in their own order, not in that
// of their arrival.
#pragma once

#include <cstdint>

#include "strata/kernels/gpu/simt.hpp"

namespace strata::gpu {

// The most rows of a matrix that are ended like that. With more of them a second launch, which ends
// them too, is nothing beside the first.
inline constexpr std::int32_t kRowCounters = 4096;

// Counts the thread in and says whether `others` were there before: then it may read what they have
// written, and so may threads behind a barrier with it. The counter is 0 before the first and after
// the last.
template <class Thread>
STRATA_DEVICE bool arrives_last(Thread& thread, std::uint32_t* counter, std::int32_t others) {
  thread.fence();
  if (thread.add_flag(counter, 1) != static_cast<std::uint32_t>(others)) return false;
  thread.store_flag(counter, 0);
  thread.fence();
  return true;
}

}  // namespace strata::gpu
