// strata spmv: plain products, format by format, compared with those of other libraries.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/parts/backends.hpp"
#include "cli/parts/commands.hpp"
#include "cli/parts/counted_matrix.hpp"
#include "cli/parts/gpu.hpp"
#include "cli/parts/measuring.hpp"
#include "cli/parts/product_models.hpp"
#include "cli/parts/product_table.hpp"
#include "cli/parts/rank_options.hpp"
#include "cli/parts/ranks.hpp"
#include "cli/parts/run_command.hpp"
#include "cli/parts/sweeps.hpp"
#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/measure/matrix_analysis.hpp"
#include "strata/measure/peers.hpp"
#include "strata/measure/product_contest.hpp"
#include "strata/measure/product_device.hpp"
#ifdef STRATA_HAS_GPU
#include "strata/measure/gpu/peers.hpp"
#include "strata/measure/gpu/product_contest.hpp"
#endif
#ifdef STRATA_HAS_MPI
#include "cli/distributed/commands.hpp"
#endif

namespace strata::cli {

namespace {

struct SpmvOptions {
  CommonOptions common;
  MeasuringOptions measuring;
  std::string matrix;
  std::string format;  // empty: all, or what is swept over
  std::string backend = "cpu,vendor";
  ProductSweep sweep;
  LayoutOptions layout;      // on several ranks
  std::vector<int> threads;  // several show how products scale; none: all cores

  bool over_threads() const { return threads.size() > 1; }
  // A sweep is about some formats, and CSR to compare with.
  std::string formats() const {
    if (!format.empty()) return format;
    if (sweep.over_slices()) return "csr,sell,packed-sell";
    return sweep.over_reguly() ? "csr" : "all";
  }
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

// Reguly's kernel runs on GPUs alone.
void require_gpu_for(const ProductSweep& sweep, const Contest& contest) {
  if (sweep.over_reguly() && !contest.gpu) {
    throw InvalidArgument(
        "--coop, --repeat and --block-size are parameters of a kernel for GPUs: add one to "
        "--backend, as in --backend cuda");
  }
}

// What --format asks for: products by their names, and what a plan chooses; the latter takes part
// with all formats, too.
struct Asked {
  std::string names;
  bool plan = false;
};

Asked asked_for(const SpmvOptions& options) {
  const std::string text = options.formats();
  std::vector<std::string> names = split_format_list(text);
  const bool named = std::erase(names, "plan") > 0;
  return {.names = fmt::format("{}", fmt::join(names, ",")), .plan = named || text == "all"};
}

// Those asked for by name, or for "auto" those in the format with the fewest bytes.
std::vector<ProductSpec> choose_products(const SpmvOptions& options, const CountedMatrix& counted,
                                         KernelTarget target) {
  const std::string names = asked_for(options).names;
  if (names.empty()) return {};
  const auto products =
      names == name_of(Format::automatic)
          ? products_in(smallest_format(counted.matrix, counted.statistics, target), target)
          : parse_product_list(names, counted.statistics, target);
  return swept_over_slices(products, options.sweep, target);
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

// α of Hager and Wellein on a device, and what people read about it. None without entries.
struct Alpha {
  std::optional<double> predicted = {};
  std::string text = {};
};

Alpha predict(const CountedMatrix& counted, const ProductDevice& device, Progress& progress) {
  const ProductWork work = work_of(counted.matrix);
  if (work.entries == 0) return {};
  progress.start("predicting how often x is loaded");
  const AlphaPrediction predicted = alpha_of(counted.matrix, device);
  return {predicted.alpha, alpha_text(predicted, device, work)};
}

// The table of one device and what follows from it.
std::string device_text(const std::vector<ProductResult>& runs, bool over_threads,
                        const std::string& remarks) {
  if (runs.empty()) return "";
  return product_table(runs, over_threads) + "\n" + remarks + conclusion_text(runs);
}

// The JSON of a result; of one in CSR with the bandwidths by which Reguly compares.
Json json_of(const ProductResult& run, const CountedMatrix& counted, const ProductDevice& device,
             Offset block_rows) {
  Json json = strata::json_of(run);
  const ProductWork work = work_of(counted.matrix);
  if (!run.refusal.empty() || run.of_peer() || run.format.format() != Format::csr ||
      work.entries == 0) {
    return json;
  }
  const CsrBandwidths rates = std::visit(
      [&](const auto& csr) {
        return csr_bandwidths(csr.pattern(), run.measurement.timing.median, block_rows,
                              device.cache.line_bytes, sizes_of(work));
      },
      counted.matrix);
  json["csr_gbytes_per_second"] = {{"effective", rates.effective / 1e9},
                                   {"worst", rates.worst / 1e9},
                                   {"minimum", rates.minimum / 1e9},
                                   {"caching", rates.caching / 1e9}};
  return json;
}

// Rows that share what they load of x: those of a thread, and of a block of Reguly's kernel.
Offset rows_of_thread(const ProductWork& work, int threads) {
  return ceil_div<Offset>(std::max<Offset>(work.rows, 1), threads);
}

Offset rows_of_block(const ProductWork& work, const ProductResult& run, int warp) {
  CoopKernel kernel = reguly_kernel(work, warp);
  for (const NamedNumber& parameter : run.kernel_parameters) {
    if (parameter.name == "coop") kernel.coop = static_cast<int>(parameter.value);
    if (parameter.name == "repeat") kernel.repeat = static_cast<int>(parameter.value);
    if (parameter.name == "block_size") kernel.block_size = static_cast<int>(parameter.value);
  }
  return kernel.rows_per_block();
}

void hold_contest_on_processor(const SpmvOptions& options, const Contest& contest,
                               const CountedMatrix& counted, const MachineProfile& profile,
                               const ContestOptions& measuring, const Alpha& alpha,
                               const ProductDone& done) {
  const auto chosen = [&](bool takes_part, KernelTarget target) {
    return takes_part ? choose_products(options, counted, target) : std::vector<ProductSpec>();
  };
  const auto products = chosen(contest.kernels, KernelTarget::processor);
  const auto reference = chosen(contest.reference, KernelTarget::reference);
  std::visit(
      [&]<Value V, Index I>(const Csr<V, I>& csr) {
        ProductField<V, I> field{.products = products,
                                 .plan = contest.kernels && asked_for(options).plan,
                                 .reference = reference,
                                 .alpha = alpha.predicted};
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
                         [[maybe_unused]] const Alpha& alpha,
                         [[maybe_unused]] const ProductDone& done) {
#ifdef STRATA_HAS_GPU
  const auto products = choose_products(options, counted, KernelTarget::gpu);
  std::visit(
      [&]<Value V, Index I>(const Csr<V, I>& csr) {
        gpu::ProductField<V, I> field{
            .products = products, .plan = asked_for(options).plan, .alpha = alpha.predicted};
        if (contest.gpu_vendor) field.peers = gpu::make_peers<V, I>;
        field.reguly =
            swept_over_reguly(options.sweep, reguly_kernel(work_of(csr), profile.device.warp));
        gpu::hold_product_contest(csr, field, profile, measuring, done);
      },
      counted.matrix);
#else
  require_gpu("");
#endif
}

// One run of the command: what it works on, and where results go.
struct Run {
  const SpmvOptions& options;
  const Contest& contest;
  const CountedMatrix& counted;
  ContestOptions measuring;
  std::vector<ProductResult>& results;
  ResultDocument& document;
  Progress& progress;

  void keep(const ProductResult& result, const ProductDevice& device, Offset block_rows) const {
    document.add_result(json_of(result, counted, device, block_rows));
    results.push_back(result);
  }
};

// With every number of threads that is asked for. Returns the text.
std::string run_on_processor(const Run& run, const MachineProfile& profile) {
  const SpmvOptions& options = run.options;
  const ProductWork work = work_of(run.counted.matrix);
  Contest contest = run.contest;
  std::string remarks;
  for (const int threads : options.over_threads() ? options.threads : std::vector{0}) {
    const ThreadCountScope scope(threads);
    const ProductDevice device = product_device(profile, thread_count());
    const Alpha alpha = predict(run.counted, device, run.progress);
    hold_contest_on_processor(options, contest, run.counted, profile, run.measuring, alpha,
                              [&](const ProductResult& result) {
                                run.keep(result, device, rows_of_thread(work, result.threads));
                              });
    contest.reference = false;  // has one thread whatever their number
    remarks = alpha.text;
  }
  if (options.over_threads()) {
    const std::vector<Scaling> scalings = scaling_of(run.results);
    for (const Scaling& scaling : scalings) run.document.add_result(json_of(scaling));
    remarks = scaling_text(scalings) + "\n" + remarks;
  }
  return device_text(run.results, options.over_threads(), remarks);
}

std::string run_on_gpu(const Run& run, const gpu::GpuProfile& profile) {
  const auto before = static_cast<std::ptrdiff_t>(run.results.size());
  const ProductWork work = work_of(run.counted.matrix);
  const ProductDevice device = product_device(profile);
  const Alpha alpha = predict(run.counted, device, run.progress);
  hold_contest_on_gpu(run.options, run.contest, run.counted, profile, run.measuring, alpha,
                      [&](const ProductResult& result) {
                        run.keep(result, device, rows_of_block(work, result, profile.device.warp));
                      });
  return (before == 0 ? "" : "\n") + gpu_heading_text(profile) +
         device_text({run.results.begin() + before, run.results.end()}, false, alpha.text);
}

std::string run_spmv(const SpmvOptions& options, std::vector<ProductResult>& results,
                     ResultDocument& document, Progress& progress) {
  const Contest contest = choose_contest(options.backend);
  require_gpu_for(options.sweep, contest);
  std::optional<KnownGpu> gpu;
  if (contest.gpu) gpu = find_gpu(options.common.device, document, progress);
  const CachedProfile* known = contest.on_processor() ? &find_machine(document, progress) : nullptr;
  const MatrixSource source = find_matrix(options.matrix);
  const CountedMatrix counted = load_and_count(source, options.common, document, progress);
  document.describe_matrix({{"load_seconds", counted.load_seconds}});
  const Run run{options, contest,  counted, contest_options(options.measuring, progress),
                results, document, progress};

  std::string text = known == nullptr
                         ? matrix_text(source, counted.statistics)
                         : heading_text(source, counted.statistics, known->profile, thread_count());
  if (known != nullptr) text += run_on_processor(run, known->profile);
  if (gpu) text += run_on_gpu(run, gpu->profile);
  if (results.empty()) {
    throw Unavailable("the formats asked for have no kernel on the backends asked for");
  }
  if (!contest.why_no_gpu.empty()) text += fmt::format("Left out: {}.\n", contest.why_no_gpu);
  return text + check_text(measurements_of(results)) + "\n";
}

// On several ranks. Returns what was measured.
std::vector<Measurement> spmv_on_ranks([[maybe_unused]] const SpmvOptions& options,
                                       [[maybe_unused]] const std::vector<std::string>& words) {
  std::vector<Measurement> measured;
#ifdef STRATA_HAS_MPI
  if (options.sweep.over_slices() || options.sweep.over_reguly() || options.over_threads()) {
    throw InvalidArgument("-C, --sigma, --coop and several --threads are for one rank");
  }
  const Backends backends = choose_backends(options.backend, {"cpu", "vendor", "all"});
  distributed::ProductSettings settings{.common = options.common,
                                        .measuring = options.measuring,
                                        .layout = options.layout,
                                        .matrix = options.matrix,
                                        .formats = {},
                                        .ours = backends.cpu,
                                        .peers = backends.vendor};
  for (const std::string& name : split_list(options.format)) {
    if (!name.empty() && name != "plan" && name != "auto" && name != "all") {
      settings.formats.push_back(name);
    }
  }
  run_command(options.common, words, [&](ResultDocument& document, Progress& progress) {
    return distributed::run_spmv(settings, measured, document, progress);
  });
#endif
  return measured;
}

}  // namespace

void add_spmv(CommandLine& line) {
  auto options = std::make_shared<SpmvOptions>();
  CommandOptions command = line.add_command(
      "spmv", "Time plain products in every format, compared with those of other libraries");
  add_matrix_argument(command, options->matrix);
  command
      .add("--format", options->format,
           "all, auto (the fewest bytes), names such as csr,sell,packed-sell, one with parameters "
           "such as sell:slice_height=8,sort_window=64, or plan, what plan_product chooses; all "
           "when not given, or CSR and what is swept over")
      .type_name("NAME,…");
  command
      .add("--backend", options->backend,
           "reference, cpu, cuda, hip, vendor (other libraries on the same devices) or all "
           "that are available")
      .type_name("NAME,…")
      .show_default();
  add_product_sweep(command, options->sweep);
  add_layout_options(command, options->layout);
  add_measuring_options(command, options->measuring);
  add_thread_sweep(command, options->threads);
  add_output_options(command, options->common);
  add_type_options(command, options->common);
  add_device_option(command, options->common);
  command.set_example(
      "strata spmv stencil27:64x64x128 --format csr,packed-sell\n"
      "  strata spmv stencil7:256x256x256 --backend cuda,vendor\n"
      "  strata spmv random:1000000,nnzr=12 -C 4:32 --sigma 1:4096\n"
      "  strata spmv stencil27:64x64x128 --format csr --threads 1:8\n"
      "  mpirun -n 4 strata spmv stencil27:64x64x128 --layout rows,grid");
  command.allow_ranks();
  command.set_work([options](const std::vector<std::string>& words) {
    if (!options->threads.empty()) {
      options->common.threads = *std::ranges::max_element(options->threads);
    }
    if (rank_count() > 1) return require_passed(spmv_on_ranks(*options, words), "spmv");
    require_one_rank(options->layout);
    std::vector<ProductResult> runs;
    run_command(options->common, words, [&](ResultDocument& document, Progress& progress) {
      return run_spmv(*options, runs, document, progress);
    });
    require_passed(measurements_of(runs), "spmv");
  });
}

}  // namespace strata::cli
