// strata info: what kind of matrix this is, at a glance.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>

#include "cli/parts/commands.hpp"
#include "cli/parts/counted_matrix.hpp"
#include "cli/parts/document.hpp"
#include "cli/parts/run_command.hpp"
#include "cli/parts/writing.hpp"
#include "strata/base/checked.hpp"
#include "strata/io/spy_plot.hpp"
#include "strata/measure/matrix_analysis.hpp"
#include "strata/measure/product_result.hpp"

namespace strata::cli {

namespace {

struct InfoOptions {
  CommonOptions common;
  std::string matrix;
  std::string spy_plot;
};

struct InfoProfile {
  MatrixSource source;
  ProductWork work;
  MatrixStatistics statistics;
  std::optional<Offset> distinct;  // values; none: too many to count
  std::optional<LevelSummary> levels;
  std::vector<std::string> spy_plot;
  std::vector<FormatSummary> formats;
};

double per_entry(const InfoProfile& profile, Offset bytes) {
  return profile.statistics.entries == 0
             ? 0.0
             : static_cast<double>(bytes) / static_cast<double>(profile.statistics.entries);
}

// Blocks of the spy plot in documents, across and down at most.
constexpr int kSpyBlocks = 64;

Json spy_json(const DensityGrid& grid) {
  Json counts = Json::array();
  for (const Offset count : grid.counts) counts.push_back(count);
  return {{"spy", {{"rows", grid.height}, {"cols", grid.width}, {"counts", counts}}}};
}

// Beyond so many levels, "rows" has the sums of neighbours.
constexpr Offset kMostLevelEntries = 2000;

Json level_json(const LevelSummary& levels) {
  const Offset per_entry =
      std::max<Offset>(ceil_div<Offset>(std::ssize(levels.rows), kMostLevelEntries), 1);
  std::vector<Offset> sums(
      static_cast<std::size_t>(ceil_div<Offset>(std::ssize(levels.rows), per_entry)));
  for (std::size_t level = 0; level < levels.rows.size(); ++level) {
    sums[level / static_cast<std::size_t>(per_entry)] += levels.rows[level];
  }
  Json rows = Json::array();
  for (const Offset sum : sums) rows.push_back(sum);
  Json json{{"count", levels.count},
            {"max_rows", levels.max_rows},
            {"max_window_rows", levels.max_window_rows},
            {"root", levels.root},
            {"rows", rows}};
  if (per_entry > 1) json["levels_per_entry"] = per_entry;
  return {{"components", levels.components}, {"levels", json}};
}

Json format_json(const InfoProfile& profile, const FormatSummary& format) {
  Json result{{"kernel", "info"},
              {"format", name_of(format.spec)},
              {"parameters", parameters_json(format.spec.parameters())}};
  if (!format.footprint) {
    result["refused"] = format.refusal;
    return result;
  }
  result["bytes"] = {{"minimum", profile.work.minimum_bytes()},
                     {"format", format.footprint->bytes()},
                     {"values", format.footprint->value_bytes},
                     {"indices", format.footprint->index_bytes},
                     {"vectors", profile.work.vector_bytes()}};
  result["bytes_per_nonzero"] = format.footprint->bytes_per_entry();
  result["fill"] = format.footprint->fill();
  if (format.encodings) {
    for (const SliceEncoding encoding : kSliceEncodings) {
      result["slices_by_encoding"][name_of(encoding)] =
          format.encodings->columns[static_cast<std::size_t>(encoding)];
    }
    result["encodings"] = encodings_json(*format.encodings);
  }
  return result;
}

std::string symmetry_text(const MatrixStatistics& statistics) {
  if (statistics.rows != statistics.cols) return "rectangular";
  if (statistics.value_symmetry != Symmetry::general) {
    return fmt::format("{} values", name_of(statistics.value_symmetry));
  }
  if (statistics.pattern_symmetric) return "symmetric pattern, general values";
  return fmt::format("general, {:.1f} % of the entries have a mirror image",
                     100 * statistics.mirrored_share());
}

std::string counted(Offset count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count == 0 ? "no" : grouped(count), count == 1 ? one : many);
}

std::string value_text(const InfoProfile& profile) {
  const MatrixStatistics& s = profile.statistics;
  const Offset stored = stored_zeros(profile.source, s);
  std::string text = counted(stored, "stored zero", "stored zeros");
  if (stored != s.zeros) text += fmt::format(", {} with their mirror images", grouped(s.zeros));
  text += profile.distinct
              ? fmt::format(", {}", counted(*profile.distinct, "distinct value", "distinct values"))
              : fmt::format(", more than {} distinct values", grouped(kLargestValueTable));
  if (s.non_finite != 0) text += fmt::format(", {} not finite", grouped(s.non_finite));
  return text;
}

// The lines above the spy plot: a name and a statement each.
std::string profile_lines(const InfoProfile& profile) {
  const MatrixStatistics& s = profile.statistics;
  const RowLengths& lengths = s.row_lengths;
  std::string text;
  const auto line = [&](std::string_view name, const std::string& what) {
    text += fmt::format("  {:<10}{}\n", name, what);
  };
  line("size", fmt::format("{} x {}, {}", grouped(s.rows), grouped(s.cols),
                           counted(s.entries, "entry", "entries")));
  if (const auto& header = profile.source.header) {
    const bool array = header->layout == MatrixMarketHeader::Layout::array;
    line("file", fmt::format("{}{} {}, {} stored", array ? "array " : "", name_of(header->field),
                             name_of(header->symmetry),
                             counted(header->stored_entries, "entry", "entries")));
  }
  line("symmetry", symmetry_text(s));
  line("rows", fmt::format("{:.2f} ± {:.2f} entries; from {} to {}, quartiles {}, {}, {}",
                           lengths.mean, lengths.stddev, grouped(lengths.min), grouped(lengths.max),
                           grouped(lengths.lower_quartile), grouped(lengths.median),
                           grouped(lengths.upper_quartile)));
  line("", fmt::format("{}, {}", counted(s.empty_rows, "empty row", "empty rows"),
                       counted(s.empty_cols, "empty column", "empty columns")));
  line("bandwidth", fmt::format("{} below and {} above the diagonal", grouped(s.lower_bandwidth),
                                grouped(s.upper_bandwidth)));
  line("diagonal", fmt::format("{} of {} present", grouped(s.diagonal_entries),
                               grouped(std::min(s.rows, s.cols))));
  line("values", value_text(profile));
  if (profile.levels) {
    line("levels", fmt::format("{} of at most {}, three in a row of at most {}; {}",
                               grouped(profile.levels->count),
                               counted(profile.levels->max_rows, "row", "rows"),
                               grouped(profile.levels->max_window_rows),
                               counted(profile.levels->components, "component", "components")));
    line("", "searched from " + profile.levels->root);
  }
  return text;
}

std::vector<std::string> histogram_lines(const MatrixStatistics& statistics) {
  constexpr int kBarWidth = 14;
  constexpr double kThinnestBar = 1.0 / (8 * kBarWidth);  // a single row stays visible
  std::vector<std::string> lines{"rows by their number of entries"};
  Offset most = 1;
  for (const LengthBin& bin : statistics.row_lengths.histogram) most = std::max(most, bin.rows);
  for (const LengthBin& bin : statistics.row_lengths.histogram) {
    const std::string range = bin.first == bin.last ? std::to_string(bin.first)
                                                    : fmt::format("{}-{}", bin.first, bin.last);
    const double share = static_cast<double>(bin.rows) / static_cast<double>(most);
    const std::string rows = bin.rows == 0 ? "" : bar(std::max(share, kThinnestBar), kBarWidth);
    lines.push_back(fmt::format("{:>11} {}{:{}} {}", range, rows, "",
                                kBarWidth - display_width(rows), grouped(bin.rows)));
  }
  return lines;
}

// "dia 98.4 %, delta8 1.6 %": the share of slices that have each encoding.
template <class Encoding, std::size_t count>
std::string shares_text(const std::array<Offset, count>& slices,
                        const std::array<Encoding, count>& encodings) {
  const auto all = static_cast<double>(std::accumulate(slices.begin(), slices.end(), Offset{0}));
  std::string text;
  for (const Encoding encoding : encodings) {
    const Offset with = slices[static_cast<std::size_t>(encoding)];
    if (with == 0) continue;
    text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", name_of(encoding),
                        100.0 * static_cast<double>(with) / all);
  }
  return text;
}

// Of columns and, where any are encoded, of values.
std::string encodings_text(const FormatSummary& format) {
  if (!format.encodings) return "";
  const std::string columns = shares_text(format.encodings->columns, kSliceEncodings);
  if (name_of(format.spec) != name_of(format.spec.format())) return columns;
  return fmt::format("{}; values {}", columns,
                     shares_text(format.encodings->values, kValueEncodings));
}

std::string format_table(const InfoProfile& profile) {
  Table table({"format", "bytes", "per nonzero", "with x and y", "fill", ""});
  const double vectors = per_entry(profile, profile.work.vector_bytes());
  for (const FormatSummary& format : profile.formats) {
    if (!format.footprint) {
      table.add({format.label, "-", "-", "-", "-", format.refusal});
      continue;
    }
    table.add({format.label, bytes_text(format.footprint->bytes()),
               fmt::format("{:.2f} B", format.footprint->bytes_per_entry()),
               fmt::format("{:.2f} B", format.footprint->bytes_per_entry() + vectors),
               fmt::format("{:.2f}", format.footprint->fill()), encodings_text(format)});
  }
  return table.text(2);
}

std::string bound_lines(const InfoProfile& profile) {
  const MatrixStatistics& s = profile.statistics;
  if (s.entries == 0) return "";
  const Offset minimum = profile.work.minimum_bytes();
  std::string text = fmt::format(
      "  full values   {:.2f} B per nonzero with no index at all: {} for the value, {:.2f} to read "
      "x "
      "and write y once\n",
      per_entry(profile, minimum), profile.work.value_bytes,
      per_entry(profile, profile.work.vector_bytes()));
  if (s.value_symmetry != Symmetry::general) {
    const Offset half = (s.entries + s.diagonal_entries) / 2;
    text += fmt::format(
        "                {:.2f} B if only one half is stored\n",
        per_entry(profile, half * profile.work.value_bytes + profile.work.vector_bytes()));
  }
  text += fmt::format(
      "  code balance  {:.2f} B/flop for CSR when x is loaded once (Hager/Wellein, α = 1/nnzr)\n",
      profile.work.csr_balance());
  return text;
}

std::string report(const InfoProfile& profile) {
  std::string text = profile.source.name + "\n" + profile_lines(profile) + "\n";
  if (!profile.spy_plot.empty()) {
    text += in_two_columns(profile.spy_plot, histogram_lines(profile.statistics), 2, 2) + "\n";
  }
  return text + format_table(profile) + "\n" + bound_lines(profile);
}

// Each step adds what it found to the document, so that an interruption loses one step at most.
std::string run_info(const InfoOptions& options, ResultDocument& document, Progress& progress) {
  if (!options.spy_plot.empty()) require_spy_plot_name(options.spy_plot);
  InfoProfile profile;
  profile.source = find_matrix(options.matrix);
  const auto [matrix, statistics, load_seconds] =
      load_and_count(profile.source, options.common, document, progress);
  profile.work = work_of(matrix);
  profile.statistics = statistics;
  progress.start("counting values");
  profile.distinct = distinct_values(matrix);
  document.describe_matrix(
      {{"distinct_values", profile.distinct ? Json(*profile.distinct) : Json()}});

  progress.start("drawing");
  profile.spy_plot =
      std::visit([](const auto& csr) { return text_spy_plot(csr.pattern()); }, matrix);
  if (statistics.rows > 0 && statistics.cols > 0) {
    document.describe_matrix(spy_json(std::visit(
        [](const auto& csr) { return density_grid(csr.pattern(), kSpyBlocks); }, matrix)));
  }
  if (!options.spy_plot.empty()) {
    const CleanUpTemporary clean_up(options.spy_plot);
    std::visit([&](const auto& csr) { write_spy_plot(options.spy_plot, csr.pattern()); }, matrix);
  }

  progress.start("searching levels");
  profile.levels = level_summary(matrix);
  if (profile.levels) document.describe_matrix(level_json(*profile.levels));

  for (const FormatSpec& spec : usual_specs(profile.statistics)) {
    progress.start("sizing " + label_of(spec));
    profile.formats.push_back(format_summary(matrix, spec));
    document.add_result(format_json(profile, profile.formats.back()));
  }
  return report(profile);
}

}  // namespace

void add_info(CommandLine& line) {
  auto options = std::make_shared<InfoOptions>();
  CommandOptions command = line.add_command(
      "info", "The structure of a matrix, and how many bytes it takes in every format");
  add_matrix_argument(command, options->matrix);
  command
      .add("--spy-plot,--picture", options->spy_plot,
           "Also write a spy plot to FILE.png or FILE.svg")
      .type_name("FILE");
  add_common_options(command, options->common);
  add_type_options(command, options->common);
  command.set_example("strata info stencil27:32x32x32 --spy-plot pattern.png");
  set_work(command, options, run_info);
}

}  // namespace strata::cli
