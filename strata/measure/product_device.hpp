// A processor or a GPU as the models of a product see it: its levels of memory with what was
// measured of them, the cache that α is predicted for, and what follows for a product: its
// roofline, its α, and the number of threads at which more of them stop to help.
//
//   const ProductDevice device = product_device(cached_machine_profile().profile, 2);
//   device.levels.back();                                    // {"dram", 0, 58.2e9}
//   const Roofline roof = product_roofline(device, work_of(matrix), FormatSpec(Format::csr),
//                                          matrix.footprint().bytes());
//   roof.limit;                                              // "dram"
//   predict_alpha(matrix.pattern(), device).alpha;           // 0.04
#pragma once

#include <span>
#include <string>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/format_spec.hpp"
#include "strata/formats/pattern.hpp"
#include "strata/machine/gpu/profile.hpp"
#include "strata/machine/profile.hpp"
#include "strata/measure/matrix_analysis.hpp"
#include "strata/model/product_model.hpp"

namespace strata {

struct MemoryLevel {
  std::string name;  // "L1", "L2", …; "dram" is memory
  Offset bytes = 0;  // that all its instances hold, as far as they read faster; memory: 0
  double bytes_per_second = 0;  // measured, of a working set of half its size

  bool operator==(const MemoryLevel&) const = default;
};

struct ProductDevice {
  std::vector<MemoryLevel> levels;  // fastest first; the last is memory
  // Whether every element of x passes the first of them. On GPUs it does not: bandwidths are
  // measured past the first-level caches.
  bool x_through_first = true;
  bool write_allocate = true;  // see VectorTraffic
  double peak_flops = 0;       // per second, in double precision, as measured; 0: not known
  CacheShape cache;            // that α is predicted for: the share of one thread; 0 bytes: none

  double memory_bandwidth() const { return levels.back().bytes_per_second; }
  // Working sets up to this stay in caches.
  Offset cached_bytes() const { return levels.size() < 2 ? 0 : levels[levels.size() - 2].bytes; }
  VectorTraffic vectors_of(const ProductWork& work) const;
  // A register holds more numbers if they are smaller.
  double peak_of(const ProductWork& work) const;
};

// Threads share the last-level cache, and each goes through rows of its own: α is that of an equal
// share.
ProductDevice product_device(const MachineProfile& profile, int threads);
// All threads of a GPU share its L2, which loads x in sectors of 32 bytes.
ProductDevice product_device(const gpu::GpuProfile& profile);

// What a product moves through every level, nearest first: all of it through each that the levels
// before cannot hold, and through the first an element of x per entry, or per block of BCSR.
std::vector<MemoryCeiling> product_ceilings(const ProductDevice& device, const ProductWork& work,
                                            const FormatSpec& format, Offset format_bytes);
// Of these. Throws InvalidArgument for a matrix without entries.
Roofline product_roofline(const ProductDevice& device, const ProductWork& work,
                          const FormatSpec& format, Offset format_bytes);

struct AlphaPrediction {
  double alpha = 0;
  double sampled_share = 1;  // of the entries that were played into the cache; 0: none had to be

  bool operator==(const AlphaPrediction&) const = default;
};

inline constexpr Offset kEntriesOfAlpha = 20'000'000;

// predicted_alpha for the device's cache: 0 where the CSR matrix and its vectors stay there. Of
// matrices with more than `most_entries` runs of rows from all over are played, each long enough to
// flush the cache several times, and of these the second half counts, which finds of x what the
// first half left.
template <Index I>
AlphaPrediction predict_alpha(const PatternView<I>& pattern, const ProductDevice& device,
                              const ElementSizes& sizes = {},
                              Offset most_entries = kEntriesOfAlpha);

// What some number of threads reach.
struct ScalingPoint {
  int threads = 1;
  double per_second = 0;  // flops or bytes
};

// The fewest threads that reach this share of what the best number of them does; 0 without points.
int saturating_threads(std::span<const ScalingPoint> points, double share = 0.95);

// Numbers of threads that show how a product scales: all up to 8, then powers of two, and `last`.
std::vector<int> scaling_thread_counts(int first, int last);

}  // namespace strata
