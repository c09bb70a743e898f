#include "strata/model/power_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "strata/base/error.hpp"

namespace strata {

namespace {

struct Part {
  Bound name;
  double seconds;
};
using Parts = std::array<Part, 5>;

const Part& longest_of(const Parts& parts) {
  return *std::ranges::max_element(parts, {}, &Part::seconds);
}

void require_rates(const Rates& rates) {
  if (!(rates.memory > 0) || !(rates.cache > 0) || !(rates.flops >= 0) ||
      !(rates.synchronisation_seconds >= 0)) {
    throw InvalidArgument(
        fmt::format("a machine with {} bytes/s of memory, {} of cache, {} flop/s and {} s per "
                    "synchronisation",
                    rates.memory, rates.cache, rates.flops, rates.synchronisation_seconds));
  }
}

void require_places(const SweepCosts& costs, const Rates& rates) {
  require_rates(rates);
  if (costs.shared_bytes > 0 && !(rates.shared > 0)) {
    throw InvalidArgument("bytes come from a shared cache that the machine does not have");
  }
}

double shared_seconds(double bytes, const Rates& rates) {
  return rates.shared > 0 ? bytes / rates.shared : 0;
}

double kernel_seconds(double flops, const Rates& rates) {
  return rates.flops > 0 ? flops / rates.flops : 0;
}

}  // namespace

Prediction predict_without_overlap(const SweepCosts& costs, const Rates& rates) {
  require_places(costs, rates);
  const double bytes = costs.memory_bytes + costs.shared_bytes + costs.cache_bytes;
  const double share_in_cache = bytes > 0 ? costs.cache_bytes / bytes : 1;
  const double cache = costs.cache_bytes / rates.cache;
  const double kernel = kernel_seconds(costs.flops * share_in_cache, rates);
  // Cache and kernel are two limits of the same phase: one of them counts.
  const Parts parts{
      Part{Bound::memory, costs.memory_bytes / rates.memory},
      Part{Bound::shared_cache, shared_seconds(costs.shared_bytes, rates)},
      Part{Bound::cache, cache >= kernel ? cache : 0},
      Part{Bound::compute, cache >= kernel ? 0 : kernel},
      Part{Bound::synchronisation, costs.synchronisations * rates.synchronisation_seconds}};
  double sum = 0;
  for (const Part& part : parts) sum += part.seconds;
  return {sum, longest_of(parts).name};
}

Prediction predict_with_overlap(const SweepCosts& costs, const Rates& rates) {
  require_places(costs, rates);
  const double all = costs.memory_bytes + costs.shared_bytes + costs.cache_bytes;
  const Parts parts{
      Part{Bound::memory, costs.memory_bytes / rates.memory},
      Part{Bound::shared_cache, shared_seconds(costs.memory_bytes + costs.shared_bytes, rates)},
      Part{Bound::cache, all / rates.cache},
      Part{Bound::compute, kernel_seconds(costs.flops, rates)},
      Part{Bound::synchronisation, costs.synchronisations * rates.synchronisation_seconds}};
  const Part& longest = longest_of(parts);
  return {longest.seconds, longest.name};
}

double blocked_performance(int power, double memory_performance, double cache_performance) {
  if (power < 1) throw InvalidArgument(fmt::format("power {} is not positive", power));
  if (!(memory_performance > 0) || !(cache_performance > 0)) {
    throw InvalidArgument(fmt::format("performance {} out of memory and {} out of cache",
                                      memory_performance, cache_performance));
  }
  const double share = 1.0 / power;
  return 1 / (share / memory_performance + (1 - share) / cache_performance);
}

std::vector<SpeedUp> speed_up_table(double ratio, int max_power) {
  std::vector<SpeedUp> table;
  for (int power = 1; power <= max_power; ++power) {
    table.push_back({power, blocked_performance(power, 1, ratio),
                     std::min(static_cast<double>(power), std::max(ratio, 1.0))});
  }
  return table;
}

double with_latency(double full_bandwidth, double overhead_seconds, double piece_bytes) {
  if (!(piece_bytes > 0)) {
    throw InvalidArgument(fmt::format("a piece of {} bytes has no bandwidth", piece_bytes));
  }
  return piece_bytes / (overhead_seconds + piece_bytes / full_bandwidth);
}

Rates with_latency(const Rates& rates, double piece_bytes) {
  require_rates(rates);
  return {.memory = with_latency(rates.memory, rates.synchronisation_seconds, piece_bytes),
          .cache = with_latency(rates.cache, rates.synchronisation_seconds, piece_bytes),
          .synchronisation_seconds = 0,
          .flops = rates.flops,
          .shared = rates.shared > 0
                        ? with_latency(rates.shared, rates.synchronisation_seconds, piece_bytes)
                        : 0};
}

}  // namespace strata
