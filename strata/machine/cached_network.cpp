#include "strata/machine/cached_network.hpp"

#include "strata/machine/cached_profile.hpp"
#include "strata/machine/internal/profile_file.hpp"
#include "strata/machine/system.hpp"

namespace strata {

namespace {

namespace fs = std::filesystem;
using detail::ProfileReader;
using Json = detail::ProfileJson;

constexpr int kFormat = 1;

void add_cost(Json& json, const char* key, const MessageCost& cost) {
  if (!cost.known()) return;
  json[key] = {{"latency_seconds", cost.latency}, {"seconds_per_byte", cost.seconds_per_byte}};
}

MessageCost cost_from(const ProfileReader& reader, const char* key) {
  if (!reader.has(key)) return {};
  const ProfileReader inside = reader.inside(key);
  return {.latency = inside.positive("latency_seconds"),
          .seconds_per_byte = inside.number("seconds_per_byte")};
}

}  // namespace

fs::path network_path() {
  const fs::path folder = cache_folder();
  if (folder.empty()) return {};
  return folder / detail::profile_file_name("network", machine_fingerprint().host);
}

std::string to_json(const NetworkProfile& profile) {
  const Network& network = profile.network;
  Json document{{"format", kFormat},
                {"host", profile.host},
                {"measured_at", profile.measured_at},
                {"ranks", network.ranks},
                {"nodes", profile.nodes},
                {"reduction_seconds", network.reduction_seconds}};
  add_cost(document, "in_node", network.in_node);
  add_cost(document, "between_nodes", network.between_nodes);
  return detail::text_of(document);
}

NetworkProfile network_from_json(std::string_view text, const std::string& source) {
  const Json document = detail::parse_profile(text, source, kFormat);
  const ProfileReader reader(document, source);
  return {.network = {.in_node = cost_from(reader, "in_node"),
                      .between_nodes = cost_from(reader, "between_nodes"),
                      .reduction_seconds = reader.number("reduction_seconds"),
                      .ranks = static_cast<int>(reader.count("ranks", 1 << 30))},
          .host = reader.text("host"),
          .nodes = static_cast<int>(reader.count("nodes", 1 << 30)),
          .measured_at = reader.text("measured_at")};
}

std::optional<NetworkProfile> load_network(const fs::path& path) {
  if (path.empty() || !detail::why_not_private(path.parent_path()).empty()) return std::nullopt;
  const auto text = detail::read_profile_file(path);
  if (!text) return std::nullopt;
  return network_from_json(*text, path.string());
}

void save_network(NetworkProfile profile, const fs::path& path) {
  detail::require_private_folder(path.parent_path());
  try {
    if (const auto before = load_network(path)) {
      const auto keep = [](MessageCost& now, const MessageCost& stored) {
        if (!now.known()) now = stored;
      };
      keep(profile.network.in_node, before->network.in_node);
      keep(profile.network.between_nodes, before->network.between_nodes);
    }
  } catch (const FileError&) {
    // What cannot be read is replaced.
  }
  detail::write_profile_file(path, to_json(profile));
}

}  // namespace strata
