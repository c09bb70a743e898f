#include "strata/plans/internal/prediction.hpp"

#include <algorithm>

#include "strata/plans/internal/planning.hpp"

namespace strata::detail {

namespace {

// Of a machine without a profile: everything is equally fast.
constexpr double kUnknownRate = 1e10;

}  // namespace

Places places_of(const MachineProfile& profile, int threads, const PowerOptions& options) {
  Places places;
  places.private_bytes =
      window_budget(options, profile.private_cache_bytes(threads), kProcessorCacheShare);
  PowerOptions measured = options;
  measured.cache_bytes = 0;
  places.shared_bytes =
      std::max(window_budget(measured, profile.cache_bytes(threads), kProcessorCacheShare),
               places.private_bytes);
  Rates& rates = places.rates;
  // A profile without any bandwidth leaves nothing to decide by: let everything be equally fast.
  rates.memory = profile.read.empty() ? kUnknownRate : profile.memory_bandwidth(threads);
  rates.cache = std::max(profile.read_bandwidth(threads, places.private_bytes), rates.memory);
  rates.shared = std::clamp(
      profile.read_bandwidth(threads, std::min(4 * places.private_bytes, places.shared_bytes)),
      rates.memory, rates.cache);
  rates.synchronisation_seconds = profile.handoff_seconds;
  return places;
}

SweepCosts costs_of(const ReuseProfile& profile, const Places& places, Offset rows,
                    Offset row_bytes, const Schedule& schedule) {
  const int power = schedule.power;
  const auto all = static_cast<double>(profile.bytes_read());
  const auto past_private = static_cast<double>(profile.bytes_loaded(places.private_bytes));
  const auto past_shared = static_cast<double>(profile.bytes_loaded(places.shared_bytes));
  // x is read, and every power written: a line is loaded before and stored after.
  const double vectors =
      static_cast<double>(rows) * static_cast<double>(row_bytes) * (1.0 + 2.0 * power);
  const Offset working_set = profile.bytes_once() + rows * row_bytes * (power + 1);
  SweepCosts costs;
  costs.synchronisations = static_cast<int>(schedule.tasks.size());
  if (working_set <= places.private_bytes) {
    costs.cache_bytes = all + vectors;
  } else if (working_set <= places.shared_bytes) {
    costs.shared_bytes = past_private + vectors;
    costs.cache_bytes = all - past_private;
  } else {
    costs.memory_bytes = past_shared + vectors;
    costs.shared_bytes = past_private - past_shared;
    costs.cache_bytes = all - past_private;
  }
  return costs;
}

SweepCosts operator+(const SweepCosts& a, const SweepCosts& b) {
  return {.memory_bytes = a.memory_bytes + b.memory_bytes,
          .cache_bytes = a.cache_bytes + b.cache_bytes,
          .flops = a.flops + b.flops,
          .synchronisations = a.synchronisations + b.synchronisations,
          .shared_bytes = a.shared_bytes + b.shared_bytes};
}

Rates limited_by_kernel(Rates rates, const SweepCosts& costs, double kernel_seconds) {
  const double bytes = costs.memory_bytes + costs.shared_bytes + costs.cache_bytes;
  if (!(kernel_seconds > 0) || !(bytes > 0)) return rates;
  const double kernel_rate = bytes / kernel_seconds;
  rates.memory = std::min(rates.memory, kernel_rate);
  rates.shared = std::min(rates.shared, kernel_rate);
  rates.cache = std::min(rates.cache, kernel_rate);
  return rates;
}

}  // namespace strata::detail
