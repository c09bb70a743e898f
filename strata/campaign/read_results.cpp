#include "strata/campaign/read_results.hpp"

#include <fmt/format.h>

#include <sstream>

#include "strata/base/error.hpp"
#include "strata/io/read_text.hpp"

namespace strata::campaign {

namespace fs = std::filesystem;

std::vector<std::string> for_each_result(const fs::path& path,
                                         const std::function<void(ResultLine)>& take) {
  std::istringstream file(read_text(path));
  std::vector<std::string> problems;
  ResultLine line;
  for (line.number = 1; std::getline(file, line.text); ++line.number) {
    // getline gives the rest of the file, too.
    if (file.eof()) {
      problems.push_back(
          fmt::format("{}:{}: left out: is not complete, torn or still being written",
                      path.string(), line.number));
      break;
    }
    if (line.text.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      line.record = parse_record(line.text);
    } catch (const InvalidArgument& wrong) {
      problems.push_back(
          fmt::format("{}:{}: left out: {}", path.string(), line.number, wrong.what()));
      continue;
    }
    take(line);
  }
  return problems;
}

ResultsRead read_results(const fs::path& path) {
  ResultsRead read;
  read.problems =
      for_each_result(path, [&](ResultLine line) { read.lines.push_back(std::move(line)); });
  return read;
}

}  // namespace strata::campaign
