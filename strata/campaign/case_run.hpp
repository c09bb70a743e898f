// Running one case on this machine: the program with the words of the case and --json -, within
// limits; and the same asked for from another machine.
#pragma once

#include <filesystem>
#include <string>

#include "strata/campaign/process.hpp"
#include "strata/campaign/record.hpp"

namespace strata::campaign {

struct CaseRequest {
  std::filesystem::path program = {};  // strata
  std::filesystem::path folder = {};   // where it runs
  std::vector<std::string> words = {};
  std::vector<Variable> environment = {};
  Limits limits = {};
  std::vector<std::string> launcher = {};  // as in Case
};

// None if it was stopped. Throws FileError if the program cannot be started at all.
std::optional<Outcome> run_case(const CaseRequest& request, const ProcessWatch& watch);

// All but the program and the folder, as one line of JSON.
std::string text_of(const CaseRequest& request);
// Throws InvalidArgument.
CaseRequest parse_case_request(std::string_view text);

// The last line that is not empty, for a reason on one line.
std::string last_line(const std::string& text);

}  // namespace strata::campaign
