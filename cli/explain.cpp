// strata explain: what a plan for powers does, and why.

#include <fmt/format.h>

#include <memory>

#include "cli/analysis.hpp"
#include "cli/candidate.hpp"
#include "cli/commands.hpp"
#include "cli/measuring.hpp"
#include "cli/run_command.hpp"

namespace strata::cli {

namespace {

struct ExplainOptions {
  CommonOptions common;
  PowerSettings power;
  std::string matrix;
};

// One line per candidate in the document, prose for people.
template <Value V, Index I>
std::string explain_plan(const PowerPlan<V, I>& plan, CandidateContext context,
                         ResultDocument& document) {
  context.threads = plan.threads();
  for (const PowerCandidate& candidate : plan.candidates()) {
    Json result = candidate_json("explain", candidate, context);
    result["chosen"] = &candidate == &plan.choice();
    result["setup_seconds"] = plan.setup_seconds();
    result["bytes"] = {{"format", candidate.format_bytes}, {"from_memory", candidate.memory_bytes}};
    if (plan.levels() > 0) result["levels"] = plan.levels();
    if (plan.break_even() > 0) result["break_even_applications"] = plan.break_even();
    if (candidate.measured_seconds > 0) result["measured_seconds"] = candidate.measured_seconds;
    add_prediction(result, candidate, context);
    document.add_result(result);
  }
  return plan.explain();
}

std::string run_explain(const ExplainOptions& options, ResultDocument& document,
                        Progress& progress) {
  const PowerStrategy strategy = options.power.strategies().front();
  find_machine(document, progress);
  const MatrixSource source = find_matrix(options.matrix);
  const auto [matrix, statistics] = load_and_count(source, options.common, document, progress);

  std::string text;
  for (const int power : options.power.powers) {
    for (const Offset cache_bytes : options.power.cache_sizes) {
      progress.start(fmt::format("planning p = {}", power));
      CandidateContext context{options.power, precision_for(source, options.common), power,
                               cache_bytes};
      context.flops = sizes_of(matrix).flops_per_entry * static_cast<double>(statistics.entries) *
                      power * options.power.plan.vectors;
      if (!text.empty()) text += "\n";
      std::visit(
          [&](const auto& csr) {
            const auto plan =
                plan_powers(csr, options.power.options_for(power, cache_bytes, strategy));
            text += explain_plan(plan, context, document);
          },
          matrix);
    }
  }
  return text;
}

}  // namespace

void add_explain(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command =
      app.add_subcommand("explain", "What a plan for powers would do, and why, with its numbers");
  add_matrix_argument(*command, options->matrix);
  add_power_options(*command, options->power, false);
  add_common_options(*command, options->common);
  add_type_options(*command, options->common);
  set_example(*command, "strata explain stencil27:64x64x128 -p 5");
  set_work(*command, chosen, options, run_explain);
}

}  // namespace strata::cli
