// The kernels of the sweep whose values are their own flags, by their parameters: for
// flagged_sweep.cpp, and for the .cu files, one for each type of values, which are compiled at the
// same time.
#pragma once

#include "strata/base/types.hpp"
#include "strata/device/stream.hpp"
#include "strata/execute/gpu/flagged_arguments.hpp"
#include "strata/execute/gpu/flagged_stream.hpp"

namespace strata::gpu::detail {

// The most warps of a block: a thread has 128 registers then.
inline constexpr int kFlaggedWarps = 16;

// Whether this build has code of the kernels that the current device can run.
template <Value V>
bool has_flagged_sweep();
template <Value V>
void launch_flagged_sweep(const FlaggedArguments<DeviceValue<V>>& arguments,
                          const FlaggedForm& form, int workers, const FlaggedRing& ring,
                          Stream& stream);

}  // namespace strata::gpu::detail
