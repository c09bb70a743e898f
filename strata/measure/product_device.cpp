#include "strata/measure/product_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "strata/base/instantiate.hpp"

namespace strata {

namespace {

constexpr Offset kWays = 16;

// As much of a cache as comes out in whole sets.
CacheShape cache_of(Offset bytes, Offset line_bytes) {
  const Offset set_bytes = kWays * line_bytes;
  return {.bytes = bytes / set_bytes * set_bytes, .ways = kWays, .line_bytes = line_bytes};
}

// Working sets that no longer read faster than memory are not in a cache, whatever the system
// reports. A level that then holds no more than the one before it is as good as not there.
std::vector<MemoryLevel> cache_levels(const MachineProfile& profile, int threads) {
  const Offset most = profile.cache_bytes(threads);
  std::vector<MemoryLevel> levels;
  const auto add = [&](std::string name, Offset reported) {
    const Offset bytes = std::min(reported, most);
    if (bytes <= (levels.empty() ? 0 : levels.back().bytes)) return;
    levels.push_back({std::move(name), bytes, profile.read_bandwidth(threads, bytes / 2)});
  };
  for (const CacheLevel& cache : profile.caches) {
    add(fmt::format("L{}", cache.level), profile.all_instances(cache, threads));
  }
  add("cache", most);  // what is beyond those that are reported
  return levels;
}

// Consecutive rows of a pattern.
template <Index I>
struct RowRun {
  Offset first = 0;
  Offset last = 0;
  const PatternView<I>& pattern;

  Offset entries() const { return pattern.row_offsets[last] - pattern.row_offsets[first]; }

  // Elements of x that come from memory in one product of these rows alone.
  double x_elements(const CacheShape& cache, const ElementSizes& sizes) const {
    std::vector<Offset> offsets;
    offsets.reserve(static_cast<std::size_t>(last - first + 1));
    const Offset begin = pattern.row_offsets[first];
    for (Offset row = first; row <= last; ++row) {
      offsets.push_back(pattern.row_offsets[row] - begin);
    }
    const PatternView<I> run{static_cast<I>(last - first), pattern.cols, offsets,
                             pattern.columns.subspan(begin, entries())};
    return predicted_alpha(run, cache, sizes) * static_cast<double>(run.entries());
  }
};

// The row that has the entry of this number, or the first one behind it.
template <Index I>
Offset row_of_entry(const PatternView<I>& pattern, Offset entry) {
  const auto found = std::ranges::lower_bound(pattern.row_offsets, entry);
  return std::min<Offset>(found - pattern.row_offsets.begin(), pattern.rows);
}

struct Sampled {
  double x_elements = 0;
  Offset counted = 0;  // entries
  Offset played = 0;
};

// Both the whole run and its first half load what no row before has left in the cache: the
// difference is what the second half loads.
template <Index I>
void sample_run(const PatternView<I>& pattern, Offset first_entry, Offset entries,
                const CacheShape& cache, const ElementSizes& sizes, Sampled& sampled) {
  const Offset first = row_of_entry(pattern, first_entry);
  const RowRun<I> whole{first, row_of_entry(pattern, first_entry + entries), pattern};
  const RowRun<I> half{first, row_of_entry(pattern, first_entry + entries / 2), pattern};
  sampled.x_elements +=
      std::max(0.0, whole.x_elements(cache, sizes) - half.x_elements(cache, sizes));
  sampled.counted += whole.entries() - half.entries();
  sampled.played += whole.entries();
}

}  // namespace

VectorTraffic ProductDevice::vectors_of(const ProductWork& work) const {
  return {.rows = work.rows,
          .cols = work.cols,
          .value_bytes = static_cast<double>(work.value_bytes),
          .write_allocate = write_allocate};
}

double ProductDevice::peak_of(const ProductWork& work) const {
  const bool complex = work.flops_per_entry > 2;
  const double real_bytes = static_cast<double>(work.value_bytes) / (complex ? 2 : 1);
  return peak_flops * sizeof(double) / real_bytes;
}

ProductDevice product_device(const MachineProfile& profile, int threads) {
  constexpr Offset kLine = 64;
  ProductDevice device;
  if (profile.cache_bytes(threads) > 0) device.levels = cache_levels(profile, threads);
  device.levels.push_back({"dram", 0, profile.memory_bandwidth(threads)});
  device.peak_flops = profile.peak_flops(threads);
  const int at_once = std::clamp(threads, 1, std::max(1, profile.cores));
  device.cache = cache_of(device.cached_bytes() / at_once, kLine);
  return device;
}

ProductDevice product_device(const gpu::GpuProfile& profile) {
  constexpr Offset kSector = 32;
  ProductDevice device{.levels = {},
                       .x_through_first = false,
                       .write_allocate = false,
                       .peak_flops = 0,
                       .cache = cache_of(profile.l2_bytes(), kSector)};
  if (profile.l2_bytes() > 0) {
    device.levels.push_back({"L2", profile.l2_bytes(), profile.l2_bandwidth()});
  }
  device.levels.push_back({"dram", 0, profile.memory_bandwidth()});
  return device;
}

std::vector<MemoryCeiling> product_ceilings(const ProductDevice& device, const ProductWork& work,
                                            const FormatSpec& format, Offset format_bytes) {
  VectorTraffic vectors = device.vectors_of(work);
  const double moved = static_cast<double>(format_bytes) + vectors.bytes();
  std::vector<MemoryCeiling> ceilings;
  Offset nearer = 0;
  for (const MemoryLevel& level : device.levels) {
    const bool passes = ceilings.empty() || moved > static_cast<double>(nearer);
    ceilings.push_back({level.name, passes ? moved : 0, level.bytes_per_second});
    nearer = level.bytes;
  }
  if (device.x_through_first && device.levels.size() > 1 && work.cols > 0) {
    const auto rows_of_block = static_cast<double>(format.parameter("block_rows").value_or(1));
    vectors.x_loads =
        static_cast<double>(work.entries) / rows_of_block / static_cast<double>(work.cols);
    ceilings.front().bytes = static_cast<double>(format_bytes) + vectors.bytes();
  }
  return ceilings;
}

Roofline product_roofline(const ProductDevice& device, const ProductWork& work,
                          const FormatSpec& format, Offset format_bytes) {
  return roofline(work.flops(), device.peak_of(work),
                  product_ceilings(device, work, format, format_bytes));
}

template <Index I>
AlphaPrediction predict_alpha(const PatternView<I>& pattern, const ProductDevice& device,
                              const ElementSizes& sizes, Offset most_entries) {
  const auto entries = static_cast<double>(pattern.entries());
  const double bytes =
      CsrTraffic{entries, static_cast<double>(pattern.rows), sizes}.minimum_bytes();
  if (bytes <= static_cast<double>(device.cached_bytes())) return {.alpha = 0, .sampled_share = 0};
  if (device.cache.bytes == 0) {
    return {.alpha = pattern.entries() > 0 ? 1.0 : 0.0, .sampled_share = 0};
  }
  if (pattern.entries() <= most_entries) {
    return {.alpha = predicted_alpha(pattern, device.cache, sizes), .sampled_share = 1};
  }
  // Half a run is several times the cache, so that it leaves nothing of its own beginning there.
  const auto entries_of_cache =
      static_cast<Offset>(static_cast<double>(device.cache.bytes) / (sizes.value + sizes.index));
  constexpr Offset kMostRuns = 4;
  const Offset of_run =
      std::min(std::max(most_entries / kMostRuns, 6 * entries_of_cache), pattern.entries());
  const Offset runs = std::max<Offset>(1, most_entries / of_run);
  const Offset space = (pattern.entries() - of_run) / (runs + 1);  // between runs, about
  Sampled sampled;
  for (Offset run = 0; run < runs; ++run) {
    sample_run(pattern, (run + 1) * space, of_run, device.cache, sizes, sampled);
  }
  return {
      .alpha = sampled.counted == 0 ? predicted_alpha(pattern, device.cache, sizes)
                                    : sampled.x_elements / static_cast<double>(sampled.counted),
      .sampled_share = sampled.counted == 0 ? 1 : static_cast<double>(sampled.played) / entries};
}

int saturating_threads(std::span<const ScalingPoint> points, double share) {
  int fewest = 0;
  if (points.empty()) return fewest;
  const double best = std::ranges::max_element(points, {}, &ScalingPoint::per_second)->per_second;
  for (const ScalingPoint& point : points) {
    if (point.per_second < share * best) continue;
    if (fewest == 0 || point.threads < fewest) fewest = point.threads;
  }
  return fewest;
}

std::vector<int> scaling_thread_counts(int first, int last) {
  constexpr int kEvery = 8;
  std::vector<int> counts;
  for (int count = first; count <= last; ++count) {
    const bool power = (count & (count - 1)) == 0;
    if (count <= kEvery || power || count == last) counts.push_back(count);
  }
  return counts;
}

#define STRATA_INSTANTIATE(I)                                                         \
  template AlphaPrediction predict_alpha(const PatternView<I>&, const ProductDevice&, \
                                         const ElementSizes&, Offset)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
