#include "strata/campaign/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "strata/campaign/internal/case_list.hpp"
#include "strata/campaign/internal/object_reader.hpp"
#include "strata/io/read_text.hpp"

namespace strata::campaign {

namespace fs = std::filesystem;
using detail::OrderedJson;
using detail::ValueReader;

namespace {

OrderedJson parse(const std::string& text, const fs::path& path) {
  try {
    return OrderedJson::parse(text);
  } catch (const OrderedJson::parse_error& error) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
    const std::string what = error.what();
    const std::size_t why = what.find("syntax error");
    throw InvalidCampaign(fmt::format("{}:{}: is not JSON: {}", path.string(),
                                      1 + std::count(text.begin(), end, '\n'),
                                      why == std::string::npos ? what : what.substr(why)));
  }
}

Limits read_limits(const ValueReader& file) {
  Limits limits;
  if (!file.has("limits")) return limits;
  const ValueReader given = file.at("limits");
  given.require_object({"seconds", "memory"});
  if (given.has("seconds")) limits.seconds = given.at("seconds").positive();
  if (given.has("memory")) limits.memory_bytes = given.at("memory").bytes();
  return limits;
}

Sending read_sending(const ValueReader& value) {
  const std::string text = value.json().is_null() ? "nothing" : value.text();
  if (text == "nothing") return Sending::nothing;
  if (text == "binary") return Sending::binary;
  if (text == "source") return Sending::source;
  value.refuse(fmt::format("is '{}': nothing, binary and source are possible", text));
}

HostSpec read_host(const ValueReader& given, const fs::path& folder) {
  given.require_object({"name", "ssh", "send", "strata", "folder", "source", "build"});
  HostSpec host{.name = given.at("name").text()};
  const auto take = [&](const char* key, std::string& text) {
    if (given.has(key)) text = given.at(key).text();
  };
  take("ssh", host.ssh);
  if (host.ssh.starts_with("-")) given.at("ssh").refuse("is no name of a host");
  take("strata", host.strata);
  take("folder", host.folder);
  take("build", host.build);
  if (given.has("send")) host.sending = read_sending(given.at("send"));
  if (host.sending == Sending::source) host.source = folder / given.at("source").text();
  if (host.ssh.empty()) {
    for (const char* key : {"send", "strata", "folder", "source", "build"}) {
      if (given.has(key)) given.at(key).refuse("is for hosts with 'ssh'");
    }
  }
  if (host.sending != Sending::nothing && given.has("strata")) {
    given.at("strata").refuse("is given, and 'send' as well");
  }
  return host;
}

std::vector<HostSpec> read_hosts(const ValueReader& file, const fs::path& folder) {
  std::vector<HostSpec> hosts;
  if (!file.has("hosts")) return hosts;
  std::set<std::string> names;
  for (const ValueReader& given : file.at("hosts").elements()) {
    hosts.push_back(read_host(given, folder));
    if (!names.insert(hosts.back().name).second) {
      given.at("name").refuse(fmt::format("is '{}', as that of another host", hosts.back().name));
    }
  }
  return hosts;
}

// Every one is a line of a script.
std::vector<std::string> read_script_lines(const ValueReader& list) {
  std::vector<std::string> lines = list.texts();
  for (const std::string& line : lines) {
    if (line.find('\n') != std::string::npos) list.refuse("has a line break");
  }
  return lines;
}

SlurmSpec read_slurm(const ValueReader& file) {
  SlurmSpec slurm;
  if (!file.has("slurm")) return slurm;
  const ValueReader given = file.at("slurm");
  given.require_object({"cases_per_task", "at_once", "host", "options", "setup"});
  if (given.has("cases_per_task")) slurm.cases_per_task = given.at("cases_per_task").count();
  if (given.has("at_once")) slurm.at_once = given.at("at_once").count();
  if (given.has("host")) slurm.host = given.at("host").text();
  if (given.has("options")) slurm.options = read_script_lines(given.at("options"));
  if (given.has("setup")) slurm.setup = read_script_lines(given.at("setup"));
  return slurm;
}

// It is part of the names of files.
std::string read_name(const ValueReader& file, const fs::path& path) {
  if (!file.has("name")) return path.stem().string();
  std::string name = file.at("name").text();
  if (name.find('/') != std::string::npos || name.starts_with(".") ||
      name.find('\n') != std::string::npos) {
    file.at("name").refuse(fmt::format("is '{}', which is no name of a file", name));
  }
  return name;
}

}  // namespace

Campaign read_campaign(const fs::path& path, const std::vector<KnownCommand>& commands) {
  const OrderedJson json = parse(read_text(path), path);
  const ValueReader file(json, path.string());
  file.require_object({"name", "description", "matrices", "runs", "parameters", "limits",
                       "environment", "launcher", "hosts", "share", "slurm", "results"});
  Campaign campaign;
  campaign.file = fs::absolute(path).lexically_normal();
  campaign.folder = campaign.file.parent_path();
  campaign.name = read_name(file, path);
  if (file.has("description")) file.at("description").text();
  campaign.limits = read_limits(file);
  campaign.hosts = read_hosts(file, campaign.folder);
  if (file.has("share")) campaign.share = file.at("share").yes_or_no();
  campaign.slurm = read_slurm(file);
  if (file.has("results")) campaign.results = campaign.folder / file.at("results").text();
  campaign.cases = detail::read_cases(file, campaign.folder, commands);
  return campaign;
}

}  // namespace strata::campaign
