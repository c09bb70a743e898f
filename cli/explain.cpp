// strata explain: what a plan for powers does, and why.

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/analysis.hpp"
#include "cli/backends.hpp"
#include "cli/candidate.hpp"
#include "cli/commands.hpp"
#include "cli/explain_gpu.hpp"
#include "cli/gpu.hpp"
#include "cli/measuring.hpp"
#include "cli/run_command.hpp"

namespace strata::cli {

namespace {

struct ExplainOptions {
  CommonOptions common;
  PowerSettings power;
  std::string matrix;
};

std::string explain_on_processor(const AnyMatrix& matrix, PowerStrategy strategy,
                                 CandidateContext context, ResultDocument& document) {
  return std::visit(
      [&](const auto& csr) {
        const auto plan = plan_powers(
            csr, context.settings.options_for(context.power, context.cache_bytes, strategy));
        context.threads = plan.threads();
        add_candidates(plan, context, document);
        return plan.explain();
      },
      matrix);
}

std::string run_explain(const ExplainOptions& options, ResultDocument& document,
                        Progress& progress) {
  const PowerSettings& settings = options.power;
  const Backends backends = choose_own_backends(settings.backend);
  std::optional<PowerStrategy> on_processor;
  std::optional<PowerStrategy> on_gpu;
  std::optional<KnownGpu> gpu;
  if (backends.cpu) on_processor = settings.cpu_strategies().front();
  if (backends.gpu) on_gpu = settings.gpu_strategies().front();
  if (on_gpu) gpu = find_gpu(options.common.device, document, progress);
  if (on_processor) find_machine(document, progress);
  const MatrixSource source = find_matrix(options.matrix);
  const auto [matrix, statistics] = load_and_count(source, options.common, document, progress);

  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "\n") + more; };
  for (const int power : settings.powers) {
    progress.start(fmt::format("planning p = {}", power));
    CandidateContext context{
        .settings = settings, .precision = precision_for(source, options.common), .power = power};
    context.flops = sizes_of(matrix).flops_per_entry * static_cast<double>(statistics.entries) *
                    power * settings.plan.vectors;
    for (const Offset cache_bytes : settings.cache_sizes) {
      if (!on_processor) break;
      context.cache_bytes = cache_bytes;
      add(explain_on_processor(matrix, *on_processor, context, document));
    }
    for (const Offset cache_bytes : settings.cache_sizes) {
      if (!on_gpu) break;
      context.cache_bytes = cache_bytes;
      context.backend = gpu::name_of(gpu->profile.device.api);
      context.device = gpu->profile.device.index;
      add(explain_on_gpu(matrix, *on_gpu, gpu->profile, context, document));
    }
  }
  if (gpu && !gpu->remark.empty() && !options.common.quiet) {
    add(fmt::format("Remark on the GPU's profile: {}.\n", gpu->remark));
  }
  if (!backends.why_no_gpu.empty()) add(fmt::format("Left out: {}.\n", backends.why_no_gpu));
  return text;
}

}  // namespace

void add_explain(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command =
      app.add_subcommand("explain", "What a plan for powers would do, and why, with its numbers");
  add_matrix_argument(*command, options->matrix);
  add_power_options(*command, options->power, false,
                    "Where the plan would run: cpu, cuda, hip, or all that are available");
  add_common_options(*command, options->common);
  add_type_options(*command, options->common);
  add_device_option(*command, options->common);
  set_example(*command,
              "strata explain stencil27:64x64x128 -p 5\n"
              "  strata explain stencil7:256x256x256 -p 5 --backend cuda");
  set_work(*command, chosen, options, run_explain);
}

}  // namespace strata::cli
