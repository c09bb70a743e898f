// strata tune: the fastest product for a matrix on this machine, found once and remembered.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/parts/commands.hpp"
#include "cli/parts/counted_matrix.hpp"
#include "cli/parts/measuring.hpp"
#include "cli/parts/run_command.hpp"
#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/measure/matrix_analysis.hpp"
#include "strata/measure/product_result.hpp"
#include "strata/tune/fill_estimate.hpp"
#include "strata/tune/heat_map.hpp"
#include "strata/tune/product_search.hpp"
#include "strata/tune/register_profile.hpp"
#include "strata/tune/tuning_store.hpp"

namespace strata::cli {

namespace {

struct TuneOptions {
  CommonOptions common;
  std::string matrix;
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
RegisterBlocks choose_registers(const Csr<V, I>& matrix) {
  const CachedRegisterProfile& known =
      cached_register_profile(precision_of<V>(), index_bits_of<I>());
  RegisterBlocks blocks;
  blocks.performance = known.profile.flops_per_second;
  blocks.fill = estimate_fill(matrix.pattern()).fill();
  blocks.choice = choose_block_size(blocks.performance, blocks.fill);
  blocks.spec.format = FormatSpec(Format::bcsr, {{"block_rows", blocks.choice.best.rows},
                                                 {"block_cols", blocks.choice.best.cols}});
  return blocks;
}

Json json_of(const SearchedProduct& product, double flops) {
  Json result{{"kernel", "tune"},
              {"backend", "cpu"},
              {"format", name_of(product.spec.format)},
              {"product", name_of(product.spec)},
              {"variant", label_of(product.spec)},
              {"parameters", parameters_json(product.spec.format.parameters())},
              {"threads", thread_count()}};
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
    result["gflops"] = flops / product.seconds / 1e9;
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

template <Value V, Index I>
std::string tune(const Csr<V, I>& matrix, const TuneOptions& options, const MachineProfile& profile,
                 double flops, ResultDocument& document, Progress& progress) {
  const TuningKey key{.matrix = fingerprint_of(matrix.pattern()),
                      .machine = machine_key(profile),
                      .precision = precision_of<V>(),
                      .threads = thread_count()};
  const TuningStore store(tuning_store_path());
  std::string text;
  SearchOptions search{.timed = options.timed,
                       .exhaustive = options.exhaustive,
                       .min_seconds = options.min_time,
                       .progress = [&](const std::string& what) { progress.start(what); }};
  if (options.registers || options.again || options.exhaustive || !store.find(key)) {
    progress.start("measuring blocks of registers");
    const RegisterBlocks blocks = choose_registers(matrix);
    if (options.registers) text += registers_text(blocks);
    search.more.push_back(blocks.spec);
  }
  if (!options.again && !options.exhaustive) {
    if (const auto known = store.find(key)) return text + known_text(*known);
  }
  const ProductSearch found = search_products(matrix, profile, search);
  for (const SearchedProduct& product : found.products) {
    document.add_result(json_of(product, flops));
  }
  const SearchedProduct& best = found.best();
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

std::string run_tune(const TuneOptions& options, ResultDocument& document, Progress& progress) {
  const CachedProfile& known = find_machine(document, progress);
  const MatrixSource source = find_matrix(options.matrix);
  const CountedMatrix counted = load_and_count(source, options.common, document, progress);
  const double flops = work_of(counted.matrix).flops();
  return heading_text(source, counted.statistics, known.profile, thread_count()) +
         std::visit(
             [&](const auto& csr) {
               return tune(csr, options, known.profile, flops, document, progress);
             },
             counted.matrix);
}

}  // namespace

void add_tune(CommandLine& line) {
  auto options = std::make_shared<TuneOptions>();
  CommandOptions command = line.add_command(
      "tune", "Find the fastest product for a matrix on this machine, and remember it");
  add_matrix_argument(command, options->matrix);
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
  command.set_example("strata tune stencil27:48x48x64,dof=3 --registers");
  set_work(command, options, run_tune);
}

}  // namespace strata::cli
