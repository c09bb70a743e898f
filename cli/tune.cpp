// strata tune: the fastest product for a matrix on this machine, found once and remembered.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include "cli/parts/backends.hpp"
#include "cli/parts/commands.hpp"
#include "cli/parts/counted_matrix.hpp"
#include "cli/parts/gpu.hpp"
#include "cli/parts/measuring.hpp"
#include "cli/parts/product_models.hpp"
#include "cli/parts/run_command.hpp"
#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/measure/matrix_analysis.hpp"
#include "strata/measure/product_device.hpp"
#include "strata/measure/product_result.hpp"
#include "strata/tune/fill_estimate.hpp"
#include "strata/tune/heat_map.hpp"
#include "strata/tune/product_search.hpp"
#include "strata/tune/register_profile.hpp"
#include "strata/tune/tuning_store.hpp"
#ifdef STRATA_HAS_GPU
#include "strata/device/device.hpp"
#include "strata/tune/gpu/product_search.hpp"
#endif

namespace strata::cli {

namespace {

struct TuneOptions {
  CommonOptions common;
  std::string matrix;
  std::string backend = "cpu";
  int timed = 5;
  bool exhaustive = false;
  bool again = false;
  bool registers = false;
  double min_time = 0.2;
};

// The shape of register blocks that PERF and fill recommend, and how they came to it.
struct RegisterBlocks {
  ProductSpec spec;
  BlockChoice choice;
  BlockTable performance;
  BlockTable fill;
};

template <Value V, Index I>
RegisterBlocks choose_registers(const Csr<V, I>& matrix, const BlockTable& performance) {
  RegisterBlocks blocks;
  blocks.performance = performance;
  blocks.fill = estimate_fill(matrix.pattern()).fill();
  blocks.choice = choose_block_size(blocks.performance, blocks.fill);
  blocks.spec.format = FormatSpec(Format::bcsr, {{"block_rows", blocks.choice.best.rows},
                                                 {"block_cols", blocks.choice.best.cols}});
  return blocks;
}

// Where products are searched.
struct Place {
  std::string backend = "cpu";
  std::string machine;             // machine_key()
  int threads = 0;                 // of a processor
  std::optional<int> device = {};  // of a GPU
};

// A search on one device, whatever types the matrix has.
struct Tuning {
  const TuneOptions& options;
  const CountedMatrix& counted;
  Place place;
  ResultDocument& document;
  Progress& progress;

  double flops() const { return work_of(counted.matrix).flops(); }
};

Json json_of(const SearchedProduct& product, const Tuning& tuning) {
  const Place& place = tuning.place;
  Json result{{"kernel", "tune"},
              {"backend", place.backend},
              {"format", name_of(product.spec.format)},
              {"product", name_of(product.spec)},
              {"variant", label_of(product.spec)},
              {"parameters", parameters_json(product.spec.format.parameters())}};
  if (place.device) {
    result["device"] = *place.device;
  } else {
    result["threads"] = place.threads;
  }
  if (!product.refusal.empty()) result["refused"] = product.refusal;
  if (product.predicted.seconds() > 0) {
    result["rank"] = product.rank;
    result["contender"] = product.contender;
    result["predicted"] = {{"seconds", product.predicted.seconds()},
                           {"kernel_seconds", product.predicted.kernel_seconds},
                           {"memory_seconds", product.predicted.memory_seconds}};
  }
  if (product.seconds > 0) {
    result["seconds"] = {{"median", product.seconds}};
    result["gflops"] = tuning.flops() / product.seconds / 1e9;
    result["setup_seconds"] = product.setup_seconds;
    result["bytes"] = {{"format", product.bytes}};
    result["break_even_products"] = product.break_even ? Json(*product.break_even) : Json();
  }
  if (!product.miss.empty()) result["predicted"]["miss"] = product.miss;
  return result;
}

std::string table_text(const ProductSearch& found, double flops) {
  Table table({"product", "bytes", "ms", "GF/s", "predicted", "set-up", "pays after", ""});
  const auto rate = [&](double seconds) { return seconds > 0 ? giga_text(flops / seconds) : "-"; };
  for (const SearchedProduct& product : found.products) {
    if (!product.refusal.empty()) {
      table.add({label_of(product.spec), "-", "-", "-", "-", "-", "-", product.refusal});
    } else if (product.seconds > 0) {
      table.add({label_of(product.spec), bytes_text(product.bytes),
                 fmt::format("{:.3f}", 1e3 * product.seconds), rate(product.seconds),
                 rate(product.predicted.seconds()), seconds_text(product.setup_seconds),
                 product.break_even ? grouped(*product.break_even) : "never", product.miss});
    } else {
      table.add({label_of(product.spec), "-", "-", "-", rate(product.predicted.seconds()), "-", "-",
                 "not timed"});
    }
  }
  return table.text(2);
}

std::string known_text(const TunedChoice& choice) {
  return fmt::format(
      "Known since {}: {} with {} GF/s, the fastest of {} that were timed. "
      "--again searches again.\n",
      choice.tuned_at, label_of(choice.product()), giga_text(choice.flops_per_second),
      choice.candidates);
}

std::string best_text(const SearchedProduct& best, double flops, const std::string& not_stored) {
  std::string text = fmt::format("Fastest: {} with {} GF/s", label_of(best.spec),
                                 giga_text(best.seconds > 0 ? flops / best.seconds : 0));
  if (best.break_even) {
    text += fmt::format("; its set-up pays off against CSR after {} products",
                        grouped(*best.break_even));
  }
  return text + (not_stored.empty() ? ". Remembered for this matrix and machine.\n"
                                    : fmt::format(". Not remembered: {}.\n", not_stored));
}

std::string registers_text(const RegisterBlocks& blocks) {
  return text_heat_map(performance_map(blocks.performance)) + "\n" +
         text_heat_map(fill_map(blocks.fill)) + "\n" +
         text_heat_map(expected_map(blocks.choice.expected)) + "\n";
}

// A line per size of kBlockSizes, divided by `scale`.
Json table_json(const BlockTable& table, double scale) {
  Json lines = Json::array();
  for (const int rows : kBlockSizes) {
    Json line = Json::array();
    for (const int cols : kBlockSizes) line.push_back(table.at({rows, cols}) / scale);
    lines.push_back(std::move(line));
  }
  return lines;
}

Json registers_json(const RegisterBlocks& blocks, const Place& place, Precision precision) {
  Json sizes = Json::array();
  for (const int size : kBlockSizes) sizes.push_back(size);
  return {{"kernel", "registers"},
          {"backend", place.backend},
          {"format", name_of(blocks.spec.format)},
          {"parameters", parameters_json(blocks.spec.format.parameters())},
          {"threads", place.threads},
          {"precision", name_of(precision)},
          {"rows", sizes},
          {"cols", sizes},
          {"dense_gflops", table_json(blocks.performance, 1e9)},
          {"fill", table_json(blocks.fill, 1)},
          {"predicted_gflops", table_json(blocks.choice.expected, 1e9)}};
}

// Finds the fastest with `search`, unless it is known, and remembers it. `performance` is PERF(r,
// c) of the device.
template <Value V, Index I>
std::string tune(const Csr<V, I>& matrix, const Tuning& tuning,
                 const std::function<BlockTable()>& performance,
                 const std::function<ProductSearch(const SearchOptions&)>& search) {
  const TuneOptions& options = tuning.options;
  const TuningKey key{.matrix = fingerprint_of(matrix.pattern()),
                      .machine = tuning.place.machine,
                      .precision = precision_of<V>(),
                      .threads = tuning.place.threads,
                      .encoded_eighths = encoded_eighths(matrix)};
  const TuningStore store(tuning_store_path());
  std::string text;
  SearchOptions wanted{.timed = options.timed,
                       .exhaustive = options.exhaustive,
                       .min_seconds = options.min_time,
                       .progress = [&](const std::string& what) { tuning.progress.start(what); }};
  if (options.registers || options.again || options.exhaustive || !store.find(key)) {
    tuning.progress.start("choosing blocks of registers");
    const RegisterBlocks blocks = choose_registers(matrix, performance());
    if (options.registers && !tuning.place.device) {
      text += registers_text(blocks);
      tuning.document.add_result(registers_json(blocks, tuning.place, precision_of<V>()));
    }
    wanted.more.push_back(blocks.spec);
  }
  if (!options.again && !options.exhaustive) {
    if (const auto known = store.find(key)) return text + known_text(*known);
  }
  const ProductSearch found = search(wanted);
  for (const SearchedProduct& product : found.products) {
    tuning.document.add_result(json_of(product, tuning));
  }
  const SearchedProduct& best = found.best();
  if (!best.refusal.empty()) throw Unavailable("no product takes the matrix: " + best.refusal);
  const double flops = tuning.flops();
  std::string not_stored = "nothing was timed";
  if (best.seconds > 0) {
    not_stored = store.remember(key, {.format = best.spec.format,
                                      .kernel = best.spec.kernel,
                                      .seconds = best.seconds,
                                      .flops_per_second = flops / best.seconds,
                                      .candidates = found.timed});
  }
  text += table_text(found, flops) + "\n" + best_text(best, flops, not_stored);
  if (options.exhaustive && best.seconds > 0) {
    text +=
        fmt::format("A search that times {} and CSR would find one that takes {:.1f} % longer.\n",
                    options.timed, 100 * found.distance());
  }
  return text;
}

std::string tune_on_processor(Tuning tuning, const MachineProfile& profile) {
  tuning.place = {.machine = machine_key(profile), .threads = thread_count()};
  return std::visit(
      [&]<Value V, Index I>(const Csr<V, I>& csr) {
        return tune(
            csr, tuning,
            [] {
              return cached_register_profile(precision_of<V>(), index_bits_of<I>())
                  .profile.flops_per_second;
            },
            [&](const SearchOptions& search) { return search_products(csr, profile, search); });
      },
      tuning.counted.matrix);
}

#ifdef STRATA_HAS_GPU
std::string tune_on_gpu(Tuning tuning, const gpu::GpuProfile& profile) {
  gpu::use_device(profile.device.index);
  gpu::Stream stream;
  tuning.place = {.backend = std::string(gpu::name_of(profile.device.api)),
                  .machine = machine_key(profile),
                  .device = profile.device.index};
  return std::visit(
      [&]<Value V, Index I>(const Csr<V, I>& csr) {
        // Blocks on GPUs are bound by their bytes.
        return tune(
            csr, tuning,
            [] {
              return default_register_profile({.precision = precision_of<V>()}).flops_per_second;
            },
            [&](SearchOptions search) {
              if (csr.nnz() > 0) {
                tuning.progress.start("predicting how often x is loaded");
                search.alpha = alpha_of(tuning.counted.matrix, product_device(profile)).alpha;
              }
              return gpu::search_products(csr, profile, search, stream);
            });
      },
      tuning.counted.matrix);
}
#else
std::string tune_on_gpu(const Tuning&, const gpu::GpuProfile&) {
  throw Unavailable(why_no_gpu(""));
}
#endif

std::string run_tune(const TuneOptions& options, ResultDocument& document, Progress& progress) {
  const Backends chosen = choose_backends(options.backend, {"cpu", "cuda", "hip"});
  if (options.registers && !chosen.cpu) {
    throw InvalidArgument(
        "--registers shows how fast blocks are on processors: add cpu to "
        "--backend");
  }
  std::optional<KnownGpu> gpu;
  if (chosen.gpu) gpu = find_gpu(options.common.device, document, progress);
  const CachedProfile* known = chosen.cpu ? &find_machine(document, progress) : nullptr;
  const MatrixSource source = find_matrix(options.matrix);
  const CountedMatrix counted = load_and_count(source, options.common, document, progress);
  const Tuning tuning{options, counted, {}, document, progress};
  std::string text = known == nullptr
                         ? matrix_text(source, counted.statistics)
                         : heading_text(source, counted.statistics, known->profile, thread_count());
  if (known != nullptr) text += tune_on_processor(tuning, known->profile);
  if (gpu) {
    text += (known == nullptr ? "" : "\n") + gpu_heading_text(gpu->profile) +
            tune_on_gpu(tuning, gpu->profile);
  }
  return text;
}

}  // namespace

void add_tune(CommandLine& line) {
  auto options = std::make_shared<TuneOptions>();
  CommandOptions command = line.add_command(
      "tune", "Find the fastest product for a matrix on this machine, and remember it");
  add_matrix_argument(command, options->matrix);
  command
      .add("--backend", options->backend,
           "cpu, cuda or hip; each of a list has its own search and its own choice")
      .type_name("NAME,…")
      .show_default();
  command.add("--timed", options->timed, "How many of the best ranked products are timed")
      .range(1, 1000)
      .show_default();
  command.add_flag("--exhaustive", options->exhaustive, "Time all of them");
  command.add_flag("--again", options->again, "Search although the fastest is known");
  command.add_flag("--registers", options->registers,
                   "Show the speed of register blocks, their fill, and the quotient");
  command.add("--min-time", options->min_time, "Seconds of timing per product")
      .range(0.0, 3600.0)
      .show_default();
  add_common_options(command, options->common);
  add_type_options(command, options->common);
  add_device_option(command, options->common);
  command.set_example(
      "strata tune stencil27:48x48x64,dof=3 --registers\n"
      "  strata tune stencil27:200x200x200 --backend cuda");
  set_work(command, options, run_tune);
}

}  // namespace strata::cli
