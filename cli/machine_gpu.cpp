#include "cli/machine_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/measuring.hpp"
#include "strata/machine/gpu/cached_profile.hpp"

namespace strata::cli {

namespace {

std::string properties_text(const gpu::DeviceProperties& device) {
  return fmt::format(
      "  {} multiprocessors at up to {} GHz, {} threads each in warps of {}\n"
      "  {} of memory, {} of L2; shared memory {} per multiprocessor, {} per block\n",
      device.multiprocessors, giga_text(device.clock_hertz), device.threads_per_multiprocessor,
      device.warp, bytes_text(device.memory_bytes), bytes_text(device.l2_bytes),
      bytes_text(device.shared_bytes_per_multiprocessor),
      bytes_text(device.shared_bytes_per_block));
}

std::string plateau_text(const gpu::GpuProfile& profile) {
  Table table({"plateaus", "up to", "GB/s", ""});
  for (std::size_t i = 0; i < profile.plateaus.size(); ++i) {
    const Plateau& plateau = profile.plateaus[i];
    const bool last = i + 1 == profile.plateaus.size();
    table.add({"", last ? "memory" : bytes_text(plateau.bytes), giga_text(plateau.bytes_per_second),
               fmt::format("{:.1f} times memory",
                           plateau.bytes_per_second / profile.memory_bandwidth())});
  }
  return table.text(2);
}

std::string curve_text(const gpu::GpuProfile& profile) {
  constexpr int kBarWidth = 40;
  double fastest = 0;
  for (const BandwidthPoint& point : profile.read) {
    fastest = std::max(fastest, point.bytes_per_second);
  }
  std::string text = "  reading a working set again and again, GB/s\n";
  for (const BandwidthPoint& point : profile.read) {
    text += fmt::format("  {:>8}  {:>5} {}\n", bytes_text(point.bytes),
                        giga_text(point.bytes_per_second),
                        bar(point.bytes_per_second / fastest, kBarWidth));
  }
  return text;
}

std::string stream_text(const gpu::BabelStreamRates& stream) {
  Table table({"BabelStream", "copy", "mul", "add", "triad", "dot", "read"});
  table.add({"GB/s", giga_text(stream.copy), giga_text(stream.mul), giga_text(stream.add),
             giga_text(stream.triad), giga_text(stream.dot), giga_text(stream.read)});
  return table.text(2) + fmt::format("  arrays of {}\n", bytes_text(stream.array_bytes));
}

std::string synchronisation_text(const gpu::GpuProfile& profile) {
  std::string text =
      fmt::format("  launch     {} per kernel, {} in a graph\n",
                  seconds_text(profile.launch_seconds), seconds_text(profile.graph_node_seconds));
  if (profile.barrier_seconds > 0) {
    text += fmt::format("  barrier    {} until all multiprocessors have met\n",
                        seconds_text(profile.barrier_seconds));
  }
  if (profile.handoff_seconds > 0) {
    text += fmt::format("  hand-off   {} until another multiprocessor sees a store\n",
                        seconds_text(profile.handoff_seconds));
  }
  const HockneyFit& hockney = profile.hockney;
  return text + fmt::format(
                    "  Hockney    a kernel that reads Q bytes: B = Q / ({} + Q / {} GB/s), off by "
                    "{:.0f} % "
                    "(rms)\n"
                    "             half of the bandwidth at {}\n",
                    seconds_text(hockney.overhead_seconds), giga_text(hockney.bytes_per_second),
                    100 * hockney.relative_error,
                    bytes_text(std::llround(hockney.overhead_seconds * hockney.bytes_per_second)));
}

}  // namespace

std::string gpu_text(const KnownGpu& known, bool with_remark) {
  const gpu::GpuProfile& profile = known.profile;
  const gpu::DeviceProperties& device = profile.device;
  std::string text = fmt::format(
      "{}, device {}, {}, {} {} on a driver for {}\n  measured   {}, in {:.1f} s{}\n"
      "  stored in  {}\n",
      device.name, device.index, device.architecture, device.api == gpu::Api::hip ? "HIP" : "CUDA",
      device.runtime, device.driver, profile.measured_at, profile.measuring_seconds,
      known.measured ? "" : "; --refresh measures again",
      known.path.empty() ? "nowhere" : known.path);
  if (with_remark && !known.remark.empty()) text += fmt::format("  remark     {}\n", known.remark);
  return text + "\n" + properties_text(device) + "\n" + plateau_text(profile) + "\n" +
         curve_text(profile) + "\n" + stream_text(profile.stream) + "\n" +
         synchronisation_text(profile);
}

Json gpu_json(const KnownGpu& known) {
  Json result{{"kernel", "machine"}, {"backend", gpu::name_of(known.profile.device.api)}};
  result.update(parse_json(gpu::to_json(known.profile)));
  result["memory_bytes_per_second"] = known.profile.memory_bandwidth();
  result["l2_bytes_per_second"] = known.profile.l2_bandwidth();
  result["l2_bytes"] = known.profile.l2_bytes();
  result["measured_now"] = known.measured;
  if (!known.path.empty()) result["stored_in"] = known.path;
  if (!known.remark.empty()) result["remark"] = known.remark;
  return result;
}

}  // namespace strata::cli
