// strata explain: what a plan for powers does, and why.

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <optional>

#include "cli/parts/backends.hpp"
#include "cli/parts/best_power.hpp"
#include "cli/parts/commands.hpp"
#include "cli/parts/counted_matrix.hpp"
#include "cli/parts/gpu.hpp"
#include "cli/parts/measuring.hpp"
#include "cli/parts/power_settings.hpp"
#include "cli/parts/run_command.hpp"
#include "cli/parts/solving.hpp"
#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/measure/matrix_analysis.hpp"
#include "strata/measure/power_result.hpp"
#include "strata/solvers/cost.hpp"
#include "strata/solvers/linear_solver.hpp"
#ifdef STRATA_HAS_GPU
#include "strata/device/device.hpp"
#include "strata/device/stream.hpp"
#include "strata/plans/gpu/power_plan.hpp"
#endif

namespace strata::cli {

using solvers::Method;

namespace {

struct ExplainOptions {
  CommonOptions common;
  PowerSettings power;
  std::string matrix;
  std::string methods;  // of solvers; none: powers alone
  int restart = 32;
};

// A plan, as solvers see it.
struct PlannedPowers {
  int power;
  double seconds;        // of all powers
  double plain_seconds;  // of as many products
};

// The options of the context, and where the results go.
struct Explanation {
  PowerContext context;  // of one power, until there is a plan
  ResultDocument& document;
  std::vector<PlannedPowers>& planned;

  // Adds a result per candidate of a plan on any device, and returns the prose.
  template <class Plan>
  std::string of(const Plan& plan) {
    context.options.power = plan.power();
    context.flops *= plan.power();
    for (Json& result : candidates_json(plan.record(), context)) {
      document.add_result(std::move(result));
    }
    const PlanRecord& record = plan.record();
    planned.push_back({plan.power(), record.choice().seconds(), record.plain_seconds});
    if (record.by_power.empty()) return plan.explain();
    document.add_result(best_power_json(record, context));
    return plan.explain() + "\n" + speeds_text(record, context.flops / plan.power());
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

// The classical method that an s-step one stands for, or itself.
Method classical(Method method) {
  return method == Method::ca_cg ? Method::cg : method == Method::ca_gmres ? Method::gmres : method;
}

// Predicted time per iteration of every method, s-step ones with the powers that were planned, and
// what follows from it.
std::string explain_methods(const std::vector<Method>& methods, int restart,
                            const std::vector<PlannedPowers>& planned, Offset rows,
                            Offset value_bytes, const solvers::DeviceRates& rates,
                            std::string_view backend, ResultDocument& document) {
  double product = std::numeric_limits<double>::infinity();
  for (const PlannedPowers& plan : planned) {
    // Where nothing plain was considered, powers bound it.
    const double plain = plan.plain_seconds > 0 ? plan.plain_seconds : plan.seconds;
    product = std::min(product, plain / plan.power);
  }
  Table table({"method", "s", "per iteration", "products", "vectors", "over classical"}, 1);
  std::string advice;
  const auto cost_of = [&](Method method, const PlannedPowers& plan) {
    solvers::LinearSolverOptions options{.method = method, .restart = restart};
    options.powers = options.degree = plan.power;
    return solvers::predict_iteration(options, {product, plan.seconds, plan.power}, rows,
                                      value_bytes, rates);
  };
  for (const Method method : methods) {
    const bool in_steps = method == Method::ca_cg || method == Method::ca_gmres;
    const bool on_powers = in_steps || method == Method::chebyshev;
    const double before = cost_of(classical(method), planned.front()).total();
    double best = 0;
    int best_power = 0;
    for (const PlannedPowers& plan : planned) {
      const solvers::IterationCost cost = cost_of(method, plan);
      const double gain = before / cost.total();
      table.add({std::string(solvers::name_of(method)),
                 on_powers ? std::to_string(plan.power) : "-", seconds_text(cost.total()),
                 percent_text(cost.products / cost.total()),
                 percent_text(cost.vectors / cost.total()),
                 in_steps ? fmt::format("{:.2f}", gain) : "-"});
      Json result{{"kernel", "solve"},
                  {"backend", backend},
                  {"method", solvers::name_of(method)},
                  {"predicted",
                   {{"seconds_per_iteration", cost.total()},
                    {"products_seconds", cost.products},
                    {"vectors_seconds", cost.vectors}}}};
      if (on_powers) result["power"] = plan.power;
      document.add_result(std::move(result));
      if (gain > best) {
        best = gain;
        best_power = plan.power;
      }
      if (!on_powers) break;
    }
    if (!in_steps) continue;
    advice += best > 1.05
                  ? fmt::format("{} pays with s = {}: {:.2f} times {}.\n", solvers::name_of(method),
                                best_power, best, solvers::name_of(classical(method)))
                  : fmt::format("Stay with {}: {} gains {:.2f} times at best, with s = {}.\n",
                                solvers::name_of(classical(method)), solvers::name_of(method), best,
                                best_power);
  }
  return fmt::format("Solvers on {}, by the model, without preconditioners:\n", backend) +
         table.text(2) + "\n" + advice;
}

std::string run_explain(const ExplainOptions& options, ResultDocument& document,
                        Progress& progress) {
  const PowerSettings& settings = options.power;
  settings.require_choice();
  std::vector<Method> methods;
  if (!options.methods.empty()) {
    for (const std::string& name : split_list(options.methods)) {
      methods.push_back(named(name, solvers::kMethods, "method"));
    }
  }
  const Backends backends = choose_own_backends(settings.backend);
  std::optional<PowerStrategy> on_processor;
  std::optional<PowerStrategy> on_gpu;
  std::optional<KnownGpu> gpu;
  if (backends.cpu) on_processor = settings.cpu_strategies().front();
  if (backends.gpu) on_gpu = settings.gpu_strategies().front();
  if (on_gpu) gpu = find_gpu(options.common.device, document, progress);
  const MachineProfile* machine = nullptr;
  if (on_processor) machine = &find_machine(document, progress).profile;
  const MatrixSource source = find_matrix(options.matrix);
  const AnyMatrix matrix = load_and_count(source, options.common, document, progress).matrix;

  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "\n") + more; };
  const double flops_of_a_product = work_of(matrix).flops() * settings.sweep.options.vectors;
  std::vector<PlannedPowers> of_processor, of_gpu;
  const auto explanation_of = [&](int power, Offset cache_bytes, PowerStrategy strategy,
                                  std::vector<PlannedPowers>& planned) {
    return Explanation{{.options = settings.options_for(power, cache_bytes, strategy),
                        .precision = precision_of(matrix),
                        .flops = flops_of_a_product},
                       document,
                       planned};
  };
  for (const int power : settings.sweep.powers) {
    progress.start(settings.best_power ? "choosing p" : fmt::format("planning p = {}", power));
    for (const Offset cache_bytes : settings.sweep.cache_sizes) {
      if (!on_processor) break;
      add(explain_on_processor(matrix,
                               explanation_of(power, cache_bytes, *on_processor, of_processor)));
    }
    for (const Offset cache_bytes : settings.sweep.cache_sizes) {
      if (!on_gpu) break;
      add(explain_on_gpu(matrix, gpu->profile,
                         explanation_of(power, cache_bytes, *on_gpu, of_gpu)));
    }
  }
  if (!methods.empty()) {
    const auto [rows, value_bytes] = std::visit(
        []<Value V, Index I>(const Csr<V, I>& csr) {
          return std::pair<Offset, Offset>(csr.rows(), sizeof(V));
        },
        matrix);
    if (on_processor) {
      const int threads = options.common.threads > 0 ? options.common.threads : thread_count();
      add(explain_methods(methods, options.restart, of_processor, rows, value_bytes,
                          {machine->memory_bandwidth(threads), machine->peak_flops(threads),
                           machine->fork_join_seconds},
                          "cpu", document));
    }
    if (on_gpu) {
      // Passes over vectors are limited by memory on every GPU that is good at double precision.
      add(explain_methods(methods, options.restart, of_gpu, rows, value_bytes,
                          {gpu->profile.memory_bandwidth(), std::numeric_limits<double>::infinity(),
                           gpu->profile.graph_node_seconds},
                          gpu::name_of(gpu->profile.device.api), document));
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
  command
      .add("--method", options->methods,
           "Also what iterations of these solvers should cost, with s of -p: " +
               names_of(solvers::kMethods))
      .type_name("NAME,…");
  command.add("--restart", options->restart, "Iterations of a cycle of gmres and ca-gmres")
      .positive()
      .show_default();
  add_common_options(command, options->common);
  add_type_options(command, options->common);
  add_device_option(command, options->common);
  command.set_example(
      "strata explain stencil27:64x64x128 -p 5\n"
      "  strata explain stencil27:64x64x128,coefficients=random -p best --products 100\n"
      "  strata explain stencil27:64x64x128 -p 2,4,8 --method cg,ca-cg,gmres,ca-gmres\n"
      "  strata explain stencil7:256x256x256 -p 5 --backend cuda");
  set_work(command, options, run_explain);
}

}  // namespace strata::cli
