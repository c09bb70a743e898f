// strata spmv: plain products, format by format, compared with those of other libraries.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/parts/backends.hpp"
#include "cli/parts/commands.hpp"
#include "cli/parts/counted_matrix.hpp"
#include "cli/parts/gpu.hpp"
#include "cli/parts/measuring.hpp"
#include "cli/parts/run_command.hpp"
#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/measure/matrix_analysis.hpp"
#include "strata/measure/peers.hpp"
#include "strata/measure/product_contest.hpp"
#ifdef STRATA_HAS_GPU
#include "strata/measure/gpu/peers.hpp"
#include "strata/measure/gpu/product_contest.hpp"
#endif

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
  bool kernels = false;
  bool reference = false;
  bool peers = false;
  bool gpu = false;
  bool gpu_vendor = false;
  std::string why_no_gpu;  // if all backends were asked for and there is none

  bool on_processor() const { return kernels || reference || peers; }
};

// Other libraries are those of the devices that are asked for; the processor's, if none is. Throws
// Unavailable for backends that are not available.
Contest choose_contest(const std::string& text) {
  const Backends chosen =
      choose_backends(text, {"reference", "cpu", "cuda", "hip", "vendor", "all"});
  if (text == "vendor" && peer_names().empty()) {
    throw Unavailable("no other library is available: build with Eigen, librsb or PETSc");
  }
  return {.kernels = chosen.cpu,
          .reference = chosen.reference,
          .peers = chosen.vendor && (chosen.cpu || chosen.reference || !chosen.gpu),
          .gpu = chosen.gpu,
          .gpu_vendor = chosen.vendor && chosen.gpu,
          .why_no_gpu = chosen.why_no_gpu};
}

// Those asked for, or for "auto" those in the format with the fewest bytes.
std::vector<ProductSpec> choose_products(const std::string& text, const CountedMatrix& counted,
                                         KernelTarget target) {
  if (text != name_of(Format::automatic)) {
    return parse_product_list(text, counted.statistics, target);
  }
  return products_in(smallest_format(counted.matrix, counted.statistics, target), target);
}

// Lines of one device. Processors have a column for threads, GPUs for what was predicted.
std::string table_text(const std::vector<ProductResult>& runs) {
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
  for (const ProductResult& run : runs) {
    if (!run.refusal.empty()) {
      table.add(
          line({run.label, run.backend, "-", "-", "-", "-", "-", "-", "-", run.refusal}, "-", "-"));
      continue;
    }
    const Measurement& measured = run.measurement;
    table.add(line({run.label, run.backend, bytes_text(run.format_bytes),
                    fmt::format("{:.3f}", 1e3 * measured.timing.median),
                    giga_text(measured.flops_per_second()), giga_text(measured.bytes_per_second()),
                    percent_text(measured.bytes_per_second() / run.memory_bandwidth),
                    run.speed_up > 0 ? fmt::format("{:.2f}", run.speed_up) : "-",
                    seconds_text(run.setup_seconds), ""},
                   std::to_string(run.threads),
                   run.prediction ? giga_text(run.prediction->flops_per_second) : "-"));
  }
  return table.text(2);
}

std::string conclusion_text(const std::vector<ProductResult>& runs) {
  const auto rate = [](const ProductResult& run) {
    return run.refusal.empty() ? run.measurement.flops_per_second() : 0.0;
  };
  const auto best = std::ranges::max_element(runs, {}, rate);
  if (rate(*best) == 0) return "";
  std::string text = fmt::format("Fastest: {} with {} GF/s", best->label, giga_text(rate(*best)));
  const auto peer = std::ranges::max_element(
      runs, {}, [&](const ProductResult& run) { return run.of_peer() ? rate(run) : 0.0; });
  if (peer->of_peer() && peer != best) {
    text += fmt::format(", {:.2f} times as fast as {}", rate(*best) / rate(*peer), peer->label);
  }
  return text + ".\n";
}

std::vector<Measurement> measurements_of(const std::vector<ProductResult>& runs) {
  std::vector<Measurement> measurements;
  for (const ProductResult& run : runs) {
    if (!run.refusal.empty()) continue;
    measurements.push_back(run.measurement);
    measurements.back().name = run.label;
  }
  return measurements;
}

// The table of one device and what follows from it.
std::string device_text(const std::vector<ProductResult>& runs) {
  return runs.empty() ? "" : table_text(runs) + "\n" + conclusion_text(runs);
}

// With all formats, what a plan chooses takes part as well.
bool with_plan(const SpmvOptions& options) {
  return options.format == "all";
}

void hold_contest_on_processor(const SpmvOptions& options, const Contest& contest,
                               const CountedMatrix& counted, const MachineProfile& profile,
                               const ContestOptions& measuring, const ProductDone& done) {
  const auto chosen = [&](bool takes_part, KernelTarget target) {
    return takes_part ? choose_products(options.format, counted, target)
                      : std::vector<ProductSpec>();
  };
  const auto products = chosen(contest.kernels, KernelTarget::processor);
  const auto reference = chosen(contest.reference, KernelTarget::reference);
  std::visit(
      [&]<Value V, Index I>(const Csr<V, I>& csr) {
        ProductField<V, I> field{.products = products,
                                 .plan = contest.kernels && with_plan(options),
                                 .reference = reference};
        if (contest.peers) field.peers = make_peers<V, I>;
        hold_product_contest(csr, field, profile, measuring, done);
      },
      counted.matrix);
}

void hold_contest_on_gpu([[maybe_unused]] const SpmvOptions& options,
                         [[maybe_unused]] const Contest& contest,
                         [[maybe_unused]] const CountedMatrix& counted,
                         [[maybe_unused]] const gpu::GpuProfile& profile,
                         [[maybe_unused]] const ContestOptions& measuring,
                         [[maybe_unused]] const ProductDone& done) {
#ifdef STRATA_HAS_GPU
  const auto products = choose_products(options.format, counted, KernelTarget::gpu);
  std::visit(
      [&]<Value V, Index I>(const Csr<V, I>& csr) {
        gpu::ProductField<V, I> field{.products = products, .plan = with_plan(options)};
        if (contest.gpu_vendor) field.peers = gpu::make_peers<V, I>;
        gpu::hold_product_contest(csr, field, profile, measuring, done);
      },
      counted.matrix);
#else
  require_gpu("");
#endif
}

std::string run_spmv(const SpmvOptions& options, std::vector<ProductResult>& runs,
                     ResultDocument& document, Progress& progress) {
  const Contest contest = choose_contest(options.backend);
  std::optional<KnownGpu> gpu;
  if (contest.gpu) gpu = find_gpu(options.common.device, document, progress);
  const CachedProfile* known = contest.on_processor() ? &find_machine(document, progress) : nullptr;
  const MatrixSource source = find_matrix(options.matrix);
  const CountedMatrix counted = load_and_count(source, options.common, document, progress);
  const ContestOptions measuring = contest_options(options.measuring, progress);
  const auto keep = [&](const ProductResult& run) {
    document.add_result(json_of(run));
    runs.push_back(run);
  };

  std::string text = known == nullptr
                         ? matrix_text(source, counted.statistics)
                         : heading_text(source, counted.statistics, known->profile, thread_count());
  if (known != nullptr) {
    hold_contest_on_processor(options, contest, counted, known->profile, measuring, keep);
    text += device_text(runs);
  }
  if (gpu) {
    const std::size_t before = runs.size();
    hold_contest_on_gpu(options, contest, counted, gpu->profile, measuring, keep);
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
    std::vector<ProductResult> runs;
    run_command(options->common, words, [&](ResultDocument& document, Progress& progress) {
      return run_spmv(*options, runs, document, progress);
    });
    require_passed(measurements_of(runs), "spmv");
  });
}

}  // namespace strata::cli
