// What the options of the commands about powers ask of a plan on a GPU. For files that are compiled
// only where there is GPU code.
#pragma once

#include "cli/power_settings.hpp"
#include "strata/plans/gpu/power_plan.hpp"

namespace strata::cli {

// The facts have to stay until the plan is made.
inline gpu::GpuPowerOptions gpu_options_for(const PowerSettings& settings, int power,
                                            Offset cache_bytes, PowerStrategy strategy,
                                            const gpu::GpuProfile& profile) {
  const PowerOptions& plan = settings.plan;
  return {.power = power,
          .basis = plan.basis,
          .vectors = plan.vectors,
          .vector_order = plan.vector_order,
          .strategy = strategy,
          .format = plan.format,
          .slice_height = plan.slice_height,
          .block = plan.block,
          .cache_bytes = cache_bytes,
          .autotune = plan.autotune,
          .profile = &profile};
}

}  // namespace strata::cli
