// What a sweep costs on a processor: the model's ingredients from the profile and the schedule.
#pragma once

#include "strata/base/types.hpp"
#include "strata/machine/profile.hpp"
#include "strata/model/power_model.hpp"
#include "strata/plans/plan_options.hpp"
#include "strata/schedule/reuse.hpp"

namespace strata::detail {

// The machine as a plan sees it: memory, a shared cache, and the cores' private caches.
struct Places {
  Rates rates;              // of all threads together
  Offset shared_bytes = 0;  // how much windows may fill, all threads together
  Offset private_bytes = 0;
};

// As the options say, see PowerOptions::cache_bytes.
Places places_of(const MachineProfile& profile, int threads, const PowerOptions& options);

// row_bytes: one element of each right-hand side.
SweepCosts costs_of(const ReuseProfile& profile, const Places& places, Offset rows,
                    Offset row_bytes, const Schedule& schedule);
// Of several sweeps, one after another.
SweepCosts operator+(const SweepCosts& a, const SweepCosts& b);

// The rates at which a kernel takes in these costs if it needs so many seconds at least, wherever
// its data are. 0: no limit.
Rates limited_by_kernel(Rates rates, const SweepCosts& costs, double kernel_seconds);

}  // namespace strata::detail
