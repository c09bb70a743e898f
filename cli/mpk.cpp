// strata mpk: the power benchmark.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "cli/parts/backends.hpp"
#include "cli/parts/best_power.hpp"
#include "cli/parts/commands.hpp"
#include "cli/parts/counted_matrix.hpp"
#include "cli/parts/gpu.hpp"
#include "cli/parts/measuring.hpp"
#include "cli/parts/power_settings.hpp"
#include "cli/parts/rank_options.hpp"
#include "cli/parts/ranks.hpp"
#include "cli/parts/run_command.hpp"
#include "strata/base/error.hpp"
#include "strata/machine/system.hpp"
#include "strata/measure/matrix_analysis.hpp"
#include "strata/measure/power_contest.hpp"
#ifdef STRATA_HAS_GPU
#include "strata/device/device.hpp"
#include "strata/device/stream.hpp"
#include "strata/measure/gpu/peers.hpp"
#include "strata/measure/gpu/power_contest.hpp"
#include "strata/plans/gpu/power_plan.hpp"
#endif
#ifdef STRATA_HAS_MPI
#include "cli/distributed/commands.hpp"
#endif

namespace strata::cli {

namespace {

constexpr std::string_view kDefaultResult = "strata-mpk.json";

struct MpkOptions {
  CommonOptions common;
  MeasuringOptions measuring;
  PowerSettings power;
  LayoutOptions layout;  // on several ranks
  int depth = 0;         // of their exchanges; 0: chosen
  std::string matrix;    // empty: the embedded default
};

// A long 27-point stencil, four times as large in CSR as the caches if that is done in about a
// minute and fits the memory several times over. Its values are all different: what repeats would
// be encoded and leave powers little to save.
std::string default_matrix(Offset cache_bytes) {
  constexpr Offset kPlaneRows = 64 * 64;
  constexpr Offset kPlaneBytes = kPlaneRows * 27 * 12;
  constexpr Offset kSmallest = 256'000'000;
  constexpr Offset kLargest = 1'500'000'000;
  const Offset wanted = std::clamp(4 * cache_bytes, kSmallest, kLargest);
  const Offset bytes = std::min(wanted, available_memory() / 8);
  return fmt::format("stencil27:64x64x{},coefficients=random",
                     std::max<Offset>(bytes / kPlaneBytes, 8));
}

std::string strategy_text(const PowerResult& run) {
  if (run.of_vendor()) return run.library;
  if (run.asked() == PowerStrategy::spmv) return "plain products";
  std::string text{name_of(run.choice.strategy)};
  if (run.plain()) text = "plain products";
  if (!run.plain() && run.choice.block < run.power()) {
    text += fmt::format(" in blocks of {}", run.choice.block);
  }
  return run.asked() == PowerStrategy::automatic ? "auto: " + text : text;
}

std::string ratio_text(double ratio) {
  return ratio > 0 ? fmt::format("{:.2f}", ratio) : "-";
}

// Lines of one device; those of a GPU are compared with its vendor's library too.
std::string table_text(const std::vector<PowerResult>& runs) {
  const bool on_gpu = runs.front().context.device.has_value();
  const auto line = [on_gpu](std::vector<std::string> cells, std::string over_vendor) {
    if (on_gpu) cells.insert(cells.begin() + 9, std::move(over_vendor));
    return cells;
  };
  Table table(line({"strategy", "rows", "format", "p", "window", "GF/s", "GB/s", "of memory",
                    "speed-up", "predicted", "pred./meas.", "set-up", "pays after"},
                   "over vendor"),
              3);
  for (const PowerResult& run : runs) {
    if (!run.refusal.empty()) continue;
    const Measurement& measured = run.measurement;
    const double predicted = measured.flops / run.choice.predicted_seconds;
    table.add(line(
        {strategy_text(run), text_of(run.choice.order), format_text(run.choice),
         std::to_string(run.power()), run.plain() ? "-" : bytes_text(run.choice.window_bytes),
         giga_text(measured.flops_per_second()), giga_text(measured.bytes_per_second()),
         percent_text(measured.bytes_per_second() / run.memory_bandwidth), ratio_text(run.speed_up),
         giga_text(predicted), fmt::format("{:.2f}", predicted / measured.flops_per_second()),
         seconds_text(run.setup_seconds),
         run.break_even > 0 ? grouped(std::llround(std::ceil(run.break_even))) : "-"},
        ratio_text(run.over_vendor)));
  }
  std::string text = table.text(2);
  for (const PowerResult& run : runs) {
    if (!run.refusal.empty()) text += fmt::format("  p = {}: {}\n", run.power(), run.refusal);
  }
  return text;
}

// What was measured, next to what the plan, its bound with perfect overlap and the published
// formulas predict.
std::string formulas_text(const std::vector<PowerResult>& runs) {
  Table table({"milliseconds", "p", "measured", "plan", "overlapped", "SELL-32 (4.5)",
               "blocked (4.8)", "with latency (4.12)", "bound"});
  const auto cell = [](double seconds) {
    return seconds > 0 ? fmt::format("{:.3f}", 1e3 * seconds) : "-";
  };
  for (const PowerResult& run : runs) {
    if (!run.refusal.empty() || !run.formulas) continue;
    const double flops = run.measurement.flops;
    const auto by_formula = [&](double rate) { return cell(rate > 0 ? flops / rate : 0); };
    table.add({strategy_text(run), std::to_string(run.power()), cell(run.measurement.timing.median),
               cell(run.choice.predicted_seconds), cell(run.choice.predicted_overlapped_seconds),
               by_formula(run.formulas->sell), by_formula(run.formulas->blocked),
               by_formula(run.formulas->with_latency), std::string(name_of(run.choice.bound))});
  }
  return table.text(2);
}

std::string overflow_text(const std::vector<PowerResult>& runs) {
  std::string text;
  int shown = 0;
  for (const PowerResult& run : runs) {
    if (!run.overflow || run.overflow->power == shown) continue;
    shown = run.overflow->power;
    text += fmt::format(
        "Power {} is not finite from element {} on: powers this high overflow; --basis scaled=S "
        "or chebyshev=LOW:HIGH keep them in range.\n",
        run.overflow->power, run.overflow->element);
  }
  return text;
}

// What the table of one device means, for somebody who reads one for the first time.
std::string conclusion_text(const std::vector<PowerResult>& runs) {
  // The reference of the speed-up is in the table once per power.
  const auto plain =
      std::ranges::find_if(runs, [](const PowerResult& run) { return run.baseline(); });
  if (plain == runs.end()) return "";
  const double share = plain->measurement.bytes_per_second() / plain->memory_bandwidth;
  std::string text = fmt::format(
      "Plain products read the {} of the matrix once per power, at {} GB/s: {} of what memory "
      "delivers{}.\n",
      bytes_text(plain->choice.format_bytes), giga_text(plain->measurement.bytes_per_second()),
      percent_text(share), share > 1.1 ? ", so caches hold some of it" : "");
  const auto best = std::ranges::max_element(
      runs, {}, [](const PowerResult& run) { return run.plain() ? 0.0 : run.speed_up; });
  if (best->plain()) {
    const bool asked = std::ranges::any_of(
        runs, [](const PowerResult& run) { return run.asked() != PowerStrategy::spmv; });
    return asked ? text + "The plan does not block here: 'strata explain' says why.\n" : text;
  }
  if (best->speed_up < 1.03) {
    return text + fmt::format(
                      "Blocked powers gain nothing here: the best of them, {} at p = {}, runs at "
                      "{:.2f} times the speed of the best plain products.\n",
                      name_of(best->choice.strategy), best->power(), best->speed_up);
  }
  text += fmt::format(
      "Blocked powers keep {} of it {} until all powers have used it: {} at p = {} is {:.2f} times "
      "as fast as the best plain products{}.\n",
      bytes_text(best->choice.window_bytes), best->context.device ? "on chip" : "in the cache",
      name_of(best->choice.strategy), best->power(), best->speed_up,
      best->over_vendor > 0
          ? fmt::format(", {:.2f} times as fast as the vendor's library", best->over_vendor)
          : "");
  if (best->break_even > 0) {
    text += fmt::format("Its set-up of {} pays off after {} applications.\n",
                        seconds_text(best->setup_seconds),
                        grouped(std::llround(std::ceil(best->break_even))));
  }
  return text;
}

std::vector<Measurement> measurements_of(const std::vector<PowerResult>& runs) {
  std::vector<Measurement> measurements;
  for (const PowerResult& run : runs) {
    if (!run.refusal.empty()) continue;
    measurements.push_back(run.measurement);
    measurements.back().name = strategy_text(run);
  }
  return measurements;
}

// The tables of one device and what follows from them.
std::string device_text(const std::vector<PowerResult>& runs) {
  std::string text = table_text(runs) + "\n";
  if (runs.front().formulas) text += formulas_text(runs) + "\n";
  return text + overflow_text(runs) + conclusion_text(runs);
}

std::string trace_text(const std::vector<PowerResult>& runs) {
  Offset traced = 0;
  Offset tasks = 0;
  for (const PowerResult& run : runs) {
    if (!run.trace) continue;
    ++traced;
    tasks += std::ssize(run.trace->tasks);
  }
  if (traced == 0) return "";
  return fmt::format("Traced one more run of each on the processor: {} tasks of {} runs.\n",
                     grouped(tasks), grouped(traced));
}

std::string remark_text(std::string_view whose, const std::string& remark) {
  return remark.empty() ? "" : fmt::format("Remark on {} profile: {}.\n", whose, remark);
}

// Backends and strategies that are not available, or not together, are refused before anything is
// measured.
Backends require_available(const PowerSettings& settings, const CommonOptions& common) {
  if (settings.sweep.trace && common.json.empty()) {
    throw InvalidArgument("--trace writes what it finds to the document: add --json FILE");
  }
  settings.require_choice();
  const Backends backends = choose_power_backends(settings.backend);
  if (settings.best_power && !backends.cpu && !backends.gpu) {
    throw InvalidArgument("-p best is what plans choose: add cpu, cuda or hip to --backend");
  }
  if (backends.cpu) settings.cpu_strategies();
  if (backends.gpu) settings.gpu_strategies();
  if (settings.sweep.trace && !backends.cpu) {
    throw InvalidArgument("--trace shows what threads of processors do: add cpu to --backend");
  }
  return backends;
}

Offset cache_bytes_of(const CachedProfile* processor, const std::optional<KnownGpu>& gpu) {
  Offset bytes = 0;
  if (processor != nullptr) {
    const MachineProfile& profile = processor->profile;
    bytes = std::max(profile.last_level_bytes(), profile.cache_bytes(profile.cores));
  }
  return gpu ? std::max(bytes, gpu->profile.device.l2_bytes) : bytes;
}

// -p best: the settings with the p that a plan chooses on a device, and in `text` what it found.
// With several strategies it may use any.
class PowerChoice {
 public:
  PowerChoice(const AnyMatrix& matrix, const PowerSettings& settings, ResultDocument& document,
              Progress& progress)
      : matrix_(matrix), settings_(settings), document_(document), progress_(progress) {}

  PowerSettings on_processor(std::string& text) {
    if (!settings_.best_power) return settings_;
    return std::visit(
        [&](const auto& csr) {
          PowerContext context = context_of(settings_.cpu_strategies().back());
          const auto plan = plan_powers(csr, context.options);
          context.threads = plan.threads();
          return taken_from(plan, std::move(context), text);
        },
        matrix_);
  }

  PowerSettings on_gpu([[maybe_unused]] const gpu::GpuProfile& profile,
                       [[maybe_unused]] std::string& text) {
    if (!settings_.best_power) return settings_;
#ifdef STRATA_HAS_GPU
    gpu::use_device(profile.device.index);
    gpu::Stream stream;
    PowerContext context = context_of(settings_.gpu_strategies().back());
    context.backend = gpu::name_of(profile.device.api);
    context.device = profile.device.index;
    context.options.gpu_profile = &profile;
    return std::visit(
        [&](const auto& csr) {
          return taken_from(gpu::plan_powers(csr, context.options, stream), context, text);
        },
        matrix_);
#else
    throw Unavailable(why_no_gpu(""));
#endif
  }

 private:
  PowerContext context_of(PowerStrategy strategy) {
    progress_.start("choosing p");
    return {.options = settings_.options_for(1, settings_.sweep.cache_sizes.front(), strategy),
            .precision = precision_of(matrix_)};
  }

  template <class Plan>
  PowerSettings taken_from(const Plan& plan, PowerContext context, std::string& text) {
    context.options.power = plan.power();
    context.flops = work_of(matrix_).flops() * plan.vectors() * plan.power();
    text += show_best_power(plan.record(), context, document_) + "\n";
    return settings_.with_power(plan.power());
  }

  const AnyMatrix& matrix_;
  const PowerSettings& settings_;
  ResultDocument& document_;
  Progress& progress_;
};

void hold_contest_on_gpu([[maybe_unused]] const AnyMatrix& matrix,
                         [[maybe_unused]] const PowerSettings& settings,
                         [[maybe_unused]] const Backends& backends,
                         [[maybe_unused]] const gpu::GpuProfile& profile,
                         [[maybe_unused]] const ContestOptions& contest,
                         [[maybe_unused]] const PowerResultsDone& done) {
#ifdef STRATA_HAS_GPU
  const PowerSweep sweep = settings.sweep_of(settings.gpu_strategies());
  std::visit(
      [&]<Value V, Index I>(const Csr<V, I>& csr) {
        gpu::PowerField<V, I> field{.plans = backends.gpu};
        if (backends.vendor) field.peers = gpu::make_peers<V, I>;
        gpu::hold_power_contest(csr, sweep, field, profile, contest, done);
      },
      matrix);
#else
  require_gpu("");
#endif
}

std::string run_mpk(const MpkOptions& options, std::vector<PowerResult>& runs,
                    ResultDocument& document, Progress& progress) {
  const Backends backends = require_available(options.power, options.common);
  std::optional<KnownGpu> gpu;
  if (backends.gpu || backends.vendor) {
    gpu = find_gpu(options.common.device, document, progress);
  }
  const CachedProfile* processor = backends.cpu ? &find_machine(document, progress) : nullptr;
  const MatrixSource source = find_matrix(
      options.matrix.empty() ? default_matrix(cache_bytes_of(processor, gpu)) : options.matrix);
  const auto [matrix, statistics, load_seconds] =
      load_and_count(source, options.common, document, progress);
  document.describe_matrix({{"load_seconds", load_seconds}});
  const ContestOptions contest = contest_options(options.measuring, progress);
  const auto keep = [&](const std::vector<PowerResult>& done) {
    for (const PowerResult& run : done) {
      document.add_result(json_of(run));
      runs.push_back(run);
    }
  };

  std::string text = matrix_text(source, statistics);
  PowerChoice choice(matrix, options.power, document, progress);
  if (processor != nullptr) {
    std::string chosen;
    const PowerSettings settings = choice.on_processor(chosen);
    const PowerSweep sweep = settings.sweep_of(settings.cpu_strategies());
    std::visit(
        [&](const auto& csr) { hold_power_contest(csr, sweep, processor->profile, contest, keep); },
        matrix);
    text += processor_text(processor->profile, runs.front().context.threads) + chosen +
            device_text(runs);
  }
  if (gpu) {
    const auto before = static_cast<std::ptrdiff_t>(runs.size());
    std::string chosen;
    const PowerSettings settings = choice.on_gpu(gpu->profile, chosen);
    hold_contest_on_gpu(matrix, settings, backends, gpu->profile, contest, keep);
    text += (before == 0 ? "" : "\n") + gpu_heading_text(gpu->profile) + chosen +
            device_text({runs.begin() + before, runs.end()});
  }
  if (!backends.why_no_gpu.empty()) text += fmt::format("Left out: {}.\n", backends.why_no_gpu);
  text += trace_text(runs) + check_text(measurements_of(runs)) + "\n";
  if (!options.common.quiet) {
    if (processor != nullptr) text += remark_text("the machine's", processor->remark);
    if (gpu) text += remark_text("the GPU's", gpu->remark);
  }
  if (!options.common.json.empty()) {
    text += fmt::format("All numbers are in {}.\n", options.common.json);
  }
  return text;
}

// On several ranks. Returns what was measured.
std::vector<Measurement> mpk_on_ranks([[maybe_unused]] const MpkOptions& options,
                                      [[maybe_unused]] const std::vector<std::string>& words) {
  std::vector<Measurement> measured;
#ifdef STRATA_HAS_MPI
  choose_backends(options.power.backend, {"cpu", "all"});
  options.power.require_choice();
  if (options.power.best_power) {
    throw InvalidArgument("-p best is for one rank; --depth is what several choose");
  }
  const distributed::PowersOfRanks settings{.common = options.common,
                                            .measuring = options.measuring,
                                            .power = options.power,
                                            .layout = options.layout,
                                            .matrix = options.matrix,
                                            .depth = options.depth};
  run_command(options.common, words, [&](ResultDocument& document, Progress& progress) {
    return distributed::run_mpk(settings, measured, document, progress);
  });
#endif
  return measured;
}

}  // namespace

void add_mpk(CommandLine& line) {
  auto options = std::make_shared<MpkOptions>();
  CommandOptions command = line.add_command(
      "mpk", "The power benchmark: plain products against blocked powers, timed and checked");
  add_matrix_argument(command, options->matrix).required(false);
  add_power_options(
      command, options->power, true,
      "Where powers run: cpu, cuda, hip, vendor (the library of the GPU's vendor), or "
      "all that are available");
  command.add_flag("--trace", options->power.sweep.trace,
                   "Run once more on the processor and write when which thread did which task");
  add_depth_option(command, options->depth);
  add_partition_option(command, options->layout);
  add_measuring_options(command, options->measuring);
  add_common_options(command, options->common);
  add_type_options(command, options->common);
  add_device_option(command, options->common);
  command.set_example(
      "strata mpk stencil27:64x64x400 -p 2:6\n"
      "  strata mpk stencil27:64x64x400,coefficients=random -p best --products 100\n"
      "  strata mpk stencil7:256x256x256 -p 4 --backend cuda,vendor\n"
      "  mpirun -n 4 strata mpk stencil27:64x64x400 -p 6\n\nWithout MATRIX, a "
      "stencil several times as "
      "large as the caches; the result goes to strata-mpk.json.");
  command.allow_ranks();
  command.set_work([options](const std::vector<std::string>& words) {
    if (rank_count() > 1) return require_passed(mpk_on_ranks(*options, words), "mpk");
    require_one_rank(options->layout, options->depth);
    if (options->matrix.empty() && options->common.json.empty()) {
      options->common.json = kDefaultResult;
    }
    std::vector<PowerResult> runs;
    run_command(options->common, words, [&](ResultDocument& document, Progress& progress) {
      return run_mpk(*options, runs, document, progress);
    });
    require_passed(measurements_of(runs), "mpk");
  });
}

}  // namespace strata::cli
