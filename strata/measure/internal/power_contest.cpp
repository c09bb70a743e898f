#include "strata/measure/internal/power_contest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace strata::internal {

namespace {

using PowerContenders = std::vector<PowerContender>;

class PowerContest {
 public:
  PowerContest(const PowerDevice& device, const PowerSweep& sweep, const ContestOptions& options)
      : device_(device), sweep_(sweep), options_(options) {}

  PowerContenders run(int power, Offset cache_bytes) {
    PowerContenders contenders = invite(power, cache_bytes);
    for (PowerContender& contender : contenders) count(contender.result);
    measure(contenders);
    if (sweep_.trace) trace(contenders);
    compare(contenders);
    return contenders;
  }

 private:
  PowerContenders invite(int power, Offset cache_bytes) {
    PowerContenders contenders;
    if (device_.plan) {
      contenders.push_back(plan(power, 0, PowerStrategy::spmv));
      for (const PowerStrategy strategy : sweep_.strategies) {
        if (strategy == PowerStrategy::spmv) continue;
        contenders.push_back(plan(power, cache_bytes, strategy));
      }
      add_plain_in_levels(contenders);
    }
    if (device_.library) {
      options_.report("preparing the vendor's library");
      contenders.push_back(device_.library(power));
    }
    return contenders;
  }

  PowerContender plan(int power, Offset cache_bytes, PowerStrategy strategy) {
    options_.report(fmt::format("planning {} for p = {}", name_of(strategy), power));
    PowerOptions options = sweep_.options;
    options.power = power;
    options.cache_bytes = cache_bytes;
    options.strategy = strategy;
    return device_.plan(options);
  }

  // Where a plan reorders, plain products in that order compete as well: ordering alone can make
  // products faster or slower.
  void add_plain_in_levels(PowerContenders& contenders) {
    const auto reordering = std::ranges::find_if(contenders, [](const PowerContender& contender) {
      return contender.result.choice.order.kind == RowOrder::Kind::levels;
    });
    if (reordering == contenders.end()) return;
    options_.report("reordering for plain products");
    PowerContender plain = reordering->plain_in_this_order();
    plain.result.choice.order = reordering->result.choice.order;
    contenders.insert(contenders.begin() + 1, std::move(plain));
  }

  void count(PowerResult& result) const {
    PowerWork work = device_.work;
    work.power = result.power();
    result.context.flops = work.flops();
    result.measurement.flops = work.flops();
    result.measurement.bytes = work.power * work.product_bytes(result.choice.format_bytes);
    result.minimum_bytes = work.minimum_bytes();
    if (device_.gpu != nullptr) result.formulas = formulas_of(*device_.gpu, result.choice, work);
  }

  void measure(PowerContenders& contenders) const {
    std::vector<Contender> entered;
    for (PowerContender& contender : contenders) entered.push_back(entry_of(contender));
    std::vector<Measurement> measurements = hold_contest(entered, options_);
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      PowerContender& contender = contenders[i];
      contender.result.measurement = std::move(measurements[i]);
      if (!contender.run || options_.validate) continue;
      contender.run();
      contender.result.overflow = contender.examine(false).overflow;
    }
  }

  // Apart from what is timed. A run before it fills the caches as the runs that were timed did.
  void trace(PowerContenders& contenders) const {
    for (PowerContender& contender : contenders) {
      if (!contender.trace) continue;
      options_.report(fmt::format("tracing {} for p = {}", name_of(contender.result.asked()),
                                  contender.result.power()));
      contender.run();
      contender.result.trace = contender.trace();
    }
  }

  static Contender entry_of(PowerContender& contender) {
    const PowerResult& result = contender.result;
    return {.name = fmt::format("{}, p = {}", name_of(result.asked()), result.power()),
            .flops = result.measurement.flops,
            .bytes = result.measurement.bytes,
            .run = contender.run,
            .vectors = contender.vectors,
            .check = [&contender] {
              const ExaminedPowers examined = contender.examine(true);
              contender.result.overflow = examined.overflow;
              return examined.check.value();
            }};
  }

  // Speed-up and break-even against the fastest plain products, and those in the given order.
  static void compare(PowerContenders& contenders) {
    double given = 0;
    double plain = 0;
    double vendor = 0;
    for (const PowerContender& contender : contenders) {
      const double seconds = contender.result.measurement.timing.median;
      if (contender.result.of_vendor()) vendor = seconds;
      if (!contender.result.baseline()) continue;
      if (given == 0) given = seconds;
      plain = plain == 0 ? seconds : std::min(plain, seconds);
    }
    for (PowerContender& contender : contenders) {
      if (!contender.run) continue;
      PowerResult& result = contender.result;
      const double seconds = result.measurement.timing.median;
      result.speed_up = plain / seconds;
      result.over_vendor = vendor / seconds;
      const bool pays = result.asked() != PowerStrategy::spmv && seconds < given;
      result.break_even = pays ? result.setup_seconds / (given - seconds) : 0;
    }
  }

  const PowerDevice& device_;
  const PowerSweep& sweep_;
  const ContestOptions& options_;
};

}  // namespace

void hold_power_contest(const PowerDevice& device, const PowerSweep& sweep,
                        const ContestOptions& options, const PowerResultsDone& done) {
  PowerContest contest(device, sweep, options);
  for (const int power : sweep.powers) {
    bool first = true;
    for (const Offset cache_bytes : sweep.cache_sizes) {
      std::vector<PowerResult> results;
      for (PowerContender& contender : contest.run(power, cache_bytes)) {
        const bool reference = contender.result.baseline() || contender.result.of_vendor();
        if (first || !reference) results.push_back(std::move(contender.result));
      }
      done(results);
      first = false;
    }
  }
}

}  // namespace strata::internal
