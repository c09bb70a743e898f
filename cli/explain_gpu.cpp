#include "cli/explain_gpu.hpp"

#include "cli/power_options_gpu.hpp"
#include "strata/device/device.hpp"
#include "strata/device/stream.hpp"

namespace strata::cli {

std::string explain_on_gpu(const AnyMatrix& matrix, PowerStrategy strategy,
                           const gpu::GpuProfile& profile, const CandidateContext& context,
                           ResultDocument& document) {
  gpu::use_device(profile.device.index);
  gpu::Stream stream;
  return std::visit(
      [&](const auto& csr) {
        const auto plan = gpu::plan_powers(csr,
                                           gpu_options_for(context.settings, context.power,
                                                           context.cache_bytes, strategy, profile),
                                           stream);
        add_candidates(plan, context, document);
        return plan.explain();
      },
      matrix);
}

}  // namespace strata::cli
