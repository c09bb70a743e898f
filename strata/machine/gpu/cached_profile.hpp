// Profiles of GPUs that outlive the process, next to those of the processor: one JSON file per
// device and driver.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "strata/machine/gpu/profile.hpp"

namespace strata::gpu {

// Where the profile of this device belongs. The name depends on all that makes the profile of
// another device or driver useless for it. Empty if there is no cache_folder().
std::filesystem::path profile_path(const DeviceProperties& device);

std::string to_json(const GpuProfile& profile);
// Throws FileError naming `source` if the text is anything but what to_json writes: no JSON, of
// another version, incomplete, or with impossible numbers.
GpuProfile profile_from_json(std::string_view text, const std::string& source);

// None if there is no such file. Throws FileError as profile_from_json does.
std::optional<GpuProfile> load_profile(const std::filesystem::path& path);
// Makes the folder and replaces the file whole. Throws FileError.
void save_profile(const GpuProfile& profile, const std::filesystem::path& path);

}  // namespace strata::gpu
