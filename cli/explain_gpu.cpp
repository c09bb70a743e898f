#include "cli/explain_gpu.hpp"

#include "strata/device/device.hpp"
#include "strata/device/stream.hpp"
#include "strata/plans/gpu/power_plan.hpp"

namespace strata::cli {

std::string explain_on_gpu(const AnyMatrix& matrix, PowerStrategy strategy,
                           const gpu::GpuProfile& profile, const CandidateContext& context,
                           ResultDocument& document) {
  gpu::use_device(profile.device.index);
  gpu::Stream stream;
  PowerOptions options = context.settings.options_for(context.power, context.cache_bytes, strategy);
  options.gpu_profile = &profile;
  return std::visit(
      [&](const auto& csr) {
        const auto plan = gpu::plan_powers(csr, options, stream);
        add_candidates(plan, context, document);
        return plan.explain();
      },
      matrix);
}

}  // namespace strata::cli
