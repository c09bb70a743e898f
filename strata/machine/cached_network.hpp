// The network between ranks, as `strata machine` measures it under mpirun, in a file of its own
// beside the machine profiles: how many processors a rank may use depends on its launcher, and with
// it which profile is the machine's; the network does not.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "strata/model/network.hpp"

namespace strata {

struct NetworkProfile {
  Network network;
  std::string host;         // of rank 0
  int nodes = 1;            // that took part
  std::string measured_at;  // ISO 8601, UTC

  bool operator==(const NetworkProfile&) const = default;
};

// In cache_folder(), by the name of this host; empty if there is no folder.
std::filesystem::path network_path();

std::string to_json(const NetworkProfile& profile);
// Throws FileError naming `source` if the text is anything but what to_json writes.
NetworkProfile network_from_json(std::string_view text, const std::string& source);

// None if there is no such file, or its folder is not private. Throws FileError as
// network_from_json does.
std::optional<NetworkProfile> load_network(const std::filesystem::path& path);
// Makes the folder and replaces the file whole. A kind of messages that is unknown stays as a file
// that is there has it: ranks of one node say nothing about others. Throws FileError.
void save_network(NetworkProfile profile, const std::filesystem::path& path);

}  // namespace strata
