// Case: one run of one command with one setting of everything: the unit that a campaign starts,
// loses and remembers.
#pragma once

#include <string>
#include <vector>

namespace strata::campaign {

// Of the environment of a process.
struct Variable {
  std::string name;
  std::string value;
  bool operator==(const Variable&) const = default;
};

// What was varied, for whoever draws results; the value is JSON text: 4, "csr", true.
struct Setting {
  std::string name;
  std::string json;
  bool operator==(const Setting&) const = default;
};

struct Case {
  std::vector<std::string> words;  // "spmv", "stencil5:9x9", "--format", "csr"
  std::string matrix;              // empty for commands that take none
  std::vector<Setting> settings;
  std::vector<Variable> environment;
  std::vector<std::string> launcher = {};  // what starts several ranks: "mpirun", "-n", "4"

  // The canonical text: what a shell would run after the name of the program, or with a launcher
  // all of it. Together with the host it says which case a result belongs to.
  std::string key() const;
};

// As a shell reads them back; words of harmless characters are left as they are.
std::string shell_text(const std::vector<std::string>& words);

// A letter or _, then letters, digits and _.
bool is_variable_name(const std::string& text);

}  // namespace strata::campaign
