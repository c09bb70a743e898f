// MachineProfile: how fast this machine reads, from which cache, and what its threads cost. Plans
// predict with it; measure.hpp measures it and cached_profile.hpp stores it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "strata/base/cgroup.hpp"
#include "strata/base/types.hpp"

namespace strata {

// What a profile depends on besides the processor. When one of these changes, the profile has
// expired.
struct MachineFingerprint {
  std::string host;
  std::string kernel;       // its release
  Offset memory_bytes = 0;  // of the machine
  int processors = 0;       // logical ones that the process could run on
  CgroupLimits limits;

  bool operator==(const MachineFingerprint&) const = default;
};

// A data or unified cache, as the system reports it.
struct CacheLevel {
  int level = 0;
  Offset bytes = 0;   // of one instance
  int shared_by = 1;  // logical processors per instance

  bool operator==(const CacheLevel&) const = default;
};

// Each thread reads its own contiguous share of the working set again and again.
struct BandwidthPoint {
  int threads = 0;
  Offset bytes = 0;  // working set of all threads together
  double bytes_per_second = 0;

  bool operator==(const BandwidthPoint&) const = default;
};

// Interpolated in the logarithm of the working set; beyond what was measured the nearest figure
// holds. The curve has one number of threads and at least one point.
double bandwidth_on(std::span<const BandwidthPoint> curve, Offset working_set);

// Up to this working set of all threads together the bandwidth is about this. The last plateau of
// a number of threads is memory.
struct Plateau {
  int threads = 0;
  Offset bytes = 0;
  double bytes_per_second = 0;

  bool operator==(const Plateau&) const = default;
};

// Bytes per second of McCalpin's STREAM kernels on all threads, counted as STREAM does: what a
// kernel reads and writes, without the lines that a cache loads only to overwrite them.
struct StreamRates {
  double copy = 0;
  double scale = 0;
  double add = 0;
  double triad = 0;
  double dot = 0;
  Offset array_bytes = 0;  // of each array; well beyond the last-level cache where memory allows

  bool operator==(const StreamRates&) const = default;
};

// A parallel read of `bytes`, from waking the threads until all are done.
struct TimedRead {
  Offset bytes = 0;
  double seconds = 0;

  bool operator==(const TimedRead&) const = default;
};

// Hockney's latency–bandwidth model. A parallel read of Q bytes from memory, waking and joining the
// threads included, takes overhead + Q / bytes_per_second, and runs at Q divided by that time. n½ =
// overhead · bytes_per_second bytes reach half of the bandwidth.
struct HockneyFit {
  double overhead_seconds = 0;
  double bytes_per_second = 0;
  double relative_error = 0;            // root mean square over the reads it was fitted to
  std::vector<TimedRead> samples = {};  // these reads; none in profiles stored without them

  bool operator==(const HockneyFit&) const = default;
};

struct MachineProfile {
  std::string processor;
  MachineFingerprint fingerprint;
  int cores = 0;  // threads measured: all that the process may use, unless asked otherwise
  std::vector<CacheLevel> caches;    // fastest first; empty if the system reports none
  std::vector<BandwidthPoint> read;  // by threads, then by working set
  std::vector<Plateau> plateaus;     // by threads, fastest first
  StreamRates stream;
  // Of multiply-adds of doubles in registers, all cores together; 0: not known.
  double flops_per_second = 0;
  double fork_join_seconds = 0;  // of a parallel region on all cores that does nothing
  double handoff_seconds = 0;    // until another thread sees a store: release to acquire, one way;
                                 // 0 on one core
  HockneyFit hockney;
  std::string measured_at;       // ISO 8601, UTC
  double measuring_seconds = 0;  // how long it took: a quick measurement is a rough one
  // How many times as long as the fastest decile of the samples all of them took on average: near 1
  // on a machine that has nothing else to do.
  double spread = 0;

  // Of so many threads; more than there are cores reach no more.
  double peak_flops(int threads) const;
  // Interpolated in the logarithm of the working set and between numbers of threads; beyond what
  // was measured the nearest figure holds.
  double read_bandwidth(int threads, Offset working_set) const;
  double memory_bandwidth(int threads) const;
  // The largest working set of all threads together that reads clearly faster than memory; 0 when
  // there is none.
  Offset cache_bytes(int threads) const;
  // The same for the caches that a core has for itself, summed over the threads.
  Offset private_cache_bytes(int threads) const;
  // What the instances of a cache that so many threads can use hold together.
  Offset all_instances(const CacheLevel& cache, int threads) const;
  // All instances of the last-level cache together; 0 if none is reported.
  Offset last_level_bytes() const;

  bool operator==(const MachineProfile&) const = default;
};

}  // namespace strata
