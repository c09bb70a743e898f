// strata hpcg: the HPCG benchmark, with its checks, its rating, and a model of where time goes.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/parts/backends.hpp"
#include "cli/parts/commands.hpp"
#include "cli/parts/exit_status.hpp"
#include "cli/parts/gpu.hpp"
#include "cli/parts/interruption.hpp"
#include "cli/parts/measuring.hpp"
#include "cli/parts/run_command.hpp"
#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/gen/spec.hpp"
#include "strata/hpcg/benchmark.hpp"
#include "strata/hpcg/levels.hpp"
#ifdef STRATA_HAS_GPU
#include "strata/device/device.hpp"
#include "strata/hpcg/gpu/benchmark.hpp"
#endif

namespace strata::cli {

using hpcg::Check;
using hpcg::Part;
using hpcg::Result;

namespace {

struct HpcgCommandOptions {
  CommonOptions common;
  std::string grid = "104x104x104";
  double seconds = 10;
  std::string values = "full";
  std::string backend = "cpu";
  std::uint64_t seed = 1;
};

Grid grid_of(const std::string& text) {
  Spec spec("hpcg:" + text);
  spec.refuse_unread_keys();
  return Grid(spec.sizes<3>());
}

std::string text_of(const Grid& grid) {
  return fmt::format("{}x{}x{}", grid.nx, grid.ny, grid.nz);
}

Json json_of(const Result& result, const HpcgCommandOptions& options) {
  Json levels = Json::array();
  for (std::size_t k = 0; k < result.grids.size(); ++k) {
    levels.push_back({{"grid", text_of(result.grids[k])},
                      {"rows", result.grids[k].points()},
                      {"nnz", result.entries[k]}});
  }
  Json checks = Json::array();
  for (const Check& check : result.checks) {
    checks.push_back({{"name", check.name},
                      {"value", check.value},
                      {"limit", check.limit},
                      {"passed", check.passed}});
  }
  Json parts = Json::array();
  for (const Part& part : result.parts) {
    parts.push_back({{"part", part.name},
                     {"bytes", part.bytes},
                     {"flops", part.flops},
                     {"predicted_seconds", part.predicted_seconds},
                     {"seconds", part.measured_seconds}});
  }
  Json json{{"kernel", "hpcg"},
            {"backend", options.backend},
            {"variant", result.product},
            {"ordering", "8 colours"},
            {"values", options.values},
            {"precision", "double"},
            {"levels", levels},
            {"checks", checks},
            {"passed", result.passed()},
            {"reference",
             {{"iterations", result.reference_iterations},
              {"residual", result.reference_residual},
              {"seconds", result.reference_seconds}}},
            {"iterations", result.iterations},
            {"sets", result.sets},
            {"residual", result.residual},
            {"true_residual", result.true_residual},
            {"seconds", strata::json_of(result.timing)},
            {"setup_seconds", result.setup_seconds + result.optimise_seconds},
            {"optimise_seconds", result.optimise_seconds},
            {"flops",
             {{"dots", result.flops.dots},
              {"updates", result.flops.updates},
              {"products", result.flops.products},
              {"multigrid", result.flops.multigrid},
              {"total", result.flops.total()},
              {"done", result.done_flops}}},
            {"gflops", result.rating * 1e-9},
            {"ratings",
             {{"raw", result.raw * 1e-9},
              {"converged", result.converged * 1e-9},
              {"rating", result.rating * 1e-9}}},
            {"predicted", {{"seconds", result.predicted_seconds()}}},
            {"seconds_per_iteration", result.timing.median / std::max(result.iterations, 1)},
            {"parts", parts}};
  if (result.threads > 0) json["threads"] = result.threads;
  return json;
}

std::string heading_of(const Result& result) {
  std::string text =
      fmt::format("27-point operator on {}: {} rows, {} entries\nlevels: ", text_of(result.grid),
                  grouped(result.rows), grouped(result.entries.front()));
  for (const Grid& grid : result.grids) {
    text += (&grid == result.grids.data() ? "" : ", ") + text_of(grid);
  }
  const auto levels = static_cast<int>(result.grids.size());
  if (levels < hpcg::kMostLevels) {
    text +=
        fmt::format("\n        {} instead of {}: not all dimensions are multiples of 8 from 16 on",
                    levels, hpcg::kMostLevels);
  }
  text +=
      "\nsymmetric Gauss-Seidel by 8 colours, the points of the coarser grid last; the same bits "
      "every time,\non processors for any number of threads\n";
  return text + fmt::format("products: {}\n", result.product);
}

std::string checks_of(const Result& result) {
  Table table({"check", "", "value", "at most"}, 2);
  for (const Check& check : result.checks) {
    table.add({check.name, check.passed ? "passed" : "FAILED", fmt::format("{:.3g}", check.value),
               fmt::format("{:g}", check.limit)});
  }
  return table.text(2);
}

std::string parts_of(const Result& result) {
  Table table({"an iteration", "MB", "predicted", "measured", "", "GB/s"});
  const auto row = [&](const std::string& name, double bytes, double predicted, double measured) {
    const bool known = measured > 0;
    table.add({name, fmt::format("{:.1f}", bytes * 1e-6), seconds_text(predicted),
               known ? seconds_text(measured) : "-",
               known ? fmt::format("{:.2f} times", measured / predicted) : "",
               known ? giga_text(bytes / measured) : "-"});
  };
  double bytes = 0;
  for (const Part& part : result.parts) {
    row(part.name, part.bytes, part.predicted_seconds, part.measured_seconds);
    bytes += part.bytes;
  }
  row("all of it", bytes, result.predicted_seconds(), result.measured_seconds());
  return table.text(2);
}

std::string rating_of(const Result& result, const HpcgCommandOptions& options) {
  std::string text = fmt::format(
      "reference: {} iterations leave {:.3e} of the residual; coloured: {} do\n"
      "{} sets of {} iterations: {}, {} each; |b-Ax|/|b| = {:.3e}\n\n"
      "  {:>7} GF/s  of all iterations, as HPCG counts\n"
      "  {:>7} GF/s  of the iterations that the reference needs\n"
      "  {:>7} GF/s  with a tenth of {} to set up for each set: the rating\n\n",
      result.reference_iterations, result.reference_residual, result.iterations, result.sets,
      result.iterations, seconds_text(result.seconds), seconds_text(result.seconds / result.sets),
      result.true_residual, giga_text(result.raw), giga_text(result.converged),
      giga_text(result.rating), seconds_text(result.setup_seconds + result.optimise_seconds));
  text += fmt::format(
      "Counted are 4 flops an entry for a sweep there and back and 2 for each residual. Of what is "
      "counted\n{} is computed: the rest is known from the sweep before, or of no use.\n",
      percent_text(result.done_flops / result.flops.total()));
  if (options.values != "full") {
    text += "Values that repeat are stored once, which HPCG does not allow: no rating of HPCG.\n";
  }
  if (std::min({result.grid.nx, result.grid.ny, result.grid.nz}) < 16) {
    text += "HPCG asks for 16 points or more along each axis.\n";
  }
  return text;
}

// Where it runs: the line that says so, and the benchmark.
struct Place {
  std::string heading;
  std::function<Result(const hpcg::Options&)> run;
};

Place processor_place(ResultDocument& document, Progress& progress, int threads) {
  const MachineProfile& profile = find_machine(document, progress).profile;
  const ThreadCountScope scope(threads);
  return {processor_text(profile, thread_count()), [&profile](hpcg::Options options) {
            options.profile = &profile;
            return hpcg::run(options);
          }};
}

#ifdef STRATA_HAS_GPU
Place gpu_place(ResultDocument& document, Progress& progress, int device) {
  const KnownGpu known = find_gpu(device, document, progress);
  gpu::use_device(device);
  return {gpu_heading_text(known.profile), [profile = known.profile](const hpcg::Options& options) {
            gpu::Stream stream;
            return gpu::run_hpcg(options, profile, stream);
          }};
}
#else
Place gpu_place(ResultDocument&, Progress&, int) {
  throw Unavailable(why_no_gpu(""));
}
#endif

Place find_place(const HpcgCommandOptions& options, ResultDocument& document, Progress& progress) {
  return is_on_gpu(options.backend) ? gpu_place(document, progress, options.common.device)
                                    : processor_place(document, progress, options.common.threads);
}

std::string run_hpcg(const HpcgCommandOptions& options, ResultDocument& document,
                     Progress& progress, bool& passed) {
  const Grid grid = grid_of(options.grid);
  const Place place = find_place(options, document, progress);
  document.describe_matrix(describe(find_matrix("hpcg:" + options.grid)));
  const Result result = [&] {
    try {
      return place.run(
          {.grid = grid,
           .threads = options.common.threads,
           .min_seconds = options.seconds,
           .values = options.values == "full" ? StoredValues::full : StoredValues::all,
           .seed = options.seed,
           .progress = [&](std::string_view phase) { progress.start(std::string(phase)); },
           .poll = check_interruption});
    } catch (const OverflowError& error) {
      throw Failure(ExitStatus::input, fmt::format("hpcg: {}", error.what()));
    }
  }();
  passed = result.passed();
  document.describe_matrix(
      {{"rows", result.rows}, {"cols", result.rows}, {"nnz", result.entries.front()}});
  document.add_result(json_of(result, options));
  std::string text = heading_of(result) + place.heading + checks_of(result) + "\n";
  if (result.sets == 0) return text;
  return text + rating_of(result, options) + "\n" + parts_of(result);
}

}  // namespace

void add_hpcg(CommandLine& line) {
  auto options = std::make_shared<HpcgCommandOptions>();
  CommandOptions command = line.add_command(
      "hpcg", "The HPCG benchmark: multigrid-preconditioned CG; status 1 if a check fails");
  command.add("GRID", options->grid, "Points along x, y and z; 4 levels where 8 divides them")
      .type_name("NXxNYxNZ")
      .show_default();
  command.add("--time", options->seconds, "Seconds of timed sets; HPCG asks for 1800")
      .range(0.0, 1e6)
      .show_default();
  command
      .add("--values", options->values,
           "Store values as they are, or once where they repeat (all), which HPCG does not allow")
      .one_of(std::vector<std::string>{"full", "all"})
      .show_default();
  command.add("--seed", options->seed, "Of the vectors that test symmetry").show_default();
  add_backend_option(command, options->backend, "Where the coloured solver runs: cpu, cuda or hip");
  add_device_option(command, options->common);
  add_common_options(command, options->common);
  command.set_example("strata hpcg 64x64x64 --time 20");
  command.set_work([options](const std::vector<std::string>& words) {
    bool passed = false;
    run_command(options->common, words, [&](ResultDocument& document, Progress& progress) {
      return run_hpcg(*options, document, progress, passed);
    });
    if (!passed) {
      throw Failure(ExitStatus::not_valid,
                    fmt::format("hpcg: a check failed on {}", options->grid));
    }
  });
}

}  // namespace strata::cli
