// strata model: how fast products and powers of a matrix can be on this machine, by the models of
// docs/model.md. No product is run.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/analysis.hpp"
#include "cli/commands.hpp"
#include "cli/measuring.hpp"
#include "cli/power_settings.hpp"
#include "cli/run_command.hpp"
#include "strata/base/parallel.hpp"
#include "strata/model/balance.hpp"
#include "strata/model/power_model.hpp"

namespace strata::cli {

namespace {

struct ModelOptions {
  CommonOptions common;
  std::string matrix;
  std::vector<int> powers{6};
};

// Bytes per flop by some model.
struct BalanceLine {
  std::string model;
  double bytes_per_flop = 0;
};

// A cache that blocked powers can aim at.
struct CacheTarget {
  std::string name;
  Offset bytes = 0;
  double bytes_per_second = 0;
};

struct PowerLine {
  CacheTarget target;
  int power = 1;
  double ratio = 1;            // of cache to memory bandwidth
  double without_overlap = 0;  // flops per second
  double with_overlap = 0;
};

// The models count 2 flops per entry.
std::vector<BalanceLine> balances_of(const MatrixStatistics& statistics, const TypeSizes& sizes,
                                     const std::vector<FormatFacts>& formats) {
  const double entries_per_row = statistics.row_lengths.mean;
  const ElementSizes elements{static_cast<double>(sizes.value_bytes),
                              static_cast<double>(sizes.index_bytes)};
  const double per_flop = 2 / sizes.flops_per_entry;
  std::vector<BalanceLine> lines{
      {"SELL-32, x and y once (Panzlaff 4.5)", sell_balance(32, entries_per_row, elements)},
      {"CRS, x once: α = 1/nnzr (Hager/Wellein)", minimum_crs_balance(entries_per_row, elements)},
      {"CRS, x for every entry: α = 1", crs_balance(entries_per_row, 1, elements)}};
  const VectorTraffic vectors{
      .rows = statistics.rows, .cols = statistics.cols, .value_bytes = elements.value};
  for (const FormatFacts& format : formats) {
    if (!format.footprint) continue;
    lines.push_back({format.label + ", true bytes", product_balance(*format.footprint, vectors)});
  }
  lines.push_back({"no format can do better", minimum_balance(entries_per_row, elements)});
  for (BalanceLine& line : lines) line.bytes_per_flop *= per_flop;
  return lines;
}

// The formats that have fast kernels.
std::vector<FormatFacts> formats_with_kernels(const AnyMatrix& matrix,
                                              const MatrixStatistics& statistics) {
  std::vector<FormatFacts> formats = formats_to_try(statistics);
  std::erase_if(formats, [](const FormatFacts& format) { return !has_cpu_kernel(format); });
  for (FormatFacts& format : formats) measure_format(matrix, format);
  return formats;
}

std::vector<CacheTarget> targets_of(const MachineFacts& facts, int threads) {
  std::vector<CacheTarget> targets;
  const auto add = [&](std::string name, Offset bytes) {
    if (bytes <= 0) return;
    const double rate =
        std::max(facts.read_bandwidth(threads, bytes / 2), facts.memory_bandwidth(threads));
    targets.push_back({std::move(name), bytes, rate});
  };
  const Offset own = facts.private_cache_bytes(threads);
  add("private", own);
  if (const Offset all = facts.cache_bytes(threads); all > own) add("shared", all);
  return targets;
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
  Table table({"code balance", "B/flop", "GF/s from memory"});
  for (const BalanceLine& line : lines) {
    table.add({line.model, fmt::format("{:.2f}", line.bytes_per_flop),
               giga_text(memory / line.bytes_per_flop)});
  }
  return table.text(2);
}

std::string power_text(const std::vector<PowerLine>& lines, double memory, double bytes_per_flop) {
  Table table({"blocked powers", "p", "without overlap", "speed-up", "with overlap", "speed-up"});
  const double plain = memory / bytes_per_flop;
  for (const PowerLine& line : lines) {
    const std::string target = fmt::format("in {} caches, {}: {} GB/s, {:.2f} times memory",
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

std::string ramp_up_text(const MachineFacts& facts) {
  const RampUp& fit = facts.ramp_up;
  std::string text =
      fmt::format("  Pieces of Q bytes that each start the threads anew (Panzlaff 4.12, {} each):",
                  seconds_text(fit.overhead_seconds));
  for (const Offset bytes : {100'000, 1'000'000, 10'000'000}) {
    text += fmt::format("{} {} at {} GB/s", bytes == 100'000 ? "" : ",", bytes_text(bytes),
                        giga_text(ramped_up(fit.bytes_per_second, fit.overhead_seconds,
                                            static_cast<double>(bytes))));
  }
  return text + ".\n";
}

Json balance_json(const BalanceLine& line, double memory) {
  return {
      {"kernel", "model"},
      {"backend", "cpu"},
      {"variant", line.model},
      {"power", 1},
      {"bytes_per_flop", line.bytes_per_flop},
      {"predicted",
       {{"gflops", memory / line.bytes_per_flop / 1e9}, {"bound", "dram"}, {"model", "roofline"}}}};
}

Json power_json(const PowerLine& line, double plain) {
  return {
      {"kernel", "model"},
      {"backend", "cpu"},
      {"variant", line.target.name + " caches"},
      {"power", line.power},
      {"parameters", {{"cache_bytes", line.target.bytes}, {"cache_to_memory_ratio", line.ratio}}},
      {"speedup_over_spmv", line.without_overlap / plain},
      {"predicted",
       {{"gflops", line.without_overlap / 1e9},
        {"model", "without overlap"},
        {"overlapped_gflops", line.with_overlap / 1e9}}}};
}

std::string run_model(const ModelOptions& options, ResultDocument& document, Progress& progress) {
  const KnownFacts& known = find_machine(document, progress);
  const MatrixSource source = find_matrix(options.matrix);
  const auto [matrix, statistics] = load_and_count(source, options.common, document, progress);
  if (statistics.entries == 0) {
    return source.name + ": no entries, hence no flops and nothing to predict\n";
  }

  const int threads = thread_count();
  const double memory = known.facts.memory_bandwidth(threads);
  const TypeSizes sizes = sizes_of(matrix);
  const auto balances = balances_of(statistics, sizes, formats_with_kernels(matrix, statistics));
  for (const BalanceLine& line : balances) document.add_result(balance_json(line, memory));

  // The best that is stored: the lines before the lower bound, without the published formulas.
  const auto best = std::min_element(
      balances.begin() + 3, balances.end() - 1,
      [](const auto& a, const auto& b) { return a.bytes_per_flop < b.bytes_per_flop; });
  std::string text = heading_text(source, statistics, known.facts, threads);
  text += balance_text(balances, memory) + "\n";
  if (statistics.rows != statistics.cols)
    return text + "  A matrix that is not square has no powers.\n";

  const auto lines =
      powers_of(targets_of(known.facts, threads), *std::ranges::max_element(options.powers), memory,
                best->bytes_per_flop);
  for (const PowerLine& line : lines) {
    document.add_result(power_json(line, memory / best->bytes_per_flop));
  }
  if (lines.empty()) return text + "  No cache of this machine reads faster than its memory.\n";
  return text + power_text(lines, memory, best->bytes_per_flop) + "\n" + ramp_up_text(known.facts) +
         fmt::format(
             "  Powers are those of {}: without overlap memory and cache take turns (Panzlaff "
             "4.8),\n"
             "  with overlap the slower alone counts. Both assume that the window fits the cache:\n"
             "  'strata explain' looks at the levels and tells.\n",
             best->model);
}

}  // namespace

void add_model(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<ModelOptions>();
  CLI::App* command = app.add_subcommand(
      "model", "How fast products and powers can be on this machine, without running them");
  add_matrix_argument(*command, options->matrix);
  add_powers_option(*command, options->powers, "Predict up to this power, 6 when not given");
  add_common_options(*command, options->common);
  add_type_options(*command, options->common);
  set_example(*command, "strata model stencil27:64x64x128 -p 8");
  set_work(*command, chosen, options, run_model);
}

}  // namespace strata::cli
