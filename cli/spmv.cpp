// strata spmv: plain products, format by format, beside those of other libraries.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/analysis.hpp"
#include "cli/parts/backends.hpp"
#include "cli/parts/commands.hpp"
#include "cli/parts/gpu.hpp"
#include "cli/parts/run_command.hpp"
#include "cli/product_bench.hpp"
#include "cli/product_bench_gpu.hpp"
#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/kernels/has_kernel.hpp"
#include "strata/measure/peers.hpp"

namespace strata::cli {

namespace {

struct SpmvOptions {
  CommonOptions common;
  MeasuringOptions measuring;
  std::string matrix;
  std::string format = "all";
  std::string backend = "cpu,vendor";
};

// What is timed where.
struct Contest {
  ProductSettings processor;
  bool gpu = false;
  bool gpu_vendor = false;
  std::string why_no_gpu;  // if all backends were asked for and there is none

  bool on_processor() const { return processor.cpu || processor.reference || processor.vendor; }
};

// Other libraries are those of the devices that are asked for; the processor's, if none is. Throws
// Unavailable for backends that are not here.
Contest choose_contest(const std::string& text) {
  const Backends chosen =
      choose_backends(text, {"reference", "cpu", "cuda", "hip", "vendor", "all"});
  Contest contest;
  contest.gpu = chosen.gpu;
  contest.gpu_vendor = chosen.vendor && chosen.gpu;
  contest.why_no_gpu = chosen.why_no_gpu;
  ProductSettings& processor = contest.processor;
  processor.cpu = chosen.cpu;
  processor.reference = chosen.reference;
  processor.vendor = chosen.vendor && (chosen.cpu || chosen.reference || !chosen.gpu);
  if (text == "vendor" && peer_names().empty()) {
    throw Unavailable("no other library is available: build with Eigen or librsb");
  }
  return contest;
}

// Those asked for, or for "auto" the one with a kernel and the fewest bytes.
std::vector<FormatSummary> choose_formats(const std::string& text, const AnyMatrix& matrix,
                                          const MatrixStatistics& statistics, KernelTarget target) {
  std::vector<FormatSummary> formats;
  const bool automatic = text == name_of(Format::automatic);
  for (FormatSpec& spec : parse_format_list(automatic ? "all" : text, statistics)) {
    if (!automatic || has_kernel(spec, target)) formats.emplace_back(std::move(spec));
  }
  if (!automatic) return formats;
  for (FormatSummary& format : formats) measure_format(matrix, format);
  std::erase_if(formats, [](const FormatSummary& format) { return !format.footprint; });
  return {*std::ranges::min_element(
      formats, {}, [](const FormatSummary& format) { return format.footprint->bytes(); })};
}

Json run_json(const ProductRun& run, Offset minimum, Precision precision) {
  Json parameters = parameters_json(run.format.spec.parameters());
  parameters.update(parameters_json(run.kernel_parameters));
  Json result{{"kernel", "spmv"},
              {"backend", run.backend},
              {"format", name_of(run.format.spec.format())},
              {"variant", run.variant.empty() ? run.format.label : run.variant},
              {"power", 1},
              {"parameters", parameters}};
  if (run.device) {
    result["device"] = *run.device;
  } else {
    result["threads"] = run.threads;
  }
  result["precision"] = name_of(precision);
  if (!run.format.refusal.empty()) {
    result["refused"] = run.format.refusal;
    return result;
  }
  result["setup_seconds"] = run.setup_seconds;
  add_measurement(result, run.measurement);
  result["percent_of_memory_bandwidth"] =
      100 * run.measurement.bytes_per_second() / run.memory_bandwidth;
  result["bytes"] = {{"minimum", minimum}, {"format", run.format_bytes}};
  if (run.speed_up > 0) result["speedup_over_vendor"] = run.speed_up;
  if (run.predicted) {
    result["predicted"] = {{"gflops", run.predicted->flops_per_second / 1e9},
                           {"bound", run.predicted->bound},
                           {"model", "roofline"},
                           {"ramp_up_gflops", run.predicted->with_latency / 1e9}};
  }
  return result;
}

// Lines of one device. Processors have a column for threads, GPUs for what was predicted.
std::string table_text(const std::vector<ProductRun>& runs) {
  const auto line = [&](std::vector<std::string> cells, std::string threads,
                        std::string predicted) {
    const bool on_gpu = runs.front().device.has_value();
    cells.insert(cells.begin() + (on_gpu ? 5 : 2),
                 on_gpu ? std::move(predicted) : std::move(threads));
    return cells;
  };
  Table table(line({"product", "backend", "bytes", "ms", "GF/s", "GB/s", "of memory", "over peers",
                    "set-up", ""},
                   "threads", "predicted"),
              2);
  for (const ProductRun& run : runs) {
    if (!run.format.refusal.empty()) {
      table.add(line(
          {run.format.label, run.backend, "-", "-", "-", "-", "-", "-", "-", run.format.refusal},
          "-", "-"));
      continue;
    }
    const Measurement& measured = run.measurement;
    table.add(line({run.format.label, run.backend, bytes_text(run.format_bytes),
                    fmt::format("{:.3f}", 1e3 * measured.timing.median),
                    giga_text(measured.flops_per_second()), giga_text(measured.bytes_per_second()),
                    percent_text(measured.bytes_per_second() / run.memory_bandwidth),
                    run.speed_up > 0 ? fmt::format("{:.2f}", run.speed_up) : "-",
                    seconds_text(run.setup_seconds), ""},
                   std::to_string(run.threads),
                   run.predicted ? giga_text(run.predicted->flops_per_second) : "-"));
  }
  return table.text(2);
}

std::string conclusion_text(const std::vector<ProductRun>& runs) {
  const auto rate = [](const ProductRun& run) {
    return run.format.refusal.empty() ? run.measurement.flops_per_second() : 0.0;
  };
  const auto best = std::ranges::max_element(runs, {}, rate);
  if (rate(*best) == 0) return "";
  std::string text =
      fmt::format("Fastest: {} with {} GF/s", best->format.label, giga_text(rate(*best)));
  const auto peer = std::ranges::max_element(
      runs, {}, [&](const ProductRun& run) { return run.backend == "vendor" ? rate(run) : 0.0; });
  if (peer->backend == "vendor" && peer != best) {
    text +=
        fmt::format(", {:.2f} times as fast as {}", rate(*best) / rate(*peer), peer->format.label);
  }
  return text + ".\n";
}

std::vector<Measurement> measurements_of(const std::vector<ProductRun>& runs) {
  std::vector<Measurement> measurements;
  for (const ProductRun& run : runs) {
    if (!run.format.refusal.empty()) continue;
    measurements.push_back(run.measurement);
    measurements.back().name = run.format.label;
  }
  return measurements;
}

// The table of one device and what follows from it.
std::string device_text(const std::vector<ProductRun>& runs) {
  return runs.empty() ? "" : table_text(runs) + "\n" + conclusion_text(runs);
}

std::string run_spmv(const SpmvOptions& options, std::vector<ProductRun>& runs,
                     ResultDocument& document, Progress& progress) {
  Contest contest = choose_contest(options.backend);
  std::optional<KnownGpu> gpu;
  if (contest.gpu) gpu = find_gpu(options.common.device, document, progress);
  const CachedProfile* known = contest.on_processor() ? &find_machine(document, progress) : nullptr;
  const MatrixSource source = find_matrix(options.matrix);
  const auto [matrix, statistics] = load_and_count(source, options.common, document, progress);
  const Offset minimum = minimum_bytes(statistics, sizes_of(matrix));
  const Precision precision = precision_for(source, options.common);
  const auto keep = [&](const ProductRun& run) {
    document.add_result(run_json(run, minimum, precision));
    runs.push_back(run);
  };

  std::string text = known == nullptr
                         ? matrix_text(source, statistics)
                         : heading_text(source, statistics, known->profile, thread_count());
  if (known != nullptr) {
    ProductSettings& settings = contest.processor;
    settings.formats = choose_formats(options.format, matrix, statistics, KernelTarget::processor);
    run_product_bench(matrix, settings, options.measuring, progress, [&](ProductRun run) {
      run.memory_bandwidth = known->profile.memory_bandwidth(run.threads);
      keep(run);
    });
    text += device_text(runs);
  }
  if (gpu) {
    const std::size_t before = runs.size();
    const GpuProductSettings settings{
        .formats = choose_formats(options.format, matrix, statistics, KernelTarget::gpu),
        .vendor = contest.gpu_vendor};
    run_gpu_product_bench(matrix, settings, gpu->profile, options.measuring, progress, keep);
    text += (before == 0 ? "" : "\n") + gpu_heading_text(gpu->profile);
    text += device_text({runs.begin() + static_cast<std::ptrdiff_t>(before), runs.end()});
  }
  if (runs.empty()) {
    throw Unavailable("the formats asked for have no kernel on the backends asked for");
  }
  if (!contest.why_no_gpu.empty()) text += fmt::format("Left out: {}.\n", contest.why_no_gpu);
  return text + check_text(measurements_of(runs)) + "\n";
}

}  // namespace

void add_spmv(CommandLine& line) {
  auto options = std::make_shared<SpmvOptions>();
  CommandOptions command = line.add_command(
      "spmv", "Time plain products in every format, compared with those of other libraries");
  add_matrix_argument(command, options->matrix);
  command
      .add("--format", options->format,
           "all, auto (the fewest bytes), names such as csr,sell,packed-sell, or one with "
           "parameters such as sell:slice_height=8,sort_window=64")
      .type_name("NAME,…")
      .show_default();
  command
      .add("--backend", options->backend,
           "reference, cpu, cuda, hip, vendor (other libraries on the same devices) or all "
           "that are available")
      .type_name("NAME,…")
      .show_default();
  add_measuring_options(command, options->measuring);
  add_common_options(command, options->common);
  add_type_options(command, options->common);
  add_device_option(command, options->common);
  command.set_example(
      "strata spmv stencil27:64x64x128 --format csr,packed-sell\n"
      "  strata spmv stencil7:256x256x256 --backend cuda,vendor");
  command.set_work([options](const std::vector<std::string>& words) {
    std::vector<ProductRun> runs;
    run_command(options->common, words, [&](ResultDocument& document, Progress& progress) {
      return run_spmv(*options, runs, document, progress);
    });
    require_passed(measurements_of(runs), "spmv");
  });
}

}  // namespace strata::cli
