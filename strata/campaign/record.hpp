// Record: what became of one case, a line of a results file. docs/campaigns.md describes its keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/campaign/case.hpp"

namespace strata::campaign {

enum class Status {
  done,     // exit status 0
  failed,   // another one, or no JSON
  timeout,  // ended for the limit of time
  memory,   // ended for the limit of memory
  crashed,  // died of a signal
  lost,     // its host went away: the case is still open
};

std::string_view name_of(Status status);
std::optional<Status> status_named(std::string_view name);

// Lost cases are run again in any case, failed ones if that is asked for.
inline bool is_finished(Status status) {
  return status != Status::lost;
}

// What one run of a case came to.
struct Outcome {
  Status status = Status::done;
  int exit = 0;             // the exit status
  int signal = 0;           // that it died of; 0: none
  std::string reason = {};  // why it is not done, on one line
  double seconds = 0;       // of wall time
  std::int64_t peak_bytes = 0;
  std::string document = {};  // the JSON that it wrote, on one line; empty if none
};

// The program that ran a case, and what it was built from.
struct BuildIdentity {
  std::string version;
  std::string commit;
  std::string build = "{}";  // JSON: compiler, flags, build type
  bool operator==(const BuildIdentity&) const = default;
};

struct Record {
  std::string campaign;
  std::string case_key;
  std::string host;
  std::string matrix;
  std::vector<std::string> words;
  std::vector<Setting> settings;
  std::string started;  // ISO 8601, UTC
  Outcome outcome;
  BuildIdentity build;
};

// One line of JSON, without the line break.
std::string line_of(const Record& record);
// Keys that it does not know are ignored, and those that older versions did not write may be
// missing. Throws InvalidArgument that says why a line is none.
Record parse_record(std::string_view line);

// An outcome and an identity as one line of JSON, as they travel between hosts.
std::string text_of(const Outcome& outcome);
Outcome parse_outcome(std::string_view text);
std::string text_of(const BuildIdentity& identity);
BuildIdentity parse_identity(std::string_view text);

// Now, as `started` has it.
std::string utc_text();

}  // namespace strata::campaign
