// How fast a power sweep can be: p products of which the first loads the matrix from memory and the
// others find it on chip.
//
// Two bounds enclose what happens. Without overlap the times of memory, cache and synchronisation
// add up (M. Panzlaff: Matrix Power Kernels on GPUs, Erlangen 2024, equation 4.8). With perfect
// overlap, where all of them work at the same time, the slowest alone counts.
#pragma once

#include <vector>
#include "strata/model/bound.hpp"

namespace strata {

// What one sweep over all powers moves and does.
struct SweepCosts {
  double memory_bytes = 0;   // that come from memory or go there
  double cache_bytes = 0;    // that are found in the cache instead
  double flops = 0;          // of all powers
  int synchronisations = 0;  // one after another
  double shared_bytes = 0;   // found in a cache between memory and the fast one, if there is one
};

// What the machine does per second.
struct Rates {
  double memory = 0;                   // bytes
  double cache = 0;                    // bytes
  double synchronisation_seconds = 0;  // of one
  double flops = 0;                    // of the kernel on data in cache; 0: never the limit
  double shared = 0;                   // bytes, of a cache between; 0: there is none
};

struct Prediction {
  double seconds = 0;
  Bound bound = Bound::memory;  // what takes longest

  double flops_per_second(const SweepCosts& costs) const { return costs.flops / seconds; }
};

// Nothing overlaps: bytes from memory at the memory's speed, bytes from cache at the cache's (or
// the kernel's share of the flops at the kernel's, if that is longer), then the synchronisations.
Prediction predict_without_overlap(const SweepCosts& costs, const Rates& rates);

// Everything overlaps: the longest of memory, cache, kernel and synchronisations. What comes from
// memory passes through the cache as well.
Prediction predict_with_overlap(const SweepCosts& costs, const Rates& rates);

// Panzlaff 4.8: the performance of p powers from those of a product out of memory and out of cache.
double blocked_performance(int power, double memory_performance, double cache_performance);

// The speed-up over p plain products that a cache `ratio` times as fast as memory allows at best.
struct SpeedUp {
  int power = 1;
  double without_overlap = 1;  // Panzlaff 4.8
  double with_overlap = 1;     // min(p, ratio)
};
// For p = 1 … max_power: a line of Panzlaff's Table 4.5.
std::vector<SpeedUp> speed_up_table(double ratio, int max_power);

// Panzlaff 4.12, Hockney's model: the bandwidth of pieces of so many bytes that each begin with a
// fixed latency.
double with_latency(double full_bandwidth, double overhead_seconds, double piece_bytes);

// The rates of memory and cache for a sweep in such pieces, with a synchronisation before each. The
// rates then include the synchronisations, which cost nothing further.
Rates with_latency(const Rates& rates, double piece_bytes);

}  // namespace strata
