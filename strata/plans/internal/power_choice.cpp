#include "strata/plans/internal/power_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "strata/plans/internal/explanation.hpp"
#include "strata/plans/internal/planning.hpp"

namespace strata::detail {

namespace {

// Orders and groups of rows that suit these suit fewer and more, as far as these are of use.
constexpr int kPlannedOnProcessors = 6;
// All sweeps that GPUs have fill this many powers.
constexpr int kPlannedOnGpus = 12;
constexpr Offset kFewProducts = 4;
// What one more power per sweep has to gain.
constexpr double kLeastGain = 0.004;

PowerCandidate scaled(PowerCandidate candidate, double factor) {
  candidate.memory_bytes *= factor;
  candidate.predicted_seconds *= factor;
  candidate.predicted_overlapped_seconds *= factor;
  candidate.measured_seconds *= factor;
  return candidate;
}

// Those that were timed before those that were not.
std::pair<bool, double> rank_of(const PowerCandidate& candidate) {
  return {candidate.measured_seconds == 0, candidate.seconds()};
}

// The best with so many powers in every sweep, with the seconds of one.
std::optional<PowerCandidate> best_sweep(const PlanRecord& record, int power, int planned) {
  const PowerCandidate* best = nullptr;
  for (const PowerCandidate& candidate : record.candidates) {
    if (candidate.block != power || candidate.plain() != (power == 1)) continue;
    if (best == nullptr || rank_of(candidate) < rank_of(*best)) best = &candidate;
  }
  if (best == nullptr) return std::nullopt;
  return scaled(*best, static_cast<double>(power) / planned);
}

const PowerCandidate* way_to(const std::vector<PowerSpeed>& speeds, int power) {
  const auto found = std::ranges::find(speeds, power, &PowerSpeed::power);
  return found == speeds.end() ? nullptr : &found->way;
}

// One sweep after another, the last of them shorter: the fastest of these by the model.
std::optional<PowerCandidate> in_sweeps(const std::vector<PowerSpeed>& speeds, int power) {
  std::optional<PowerCandidate> best;
  for (const auto& [block, sweep] : speeds) {
    if (block == 1 || sweep.block != block) continue;
    PowerCandidate all = scaled(sweep, power / block);
    if (power % block != 0) {
      const PowerCandidate* rest = way_to(speeds, power % block);
      if (rest == nullptr) continue;
      all.memory_bytes += rest->memory_bytes;
      all.predicted_seconds += rest->predicted_seconds;
      all.predicted_overlapped_seconds += rest->predicted_overlapped_seconds;
      all.measured_seconds = 0;
    }
    if (!best || all.predicted_seconds < best->predicted_seconds) best = all;
  }
  return best;
}

}  // namespace

int most_powers(const PowerOptions& options) {
  if (options.products == 0) return options.power;
  return static_cast<int>(std::min<Offset>(options.products, kLargestChosenPower));
}

PowerOptions search_options(const PowerOptions& options, KernelTarget target) {
  PowerOptions search = options;
  search.power = std::min(most_powers(options), kPlannedOnProcessors);
  if (target == KernelTarget::gpu && options.products >= kFewProducts) {
    search.power = kPlannedOnGpus;
  }
  // Timings do not depend on it, and it need not have so many vectors.
  search.basis = Basis::monomial();
  return search;
}

std::vector<int> block_sizes(const PowerOptions& options) {
  if (options.products == 0) return block_sizes(options.power, options.block);
  std::vector<int> sizes;
  for (int size = most_powers(options); size >= 2; --size) sizes.push_back(size);
  return sizes;
}

std::vector<int> judged_sweeps(const PowerOptions& options, int block) {
  if (options.products == 0) return blocks_of(options.power, block);
  return {block};
}

double ProductsToRun::sweep_seconds(const PowerCandidate& candidate) const {
  return candidate.predicted_seconds * candidate.block / options_.power;
}

void ProductsToRun::add(const PowerCandidate& candidate) {
  if (candidate.block > kLargestChosenPower) return;
  double& shortest = shortest_[static_cast<std::size_t>(candidate.block)];
  const double seconds = sweep_seconds(candidate);
  shortest = shortest == 0 ? seconds : std::min(shortest, seconds);
}

double ProductsToRun::factor(const PowerCandidate& candidate) const {
  if (options_.products == 0) return 1;
  const Offset power = candidate.block;
  if (power > options_.products) return std::numeric_limits<double>::infinity();
  const Offset left = options_.products % power;
  double last = left > 0 ? 1 : 0;  // sweeps that the rest takes as long as
  const double own = sweep_seconds(candidate);
  const double shorter = shortest_[static_cast<std::size_t>(left)];
  if (left > 0 && shorter > 0 && own > 0) last = std::min(shorter / own, 1.0);
  const double sweeps = static_cast<double>(options_.products / power) + last;
  return sweeps * static_cast<double>(power) / static_cast<double>(options_.products) *
         (1 + kLeastGain * static_cast<double>(power - 1));
}

int settle_power(PlanRecord& record, const PowerOptions& searched) {
  record.products = searched.products;
  for (int power = 1; power <= most_powers(searched); ++power) {
    std::optional<PowerCandidate> way = best_sweep(record, power, searched.power);
    const std::optional<PowerCandidate> shorter = in_sweeps(record.by_power, power);
    // Sweeps of one kind are compared over p; another kind counts where it is faster.
    const bool other_kind = way && shorter && way->strategy != shorter->strategy;
    if (!way || (other_kind && rank_of(*shorter) < rank_of(*way))) way = shorter;
    if (way) record.by_power.push_back({power, *way});
  }
  const int power = record.choice().block;
  // Of one product, the best sweep tells why there is none.
  std::vector<PowerCandidate> ways;
  bool has_sweep = power > 1;
  for (const PowerCandidate& candidate : record.candidates) {
    if (!candidate.plain() && candidate.block != power && has_sweep) continue;
    has_sweep = has_sweep || !candidate.plain();
    ways.push_back(scaled(candidate, static_cast<double>(power) / searched.power));
  }
  record.candidates = std::move(ways);
  record.plain_seconds *= static_cast<double>(power) / searched.power;
  return power;
}

}  // namespace strata::detail

namespace strata {

std::string power_reason(const PlanRecord& record) {
  using detail::bytes_text;
  if (record.by_power.empty()) return {};
  const int power = record.choice().block;
  const auto per_product = [](const PowerSpeed& speed, bool timed) {
    return (timed ? speed.way.measured_seconds : speed.way.predicted_seconds) / speed.power;
  };
  const auto own = std::ranges::find(record.by_power, power, &PowerSpeed::power);
  const bool timed = own->way.measured_seconds > 0;
  std::string text =
      fmt::format("p = {} is the best of 1 … {} for {} product{}", power,
                  record.by_power.back().power, record.products, record.products == 1 ? "" : "s");
  // Compared by the same measure: timings with timings.
  const PowerSpeed* more = nullptr;
  const PowerSpeed* fewer = nullptr;
  for (const PowerSpeed& other : record.by_power) {
    const bool own_sweep = other.way.block == other.power;
    if (other.power == power || !own_sweep || (timed && other.way.measured_seconds == 0)) continue;
    const PowerSpeed*& side = other.power > power ? more : fewer;
    if (side == nullptr || per_product(other, timed) < per_product(*side, timed)) side = &other;
  }
  const auto times = [&](const PowerSpeed& other) {
    return fmt::format("p = {} takes {:.2f} times as long", other.power,
                       per_product(other, timed) / per_product(*own, timed));
  };
  text += timed ? ", as timed." : ", by the model.";
  if (fewer != nullptr) {
    const double bytes = fewer->way.memory_bytes / fewer->power;
    const double own_bytes = own->way.memory_bytes / power;
    text += fmt::format(" Of the smaller ones {}", times(*fewer));
    // In a cache there is nothing from memory to save.
    text += bytes > own_bytes ? fmt::format(": {} per product come from memory instead of {}.",
                                            bytes_text(bytes), bytes_text(own_bytes))
                              : ".";
  }
  if (more != nullptr) {
    const std::string window = bytes_text(static_cast<double>(more->way.window_bytes));
    text += fmt::format(
        " Of the larger ones {}{}.", times(*more),
        own->way.plain()
            ? fmt::format(", with a window of {}", window)
            : fmt::format(": its window is {} instead of {}, and it needs {} vectors "
                          "instead of {}",
                          window, bytes_text(static_cast<double>(own->way.window_bytes)),
                          more->power + 1, power + 1));
  }
  return text;
}

}  // namespace strata
