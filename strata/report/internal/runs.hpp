// Results of any kind as one list of runs: documents of single commands, collections of documents,
// and results files of campaigns, also while those grow.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace strata::report::detail {

using Tree = nlohmann::ordered_json;

struct Source {
  std::string name;                        // of the file, without its folder
  std::vector<std::string> problems = {};  // what of it was left out, and why
};

// One process that measured something.
struct Run {
  std::size_t source = 0;
  Tree record =
      {};  // campaign, case, host, status, reason, seconds, settings, as far as it has them
  Tree document = {};  // what the command wrote; null if it wrote nothing
};

struct Runs {
  std::vector<Source> sources;
  std::vector<Run> list;
};

// Throws FileError for a file that cannot be read or that has no results at all.
Runs read_runs(const std::vector<std::filesystem::path>& files);

// Members that may be missing or of another kind, for results come from many versions.
const Tree& member(const Tree& object, const char* key);  // null if there is none
std::string text_member(const Tree& object, const char* key);
double number_member(const Tree& object, const char* key);  // NaN if there is none

}  // namespace strata::report::detail
