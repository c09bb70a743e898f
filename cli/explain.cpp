// strata explain: what a plan for powers does, and why.

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/parts/backends.hpp"
#include "cli/parts/commands.hpp"
#include "cli/parts/counted_matrix.hpp"
#include "cli/parts/gpu.hpp"
#include "cli/parts/measuring.hpp"
#include "cli/parts/power_settings.hpp"
#include "cli/parts/run_command.hpp"
#include "strata/base/error.hpp"
#include "strata/measure/matrix_analysis.hpp"
#include "strata/measure/power_result.hpp"
#ifdef STRATA_HAS_GPU
#include "strata/device/device.hpp"
#include "strata/device/stream.hpp"
#include "strata/plans/gpu/power_plan.hpp"
#endif

namespace strata::cli {

namespace {

struct ExplainOptions {
  CommonOptions common;
  PowerSettings power;
  std::string matrix;
};

// The options of the context, and where the results go.
struct Explanation {
  PowerContext context;
  ResultDocument& document;

  // Adds a result per candidate of a plan on any device, and returns the prose.
  template <class Plan>
  std::string of(const Plan& plan) {
    for (Json& result : candidates_json(plan.record(), context)) {
      document.add_result(std::move(result));
    }
    return plan.explain();
  }
};

std::string explain_on_processor(const AnyMatrix& matrix, Explanation explanation) {
  return std::visit(
      [&](const auto& csr) {
        const auto plan = plan_powers(csr, explanation.context.options);
        explanation.context.threads = plan.threads();
        return explanation.of(plan);
      },
      matrix);
}

std::string explain_on_gpu([[maybe_unused]] const AnyMatrix& matrix,
                           [[maybe_unused]] const gpu::GpuProfile& profile,
                           [[maybe_unused]] Explanation explanation) {
#ifdef STRATA_HAS_GPU
  gpu::use_device(profile.device.index);
  gpu::Stream stream;
  explanation.context.backend = gpu::name_of(profile.device.api);
  explanation.context.device = profile.device.index;
  PowerOptions options = explanation.context.options;
  options.gpu_profile = &profile;
  return std::visit(
      [&](const auto& csr) { return explanation.of(gpu::plan_powers(csr, options, stream)); },
      matrix);
#else
  throw Unavailable(why_no_gpu(""));
#endif
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
  const AnyMatrix matrix = load_and_count(source, options.common, document, progress).matrix;

  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "\n") + more; };
  const double flops_of_a_product = work_of(matrix).flops() * settings.sweep.options.vectors;
  const auto explanation_of = [&](int power, Offset cache_bytes, PowerStrategy strategy) {
    return Explanation{{.options = settings.options_for(power, cache_bytes, strategy),
                        .precision = precision_of(matrix),
                        .flops = flops_of_a_product * power},
                       document};
  };
  for (const int power : settings.sweep.powers) {
    progress.start(fmt::format("planning p = {}", power));
    for (const Offset cache_bytes : settings.sweep.cache_sizes) {
      if (!on_processor) break;
      add(explain_on_processor(matrix, explanation_of(power, cache_bytes, *on_processor)));
    }
    for (const Offset cache_bytes : settings.sweep.cache_sizes) {
      if (!on_gpu) break;
      add(explain_on_gpu(matrix, gpu->profile, explanation_of(power, cache_bytes, *on_gpu)));
    }
  }
  if (gpu && !gpu->remark.empty() && !options.common.quiet) {
    add(fmt::format("Remark on the GPU's profile: {}.\n", gpu->remark));
  }
  if (!backends.why_no_gpu.empty()) add(fmt::format("Left out: {}.\n", backends.why_no_gpu));
  return text;
}

}  // namespace

void add_explain(CommandLine& line) {
  auto options = std::make_shared<ExplainOptions>();
  CommandOptions command =
      line.add_command("explain", "What a plan for powers would do, and why, with its numbers");
  add_matrix_argument(command, options->matrix);
  add_power_options(command, options->power, false,
                    "Where the plan would run: cpu, cuda, hip, or all that are available");
  add_common_options(command, options->common);
  add_type_options(command, options->common);
  add_device_option(command, options->common);
  command.set_example(
      "strata explain stencil27:64x64x128 -p 5\n"
      "  strata explain stencil7:256x256x256 -p 5 --backend cuda");
  set_work(command, options, run_explain);
}

}  // namespace strata::cli
