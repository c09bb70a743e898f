// strata mpk on several ranks: powers with one exchange against products with one each.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/distributed/commands.hpp"
#include "cli/distributed/matrix.hpp"
#include "cli/distributed/measuring.hpp"
#include "cli/distributed/world.hpp"
#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/distributed/network.hpp"
#include "strata/distributed/powers.hpp"
#include "strata/measure/matrix_analysis.hpp"
#include "strata/measure/vectors.hpp"

namespace strata::cli::distributed {

using strata::distributed::DepthCost;
using strata::distributed::DistributedPowers;
using strata::distributed::Network;

namespace {

constexpr int kTimesByRank = 5;

// The powers of a matrix with some depth of exchanges.
struct Result {
  std::string label;
  int power = 1;
  int asked = 0;  // depth; 0: chosen
  int depth = 1;
  int threads = 1;
  double setup_seconds = 0;
  std::vector<RankShare> shares = {};
  std::vector<Offset> redundant_rows = {};  // by rank, over all powers
  std::vector<DepthCost> depths = {};
  Measurement measurement = {};
  std::vector<double> seconds = {};  // by rank
  double speed_up = 0;               // over one exchange per product

  Offset redundant() const {
    Offset sum = 0;
    for (const Offset rows : redundant_rows) sum += rows;
    return sum;
  }
  // By the model; 0 if the depth was not considered.
  double predicted_seconds() const {
    const auto found = std::ranges::find(depths, depth, &DepthCost::depth);
    return found == depths.end() ? 0 : found->seconds();
  }
};

template <Value V>
struct Entrant {
  Result result;
  std::shared_ptr<DistributedPowers<V>> powers;
  std::shared_ptr<typename DistributedPowers<V>::Workspace> workspace;
};

// Rows of others that a rank computes for all powers: those of power k of every sweep.
Offset redundant_of(const std::vector<Offset>& rows_of_power, int power, int depth) {
  Offset sum = 0;
  for (int first = 0; first < power; first += depth) {
    const int steps = std::min(depth, power - first);
    // A shorter sweep is the end of a whole one: its halo is smaller.
    for (int k = depth - steps; k < depth && k < static_cast<int>(rows_of_power.size()); ++k) {
      sum += rows_of_power[static_cast<std::size_t>(k)];
    }
  }
  return sum;
}

template <Value V, Index I>
Entrant<V> plan(const PowersOfRanks& settings, const DistributedMatrix<V, I>& matrix,
                const Network& network, int power, int depth, std::string label) {
  Entrant<V> entrant{.result = {.label = std::move(label), .power = power, .asked = depth},
                     .powers = {},
                     .workspace = {}};
  PowerOptions options =
      settings.power.options_for(power, 0, settings.power.cpu_strategies().back());
  options.threads = settings.common.threads;
  options.vector_order = VectorOrder::caller;
  Result& result = entrant.result;
  world().barrier();
  result.setup_seconds = world().max(host_stopwatch().seconds_of(
      [&] {
        entrant.powers = std::make_shared<DistributedPowers<V>>(
            world(), matrix,
            strata::distributed::DistributedPowerOptions{
                .power = options, .depth = depth, .network = &network});
      },
      1));
  entrant.workspace =
      std::make_shared<typename DistributedPowers<V>::Workspace>(entrant.powers->make_workspace());
  result.depth = entrant.powers->depth();
  result.threads = entrant.powers->threads();
  result.shares = entrant.powers->shares();
  result.depths = entrant.powers->depths();
  result.redundant_rows =
      world().gather_all(redundant_of(entrant.powers->redundant_rows(), power, result.depth));
  return entrant;
}

// One exchange per product, the depth that the plan chooses, and one exchange for all powers.
template <Value V, Index I>
std::vector<Entrant<V>> plan_all(const PowersOfRanks& settings,
                                 const DistributedMatrix<V, I>& matrix, const Network& network,
                                 int power, Progress& progress) {
  std::vector<Entrant<V>> entrants;
  const auto add = [&](int depth, const std::string& label) {
    progress.start(fmt::format("planning {} powers: {}", power, label));
    entrants.push_back(plan(settings, matrix, network, power, depth, label));
  };
  add(1, "products");
  if (settings.depth > 0) {
    add(std::min(settings.depth, power), fmt::format("depth {}", settings.depth));
    return entrants;
  }
  add(0, "auto");
  Result& chosen = entrants.back().result;
  chosen.label = fmt::format("auto: depth {}", chosen.depth);
  if (power > 1 && chosen.depth != power) add(power, fmt::format("depth {}", power));
  return entrants;
}

// Every power against a step from the ones before it; none where steps read the diagonal's x, which
// the rows of a rank do not have in its place.
template <Value V, Index I>
std::function<Check()> check_of(const LocalRows<V, I>& rows, const Basis& basis, int power,
                                const Array<V>& x, const Array<V>& powers) {
  for (int k = 1; k <= power; ++k) {
    if (basis.step<V>(k).shift != V{}) return {};
  }
  return [&rows, &x, &powers, basis, power] {
    const std::size_t size = x.size();
    const auto vector = [&](int k) {
      return k == 0
                 ? std::span<const V>(x)
                 : std::span<const V>(powers).subspan(static_cast<std::size_t>(k - 1) * size, size);
    };
    std::vector<Check> checks;
    for (int k = 1; k <= power; ++k) {
      Check check = rows.check(basis.step<V>(k), vector(k - 1),
                               k > 1 ? vector(k - 2) : std::span<const V>(), vector(k));
      if (check.power > 0) check.power = k;
      checks.push_back(check);
    }
    Check all = merged(checks);
    all.compared = static_cast<int>(std::ranges::count_if(
        checks, [](const Check& check) { return check.judged == check.elements; }));
    return all;
  };
}

template <Value V, Index I>
std::vector<Result> hold(const PowersOfRanks& settings, const DistributedMatrix<V, I>& matrix,
                         const ProductWork& work, const Network& network, int power,
                         Progress& progress) {
  std::vector<Entrant<V>> entrants = plan_all(settings, matrix, network, power, progress);
  const Array<V> given = random_part<V>(matrix.rows, settings.measuring.seed);
  Array<V> x = given;
  Array<V> powers(static_cast<std::size_t>(
      checked_multiply(std::ssize(given), power, "the elements of all powers")));
  std::unique_ptr<LocalRows<V, I>> rows;
  if (settings.measuring.validate) {
    progress.start("preparing the check");
    world().together([&] { rows = std::make_unique<LocalRows<V, I>>(matrix); });
  }
  std::vector<Contender> contenders;
  for (const Entrant<V>& entrant : entrants) {
    Contender contender{.name = fmt::format("{}, p = {}", entrant.result.label, power),
                        .flops = power * work.flops(),
                        .bytes = power * static_cast<double>(work.minimum_bytes())};
    contender.run = [&] { entrant.powers->apply(x, powers, *entrant.workspace); };
    contender.vectors = {.poison_inputs = [&] { poison(std::span<V>(x)); },
                         .restore_inputs = [&] { x = given; },
                         .poison_outputs = [&] { poison(std::span<V>(powers)); }};
    if (rows) {
      contender.check = check_of(*rows, settings.power.sweep.options.basis, power, given, powers);
    }
    contenders.push_back(std::move(contender));
  }
  const auto measured =
      hold_contest(contenders, rank_contest_options(settings.measuring, progress));
  std::vector<Result> results;
  for (std::size_t i = 0; i < entrants.size(); ++i) {
    Result result = std::move(entrants[i].result);
    result.measurement = measured[i];
    result.seconds = seconds_by_rank(contenders[i].run, kTimesByRank);
    result.speed_up = measured.front().timing.median / measured[i].timing.median;
    results.push_back(std::move(result));
  }
  return results;
}

Json depths_json(const std::vector<DepthCost>& depths) {
  Json list = Json::array();
  for (const DepthCost& cost : depths) {
    Json line{{"depth", cost.depth},
              {"ghost_rows", cost.ghost_rows},
              {"redundant_rows", cost.redundant_rows},
              {"messages", cost.messages},
              {"message_bytes", cost.bytes},
              {"message_seconds", cost.message_seconds},
              {"compute_seconds", cost.compute_seconds},
              {"seconds", cost.seconds()}};
    if (cost.measured_seconds > 0) line["measured_seconds"] = cost.measured_seconds;
    list.push_back(std::move(line));
  }
  return list;
}

Json json_of(const Result& result, const PowersOfRanks& settings, const ProductWork& work,
             Precision precision) {
  Json json{{"kernel", "mpk"},
            {"backend", "cpu"},
            {"variant", result.asked == 1   ? "products"
                        : result.asked == 0 ? "auto"
                                            : "deep"},
            {"strategy", settings.power.strategy},
            {"power", result.power},
            {"parameters", {{"depth", result.depth}}},
            {"ranks", world().size()},
            {"threads", result.threads},
            {"precision", name_of(precision)},
            {"setup_seconds", result.setup_seconds}};
  if (result.asked == 0) json["parameters"] = Json::object();  // chosen, not asked for
  add_measurement(json, result.measurement);
  json["depth"] = result.depth;
  json["bytes"] = {{"minimum", work.minimum_bytes()}};
  json["speedup_over_spmv"] = result.speed_up;
  json["redundant_rows"] = result.redundant();
  json["depths"] = depths_json(result.depths);
  if (const double seconds = result.predicted_seconds(); seconds > 0) {
    json["predicted"] = {{"seconds", seconds},
                         {"gflops", result.measurement.flops / seconds / 1e9},
                         {"model", "latency and bandwidth of messages"}};
  }
  json.update(distributed::json_of(result.shares, result.seconds));
  return json;
}

std::string table_of(const std::vector<Result>& results) {
  Table table({"powers", "p", "depth", "ms", "GF/s", "speed-up", "predicted ms", "messages",
               "bytes", "redundant rows", "imbalance", "of seconds", "set-up", "check"});
  for (const Result& result : results) {
    const Measurement& measured = result.measurement;
    const double predicted = result.predicted_seconds();
    table.add({result.label, std::to_string(result.power), std::to_string(result.depth),
               fmt::format("{:.3f}", 1e3 * measured.timing.median),
               giga_text(measured.flops_per_second()), fmt::format("{:.2f}", result.speed_up),
               predicted > 0 ? fmt::format("{:.3f}", 1e3 * predicted) : "-",
               grouped(sum_of(result.shares, &RankShare::messages)),
               bytes_text(sum_of(result.shares, &RankShare::bytes)), grouped(result.redundant()),
               fmt::format("{:.2f}", imbalance(result.shares, &RankShare::entries)),
               fmt::format("{:.2f}", imbalance_of(result.seconds)),
               seconds_text(result.setup_seconds),
               measured.check ? (measured.check->passed ? "ok" : "wrong") : "-"});
  }
  return table.text(2);
}

std::string depths_text(const std::vector<Result>& results) {
  const auto chosen =
      std::ranges::find_if(results, [](const Result& result) { return result.asked == 0; });
  if (chosen == results.end() || chosen->depths.empty()) return "";
  Table table({fmt::format("depth, p = {}", chosen->power), "ghost rows", "redundant rows",
               "messages", "bytes", "in messages", "computing", "predicted", "took", ""});
  for (const DepthCost& cost : chosen->depths) {
    table.add({std::to_string(cost.depth), grouped(cost.ghost_rows), grouped(cost.redundant_rows),
               grouped(cost.messages), bytes_text(cost.bytes), seconds_text(cost.message_seconds),
               seconds_text(cost.compute_seconds), seconds_text(cost.seconds()),
               cost.measured_seconds > 0 ? seconds_text(cost.measured_seconds) : "-",
               cost.depth == chosen->depth ? "chosen" : ""});
  }
  return "\n" + table.text(2) +
         "  Of the rank that each depth costs most, by the model; what may win was timed.\n";
}

}  // namespace

std::string run_mpk(const PowersOfRanks& settings, std::vector<Measurement>& measured,
                    ResultDocument& document, Progress& progress) {
  use_threads(settings.common);
  settings.power.cpu_strategies();
  if (settings.matrix.empty()) throw InvalidArgument("on several ranks MATRIX is required");
  if (settings.power.sweep.options.vectors > 1) {
    throw InvalidArgument("several --vectors are for one rank");
  }
  if (settings.power.sweep.trace) throw InvalidArgument("--trace is for one rank");
  if (settings.power.sweep.cache_sizes.size() > 1) {
    throw InvalidArgument("several --cache-size are for one rank");
  }
  find_machine_of_ranks(document, progress);
  const GlobalMatrix whole =
      load_distributed(settings.matrix, settings.common, partition_named(settings.layout.partition),
                       document, progress);
  if (whole.rows != whole.cols) {
    throw InvalidArgument(fmt::format("{} is not square and has no powers", whole.name));
  }
  progress.start("measuring messages between ranks");
  const Network network = strata::distributed::measure_network(world());
  std::string tables;
  std::visit(
      [&]<Value V, Index I>(const DistributedMatrix<V, I>& matrix) {
        const ProductWork work{.rows = whole.rows,
                               .cols = whole.cols,
                               .entries = whole.entries,
                               .value_bytes = sizeof(V),
                               .index_bytes = sizeof(I),
                               .flops_per_entry = is_complex<V> ? 8.0 : 2.0};
        std::vector<Result> all;
        std::string depths;
        for (const int power : settings.power.sweep.powers) {
          const auto results = hold(settings, matrix, work, network, power, progress);
          for (const Result& result : results) {
            document.add_result(json_of(result, settings, work, whole.precision()));
            measured.push_back(result.measurement);
            all.push_back(result);
          }
          depths += depths_text(results);
        }
        tables = table_of(all) + depths;
      },
      whole.matrix);
  return matrix_text(whole) + ranks_text(thread_count()) + tables + "\n" + check_text(measured) +
         "\n";
}

}  // namespace strata::cli::distributed
