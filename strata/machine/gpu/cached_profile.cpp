#include "strata/machine/gpu/cached_profile.hpp"

#include <fmt/format.h>

#include "strata/machine/cached_profile.hpp"
#include "strata/machine/internal/profile_file.hpp"

namespace strata::gpu {

namespace {

namespace fs = std::filesystem;
using strata::detail::ProfileReader;
using Json = strata::detail::ProfileJson;

// Goes up whenever keys of stored profiles, or their meaning, change.
constexpr int kFormat = 2;

Json json_of(const DeviceProperties& device) {
  return {{"api", name_of(device.api)},
          {"index", device.index},
          {"name", device.name},
          {"architecture", device.architecture},
          {"capability_major", device.capability_major},
          {"capability_minor", device.capability_minor},
          {"multiprocessors", device.multiprocessors},
          {"warp", device.warp},
          {"memory_bytes", device.memory_bytes},
          {"l2_bytes", device.l2_bytes},
          {"shared_bytes_per_block", device.shared_bytes_per_block},
          {"shared_bytes_per_multiprocessor", device.shared_bytes_per_multiprocessor},
          {"registers_per_multiprocessor", device.registers_per_multiprocessor},
          {"threads_per_multiprocessor", device.threads_per_multiprocessor},
          {"clock_hertz", device.clock_hertz},
          {"cooperative_launch", device.cooperative_launch},
          {"driver", device.driver},
          {"runtime", device.runtime}};
}

Api api_from(const ProfileReader& reader) {
  const std::string name = reader.text("api");
  for (const Api api : {Api::cuda, Api::hip}) {
    if (name == name_of(api)) return api;
  }
  reader.refuse(fmt::format("'api' is '{}'", name));
}

DeviceProperties device_from(const ProfileReader& reader) {
  return {.api = api_from(reader),
          .index = reader.index("index"),
          .name = reader.text("name"),
          .architecture = reader.text("architecture"),
          .capability_major = reader.index("capability_major"),
          .capability_minor = reader.index("capability_minor"),
          .multiprocessors = reader.small_count("multiprocessors"),
          .warp = reader.small_count("warp"),
          .memory_bytes = reader.bytes("memory_bytes"),
          .l2_bytes = reader.bytes("l2_bytes"),
          .shared_bytes_per_block = reader.bytes("shared_bytes_per_block"),
          .shared_bytes_per_multiprocessor = reader.bytes("shared_bytes_per_multiprocessor"),
          .registers_per_multiprocessor = reader.small_count("registers_per_multiprocessor"),
          .threads_per_multiprocessor = reader.small_count("threads_per_multiprocessor"),
          .clock_hertz = reader.number("clock_hertz"),
          .cooperative_launch = reader.yes_or_no("cooperative_launch"),
          .driver = reader.text("driver"),
          .runtime = reader.text("runtime")};
}

Json json_of(const BabelStreamRates& stream) {
  return {{"copy_bytes_per_second", stream.copy}, {"mul_bytes_per_second", stream.mul},
          {"add_bytes_per_second", stream.add},   {"triad_bytes_per_second", stream.triad},
          {"dot_bytes_per_second", stream.dot},   {"read_bytes_per_second", stream.read},
          {"array_bytes", stream.array_bytes}};
}

BabelStreamRates stream_from(const ProfileReader& reader) {
  return {.copy = reader.positive("copy_bytes_per_second"),
          .mul = reader.positive("mul_bytes_per_second"),
          .add = reader.positive("add_bytes_per_second"),
          .triad = reader.positive("triad_bytes_per_second"),
          .dot = reader.positive("dot_bytes_per_second"),
          .read = reader.positive("read_bytes_per_second"),
          .array_bytes = reader.bytes("array_bytes")};
}

}  // namespace

fs::path profile_path(const DeviceProperties& device) {
  const fs::path folder = cache_folder();
  if (folder.empty()) return {};
  return folder / strata::detail::profile_file_name(
                      "gpu", fmt::format("{}|{}", kFormat, json_of(device).dump()));
}

std::string to_json(const GpuProfile& profile) {
  return strata::detail::text_of({{"format", kFormat},
                                  {"device", json_of(profile.device)},
                                  {"measured_at", profile.measured_at},
                                  {"measuring_seconds", profile.measuring_seconds},
                                  {"plateaus", strata::detail::json_of(profile.plateaus)},
                                  {"read", strata::detail::json_of(profile.read)},
                                  {"stream", json_of(profile.stream)},
                                  {"launch_seconds", profile.launch_seconds},
                                  {"graph_node_seconds", profile.graph_node_seconds},
                                  {"barrier_seconds", profile.barrier_seconds},
                                  {"handoff_seconds", profile.handoff_seconds},
                                  {"hockney", strata::detail::json_of(profile.hockney)}});
}

GpuProfile profile_from_json(std::string_view text, const std::string& source) {
  const Json document = strata::detail::parse_profile(text, source, kFormat);
  const ProfileReader reader(document, source);
  return {.device = device_from(reader.inside("device")),
          .read = strata::detail::points_from<BandwidthPoint>(reader, "read"),
          .plateaus = strata::detail::points_from<Plateau>(reader, "plateaus"),
          .stream = stream_from(reader.inside("stream")),
          .launch_seconds = reader.positive("launch_seconds"),
          .graph_node_seconds = reader.number("graph_node_seconds"),
          .barrier_seconds = reader.number("barrier_seconds"),
          .handoff_seconds = reader.number("handoff_seconds"),
          .hockney = strata::detail::hockney_from(reader.inside("hockney")),
          .measured_at = reader.text("measured_at"),
          .measuring_seconds = reader.number("measuring_seconds")};
}

std::optional<GpuProfile> load_profile(const fs::path& path) {
  const auto text = strata::detail::read_profile_file(path);
  if (!text) return std::nullopt;
  return profile_from_json(*text, path.string());
}

void save_profile(const GpuProfile& profile, const fs::path& path) {
  strata::detail::write_profile_file(path, to_json(profile));
}

}  // namespace strata::gpu
