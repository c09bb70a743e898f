#include "strata/machine/gpu/device_profile.hpp"

#include <map>
#include <mutex>

#include "strata/base/error.hpp"
#include "strata/machine/gpu/cached_profile.hpp"
#include "strata/machine/internal/profile_file.hpp"

namespace strata::gpu {

CachedGpuProfile measure_again(const std::filesystem::path& path,
                               const GpuMeasureOptions& options) {
  CachedGpuProfile known{.profile = measure_gpu(options), .measured = true};
  strata::detail::store(known, path,
                        [&](const GpuProfile& profile) { save_profile(profile, path); });
  return known;
}

CachedGpuProfile load_or_measure(const std::filesystem::path& path,
                                 const GpuMeasureOptions& options) {
  const auto load = [&] {
    auto profile = load_profile(path);
    if (profile && profile->device != device_properties(options.device)) {
      throw FileError(path.string(), "is about another device or driver");
    }
    return profile;
  };
  return strata::detail::load_or_else<CachedGpuProfile>(
      path, load, [&] { return measure_again(path, options); });
}

const CachedGpuProfile& cached_gpu_profile(int device) {
  static std::mutex mutex;
  static std::map<int, CachedGpuProfile> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(device);
  if (found != known.end()) return found->second;
  const auto path = profile_path(device_properties(device));
  return known.emplace(device, load_or_measure(path, {.device = device})).first->second;
}

}  // namespace strata::gpu
