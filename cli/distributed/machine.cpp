// strata machine on several ranks: the network between them.

#include <fmt/format.h>

#include <set>

#include "cli/distributed/commands.hpp"
#include "cli/distributed/measuring.hpp"
#include "cli/distributed/world.hpp"
#include "strata/distributed/network.hpp"
#include "strata/machine/cached_network.hpp"
#include "strata/machine/system.hpp"

namespace strata::cli::distributed {

namespace {

std::string cost_text(const MessageCost& cost) {
  if (!cost.known()) return "unknown: no two of these ranks can measure it";
  std::string text = fmt::format("{} + bytes", seconds_text(cost.latency));
  if (cost.seconds_per_byte == 0) return seconds_text(cost.latency) + " for any number of bytes";
  return text + fmt::format(" / {} GB/s; half of the bandwidth at {}",
                            giga_text(1 / cost.seconds_per_byte),
                            bytes_text(static_cast<Offset>(cost.latency / cost.seconds_per_byte)));
}

Json cost_json(const MessageCost& cost) {
  return {{"latency_seconds", cost.latency}, {"seconds_per_byte", cost.seconds_per_byte}};
}

// The number of different names.
int nodes_of(const std::string& host) {
  std::set<std::string> hosts;
  for (int rank = 0; rank < world().size(); ++rank) {
    hosts.insert(world().broadcast(host, rank));
  }
  return static_cast<int>(hosts.size());
}

}  // namespace

std::string run_network(double seconds, ResultDocument& document, Progress& progress) {
  progress.start("measuring messages between ranks");
  NetworkProfile profile;
  profile.network = strata::distributed::measure_network(world(), seconds);
  profile.host = machine_fingerprint().host;
  profile.nodes = nodes_of(profile.host);
  profile.measured_at = utc_now();
  const Network& network = profile.network;
  std::string stored = "nowhere";
  std::string remark;
  if (world().rank() == 0) {
    const auto path = network_path();
    try {
      if (!path.empty()) {
        save_network(profile, path);
        stored = path.string();
      }
    } catch (const FileError& error) {
      remark = fmt::format("not stored: {}", error.what());
    }
  }
  Json result{{"kernel", "network"},
              {"backend", "cpu"},
              {"ranks", network.ranks},
              {"nodes", profile.nodes},
              {"measured_at", profile.measured_at},
              {"reduction_seconds", network.reduction_seconds}};
  if (network.in_node.known()) result["in_node"] = cost_json(network.in_node);
  if (network.between_nodes.known()) result["between_nodes"] = cost_json(network.between_nodes);
  if (stored != "nowhere") result["stored_in"] = stored;
  if (!remark.empty()) result["remark"] = remark;
  document.add_result(std::move(result));
  std::string text = fmt::format(
      "Messages between {} ranks on {}\n  stored in  {}\n\n  inside a node  {}\n  between nodes  "
      "{}\n  allreduce      {} over {} ranks\n",
      network.ranks, profile.nodes == 1 ? "one node" : fmt::format("{} nodes", profile.nodes),
      stored, cost_text(network.in_node), cost_text(network.between_nodes),
      seconds_text(network.reduction_seconds), network.ranks);
  if (!remark.empty()) text += fmt::format("  remark         {}\n", remark);
  return text;
}

}  // namespace strata::cli::distributed
