// strata spmv on several ranks: products by rows, by columns and on a grid, against other libraries
// on the same ranks.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/distributed/commands.hpp"
#include "cli/distributed/matrix.hpp"
#include "cli/distributed/measuring.hpp"
#include "cli/distributed/world.hpp"
#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/distributed/product.hpp"
#include "strata/measure/matrix_analysis.hpp"
#include "strata/measure/rank_peers.hpp"
#include "strata/measure/vectors.hpp"

namespace strata::cli::distributed {

using strata::distributed::DistributedOptions;
using strata::distributed::DistributedProduct;
using strata::distributed::Layout;

namespace {

constexpr int kTimesByRank = 9;

Layout layout_named(const std::string& name) {
  for (const Layout layout : {Layout::rows, Layout::columns, Layout::grid}) {
    if (name == name_of(layout)) return layout;
  }
  throw InvalidArgument(fmt::format("--layout: '{}' is none of rows, columns and grid", name));
}

std::vector<std::string> layouts_of(const ProductSettings& settings) {
  return split_list(settings.layout.layouts.empty() ? "rows" : settings.layout.layouts);
}

// One way to multiply, ours or a peer's.
struct Way {
  std::string label;
  std::string backend = "cpu";
  std::string layout = "rows";
  std::string format;  // as asked for; empty: chosen
  int threads = 1;
  double setup_seconds = 0;
  std::vector<RankShare> shares = {};  // of ours
  std::string refusal = {};
  Offset matrix_bytes = 0;  // of peers
};

struct Result {
  Way way;
  Measurement measurement;
  std::vector<double> seconds;  // by rank
};

template <Value V>
using Run = std::function<void(std::span<const V> x, std::span<V> y)>;

template <Value V>
struct Entrant {
  Way way;
  Run<V> run;
};

double timed(const std::function<void()>& action) {
  world().barrier();
  return world().max(host_stopwatch().seconds_of(action, 1));
}

template <Value V, Index I>
std::vector<Entrant<V>> our_products(const ProductSettings& settings,
                                     const DistributedMatrix<V, I>& matrix, Progress& progress) {
  std::vector<Entrant<V>> entrants;
  std::vector<std::string> formats = settings.formats;
  if (formats.empty()) formats.emplace_back();
  for (const std::string& name : layouts_of(settings)) {
    for (const std::string& format : formats) {
      DistributedOptions options{.layout = layout_named(name)};
      if (options.layout == Layout::grid) options.grid_rows = settings.layout.grid_rows;
      options.product.threads = settings.common.threads;
      if (!format.empty()) options.product.format = format_named(format).value();
      Way way{
          .label = name + (format.empty() ? "" : ", " + format), .layout = name, .format = format};
      progress.start("planning products: " + way.label);
      try {
        std::shared_ptr<DistributedProduct<V>> product;
        way.setup_seconds = timed(
            [&] { product = std::make_shared<DistributedProduct<V>>(world(), matrix, options); });
        auto workspace =
            std::make_shared<typename DistributedProduct<V>::Workspace>(product->make_workspace());
        way.threads = product->threads();
        way.shares = product->shares();
        entrants.push_back({way, [product, workspace](std::span<const V> x, std::span<V> y) {
                              product->apply(x, y, *workspace);
                            }});
      } catch (const Unavailable& error) {
        way.refusal = error.what();
        entrants.push_back({way, {}});
      }
    }
  }
  return entrants;
}

template <Value V, Index I>
std::vector<Entrant<V>> peers_on_ranks(const DistributedMatrix<V, I>& matrix, Progress& progress) {
  std::vector<Entrant<V>> entrants;
  progress.start("setting up other libraries");
  const RankRows<V, I> part{.local = matrix.local,
                            .rows = matrix.rows.elements(),
                            .own_cols = matrix.cols.size(world().rank())};
  for (Peer<V>& peer : make_rank_peers(part, world().handle())) {
    Way way{.label = peer.name, .backend = "vendor", .format = "csr"};
    try {
      world().together([&] {
        if (peer.refusal) std::rethrow_exception(peer.refusal);
      });
    } catch (const Error& error) {
      way.refusal = error.what();
      entrants.push_back({way, {}});
      continue;
    }
    way.setup_seconds = world().max(peer.setup_seconds);
    way.matrix_bytes = world().sum(peer.bytes);
    entrants.push_back({way, [multiply = peer.multiply](std::span<const V> x, std::span<V> y) {
                          multiply(V(1), x, y);
                        }});
  }
  return entrants;
}

template <Value V, Index I>
std::vector<Result> hold(const ProductSettings& settings, const DistributedMatrix<V, I>& matrix,
                         const ProductWork& work, Progress& progress) {
  std::vector<Entrant<V>> entrants;
  if (settings.ours) entrants = our_products(settings, matrix, progress);
  if (settings.peers) {
    for (Entrant<V>& peer : peers_on_ranks(matrix, progress)) entrants.push_back(std::move(peer));
  }
  const Array<V> given = random_part<V>(matrix.cols, settings.measuring.seed);
  Array<V> x = given;
  Array<V> y(static_cast<std::size_t>(matrix.local.rows()));
  std::unique_ptr<LocalRows<V, I>> rows;
  if (settings.measuring.validate) {
    progress.start("preparing the check");
    world().together([&] { rows = std::make_unique<LocalRows<V, I>>(matrix); });
  }
  std::vector<Contender> contenders;
  for (const Entrant<V>& entrant : entrants) {
    Contender contender{.name = entrant.way.label,
                        .flops = work.flops(),
                        .bytes = static_cast<double>(work.minimum_bytes())};
    if (entrant.run) {
      contender.run = [&] { entrant.run(x, y); };
      contender.vectors = {.poison_inputs = [&] { poison(std::span<V>(x)); },
                           .restore_inputs = [&] { x = given; },
                           .poison_outputs = [&] { poison(std::span<V>(y)); }};
      if (rows) {
        contender.check = [&] { return rows->check(cpu::StepCoefficients<V>{}, given, {}, y); };
      }
    }
    contenders.push_back(std::move(contender));
  }
  const auto measured =
      hold_contest(contenders, rank_contest_options(settings.measuring, progress));
  std::vector<Result> results;
  for (std::size_t i = 0; i < entrants.size(); ++i) {
    Result result{entrants[i].way, measured[i], {}};
    if (entrants[i].run) result.seconds = seconds_by_rank(contenders[i].run, kTimesByRank);
    results.push_back(std::move(result));
  }
  return results;
}

double best_of_peers(const std::vector<Result>& results) {
  double best = 0;
  for (const Result& result : results) {
    if (result.way.backend != "vendor" || !result.way.refusal.empty()) continue;
    const double seconds = result.measurement.timing.median;
    if (best == 0 || seconds < best) best = seconds;
  }
  return best;
}

Json json_of(const Result& result, const ProductWork& work, Precision precision, double peers) {
  const Way& way = result.way;
  Json json{{"kernel", "spmv"}, {"backend", way.backend}, {"variant", way.label}, {"power", 1}};
  if (!way.format.empty()) json["format"] = way.format;
  json["parameters"] = {{"layout", way.layout}};
  json["ranks"] = world().size();
  json["threads"] = way.threads;
  json["precision"] = name_of(precision);
  if (!way.refusal.empty()) {
    json["refused"] = way.refusal;
    return json;
  }
  json["setup_seconds"] = way.setup_seconds;
  add_measurement(json, result.measurement);
  json["bytes"] = {{"minimum", work.minimum_bytes()}};
  if (way.matrix_bytes > 0) json["bytes"]["format"] = way.matrix_bytes;
  if (peers > 0 && way.backend != "vendor") {
    json["speedup_over_vendor"] = peers / result.measurement.timing.median;
  }
  if (!way.shares.empty()) {
    json.update(distributed::json_of(way.shares, result.seconds));
  } else {
    json["imbalance"] = {{"seconds", imbalance_of(result.seconds)}};
  }
  return json;
}

std::string table_of(const std::vector<Result>& results, double peers) {
  Table table({"product", "ms", "GF/s", "GB/s", "over peers", "imbalance", "of seconds", "edge cut",
               "messages", "bytes", "set-up", "check", ""});
  for (const Result& result : results) {
    const Way& way = result.way;
    const Measurement& measured = result.measurement;
    std::vector<std::string> cells(13, "-");
    cells[0] = way.label;
    cells[12] = way.refusal;
    if (way.refusal.empty()) {
      cells[1] = fmt::format("{:.3f}", 1e3 * measured.timing.median);
      cells[2] = giga_text(measured.flops_per_second());
      cells[3] = giga_text(measured.bytes_per_second());
      if (peers > 0 && way.backend != "vendor") {
        cells[4] = fmt::format("{:.2f}", peers / measured.timing.median);
      }
      cells[6] = fmt::format("{:.2f}", imbalance_of(result.seconds));
      cells[10] = seconds_text(way.setup_seconds);
      if (measured.check) cells[11] = measured.check->passed ? "ok" : "wrong";
    }
    if (!way.shares.empty()) {
      const auto entries = static_cast<double>(sum_of(way.shares, &RankShare::entries));
      cells[5] = fmt::format("{:.2f}", imbalance(way.shares, &RankShare::entries));
      cells[7] = fmt::format(
          "{:.1f} %",
          entries > 0
              ? 100 * static_cast<double>(sum_of(way.shares, &RankShare::cut_entries)) / entries
              : 0.0);
      cells[8] = grouped(sum_of(way.shares, &RankShare::messages));
      cells[9] = bytes_text(sum_of(way.shares, &RankShare::bytes));
    }
    table.add(std::move(cells));
  }
  return table.text(2);
}

// The ranks of the fastest of ours; the first and the slowest where there are many.
std::string ranks_table(const std::vector<Result>& results) {
  const Result* best = nullptr;
  for (const Result& result : results) {
    if (result.way.shares.empty()) continue;
    if (best == nullptr || result.measurement.timing.median < best->measurement.timing.median) {
      best = &result;
    }
  }
  if (best == nullptr) return "";
  constexpr std::size_t kMost = 16;
  std::vector<std::size_t> shown;
  for (std::size_t rank = 0; rank < std::min(kMost, best->seconds.size()); ++rank) {
    shown.push_back(rank);
  }
  const auto slowest =
      static_cast<std::size_t>(std::ranges::max_element(best->seconds) - best->seconds.begin());
  if (slowest >= kMost) shown.push_back(slowest);
  Table table({"rank, " + best->way.label, "ms", "rows", "entries", "interior rows",
               "elements from others", "messages", "bytes"});
  for (const std::size_t rank : shown) {
    const RankShare& share = best->way.shares[rank];
    table.add({std::to_string(rank), fmt::format("{:.3f}", 1e3 * best->seconds[rank]),
               grouped(share.rows), grouped(share.entries), grouped(share.interior_rows),
               grouped(share.ghosts), grouped(share.messages), bytes_text(share.bytes)});
  }
  std::string text = table.text(2);
  if (best->seconds.size() > shown.size()) {
    text += fmt::format("  … {} ranks in all; the slowest is among these.\n", best->seconds.size());
  }
  return "\n" + text;
}

}  // namespace

std::string run_spmv(const ProductSettings& settings, std::vector<Measurement>& measured,
                     ResultDocument& document, Progress& progress) {
  use_threads(settings.common);
  for (const std::string& name : layouts_of(settings)) layout_named(name);
  for (const std::string& name : settings.formats) {
    if (!format_named(name))
      throw InvalidArgument(fmt::format("--format: no format is '{}'", name));
  }
  find_machine_of_ranks(document, progress);
  const GlobalMatrix whole =
      load_distributed(settings.matrix, settings.common, partition_named(settings.layout.partition),
                       document, progress);
  std::vector<Result> results;
  std::string text;
  std::visit(
      [&]<Value V, Index I>(const DistributedMatrix<V, I>& matrix) {
        const ProductWork work{.rows = whole.rows,
                               .cols = whole.cols,
                               .entries = whole.entries,
                               .value_bytes = sizeof(V),
                               .index_bytes = sizeof(I),
                               .flops_per_entry = is_complex<V> ? 8.0 : 2.0};
        results = hold(settings, matrix, work, progress);
        if (results.empty()) throw Unavailable("there is nothing to time on several ranks");
        const double peers = best_of_peers(results);
        for (const Result& result : results) {
          document.add_result(json_of(result, work, whole.precision(), peers));
        }
        text = table_of(results, peers);
      },
      whole.matrix);
  for (const Result& result : results) {
    if (result.way.refusal.empty()) measured.push_back(result.measurement);
  }
  return matrix_text(whole) + ranks_text(thread_count()) + text + ranks_table(results) + "\n" +
         check_text(measured) + "\n";
}

}  // namespace strata::cli::distributed
