// strata model: how fast products and powers of a matrix can be on this machine or on a GPU, by the
// models of docs/model.md. No product is run.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include "cli/parts/backends.hpp"
#include "cli/parts/commands.hpp"
#include "cli/parts/counted_matrix.hpp"
#include "cli/parts/exit_status.hpp"
#include "cli/parts/gpu.hpp"
#include "cli/parts/measuring.hpp"
#include "cli/parts/power_settings.hpp"
#include "cli/parts/product_models.hpp"
#include "cli/parts/product_table.hpp"
#include "cli/parts/run_command.hpp"
#include "cli/parts/scaling.hpp"
#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/machine/gpu/cached_profile.hpp"
#include "strata/measure/matrix_analysis.hpp"
#include "strata/measure/product_device.hpp"
#include "strata/model/balance.hpp"
#include "strata/model/power_model.hpp"
#include "strata/plans/plan_formats.hpp"

namespace strata::cli {

namespace {

struct ModelOptions {
  CommonOptions common;
  std::string matrix;
  std::vector<int> powers{6};
  std::string backend;  // empty: cpu, or the GPU of the file
  std::string gpu;      // a file with the profile of a GPU of another machine
  ScalingOptions scaling;
};

// What the models say of a format that has a kernel. Balances are bytes per flop.
struct FormatLine {
  ModelledFormat stored;
  bool decodes = false;                // values may be encoded: bytes are not all that takes time
  bool powers = false;                 // powers run in this format
  double with_alpha = 0;               // B_C(α)
  std::optional<double> formula = {};  // as published, for the format without padding
  Roofline roof;
};

// Bytes per flop by some model, x loaded once where it does not say otherwise.
struct BalanceLine {
  std::string model;
  double bytes_per_flop = 0;
  std::optional<FormatLine> format = {};  // of those that are in one
};

// A cache that blocked powers can aim at.
struct CacheTarget {
  std::string name;  // "private caches"
  Offset bytes = 0;
  double bytes_per_second = 0;
};

// What the models know of a processor or a GPU.
struct ModelledDevice {
  std::string backend;
  std::string heading;
  double memory = 0;  // bytes per second
  std::vector<CacheTarget> targets;
  HockneyFit hockney;
  std::string pieces;                              // what begins with the latency of the fit
  std::vector<Offset> piece_bytes;                 // to show
  bool write_allocate = true;                      // see VectorTraffic
  KernelTarget kernels = KernelTarget::processor;  // of formats that count
  std::string why_no_target;
  ProductDevice product;
  const MachineProfile* machine = nullptr;  // of a processor
  const gpu::GpuProfile* gpu = nullptr;
  int threads = 1;
};

struct PowerLine {
  CacheTarget target;
  int power = 1;
  double ratio = 1;            // of cache to memory bandwidth
  double without_overlap = 0;  // flops per second
  double with_overlap = 0;
};

// Heights of slices that the formats have, and that of the thesis.
std::set<Offset> slice_heights(const std::vector<FormatSummary>& formats) {
  std::set<Offset> heights{32};
  for (const FormatSummary& format : formats) {
    if (const auto height = format.spec.parameter("slice_height")) heights.insert(*height);
  }
  return heights;
}

std::optional<double> published_balance(const FormatSpec& format, double entries_per_row,
                                        double alpha, const ElementSizes& elements) {
  if (format.format() == Format::csr) return crs_balance(entries_per_row, alpha, elements);
  const auto height = format.parameter("slice_height");
  if (!height) return std::nullopt;
  return sell_balance(static_cast<double>(*height), entries_per_row, elements);
}

// What is published, for the numbers of the matrix alone.
std::vector<BalanceLine> published_lines(double entries_per_row, double alpha,
                                         const std::set<Offset>& heights,
                                         const ElementSizes& elements) {
  std::vector<BalanceLine> lines;
  for (const Offset height : heights) {
    lines.push_back({fmt::format("SELL-{}, x and y once (Panzlaff 4.5)", height),
                     sell_balance(static_cast<double>(height), entries_per_row, elements)});
  }
  lines.push_back(
      {"CRS, x once: α = 1/nnzr (Hager/Wellein)", minimum_crs_balance(entries_per_row, elements)});
  lines.push_back({fmt::format("CRS, α = {:.3f} as predicted", alpha),
                   crs_balance(entries_per_row, alpha, elements)});
  lines.push_back({"CRS, x for every entry: α = 1", crs_balance(entries_per_row, 1, elements)});
  return lines;
}

BalanceLine format_line(const FormatSummary& format, const ProductWork& work, double alpha,
                        const ModelledDevice& device) {
  const bool may_decode = format.encodings && name_of(format.spec) == name_of(format.spec.format());
  const FormatBalance balance =
      balance_with_alpha(*format.footprint, device.product.vectors_of(work), alpha);
  const Offset bytes = format.footprint->bytes();
  const double entries_per_row = static_cast<double>(work.entries) / static_cast<double>(work.rows);
  return {
      format.label + (may_decode ? ", true bytes, decoding not counted" : ", true bytes"),
      balance.minimum_per_flop,
      FormatLine{.stored = {format.label, format.spec, bytes},
                 .decodes = may_decode,
                 .powers = plans_run_in(format.spec.format(), device.kernels),
                 .with_alpha = balance.bytes_per_flop,
                 .formula = published_balance(format.spec, entries_per_row, alpha, sizes_of(work)),
                 .roof = product_roofline(device.product, work, format.spec, bytes)}};
}

// The models count 2 flops per entry.
std::vector<BalanceLine> balances_of(const MatrixStatistics& statistics, const ProductWork& work,
                                     const std::vector<FormatSummary>& formats, double alpha,
                                     const ModelledDevice& device) {
  const double entries_per_row = statistics.row_lengths.mean;
  const ElementSizes elements = sizes_of(work);
  std::vector<BalanceLine> lines =
      published_lines(entries_per_row, alpha, slice_heights(formats), elements);
  for (const FormatSummary& format : formats) {
    if (format.footprint) lines.push_back(format_line(format, work, alpha, device));
  }
  lines.push_back(
      {"full values and no index, x and y once", minimum_balance(entries_per_row, elements)});
  const double per_flop = 2 / work.flops_per_entry;
  for (BalanceLine& line : lines) {
    line.bytes_per_flop *= per_flop;
    if (!line.format) continue;
    line.format->with_alpha *= per_flop;
    if (line.format->formula) *line.format->formula *= per_flop;
  }
  return lines;
}

std::vector<CacheTarget> targets_of(const MachineProfile& profile, int threads) {
  std::vector<CacheTarget> targets;
  const auto add = [&](std::string name, Offset bytes) {
    if (bytes <= 0) return;
    const double rate =
        std::max(profile.read_bandwidth(threads, bytes / 2), profile.memory_bandwidth(threads));
    targets.push_back({std::move(name), bytes, rate});
  };
  const Offset own = profile.private_cache_bytes(threads);
  add("private caches", own);
  if (const Offset all = profile.cache_bytes(threads); all > own) add("shared caches", all);
  return targets;
}

ModelledDevice modelled(const MachineProfile& profile, int threads) {
  return {.backend = "cpu",
          .heading = processor_text(profile, threads),
          .memory = profile.memory_bandwidth(threads),
          .targets = targets_of(profile, threads),
          .hockney = profile.hockney,
          .pieces = "each start the threads again",
          .piece_bytes = {100'000, 1'000'000, 10'000'000},
          .write_allocate = true,
          .kernels = KernelTarget::processor,
          .why_no_target = "No cache of this machine reads faster than its memory.",
          .product = product_device(profile, threads),
          .machine = &profile,
          .threads = threads};
}

ModelledDevice modelled(const gpu::GpuProfile& profile) {
  ModelledDevice device{.backend = std::string(gpu::name_of(profile.device.api)),
                        .heading = gpu_heading_text(profile),
                        .memory = profile.memory_bandwidth(),
                        .targets = {},
                        .hockney = profile.hockney,
                        .pieces = "are a kernel each",
                        .piece_bytes = {1'000'000, 10'000'000, 100'000'000},
                        .write_allocate = false,
                        .kernels = KernelTarget::gpu,
                        .why_no_target = "The L2 of this GPU does not read faster than its memory.",
                        .product = product_device(profile),
                        .gpu = &profile};
  if (const Offset bytes = profile.l2_bytes(); bytes > 0) {
    device.targets.push_back(
        {"L2", bytes, std::max(profile.read_bandwidth(bytes / 2), profile.memory_bandwidth())});
  }
  return device;
}

std::vector<PowerLine> powers_of(const std::vector<CacheTarget>& targets, int most, double memory,
                                 double bytes_per_flop) {
  std::vector<PowerLine> lines;
  for (const CacheTarget& target : targets) {
    const double ratio = target.bytes_per_second / memory;
    for (const SpeedUp& speed_up : speed_up_table(ratio, most)) {
      PowerLine line{target, speed_up.power, ratio};
      line.without_overlap = blocked_performance(speed_up.power, memory / bytes_per_flop,
                                                 target.bytes_per_second / bytes_per_flop);
      line.with_overlap = speed_up.with_overlap * memory / bytes_per_flop;
      lines.push_back(line);
    }
  }
  return lines;
}

std::string balance_text(const std::vector<BalanceLine>& lines, double memory) {
  Table table(
      {"code balance", "B/flop", "GF/s from memory", "B_C(α)", "GF/s", "roofline", "limit"});
  for (const BalanceLine& line : lines) {
    std::vector<std::string> cells{line.model, fmt::format("{:.2f}", line.bytes_per_flop),
                                   giga_text(memory / line.bytes_per_flop)};
    if (line.format) {
      const FormatLine& format = *line.format;
      cells.insert(cells.end(),
                   {fmt::format("{:.2f}", format.with_alpha), giga_text(memory / format.with_alpha),
                    giga_text(format.roof.flops_per_second), format.roof.limit});
    }
    cells.resize(7);
    table.add(std::move(cells));
  }
  return table.text(2);
}

std::string power_text(const std::vector<PowerLine>& lines, double memory, double bytes_per_flop) {
  Table table({"blocked powers", "p", "without overlap", "speed-up", "with overlap", "speed-up"});
  const double plain = memory / bytes_per_flop;
  for (const PowerLine& line : lines) {
    const std::string target = fmt::format("in {}, {}: {} GB/s, {:.2f} times memory",
                                           line.target.name, bytes_text(line.target.bytes),
                                           giga_text(line.target.bytes_per_second), line.ratio);
    table.add({line.power == 1 ? target : "", std::to_string(line.power),
               giga_text(line.without_overlap) + " GF/s",
               fmt::format("{:.2f}", line.without_overlap / plain),
               giga_text(line.with_overlap) + " GF/s",
               fmt::format("{:.2f}", line.with_overlap / plain)});
  }
  return table.text(2);
}

std::string hockney_text(const ModelledDevice& device) {
  const HockneyFit& fit = device.hockney;
  std::string text =
      fmt::format("  Pieces of Q bytes that {} (Panzlaff 4.12, {} each):", device.pieces,
                  seconds_text(fit.overhead_seconds));
  for (const Offset bytes : device.piece_bytes) {
    text += fmt::format("{} {} at {} GB/s", bytes == device.piece_bytes.front() ? "" : ",",
                        bytes_text(bytes),
                        giga_text(with_latency(fit.bytes_per_second, fit.overhead_seconds,
                                               static_cast<double>(bytes))));
  }
  return text + ".\n";
}

Json balance_json(const BalanceLine& line, const ModelledDevice& device, double flops) {
  const double bytes = line.bytes_per_flop * flops;
  const double from_pieces =
      with_latency(device.hockney.bytes_per_second, device.hockney.overhead_seconds, bytes);
  Json json{{"kernel", "model"},
            {"backend", device.backend},
            {"variant", line.model},
            {"power", 1},
            {"bytes_per_flop", line.bytes_per_flop},
            {"predicted",
             {{"gflops", device.memory / line.bytes_per_flop / 1e9},
              {"bound", "dram"},
              {"model", "roofline"},
              {"with_latency_gflops", from_pieces / line.bytes_per_flop / 1e9}}}};
  if (!line.format) return json;
  const FormatLine& format = *line.format;
  json["format"] = name_of(format.stored.format);
  json["parameters"] = parameters_json(format.stored.format.parameters());
  json["bytes"] = {{"format", format.stored.bytes}};
  json["bytes_per_flop_with_alpha"] = format.with_alpha;
  if (format.formula) json["published_bytes_per_flop"] = *format.formula;
  json["predicted"]["with_alpha_gflops"] = device.memory / format.with_alpha / 1e9;
  json["roofline"] = {{"gflops", format.roof.flops_per_second / 1e9}, {"limit", format.roof.limit}};
  return json;
}

Json alpha_json(const AlphaPrediction& predicted, const ModelledDevice& device) {
  return {{"kernel", "model"},
          {"backend", device.backend},
          {"variant", "α (Hager/Wellein)"},
          {"power", 1},
          {"parameters",
           {{"cache_bytes", device.product.cache.bytes},
            {"line_bytes", device.product.cache.line_bytes}}},
          {"alpha", {{"predicted", predicted.alpha}}},
          {"sampled_share", predicted.sampled_share}};
}

Json power_json(const PowerLine& line, const std::string& backend, double plain) {
  return {
      {"kernel", "model"},
      {"backend", backend},
      {"variant", line.target.name},
      {"power", line.power},
      {"parameters", {{"cache_bytes", line.target.bytes}, {"cache_to_memory_ratio", line.ratio}}},
      {"speedup_over_spmv", line.without_overlap / plain},
      {"predicted",
       {{"gflops", line.without_overlap / 1e9},
        {"model", "without overlap"},
        {"overlapped_gflops", line.with_overlap / 1e9}}}};
}

// Rows that load every line of x once: those of a thread, or of a block of Reguly's kernel.
Offset rows_that_share(const ProductWork& work, const ModelledDevice& device) {
  if (device.gpu != nullptr) return reguly_kernel(work, device.gpu->device.warp).rows_per_block();
  return ceil_div<Offset>(work.rows, device.threads);
}

// What there is to say of one product besides its balance. `csr_balance` is B_C(α) of CSR.
std::string product_text(const ModelledDevice& device, const CountedMatrix& counted,
                         const ModelledFormat& best, double csr_balance, ResultDocument& document) {
  const ProductWork work = work_of(counted.matrix);
  for (Json& level : levels_json(device.backend, device.product, work, best)) {
    document.add_result(std::move(level));
  }
  std::string text = levels_text(device.product, work, best) + "\n";
  if (device.machine != nullptr) {
    const PredictedScaling scaling = predicted_scaling(*device.machine, work, best);
    document.add_result(json_of(scaling, device.backend, best));
    text += text_of(scaling, best) + "\n";
  }
  const RegulyTraffic traffic =
      reguly_traffic(counted.matrix, rows_that_share(work, device), device.product.cache.line_bytes,
                     csr_balance * work.flops() / device.memory);
  document.add_result(json_of(traffic, device.backend));
  text += text_of(traffic, work);
  if (device.gpu != nullptr) {
    const WarpModel warps = warp_model(counted.matrix, *device.gpu);
    document.add_result(json_of(warps, device.backend));
    text += text_of(warps);
  }
  return text;
}

// The models of one device: results for the document, text for people.
std::string model_on(const ModelledDevice& device, const CountedMatrix& counted, int most_powers,
                     ResultDocument& document, Progress& progress) {
  const MatrixStatistics& statistics = counted.statistics;
  const ProductWork work = work_of(counted.matrix);
  progress.start("predicting how often x is loaded");
  const AlphaPrediction alpha = alpha_of(counted.matrix, device.product);
  const auto balances = balances_of(
      statistics, work, summaries_with_kernel(counted.matrix, statistics, device.kernels),
      alpha.alpha, device);
  for (const BalanceLine& line : balances) {
    document.add_result(balance_json(line, device, work.flops()));
  }
  document.add_result(alpha_json(alpha, device));

  // The best that powers run in. Those that take time to decode are bounds and nothing to predict
  // powers by.
  const auto rank = [](const BalanceLine& line) {
    return std::tuple(!line.format || !line.format->powers, !line.format || line.format->decodes,
                      line.bytes_per_flop);
  };
  const auto best = std::ranges::min_element(balances, {}, rank);
  const auto csr = std::ranges::find_if(balances, [](const BalanceLine& line) {
    return line.format && line.format->stored.format.format() == Format::csr;
  });
  const double plain = device.memory / best->bytes_per_flop;
  std::string text =
      device.heading + balance_text(balances, device.memory) + "\n  " +
      alpha_text(alpha, device.product, work) + "\n" +
      product_text(device, counted, best->format->stored, csr->format->with_alpha, document) + "\n";
  if (statistics.rows != statistics.cols) {
    return text + "  A matrix that is not square has no powers.\n";
  }
  const auto lines = powers_of(device.targets, most_powers, device.memory, best->bytes_per_flop);
  for (const PowerLine& line : lines) {
    document.add_result(power_json(line, device.backend, plain));
  }
  if (lines.empty()) return text + "  " + device.why_no_target + "\n";
  return text + power_text(lines, device.memory, best->bytes_per_flop) + "\n" +
         hockney_text(device) +
         fmt::format(
             "  Powers are those of {}: without overlap memory and cache take turns (Panzlaff "
             "4.8),\n"
             "  with overlap the slower alone counts. Both assume that the window fits the cache:\n"
             "  'strata explain' checks that with the levels.\n",
             best->model);
}

// The profile in a file that `strata machine` has stored, perhaps on another machine.
KnownGpu load_gpu(const std::string& path) {
  try {
    std::optional<gpu::GpuProfile> profile = gpu::load_profile(path);
    if (!profile) throw FileError(path, "no such file");
    return {.profile = *std::move(profile), .remark = "", .measured = false, .path = path};
  } catch (const FileError& error) {
    throw Failure(ExitStatus::input, error.what());
  }
}

// What is modelled: the processor, the GPU of this machine, or the one of the file in its place.
struct Modelled {
  bool cpu = false;
  std::optional<KnownGpu> gpu;
  std::string why_no_gpu = {};
};

Modelled choose_devices(const ModelOptions& options, ResultDocument& document, Progress& progress) {
  if (options.gpu.empty()) {
    const Backends backends =
        choose_own_backends(options.backend.empty() ? "cpu" : options.backend);
    Modelled chosen{backends.cpu, std::nullopt, backends.why_no_gpu};
    if (backends.gpu) chosen.gpu = find_gpu(options.common.device, document, progress);
    return chosen;
  }
  Modelled chosen{false, load_gpu(options.gpu)};
  const std::string api(gpu::name_of(chosen.gpu->profile.device.api));
  for (const std::string& word : split_list(options.backend.empty() ? api : options.backend)) {
    if (word != "cpu" && word != "all" && word != api) {
      throw InvalidArgument(
          fmt::format("--backend {}: {} has the profile of a GPU for {}", word, options.gpu, api));
    }
    chosen.cpu = chosen.cpu || word != api;
  }
  describe_gpu(*chosen.gpu, document);
  return chosen;
}

// Ranks are processes on processors.
void require_processors(const ModelOptions& options) {
  if (options.backend.empty() && options.gpu.empty()) return;
  if (options.backend == "cpu" && options.gpu.empty()) return;
  throw InvalidArgument("--ranks predicts for processors: leave --backend and --gpu out");
}

std::string run_model(const ModelOptions& options, ResultDocument& document, Progress& progress) {
  require_ranks_for(options.scaling);
  if (options.scaling.asked()) require_processors(options);
  const Modelled chosen = choose_devices(options, document, progress);
  std::vector<ModelledDevice> devices;
  if (chosen.cpu) {
    devices.push_back(modelled(find_machine(document, progress).profile, thread_count()));
  }
  if (chosen.gpu) devices.push_back(modelled(chosen.gpu->profile));
  const MatrixSource source = find_matrix(options.matrix);
  const CountedMatrix counted = load_and_count(source, options.common, document, progress);
  if (counted.statistics.entries == 0) {
    return source.name + ": no entries, hence no flops and nothing to predict\n";
  }
  std::string text = matrix_text(source, counted.statistics);
  const int most = *std::ranges::max_element(options.powers);
  if (options.scaling.asked()) {
    return text + devices.front().heading +
           predict_scaling(options.scaling, most, counted, *devices.front().machine, document,
                           progress);
  }
  for (const ModelledDevice& device : devices) {
    if (&device != &devices.front()) text += "\n";
    text += model_on(device, counted, most, document, progress);
  }
  if (!chosen.why_no_gpu.empty()) text += fmt::format("\nLeft out: {}.\n", chosen.why_no_gpu);
  return text;
}

}  // namespace

void add_model(CommandLine& line) {
  auto options = std::make_shared<ModelOptions>();
  CommandOptions command = line.add_command(
      "model",
      "How fast products and powers can be on this machine or a GPU, without running them");
  add_matrix_argument(command, options->matrix);
  add_powers_option(command, options->powers, "Predict up to this power, 6 when not given");
  add_backend_option(
      command, options->backend,
      "What to predict for: cpu, cuda, hip, or all that are available; cpu when not given");
  command
      .add("--gpu", options->gpu,
           "Predict for the GPU of another machine: the file where 'strata machine' cached its "
           "profile")
      .type_name("FILE");
  add_scaling_options(command, options->scaling);
  add_common_options(command, options->common);
  add_type_options(command, options->common);
  add_device_option(command, options->common);
  command.set_example(
      "strata model stencil27:64x64x128 -p 8\n"
      "  strata model stencil7:256x256x256 --backend cuda\n"
      "  strata model stencil27:64x64x128 --ranks 1:65536 --ranks-per-node 64 -p 6");
  set_work(command, options, run_model);
}

}  // namespace strata::cli
