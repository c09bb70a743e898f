#include "strata/machine/default_profile.hpp"

#include <algorithm>

#include "strata/machine/measure.hpp"

namespace strata {

namespace {

constexpr double kGiga = 1e9;
constexpr Offset kMebi = Offset{1} << 20;
// A working set of memory is at least this many times the last cache.
constexpr Offset kTimesLastCache = 4;

double cache_bandwidth(int level) {
  if (level <= 1) return 40 * kGiga;
  return level == 2 ? 30 * kGiga : 15 * kGiga;
}

double memory_bandwidth(int threads, int cores) {
  return std::min(12.0 * threads, std::max(20.0, 4.0 * cores)) * kGiga;
}

// Curve and plateaus of one number of threads, behind those of smaller numbers. Caches that hold
// no more than those before them are as good as not there.
void add_threads(MachineProfile& profile, const std::vector<CacheLevel>& caches, int threads) {
  Offset last = 0;
  for (const CacheLevel& cache : caches) {
    const Offset bytes = profile.all_instances(cache, threads);
    if (bytes <= last) continue;
    const double rate = cache_bandwidth(cache.level) * threads;
    profile.plateaus.push_back({threads, bytes, rate});
    profile.read.push_back({threads, bytes, rate});
    last = bytes;
  }
  const double rate = memory_bandwidth(threads, profile.cores);
  const Offset largest = std::max(kTimesLastCache * last, 256 * kMebi);
  profile.read.push_back({threads, 2 * last, rate});
  profile.read.push_back({threads, largest, rate});
  profile.plateaus.push_back({threads, largest, rate});
}

}  // namespace

MachineProfile default_profile(int threads) {
  MachineProfile profile = reported_profile(threads);
  const std::vector<CacheLevel> caches =
      profile.caches.empty() ? std::vector<CacheLevel>{{1, 32 << 10, 1}, {2, kMebi, 1}}
                             : profile.caches;
  for (int team = 1; team < profile.cores; team *= 2) add_threads(profile, caches, team);
  add_threads(profile, caches, profile.cores);

  const double rate = profile.memory_bandwidth(profile.cores);
  profile.stream = {.copy = rate,
                    .scale = rate,
                    .add = rate,
                    .triad = rate,
                    .dot = rate,
                    .array_bytes = profile.plateaus.back().bytes};
  const bool alone = profile.cores == 1;
  profile.fork_join_seconds = alone ? 0.1e-6 : 3e-6;
  profile.handoff_seconds = alone ? 0 : 0.15e-6;
  profile.hockney = {.overhead_seconds = profile.fork_join_seconds, .bytes_per_second = rate};
  profile.spread = 1;
  return profile;
}

gpu::GpuProfile gpu::default_profile(const DeviceProperties& device) {
  GpuProfile profile;
  profile.device = device;
  const double memory = 15 * kGiga * device.multiprocessors;
  const double l2 = 2.5 * memory;
  const int threads = device.multiprocessors * device.threads_per_multiprocessor;
  const Offset largest = std::max(kTimesLastCache * device.l2_bytes, 256 * kMebi);
  if (const Offset held = device.l2_bytes / 4 * 3; held > 0) {
    profile.plateaus.push_back({threads, held, l2});
    profile.read.push_back({threads, held, l2});
    profile.read.push_back({threads, 2 * device.l2_bytes, memory});
  }
  profile.read.push_back({threads, largest, memory});
  profile.plateaus.push_back({threads, largest, memory});
  profile.stream = {.copy = memory,
                    .mul = memory,
                    .add = memory,
                    .triad = memory,
                    .dot = memory,
                    .read = memory,
                    .array_bytes = largest};
  profile.launch_seconds = 3e-6;
  profile.graph_node_seconds = 1.5e-6;
  profile.barrier_seconds = device.cooperative_launch ? 2e-6 : 0;
  profile.handoff_seconds = device.cooperative_launch ? 1e-6 : 0;
  profile.hockney = {.overhead_seconds = profile.launch_seconds, .bytes_per_second = memory};
  return profile;
}

}  // namespace strata
