#include "strata/machine/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "strata/base/error.hpp"
#include "strata/bench/timing.hpp"
#include "strata/machine/fit.hpp"
#include "strata/machine/internal/pinned_team.hpp"
#include "strata/machine/internal/read_meter.hpp"
#include "strata/machine/internal/team_costs.hpp"
#include "strata/machine/system.hpp"

namespace strata {

namespace {

using detail::ReadMeter;
using detail::TeamMemory;

constexpr Offset kKiB = 1 << 10;
constexpr Offset kMiB = 1 << 20;
constexpr Offset kSmallestShare = 16 * kKiB;  // of a thread

// Share of the time; the rest goes to what is measured with all cores besides.
constexpr double kCurves = 0.65;

// What a measurement does in its time.
struct Effort {
  std::vector<int> thread_counts;
  Offset growth = 2;            // from one working set to the next
  int rounds = 3;               // through each curve; the best of a point's figures counts
  Offset times_last_level = 4;  // the largest working set
};

Effort effort_for(double seconds, int cores) {
  if (seconds < 3) {
    return {.thread_counts = cores > 1 ? std::vector{1, cores} : std::vector{1},
            .growth = 4,
            .rounds = 1,
            .times_last_level = 3};
  }
  Effort effort;
  for (int threads = 1; threads < cores; threads *= 2) effort.thread_counts.push_back(threads);
  effort.thread_counts.push_back(cores);
  return effort;
}

// Far enough beyond the caches that nothing of one sweep is left for the next.
Offset largest_working_set(const MachineProfile& profile, Offset asked_for,
                           Offset times_last_level) {
  const Offset smallest = 4 * kSmallestShare * profile.cores;
  if (asked_for > 0) return std::max(asked_for, smallest);
  const Offset beyond = std::max(times_last_level * profile.last_level_bytes(), 256 * kMiB);
  return std::max(smallest, std::min({beyond, available_memory() / 4, 2048 * kMiB}));
}

// From the smallest share of each thread to the largest working set, with more points where a
// cache should end: at one half and three quarters of it.
std::vector<Offset> working_sets(const MachineProfile& profile, int threads, Offset largest,
                                 Offset growth) {
  std::vector<Offset> sizes{largest};
  for (Offset bytes = kSmallestShare * threads; bytes < largest; bytes *= growth) {
    sizes.push_back(bytes);
  }
  for (const CacheLevel& cache : profile.caches) {
    const Offset all = profile.all_instances(cache, threads);
    sizes.insert(sizes.end(), {all / 2, all / 4 * 3});
  }
  sizes.push_back(largest / 2);
  std::erase_if(sizes,
                [&](Offset bytes) { return bytes > largest || bytes < kSmallestShare * threads; });
  std::ranges::sort(sizes);
  const auto [first, last] =
      std::ranges::unique(sizes, [](Offset a, Offset b) { return 10 * b < 11 * a; });
  sizes.erase(first, last);
  sizes.back() = largest;
  return sizes;
}

using Points = std::vector<BandwidthPoint>;

void keep_best(BandwidthPoint& point, double bytes_per_second) {
  point.bytes_per_second = std::max(point.bytes_per_second, bytes_per_second);
}

// Neighbours on the machine come and go within seconds: several rounds through the whole curve
// cover more of that time than long measurements of one point. `report` is called with the share of
// the curve that is done.
Points measure_curve(ReadMeter& meter, int threads, const std::vector<Offset>& sizes, int rounds,
                     double seconds, const std::function<void(double)>& report) {
  Points points;
  for (const Offset bytes : sizes) points.push_back({threads, bytes, 0});
  const double measurements = static_cast<double>(points.size()) * rounds;
  double measured = 0;
  for (int round = 0; round < rounds; ++round) {
    for (BandwidthPoint& point : points) {
      report(measured++ / measurements);
      keep_best(point, meter.bandwidth(point.bytes, seconds / measurements));
    }
  }
  // A smaller working set that is slower than a larger one was delayed by other work: another try.
  double best = 0;
  for (std::size_t i = points.size(); i-- > 0;) {
    BandwidthPoint& point = points[i];
    if (point.bytes_per_second < 0.95 * best) {
      keep_best(point, meter.bandwidth(point.bytes, seconds / measurements));
    }
    best = std::max(best, point.bytes_per_second);
  }
  return points;
}

std::vector<TimedRead> hockney_reads(Offset largest) {
  constexpr int kSizes = 12;
  std::vector<TimedRead> reads;
  Offset bytes = std::min(64 * kMiB, largest / 2);
  for (int i = 0; i < kSizes && bytes >= kSmallestShare; ++i, bytes /= 2) {
    reads.push_back({bytes, std::numeric_limits<double>::infinity()});
  }
  return reads;
}

void keep_best(StreamRates& best, const StreamRates& rates) {
  best = {.copy = std::max(best.copy, rates.copy),
          .scale = std::max(best.scale, rates.scale),
          .add = std::max(best.add, rates.add),
          .triad = std::max(best.triad, rates.triad),
          .dot = std::max(best.dot, rates.dot),
          .array_bytes = rates.array_bytes};
}

// What is measured with all cores besides the curve, in rounds for the same reason.
void measure_team(TeamMemory& memory, ReadMeter& meter, Offset largest, double seconds,
                  const std::function<void(std::string_view, double)>& report,
                  MachineProfile& profile) {
  constexpr int kRounds = 3;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double each = seconds / (4 * kRounds);
  std::vector<TimedRead> reads = hockney_reads(largest);
  profile.fork_join_seconds = kInfinity;
  profile.handoff_seconds = kInfinity;
  for (int round = 0; round < kRounds; ++round) {
    const auto done = [&](int parts) { return (4.0 * round + parts) / (4 * kRounds); };
    report("latency and bandwidth of parallel reads", done(0));
    for (TimedRead& read : reads) {
      const double share = each / static_cast<double>(reads.size());
      read.seconds = std::min(read.seconds, meter.time_of_read(read.bytes, share));
    }
    report("STREAM", done(1));
    keep_best(profile.stream, detail::measure_stream(memory, each));
    report("arithmetic", done(2));
    profile.flops_per_second =
        std::max(profile.flops_per_second, detail::measure_flops(profile.cores, each / 4));
    report("fork, join and hand-off", done(3));
    profile.fork_join_seconds =
        std::min(profile.fork_join_seconds, detail::measure_fork_join(profile.cores, each / 4));
    profile.handoff_seconds =
        std::min(profile.handoff_seconds, detail::measure_handoff(profile.cores));
  }
  profile.hockney = fit_hockney(reads);
}

// Inside another parallel region there is one thread, whatever is asked for.
int real_team(int threads) {
  int real = 1;
  run_on_threads(threads, [&](int thread, int team) {
    if (thread == 0) real = team;
  });
  return real;
}

template <class T>
void append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

MachineProfile reported_profile(int threads) {
  MachineProfile profile;
  profile.processor = processor_name();
  profile.fingerprint = machine_fingerprint();
  profile.cores = threads > 0 ? threads : processor_budget().affordable_threads();
  for (const ReportedCache& cache : reported_caches()) {
    if (cache.type == "Instruction" || cache.bytes <= 0) continue;
    profile.caches.push_back({.level = cache.level,
                              .bytes = cache.bytes,
                              .shared_by = std::max(1, count_of_list(cache.shared_by_cpus))});
  }
  std::ranges::sort(profile.caches, {}, &CacheLevel::level);
  return profile;
}

MachineProfile measure_machine(const MeasureOptions& options) {
  if (!(options.seconds > 0) || options.threads < 0) {
    throw InvalidArgument("a measurement needs a positive time and number of threads");
  }
  const auto start = std::chrono::steady_clock::now();
  const auto report = [&](std::string_view what, double share_done) {
    if (options.progress) options.progress(what, share_done);
  };
  MachineProfile profile = reported_profile(options.threads);
  profile.cores = real_team(profile.cores);
  const Effort effort = effort_for(options.seconds, profile.cores);
  const Offset largest =
      largest_working_set(profile, options.largest_bytes, effort.times_last_level);
  const double share_of_curve = kCurves / static_cast<double>(effort.thread_counts.size());

  double done = 0;
  std::vector<double> spreads;
  for (const int threads : effort.thread_counts) {
    const std::string what = fmt::format("reading with {} of {} threads", threads, profile.cores);
    report(what, done);
    const detail::PinnedTeam pinned(threads);
    TeamMemory memory(threads, largest);
    ReadMeter meter(memory);
    const Points curve =
        measure_curve(meter, threads, working_sets(profile, threads, largest, effort.growth),
                      effort.rounds, options.seconds * share_of_curve,
                      [&](double share) { report(what, done + share * share_of_curve); });
    append(profile.read, curve);
    append(profile.plateaus, find_plateaus(curve));
    append(spreads, meter.spreads());
    done += share_of_curve;
    if (threads == profile.cores) {
      measure_team(
          memory, meter, largest, options.seconds * (1 - kCurves),
          [&](std::string_view part, double share) { report(part, done + share * (1 - kCurves)); },
          profile);
    }
  }
  profile.spread = summarise(spreads).median;
  profile.measured_at = utc_now();
  profile.measuring_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return profile;
}

MeasuringConditions measuring_conditions(const MeasureOptions& options) {
  const int threads = reported_profile(options.threads).cores;
  const ProcessorBudget processors = processor_budget();
  return {.threads = threads,
          .processors = processors,
          .bound = detail::is_bound(detail::masks_of_team(threads), processors.usable),
          .largest_spread = options.largest_spread};
}

std::string doubts_about(const MachineProfile& profile, const MeasuringConditions& conditions) {
  std::vector<std::string> doubts;
  const ProcessorBudget& processors = conditions.processors;
  if (profile.cores != conditions.threads) {
    doubts.push_back(
        fmt::format("measured with {} of {} threads", profile.cores, conditions.threads));
  }
  if (conditions.bound) {
    doubts.push_back("threads are bound to processors, as by OMP_PROC_BIND");
  }
  if (profile.cores > processors.usable) {
    doubts.push_back(fmt::format("{} threads share {} processor{}", profile.cores,
                                 processors.usable, processors.usable == 1 ? "" : "s"));
  } else if (!processors.affords(profile.cores)) {
    doubts.push_back(fmt::format("a control group allows {} threads the time of {:.2g} processors",
                                 profile.cores, processors.quota));
  }
  if (profile.spread > conditions.largest_spread) {
    doubts.push_back(fmt::format(
        "the machine was busy: samples took {:.1f} times as long on average as the fastest tenth",
        profile.spread));
  }
  // Threads wait for each other: if one has no processor at times, some sizes suffer, not all.
  if (!profile.plateaus.empty()) {
    const double one = profile.memory_bandwidth(1);
    const double all = profile.memory_bandwidth(profile.cores);
    if (all < one / 2) {
      doubts.push_back(fmt::format("{} threads read {:.1f} GB/s from memory, and one alone {:.1f}",
                                   profile.cores, all * 1e-9, one * 1e-9));
    }
  }
  return fmt::format("{}", fmt::join(doubts, "; "));
}

}  // namespace strata
