#include "strata/campaign/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "strata/campaign/internal/json_text.hpp"

namespace strata::campaign {

using detail::Json;
using detail::member;

namespace {

constexpr int kFormat = 1;

constexpr std::array<std::pair<Status, std::string_view>, 6> kStatuses{
    {{Status::done, "done"},
     {Status::failed, "failed"},
     {Status::timeout, "timeout"},
     {Status::memory, "memory"},
     {Status::crashed, "crashed"},
     {Status::lost, "lost"}}};

// Text that is JSON already; null if it is empty.
Json embedded(const std::string& text) {
  return text.empty() ? Json() : detail::parse_json_text(text);
}

void add_outcome(Json& json, const Outcome& outcome) {
  json["status"] = name_of(outcome.status);
  json["exit"] = outcome.exit;
  if (outcome.signal != 0) json["signal"] = outcome.signal;
  if (!outcome.reason.empty()) json["reason"] = outcome.reason;
  json["seconds"] = outcome.seconds;
  if (outcome.peak_bytes > 0) json["peak_bytes"] = outcome.peak_bytes;
}

Outcome outcome_from(const Json& json) {
  const auto name = member<std::string>(json, "status", "");
  const auto status = status_named(name);
  if (!status) throw InvalidArgument(fmt::format("has the status '{}', which is unknown", name));
  Outcome outcome{.status = *status,
                  .exit = member(json, "exit", 0),
                  .signal = member(json, "signal", 0),
                  .reason = member<std::string>(json, "reason", ""),
                  .seconds = member(json, "seconds", 0.0),
                  .peak_bytes = member<std::int64_t>(json, "peak_bytes", 0)};
  const auto document = json.find("document");
  if (document != json.end() && !document->is_null()) {
    outcome.document = detail::one_line(*document);
  }
  return outcome;
}

void add_identity(Json& json, const BuildIdentity& identity) {
  json["strata"] = identity.version;
  json["commit"] = identity.commit;
  json["build"] = embedded(identity.build);
}

BuildIdentity identity_from(const Json& json) {
  BuildIdentity identity{.version = member<std::string>(json, "strata", ""),
                         .commit = member<std::string>(json, "commit", "")};
  if (const auto build = json.find("build"); build != json.end()) {
    identity.build = detail::one_line(*build);
  }
  return identity;
}

Json require_object(std::string_view text) {
  Json json = detail::parse_json_text(text);
  if (!json.is_object()) throw InvalidArgument("is no object");
  return json;
}

}  // namespace

std::string_view name_of(Status status) {
  return std::ranges::find(kStatuses, status, &std::pair<Status, std::string_view>::first)->second;
}

std::optional<Status> status_named(std::string_view name) {
  for (const auto& [status, its_name] : kStatuses) {
    if (its_name == name) return status;
  }
  return std::nullopt;
}

std::string line_of(const Record& record) {
  Json json{{"strata_results", kFormat}, {"campaign", record.campaign}, {"case", record.case_key},
            {"host", record.host},       {"matrix", record.matrix},     {"words", record.words},
            {"settings", Json::object()}};
  for (const Setting& setting : record.settings) {
    json["settings"][setting.name] = embedded(setting.json);
  }
  add_outcome(json, record.outcome);
  json["started"] = record.started;
  add_identity(json, record.build);
  json["document"] = embedded(record.outcome.document);
  return detail::one_line(json);
}

Record parse_record(std::string_view line) {
  const Json json = require_object(line);
  const int format = member(json, "strata_results", 0);
  if (format < 1) throw InvalidArgument("is no result of a campaign");
  if (format > kFormat) {
    throw InvalidArgument(fmt::format("is of version {}: a newer Strata wrote it", format));
  }
  Record record{.campaign = member<std::string>(json, "campaign", ""),
                .case_key = member<std::string>(json, "case", ""),
                .host = member<std::string>(json, "host", ""),
                .matrix = member<std::string>(json, "matrix", ""),
                .words = member<std::vector<std::string>>(json, "words", {}),
                .settings = {},
                .started = member<std::string>(json, "started", ""),
                .outcome = outcome_from(json),
                .build = identity_from(json)};
  if (record.case_key.empty()) throw InvalidArgument("names no case");
  if (const auto settings = json.find("settings"); settings != json.end()) {
    for (const auto& [name, value] : settings->items()) {
      record.settings.push_back({name, detail::one_line(value)});
    }
  }
  return record;
}

std::string text_of(const Outcome& outcome) {
  Json json;
  add_outcome(json, outcome);
  json["document"] = embedded(outcome.document);
  return detail::one_line(json);
}

Outcome parse_outcome(std::string_view text) {
  return outcome_from(require_object(text));
}

std::string text_of(const BuildIdentity& identity) {
  Json json;
  add_identity(json, identity);
  return detail::one_line(json);
}

BuildIdentity parse_identity(std::string_view text) {
  BuildIdentity identity = identity_from(require_object(text));
  if (identity.version.empty()) throw InvalidArgument("names no version");
  return identity;
}

std::string utc_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

}  // namespace strata::campaign
