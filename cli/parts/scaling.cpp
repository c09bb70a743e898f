#include "cli/parts/scaling.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "cli/parts/exit_status.hpp"
#include "cli/parts/measuring.hpp"
#include "cli/parts/product_models.hpp"
#include "cli/parts/sweeps.hpp"
#include "cli/parts/terminal.hpp"
#include "strata/base/error.hpp"
#include "strata/machine/cached_network.hpp"
#include "strata/measure/matrix_analysis.hpp"
#include "strata/measure/product_device.hpp"
#include "strata/model/scaling_model.hpp"
#include "strata/plans/plan_formats.hpp"

namespace strata::cli {

namespace {

constexpr Offset kMostRanks = Offset{1} << 24;
// What is assumed where nothing was measured or given: a fabric of some years ago, and copies
// between processes of a node.
constexpr MessageCost kAssumedBetween{.latency = 1.5e-6, .seconds_per_byte = 1 / 12.5e9};
constexpr MessageCost kAssumedInNode{.latency = 0.5e-6, .seconds_per_byte = 1 / 10e9};

struct KnownNetwork {
  Network network;
  std::vector<std::string> words;  // where the figures are from
};

std::string words_of(const MessageCost& cost) {
  return cost.seconds_per_byte > 0 ? fmt::format("{} and {} GB/s", seconds_text(cost.latency),
                                                 giga_text(1 / cost.seconds_per_byte))
                                   : seconds_text(cost.latency);
}

std::optional<NetworkProfile> stored_network(const ScalingOptions& options) {
  if (options.network.empty()) {
    try {
      return load_network(network_path());
    } catch (const FileError&) {
      return std::nullopt;  // as good as none
    }
  }
  return read_input([&] {
    auto profile = load_network(options.network);
    if (!profile) throw FileError(options.network, "no such file, or a folder others can write");
    return profile;
  });
}

KnownNetwork find_network(const ScalingOptions& options) {
  KnownNetwork known;
  Network& network = known.network;
  std::string stored;
  if (const auto profile = stored_network(options)) {
    network = profile->network;
    stored = fmt::format("as measured on {} by {} ranks on {} ({})", profile->host, network.ranks,
                         profile->nodes == 1 ? "one node" : fmt::format("{} nodes", profile->nodes),
                         profile->measured_at);
  }
  const bool measured = network.between_nodes.known();
  if (!measured) network.between_nodes = kAssumedBetween;
  std::string source = measured ? stored : "assumed";
  if (options.latency > 0) network.between_nodes.latency = 1e-6 * options.latency;
  if (options.bandwidth > 0) {
    network.between_nodes.seconds_per_byte = 1e-9 / options.bandwidth;
  }
  const bool given = options.latency > 0 || options.bandwidth > 0;
  if (options.latency > 0 && options.bandwidth > 0) {
    source = "as given";
  } else if (given) {
    source = fmt::format("the {} as given, the other {}",
                         options.latency > 0 ? "latency" : "bandwidth", source);
  }
  known.words.push_back(fmt::format("messages between nodes: α + β·bytes with {}, {}",
                                    words_of(network.between_nodes), source));
  known.words.push_back(
      fmt::format("messages inside a node: {}, {}",
                  words_of(network.in_node.known() ? network.in_node : kAssumedInNode),
                  network.in_node.known() ? stored : "assumed"));
  if (!network.in_node.known()) network.in_node = kAssumedInNode;
  // Reductions of one node say nothing about many.
  if (!measured || given) network.reduction_seconds = 0;
  known.words.push_back(network.reduction_seconds > 0
                            ? fmt::format("an allreduce: {} over {} ranks, {}, and growing with "
                                          "log₂ of the ranks",
                                          seconds_text(network.reduction_seconds), network.ranks,
                                          stored)
                            : "an allreduce: ⌈log₂ P⌉ messages between nodes without bytes");
  return known;
}

// The smallest format with values as they are that plans run in.
ModelledFormat choose_format(const CountedMatrix& counted) {
  std::optional<ModelledFormat> best;
  for (const FormatSummary& format :
       summaries_with_kernel(counted.matrix, counted.statistics, KernelTarget::processor)) {
    const bool decodes = format.encodings && name_of(format.spec) == name_of(format.spec.format());
    if (!format.footprint || decodes ||
        !plans_run_in(format.spec.format(), KernelTarget::processor)) {
      continue;
    }
    if (!best || format.footprint->bytes() < best->bytes) {
      best = ModelledFormat{format.label, format.spec, format.footprint->bytes()};
    }
  }
  return best.value();  // CSR holds every matrix
}

// This machine as a node.
ScalingMachine node_of(const MachineProfile& profile, const Network& network, int ranks_per_node,
                       double flops_per_byte) {
  const int cores = std::max(1, profile.cores);
  const int threads = std::max(1, cores / ranks_per_node);
  ScalingMachine machine{.network = network, .ranks_per_node = ranks_per_node};
  machine.compute_seconds = [&profile, cores, threads, flops_per_byte](double bytes, int ranks) {
    const double of_node = bytes * ranks;
    const int used = std::min(cores, ranks * threads);
    const double reading =
        of_node / profile.read_bandwidth(used, static_cast<Offset>(std::max(1.0, of_node)));
    const double peak = profile.peak_flops(used);
    const double computing = peak > 0 ? flops_per_byte * of_node / peak : 0;
    return std::max(reading, computing) + (threads > 1 ? profile.fork_join_seconds : 0);
  };
  return machine;
}

// Predictions with what they are compared with: one rank, and `power` products of it.
struct Strong {
  std::vector<int> ranks;
  std::vector<RankScaling> points;
  double alone = 0;  // seconds of a product on one rank
  int power = 1;
  bool square = true;

  double efficiency(const DistributionCost& cost, int ranks_used, int products) const {
    return cost.seconds() > 0 ? products * alone / (ranks_used * cost.seconds()) : 0;
  }
};

std::vector<std::string> time_cells(const DistributionCost& cost, int products, double efficiency) {
  return {seconds_text(cost.seconds() / products), percent_text(efficiency),
          percent_text(cost.message_share())};
}

void append(std::vector<std::string>& cells, std::vector<std::string> more) {
  std::ranges::move(more, std::back_inserter(cells));
}

std::string strong_text(const Strong& strong) {
  std::vector<std::string> header{"ranks", "rows, per product", "efficient", "messages",
                                  "grid",  "per product",       "efficient", "messages"};
  if (strong.square) {
    append(header,
           {fmt::format("{} deep, per power", strong.power), "efficient", "messages", "redundant"});
  }
  header.emplace_back("allreduce");
  Table table(std::move(header), 0);
  for (const RankScaling& at : strong.points) {
    std::vector<std::string> cells{grouped(at.ranks)};
    append(cells, time_cells(at.rows, 1, strong.efficiency(at.rows, at.ranks, 1)));
    cells.push_back(fmt::format("{}×{}", at.grid_rows, at.grid_cols));
    append(cells, time_cells(at.grid, 1, strong.efficiency(at.grid, at.ranks, 1)));
    if (strong.square) {
      append(cells,
             time_cells(at.deep, strong.power, strong.efficiency(at.deep, at.ranks, strong.power)));
      cells.push_back(percent_text(at.redundant_share));
    }
    cells.push_back(at.ranks > 1 ? seconds_text(at.reduction_seconds) : "-");
    table.add(std::move(cells));
  }
  return table.text(2);
}

std::string exchange_text(const Strong& strong) {
  std::vector<std::string> header{"ranks",          "rows: messages", "bytes",    "imbalance",
                                  "grid: messages", "bytes",          "imbalance"};
  if (strong.square) {
    append(header, {fmt::format("{} deep: messages", strong.power), "bytes", "ghost rows",
                    "redundant rows"});
  }
  Table table(std::move(header), 0);
  for (const RankScaling& at : strong.points) {
    const auto exchanged = [](const DistributionCost& cost) -> std::vector<std::string> {
      return {grouped(cost.messages), bytes_text(static_cast<Offset>(cost.bytes))};
    };
    std::vector<std::string> cells{grouped(at.ranks)};
    append(cells, exchanged(at.rows));
    cells.push_back(fmt::format("{:.2f}", at.rows.imbalance));
    append(cells, exchanged(at.grid));
    cells.push_back(fmt::format("{:.2f}", at.grid.imbalance));
    if (strong.square) {
      append(cells, exchanged(at.deep));
      append(cells, {grouped(at.ghost_rows), grouped(at.redundant_rows)});
    }
    table.add(std::move(cells));
  }
  return table.text(2);
}

std::string weak_text(const WeakScaling& weak, int power, bool square) {
  std::vector<std::string> header{"ranks", "rows", "efficient", "grid", "efficient"};
  if (square) append(header, {fmt::format("{} deep, per power", power), "efficient"});
  append(header, {"rows, larger in all directions", "efficient", "grid", "efficient"});
  if (square) append(header, {fmt::format("{} deep", power), "efficient"});
  Table table(std::move(header), 0);
  const auto cells_of = [&](const RankScaling& at) {
    std::vector<std::string> cells;
    const auto add = [&](const DistributionCost& cost, int products) {
      append(cells, {seconds_text(cost.seconds() / products),
                     percent_text(products * weak.base_seconds / cost.seconds())});
    };
    add(at.rows, 1);
    add(at.grid, 1);
    if (square) add(at.deep, power);
    return cells;
  };
  for (std::size_t i = 0; i < weak.along.size(); ++i) {
    std::vector<std::string> cells{grouped(weak.along[i].ranks)};
    append(cells, cells_of(weak.along[i]));
    append(cells, cells_of(weak.in_all_directions[i]));
    table.add(std::move(cells));
  }
  return table.text(2);
}

// Where each way to distribute stops paying.
struct Limit {
  std::string name;
  PayingRanks paying;
  double seconds = 0;  // of a product, at best
};

std::vector<Limit> limits_of(const Strong& strong) {
  std::vector<Limit> limits;
  const auto add = [&](std::string name, DistributionCost RankScaling::* cost, int products) {
    std::vector<double> seconds;
    for (const RankScaling& at : strong.points) {
      seconds.push_back((at.*cost).seconds() / products);
    }
    limits.push_back({std::move(name), paying_ranks(strong.ranks, seconds, strong.alone),
                      *std::ranges::min_element(seconds)});
  };
  add("rows", &RankScaling::rows, 1);
  add("grid", &RankScaling::grid, 1);
  if (strong.square) add(fmt::format("{} deep", strong.power), &RankScaling::deep, strong.power);
  return limits;
}

std::string limits_text(const std::vector<Limit>& limits) {
  std::string text;
  for (const Limit& limit : limits) {
    text += fmt::format(
        "  {}: fastest with {} ranks, {} per product; at least half efficient {}.\n", limit.name,
        grouped(limit.paying.fastest), seconds_text(limit.seconds),
        limit.paying.efficient > 0 ? fmt::format("up to {} ranks", grouped(limit.paying.efficient))
                                   : "nowhere");
  }
  return text;
}

Json cost_json(const DistributionCost& cost, double efficiency) {
  return {{"seconds", cost.seconds()},
          {"compute_seconds", cost.compute_seconds},
          {"message_seconds", cost.message_seconds},
          {"message_share", cost.message_share()},
          {"messages", cost.messages},
          {"bytes", cost.bytes},
          {"imbalance", cost.imbalance},
          {"efficiency", efficiency}};
}

Json point_json(const RankScaling& at, const std::string& variant, int power, bool square,
                const std::function<double(const DistributionCost&, int products)>& efficiency) {
  Json json{{"kernel", "model"},
            {"backend", "cpu"},
            {"variant", variant},
            {"power", power},
            {"ranks", at.ranks},
            {"rows", cost_json(at.rows, efficiency(at.rows, 1))},
            {"grid", cost_json(at.grid, efficiency(at.grid, 1))},
            {"reduction_seconds", at.reduction_seconds}};
  json["grid"].update({{"grid_rows", at.grid_rows}, {"grid_cols", at.grid_cols}});
  if (square) {
    json["deep"] = cost_json(at.deep, efficiency(at.deep, power));
    json["deep"].update({{"depth", power},
                         {"ghost_rows", at.ghost_rows},
                         {"redundant_rows", at.redundant_rows},
                         {"redundant_share", at.redundant_share},
                         {"counted_ranks", at.deep_ranks}});
  }
  return json;
}

Json network_json(const Network& network) {
  const auto cost = [](const MessageCost& of) -> Json {
    return {{"latency_seconds", of.latency}, {"seconds_per_byte", of.seconds_per_byte}};
  };
  return {{"in_node", cost(network.in_node)}, {"between_nodes", cost(network.between_nodes)}};
}

Json list_json(const std::vector<std::string>& words) {
  Json list = Json::array();
  for (const std::string& each : words) list.push_back(each);
  return list;
}

std::string counted_ranks_text(const Strong& strong) {
  std::vector<std::string> sampled;
  for (const RankScaling& at : strong.points) {
    if (at.deep_ranks < at.ranks) {
      sampled.push_back(fmt::format("{} of {}", at.deep_ranks, at.ranks));
    }
  }
  if (sampled.empty()) return "ghost rows are counted on all ranks";
  return fmt::format("ghost rows are counted on ranks spread evenly: {}", fmt::join(sampled, ", "));
}

std::vector<std::string> assumptions_of(const Strong& strong, const ModelledFormat& format,
                                        const ProductWork& work, const ScalingMachine& machine,
                                        const MachineProfile& profile, const KnownNetwork& known) {
  const int threads = std::max(1, profile.cores / machine.ranks_per_node);
  std::vector<std::string> words{
      fmt::format("a node is this machine, with {} rank{} of {} thread{} each; ranks share what it "
                  "reads per second from memory, or from its caches where their parts fit",
                  machine.ranks_per_node, machine.ranks_per_node == 1 ? "" : "s", threads,
                  threads == 1 ? "" : "s"),
      fmt::format("{}, {:.2f} bytes per entry; x once, y twice", format.label,
                  static_cast<double>(format.bytes) / static_cast<double>(work.entries))};
  std::ranges::copy(known.words, std::back_inserter(words));
  words.emplace_back(
      "ranks of a node send to others at the same time and share its link; a rank's messages "
      "begin one after another");
  words.emplace_back(
      "rows are contiguous and balanced by entries; elements of x hide behind rows that need none "
      "of them, sums of the grid and elements for powers behind nothing");
  if (strong.square) {
    words.push_back(fmt::format(
        "{} powers with one exchange are products of growing halos; blocking inside a rank comes "
        "on top; {}",
        strong.power, counted_ranks_text(strong)));
  }
  return words;
}

std::vector<int> usable_ranks(const ScalingOptions& options, Offset rows) {
  std::vector<int> ranks;
  for (const Offset count : options.ranks) {
    if (count <= rows) ranks.push_back(static_cast<int>(count));
  }
  std::ranges::sort(ranks);
  return ranks;
}

// `text` in lines of up to 100 characters, after a hyphen.
std::string item_text(const std::string& text) {
  constexpr int kWidth = 96;
  std::string lines = "  -";
  int width = 3;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (width + 1 + display_width(word) > kWidth) {
      lines += "\n   ";
      width = 3;
    }
    lines += " " + word;
    width += 1 + display_width(word);
    begin = end + 1;
  }
  return lines + "\n";
}

}  // namespace

void add_scaling_options(CommandOptions& command, ScalingOptions& options) {
  command
      .add_parsed(
          "--ranks",
          [&options](const std::string& text) { options.ranks = parse_sweep(text, kMostRanks); },
          "Predict how products and powers scale over so many ranks of MPI instead; 1:65536 are "
          "the powers of two")
      .type_name("N,…|A:B");
  command
      .add("--ranks-per-node", options.ranks_per_node,
           "With --ranks: ranks on a node like this machine; its processors when not given")
      .type_name("N")
      .range(1, 1 << 20);
  command
      .add("--latency", options.latency,
           "With --ranks: of messages between nodes, in microseconds; as measured when not given, "
           "or 1.5")
      .type_name("US")
      .positive();
  command
      .add("--bandwidth", options.bandwidth,
           "With --ranks: of messages between nodes, in GB/s; as measured when not given, or 12.5")
      .type_name("GBS")
      .positive();
  command
      .add("--network", options.network,
           "With --ranks: the file where 'strata machine' stored a network under mpirun")
      .type_name("FILE");
}

void require_ranks_for(const ScalingOptions& options) {
  if (options.asked()) return;
  if (options.ranks_per_node > 0 || options.latency > 0 || options.bandwidth > 0 ||
      !options.network.empty()) {
    throw InvalidArgument(
        "--ranks-per-node, --latency, --bandwidth and --network are about ranks: add --ranks");
  }
}

std::string predict_scaling(const ScalingOptions& options, int power, const CountedMatrix& counted,
                            const MachineProfile& profile, ResultDocument& document,
                            Progress& progress) {
  const ProductWork work = work_of(counted.matrix);
  const KnownNetwork known = find_network(options);
  const ModelledFormat format = choose_format(counted);
  const int ranks_per_node =
      options.ranks_per_node > 0 ? options.ranks_per_node : std::max(1, profile.cores);
  const ScalingWork moved{
      .bytes_per_entry = static_cast<double>(format.bytes) / static_cast<double>(work.entries),
      .bytes_per_row = 3.0 * static_cast<double>(work.value_bytes),
      .value_bytes = static_cast<double>(work.value_bytes)};
  const ScalingMachine machine = node_of(profile, known.network, ranks_per_node,
                                         work.flops() / moved.bytes(work.entries, work.rows));

  Strong strong{.ranks = usable_ranks(options, work.rows),
                .points = {},
                .power = power,
                .square = work.rows == work.cols};
  if (strong.ranks.empty()) {
    throw InvalidArgument(fmt::format("--ranks: the matrix has {} rows, too few for {} ranks",
                                      work.rows, options.ranks.front()));
  }
  WeakScaling weak;
  std::visit(
      [&](const auto& csr) {
        const auto at = [&](int ranks) {
          progress.start(fmt::format("counting what {} ranks exchange", ranks));
          return scale_over(csr.pattern(), moved, machine, ranks, power);
        };
        for (const int ranks : strong.ranks) strong.points.push_back(at(ranks));
        strong.alone = strong.ranks.front() == 1
                           ? strong.points.front().rows.seconds()
                           : scale_over(csr.pattern(), moved, machine, 1, 1).rows.seconds();
        progress.start("extrapolating to larger matrices");
        weak = weak_scaling(csr.pattern(), moved, machine, strong.ranks,
                            static_cast<int>(std::min<Offset>(ranks_per_node, work.rows)), power);
      },
      counted.matrix);

  const auto assumptions = assumptions_of(strong, format, work, machine, profile, known);
  document.add_result({{"kernel", "model"},
                       {"backend", "cpu"},
                       {"variant", "scaling, assumptions"},
                       {"power", power},
                       {"format", name_of(format.format)},
                       {"ranks_per_node", ranks_per_node},
                       {"network", network_json(known.network)},
                       {"assumptions", list_json(assumptions)}});
  for (const RankScaling& at : strong.points) {
    document.add_result(point_json(at, "strong scaling", power, strong.square,
                                   [&](const DistributionCost& cost, int products) {
                                     return strong.efficiency(cost, at.ranks, products);
                                   }));
  }
  const auto limits = limits_of(strong);
  for (const Limit& limit : limits) {
    document.add_result({{"kernel", "model"},
                         {"backend", "cpu"},
                         {"variant", "scaling limit, " + limit.name},
                         {"power", power},
                         {"fastest_ranks", limit.paying.fastest},
                         {"half_efficient_ranks", limit.paying.efficient},
                         {"seconds_per_product", limit.seconds}});
  }
  const auto add_weak = [&](const std::vector<RankScaling>& points, const std::string& variant) {
    for (const RankScaling& at : points) {
      Json json = point_json(at, variant, power, strong.square,
                             [&](const DistributionCost& cost, int products) {
                               return products * weak.base_seconds / cost.seconds();
                             });
      json["base_ranks"] = weak.base_ranks;
      json["counted_ranks"] = weak.counted_ranks;
      json["halo_exponent"] = weak.exponent;
      document.add_result(std::move(json));
    }
  };
  add_weak(weak.along, "weak scaling, along the order");
  add_weak(weak.in_all_directions, "weak scaling, in all directions");

  std::string text = "Strong scaling, by the rank that takes longest; seconds are predicted:\n" +
                     strong_text(strong) + "\nWhat a rank exchanges at most:\n" +
                     exchange_text(strong) + "\n" + limits_text(limits);
  if (strong.ranks.size() < options.ranks.size()) {
    text += fmt::format("  More ranks than the {} rows of the matrix are left out.\n",
                        grouped(work.rows));
  }
  text += fmt::format(
      "\nWeak scaling, {} rows per rank: this matrix on {}, and larger ones on more. Halos are "
      "the\n"
      "largest of the partition into {}; along the order of rows they stay as they are, in all\n"
      "directions they grow with the power {:.2f} of the ranks:\n{}\nAssumed:\n",
      grouped(work.rows / weak.base_ranks), weak.base_ranks, weak.counted_ranks, weak.exponent,
      weak_text(weak, power, strong.square));
  for (const std::string& words : assumptions) text += item_text(words);
  return text;
}

}  // namespace strata::cli
