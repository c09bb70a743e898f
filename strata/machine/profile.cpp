#include "strata/machine/profile.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <span>

#include "strata/base/checked.hpp"

namespace strata {

namespace {

// Points or plateaus of one number of threads, which lie next to each other.
template <class Point>
std::span<const Point> of_threads(const std::vector<Point>& points, int threads) {
  const auto range = std::ranges::equal_range(points, threads, {}, &Point::threads);
  return {range.begin(), range.end()};
}

// The figure of `threads` threads, between those of the nearest measured numbers of threads.
template <class Point>
double between_thread_counts(const std::vector<Point>& points, int threads,
                             const std::function<double(std::span<const Point>)>& figure) {
  std::set<int> measured;
  for (const Point& point : points) measured.insert(point.threads);
  if (measured.empty()) return 0;
  const int within = std::clamp(threads, *measured.begin(), *measured.rbegin());
  const int above = *measured.lower_bound(within);
  const double at_above = figure(of_threads(points, above));
  if (above == within) return at_above;
  const int below = *std::prev(measured.lower_bound(within));
  const double at_below = figure(of_threads(points, below));
  return std::lerp(at_below, at_above,
                   static_cast<double>(within - below) / static_cast<double>(above - below));
}

// The largest cache that only the logical processors of one core share; none if none is reported.
// A third level is meant to be shared, even on a machine with one core.
const CacheLevel* private_cache(const std::vector<CacheLevel>& caches) {
  const CacheLevel* largest = nullptr;
  for (const CacheLevel& cache : caches) {
    if (cache.level <= 2 && cache.shared_by <= 2) largest = &cache;
  }
  return largest;
}

// The end of the plateau of the private caches, which have so many bytes by the system's word.
// Without that (0) it is the second plateau, behind the first-level caches.
Offset end_of_private_plateau(std::span<const Plateau> plateaus, Offset reported) {
  const auto in_cache = plateaus.first(plateaus.size() - 1);
  if (in_cache.empty()) return 0;
  if (reported == 0) return in_cache[std::min<std::size_t>(1, in_cache.size() - 1)].bytes;
  for (const Plateau& plateau : in_cache) {
    if (plateau.bytes >= reported / 2) return std::min(plateau.bytes, reported);
  }
  return in_cache.back().bytes;
}

}  // namespace

double bandwidth_on(std::span<const BandwidthPoint> curve, Offset working_set) {
  if (working_set <= curve.front().bytes) return curve.front().bytes_per_second;
  if (working_set >= curve.back().bytes) return curve.back().bytes_per_second;
  const auto above = std::ranges::lower_bound(curve, working_set, {}, &BandwidthPoint::bytes);
  const auto below = above - 1;
  const auto position = [&](Offset bytes) { return std::log(static_cast<double>(bytes)); };
  const double share = (position(working_set) - position(below->bytes)) /
                       (position(above->bytes) - position(below->bytes));
  return std::lerp(below->bytes_per_second, above->bytes_per_second, share);
}

double MachineProfile::read_bandwidth(int threads, Offset working_set) const {
  return between_thread_counts<BandwidthPoint>(
      read, threads, [&](auto curve) { return bandwidth_on(curve, working_set); });
}

double MachineProfile::peak_flops(int threads) const {
  return cores > 0 ? flops_per_second * std::min(threads, cores) / cores : 0;
}

double MachineProfile::memory_bandwidth(int threads) const {
  return between_thread_counts<Plateau>(
      plateaus, threads, [](auto of_count) { return of_count.back().bytes_per_second; });
}

Offset MachineProfile::cache_bytes(int threads) const {
  return static_cast<Offset>(between_thread_counts<Plateau>(plateaus, threads, [](auto of_count) {
    return of_count.size() < 2 ? 0.0 : static_cast<double>(of_count[of_count.size() - 2].bytes);
  }));
}

Offset MachineProfile::private_cache_bytes(int threads) const {
  const CacheLevel* cache = private_cache(caches);
  return static_cast<Offset>(between_thread_counts<Plateau>(plateaus, threads, [&](auto of_count) {
    const Offset reported = cache ? all_instances(*cache, of_count.front().threads) : 0;
    return static_cast<double>(end_of_private_plateau(of_count, reported));
  }));
}

Offset MachineProfile::all_instances(const CacheLevel& cache, int threads) const {
  const int instances = std::clamp(threads, 1, std::max(1, ceil_div(cores, cache.shared_by)));
  return checked_multiply(cache.bytes, instances, "the bytes of all caches of a level");
}

Offset MachineProfile::last_level_bytes() const {
  return caches.empty() ? 0 : all_instances(caches.back(), cores);
}

}  // namespace strata
