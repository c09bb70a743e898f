// The profiles of the GPUs here: stored ones, or measured now. Part of the GPU library.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "strata/machine/gpu/measure.hpp"
#include "strata/machine/gpu/profile.hpp"
#include "strata/machine/profile_policy.hpp"

namespace strata::gpu {

struct CachedGpuProfile {
  GpuProfile profile;
  std::string remark = {};  // what was wrong with the stored profile or with storing it, or that
                            // the figures are defaults
  bool measured = false;    // just now, rather than loaded
  bool stored = false;      // so that the next process finds it
};

// The stored profile; if there is none, or a useless one, measures and stores; as far as the policy
// allows, else a default_profile(). One of another device or driver is useless. A folder that
// cannot be read or written, or that is not the user's own, costs time, not results.
CachedGpuProfile load_or_measure(const std::filesystem::path& path,
                                 const GpuMeasureOptions& options,
                                 const ProfilePolicy& policy = profile_policy());
// Measures and stores, whatever is stored already and whatever the policy says.
CachedGpuProfile measure_again(const std::filesystem::path& path, const GpuMeasureOptions& options);

// The profile that plans use: the one that was supplied, else found once per process, device and
// policy. The reference stays good until the process ends. May be called from any thread. Throws
// Unavailable if there is no device of that number.
const CachedGpuProfile& cached_gpu_profile(int device = 0);

// Supplies the profile that plans on this device use from now on: no other is searched for. None:
// goes back to finding one. Throws InvalidArgument unless it could have been measured.
void set_gpu_profile(int device, const std::optional<GpuProfile>& profile);

}  // namespace strata::gpu
