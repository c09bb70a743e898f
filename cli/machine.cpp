// strata machine: how fast this machine is, measured once and cached.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "cli/parts/commands.hpp"
#include "cli/parts/document.hpp"
#include "cli/parts/gpu.hpp"
#include "cli/parts/measuring.hpp"
#include "cli/parts/ranks.hpp"
#include "cli/parts/run_command.hpp"
#include "strata/machine/cached_profile.hpp"
#include "strata/machine/gpu/cached_profile.hpp"
#ifdef STRATA_HAS_MPI
#include "cli/distributed/commands.hpp"
#include "cli/distributed/measuring.hpp"
#endif

namespace strata::cli {

namespace {

struct MachineOptions {
  CommonOptions common;
  bool refresh = false;
  double seconds = 10;
  double largest_spread = MeasureOptions{}.largest_spread;
  std::string backend = "cpu";
};

std::string counted(int count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string cache_text(const MachineProfile& profile) {
  if (profile.caches.empty()) return "  the system reports no caches\n";
  Table table({"cache", "bytes", "shared by"});
  for (const CacheLevel& cache : profile.caches) {
    table.add({fmt::format("L{}", cache.level), bytes_text(cache.bytes),
               counted(cache.shared_by, "processor")});
  }
  return table.text(2);
}

std::string plateau_text(const MachineProfile& profile) {
  Table table({"plateaus", "up to", "GB/s", ""});
  for (std::size_t i = 0; i < profile.plateaus.size(); ++i) {
    const Plateau& plateau = profile.plateaus[i];
    const bool first = i == 0 || profile.plateaus[i - 1].threads != plateau.threads;
    const bool last =
        i + 1 == profile.plateaus.size() || profile.plateaus[i + 1].threads != plateau.threads;
    table.add({first ? counted(plateau.threads, "thread") : "",
               last ? "memory" : bytes_text(plateau.bytes), giga_text(plateau.bytes_per_second),
               fmt::format("{:.1f} times memory",
                           plateau.bytes_per_second / profile.memory_bandwidth(plateau.threads))});
  }
  return table.text(2);
}

// One line per working set, with a bar.
std::vector<std::string> curve_lines(const MachineProfile& profile, int threads) {
  constexpr int kBarWidth = 20;
  double fastest = 0;
  for (const BandwidthPoint& point : profile.read) {
    if (point.threads == threads) fastest = std::max(fastest, point.bytes_per_second);
  }
  std::vector<std::string> lines{counted(threads, "thread") + ", GB/s"};
  for (const BandwidthPoint& point : profile.read) {
    if (point.threads != threads) continue;
    lines.push_back(fmt::format("{:>8}  {:>5} {}", bytes_text(point.bytes),
                                giga_text(point.bytes_per_second),
                                bar(point.bytes_per_second / fastest, kBarWidth)));
  }
  return lines;
}

// The curves of one thread and of all.
std::string curve_text(const MachineProfile& profile) {
  std::vector<std::string> all;
  if (profile.cores > 1) all = curve_lines(profile, profile.cores);
  return "  reading a working set again and again\n" +
         in_two_columns(curve_lines(profile, 1), all, 4, 2);
}

std::string stream_text(const MachineProfile& profile) {
  const StreamRates& stream = profile.stream;
  Table table({"STREAM", "copy", "scale", "add", "triad", "dot"});
  table.add({"GB/s", giga_text(stream.copy), giga_text(stream.scale), giga_text(stream.add),
             giga_text(stream.triad), giga_text(stream.dot)});
  std::string text = table.text(2);
  text += fmt::format("  {}, arrays of {}", counted(profile.cores, "thread"),
                      bytes_text(stream.array_bytes));
  if (const Offset cache = profile.last_level_bytes(); cache > 0) {
    const double times = static_cast<double>(stream.array_bytes) / static_cast<double>(cache);
    text += fmt::format(": {:.1f} times the last-level cache{}", times,
                        times < 1 ? ", too little to be memory alone" : "");
  }
  return text + "\n";
}

std::string synchronisation_text(const MachineProfile& profile) {
  const HockneyFit& hockney = profile.hockney;
  std::string text;
  if (profile.flops_per_second > 0) {
    text += fmt::format("  arithmetic {} GF/s of multiply-adds in registers, {}\n",
                        giga_text(profile.flops_per_second), counted(profile.cores, "thread"));
  }
  text += fmt::format("  fork/join  {} for {}\n", seconds_text(profile.fork_join_seconds),
                      counted(profile.cores, "thread"));
  if (profile.handoff_seconds > 0) {
    text += fmt::format("  hand-off   {} until another thread sees a store\n",
                        seconds_text(profile.handoff_seconds));
  }
  return text +
         fmt::format(
             "  Hockney    Q bytes from memory: B = Q / ({} + Q / {} GB/s), off by {:.0f} % (rms)\n"
             "             half of the bandwidth at {}\n",
             seconds_text(hockney.overhead_seconds), giga_text(hockney.bytes_per_second),
             100 * hockney.relative_error,
             bytes_text(std::llround(hockney.overhead_seconds * hockney.bytes_per_second)));
}

std::string machine_text(const CachedProfile& known, const std::string& path, bool with_remark) {
  const MachineProfile& profile = known.profile;
  std::string text =
      fmt::format("{}, {}\n  measured   {}, in {:.1f} s, spread {:.2f}{}\n  stored in  {}\n",
                  profile.processor.empty() ? "unknown processor" : profile.processor,
                  counted(profile.cores, "thread"), profile.measured_at, profile.measuring_seconds,
                  profile.spread, known.measured ? "" : "; --refresh measures again",
                  known.stored ? path : "nowhere");
  if (with_remark && !known.remark.empty()) text += fmt::format("  remark     {}\n", known.remark);
  return text + "\n" + cache_text(profile) + "\n" + plateau_text(profile) + "\n" +
         curve_text(profile) + "\n" + stream_text(profile) + "\n" + synchronisation_text(profile);
}

Json machine_json(const CachedProfile& known, const std::string& path) {
  Json result{{"kernel", "machine"}, {"backend", "cpu"}, {"threads", known.profile.cores}};
  result.update(parse_json(to_json(known.profile)));
  result["cache_bytes"] = known.profile.cache_bytes(known.profile.cores);
  result["private_cache_bytes"] = known.profile.private_cache_bytes(known.profile.cores);
  result["measured_now"] = known.measured;
  if (known.stored) result["stored_in"] = path;
  if (!known.remark.empty()) result["remark"] = known.remark;
  return result;
}

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

// Progress as both measurements report it: what they measure next, and the share that is done.
std::function<void(std::string_view, double)> shown_by(Progress& progress) {
  return [&progress, running = std::string()](std::string_view what, double share_done) mutable {
    if (running != what) progress.start(running = what);
    progress.callback()(share_done);
  };
}

std::string run_on_cpu(const MachineOptions& options, ResultDocument& document,
                       Progress& progress) {
  const MeasureOptions measuring{.seconds = options.seconds,
                                 .threads = options.common.threads,
                                 .largest_bytes = 0,
                                 .largest_spread = options.largest_spread,
                                 .progress = shown_by(progress)};
  const auto path = profile_path(options.common.threads);
  const CachedProfile known =
      options.refresh ? measure_again(path, measuring) : load_or_measure(path, measuring);
  document.add_result(machine_json(known, path.string()));
  return machine_text(known, path.string(), !options.common.quiet);
}

std::string run_on_gpu(const MachineOptions& options, ResultDocument& document,
                       Progress& progress) {
  const KnownGpu known = find_gpu(options.common.device, options.refresh, shown_by(progress));
  document.add_result(gpu_json(known));
  return gpu_text(known, !options.common.quiet);
}

// Rank 0 tells about its machine, all of them about the network between them.
std::string run_on_ranks([[maybe_unused]] const MachineOptions& options,
                         [[maybe_unused]] ResultDocument& document,
                         [[maybe_unused]] Progress& progress) {
  std::string text;
#ifdef STRATA_HAS_MPI
  if (options.backend != "cpu") {
    throw InvalidArgument("--backend: several ranks measure the processor and their network");
  }
  distributed::on_first_rank([&] { text = run_on_cpu(options, document, progress); });
  text += "\n" + distributed::run_network(options.refresh ? 1.0 : 0.5, document, progress);
#endif
  return text;
}

std::string run_machine(const MachineOptions& options, ResultDocument& document,
                        Progress& progress) {
  if (rank_count() > 1) return run_on_ranks(options, document, progress);
  if (is_gpu_backend(options.backend)) {
    require_gpu(options.backend);
    return run_on_gpu(options, document, progress);
  }
  std::string text = run_on_cpu(options, document, progress);
  if (options.backend == "all") {
    const std::string why_none = why_no_gpu("");
    text += "\n" + (why_none.empty() ? run_on_gpu(options, document, progress) : why_none + "\n");
  }
  return text;
}

}  // namespace

void add_machine(CommandLine& line) {
  auto options = std::make_shared<MachineOptions>();
  CommandOptions command =
      line.add_command("machine", "Measure how fast this machine is, or show what was measured");
  command.add_flag("--refresh", options->refresh, "Measure even if there is a cached profile");
  command
      .add("--seconds", options->seconds,
           "Roughly how long measuring the processor may take; below 3 with fewer points")
      .type_name("S")
      .range(0.01, 3600.0)
      .show_default();
  command
      .add("--largest-spread", options->largest_spread,
           "Store the profile of the processor only if samples take at most this many times as "
           "long on average as the fastest tenth")
      .type_name("R")
      .range(0.0, 1e6)
      .show_default();
  command
      .add("--backend", options->backend,
           "What to measure: the processor, a GPU, or all that are available")
      .type_name("NAME")
      .one_of({"cpu", "cuda", "hip", "all"})
      .show_default();
  add_common_options(command, options->common);
  add_device_option(command, options->common);
  command.set_example(
      "strata machine --refresh\n  strata machine --backend cuda --device 1\n"
      "  mpirun -n 4 strata machine   # also messages between ranks\n\nProfiles "
      "are cached in $STRATA_CACHE_DIR, else "
      "$XDG_CACHE_HOME/strata, else $HOME/.cache/strata.");
  command.allow_ranks();
  set_work(command, options, run_machine);
}

}  // namespace strata::cli
