// strata spmv: plain products, format by format, beside those of other libraries.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/analysis.hpp"
#include "cli/commands.hpp"
#include "cli/peers.hpp"
#include "cli/product_bench.hpp"
#include "cli/run_command.hpp"
#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"

namespace strata::cli {

namespace {

struct SpmvOptions {
  CommonOptions common;
  MeasuringOptions measuring;
  std::string matrix;
  std::string format = "all";
  std::string backend = "cpu,vendor";
};

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// Throws Unavailable for backends that are not here.
void choose_backends(const std::string& text, ProductSettings& settings) {
  const std::vector<std::string> words = split_list(text);
  for (const std::string& word : words) {
    if (word == "cuda" || word == "hip") {
      throw Unavailable(fmt::format("the backend {} is not here", word));
    }
    if (!contains({"reference", "cpu", "vendor", "all"}, word)) {
      throw InvalidArgument(
          fmt::format("'{}' is none of reference, cpu, cuda, hip, vendor, all", word));
    }
  }
  const bool all = contains(words, "all");
  settings.cpu = all || contains(words, "cpu");
  settings.reference = all || contains(words, "reference");
  settings.vendor = all || contains(words, "vendor");
  if (text == "vendor" && peer_names().empty()) {
    throw Unavailable("no other library is here: build with Eigen or librsb");
  }
}

// All, those with the names asked for, or for "auto" the one with the fewest bytes.
std::vector<FormatFacts> choose_formats(const std::string& text, const AnyMatrix& matrix,
                                        const MatrixStatistics& statistics) {
  std::vector<FormatFacts> formats = formats_to_try(statistics);
  if (text == "all") return formats;
  if (text == "auto") {
    std::erase_if(formats, [](const FormatFacts& format) { return !has_cpu_kernel(format); });
    for (FormatFacts& format : formats) measure_format(matrix, format);
    std::erase_if(formats, [](const FormatFacts& format) { return !format.footprint; });
    return {*std::ranges::min_element(
        formats, {}, [](const FormatFacts& format) { return format.footprint->bytes(); })};
  }
  const std::vector<std::string> names = split_list(text);
  for (const std::string& name : names) {
    if (std::ranges::find(formats, name, &FormatFacts::format) == formats.end()) {
      throw InvalidArgument(fmt::format("there is no format {} for this matrix", name));
    }
  }
  std::erase_if(formats,
                [&](const FormatFacts& format) { return !contains(names, format.format); });
  return formats;
}

Json run_json(const ProductRun& run, Offset minimum, Precision precision) {
  Json parameters = Json::object();
  for (const NamedNumber& number : run.format.parameters) parameters[number.name] = number.value;
  Json result{{"kernel", "spmv"},
              {"backend", run.backend},
              {"format", run.format.format},
              {"variant", run.variant.empty() ? run.format.label : run.variant},
              {"power", 1},
              {"parameters", parameters},
              {"threads", run.threads},
              {"precision", name_of(precision)}};
  if (!run.format.refusal.empty()) {
    result["refused"] = run.format.refusal;
    return result;
  }
  result["setup_seconds"] = run.setup_seconds;
  add_measurement(result, run.measurement);
  result["bytes"] = {{"minimum", minimum}, {"format", run.format_bytes}};
  if (run.speed_up > 0) result["speedup_over_vendor"] = run.speed_up;
  return result;
}

std::string table_text(const std::vector<ProductRun>& runs, const MachineFacts& facts) {
  Table table({"product", "backend", "threads", "bytes", "ms", "GF/s", "GB/s", "of memory",
               "over peers", "set-up", ""},
              2);
  for (const ProductRun& run : runs) {
    if (!run.format.refusal.empty()) {
      table.add({run.format.label, run.backend, "-", "-", "-", "-", "-", "-", "-", "-",
                 run.format.refusal});
      continue;
    }
    const Measurement& measured = run.measurement;
    table.add({run.format.label, run.backend, std::to_string(run.threads),
               bytes_text(run.format_bytes), fmt::format("{:.3f}", 1e3 * measured.timing.median),
               giga_text(measured.flops_per_second()), giga_text(measured.bytes_per_second()),
               percent_text(measured.bytes_per_second() / facts.memory_bandwidth(run.threads)),
               run.speed_up > 0 ? fmt::format("{:.2f}", run.speed_up) : "-",
               seconds_text(run.setup_seconds), ""});
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
    if (run.format.refusal.empty()) measurements.push_back(run.measurement);
  }
  return measurements;
}

std::string run_spmv(const SpmvOptions& options, std::vector<ProductRun>& runs,
                     ResultDocument& document, Progress& progress) {
  ProductSettings settings;
  choose_backends(options.backend, settings);
  const KnownFacts& known = find_machine(document, progress);
  const MatrixSource source = find_matrix(options.matrix);
  const auto [matrix, statistics] = load_and_count(source, options.common, document, progress);
  settings.formats = choose_formats(options.format, matrix, statistics);
  const Offset minimum = minimum_bytes(statistics, sizes_of(matrix));
  const Precision precision = precision_for(source, options.common);
  run_product_bench(matrix, settings, options.measuring, progress, [&](const ProductRun& run) {
    document.add_result(run_json(run, minimum, precision));
    runs.push_back(run);
  });
  if (runs.empty()) {
    throw Unavailable("the formats asked for have no kernel on the backends asked for");
  }
  return heading_text(source, statistics, known.facts, thread_count()) +
         table_text(runs, known.facts) + "\n" + conclusion_text(runs) +
         check_text(measurements_of(runs)) + "\n";
}

}  // namespace

void add_spmv(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<SpmvOptions>();
  CLI::App* command = app.add_subcommand(
      "spmv", "Time plain products in every format, beside those of other libraries");
  add_matrix_argument(*command, options->matrix);
  command
      ->add_option("--format", options->format,
                   "all, auto (the fewest bytes), or names such as csr,sell,packed-sell")
      ->type_name("NAME,…")
      ->capture_default_str();
  command
      ->add_option("--backend", options->backend,
                   "reference, cpu, vendor (other libraries on the same threads) or all")
      ->type_name("NAME,…")
      ->capture_default_str();
  add_measuring_options(*command, options->measuring);
  add_common_options(*command, options->common);
  add_type_options(*command, options->common);
  set_example(*command, "strata spmv stencil27:64x64x128 --format csr,packed-sell");
  command->callback([options, &chosen] {
    chosen = [options](const std::vector<std::string>& words) {
      std::vector<ProductRun> runs;
      run_command(options->common, words, [&](ResultDocument& document, Progress& progress) {
        return run_spmv(*options, runs, document, progress);
      });
      require_passed(measurements_of(runs), "spmv");
    };
  });
}

}  // namespace strata::cli
