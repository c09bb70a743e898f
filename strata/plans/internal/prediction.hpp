// What a sweep costs on a machine: the model's ingredients from the facts and the schedule.
#pragma once

#include "strata/base/types.hpp"
#include "strata/machine/profile.hpp"
#include "strata/model/power_model.hpp"
#include "strata/schedule/reuse.hpp"

namespace strata::detail {

// The machine as a plan sees it: memory, a shared cache, and the cores' private caches.
struct Places {
  Rates rates;              // of all threads together
  Offset shared_bytes = 0;  // how much the caches keep for us, all threads together
  Offset private_bytes = 0;
};

// A cache does not keep as much as it holds: it is not fully associative, and other data pass
// through.
inline constexpr double kUsableShare = 0.7;

Places places_of(const MachineProfile& profile, int threads);

// row_bytes: one element of each right-hand side.
SweepCosts costs_of(const ReuseProfile& profile, const Places& places, Offset rows,
                    Offset row_bytes, const Schedule& schedule);
// Of several sweeps, one after another.
SweepCosts operator+(const SweepCosts& a, const SweepCosts& b);

// The rates of a kernel that takes in no more than so many bytes per second, all threads together.
Rates limited_by_kernel(Rates rates, double kernel_rate);

}  // namespace strata::detail
