#include "strata/machine/gpu/device_profile.hpp"

#include "strata/base/error.hpp"
#include "strata/machine/default_profile.hpp"
#include "strata/machine/gpu/cached_profile.hpp"
#include "strata/machine/internal/profile_file.hpp"
#include "strata/machine/internal/profile_keeper.hpp"

namespace strata::gpu {

namespace {

CachedGpuProfile measured(const std::filesystem::path& path, const GpuMeasureOptions& options,
                          bool write) {
  CachedGpuProfile known{.profile = measure_gpu(options), .measured = true};
  if (write) {
    strata::detail::store(known, path,
                          [&](const GpuProfile& profile) { save_profile(profile, path); });
  }
  return known;
}

strata::detail::ProfileKeeper<CachedGpuProfile>& keeper() {
  static strata::detail::ProfileKeeper<CachedGpuProfile> profiles;
  return profiles;
}

}  // namespace

CachedGpuProfile measure_again(const std::filesystem::path& path,
                               const GpuMeasureOptions& options) {
  return measured(path, options, true);
}

CachedGpuProfile load_or_measure(const std::filesystem::path& path,
                                 const GpuMeasureOptions& options, const ProfilePolicy& policy) {
  const auto load = [&] {
    auto profile = load_profile(path);
    if (profile && profile->device != device_properties(options.device)) {
      throw FileError(path.string(), "is about another device or driver");
    }
    return profile;
  };
  return strata::detail::load_or_else<CachedGpuProfile>(
      path, policy, load, [&] { return measured(path, options, policy.write); },
      [&] { return default_profile(device_properties(options.device)); });
}

const CachedGpuProfile& cached_gpu_profile(int device) {
  return keeper().get(device, [&](const ProfilePolicy& policy) {
    const auto path = profile_path(device_properties(device));
    return load_or_measure(path, {.device = device, .progress = policy.progress}, policy);
  });
}

void set_gpu_profile(int device, const std::optional<GpuProfile>& profile) {
  if (!profile) return keeper().supply(device, std::nullopt);
  strata::detail::require_usable(
      [&] { profile_from_json(to_json(*profile), "the supplied profile"); });
  keeper().supply(device, CachedGpuProfile{.profile = *profile});
}

}  // namespace strata::gpu
