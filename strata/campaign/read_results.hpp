// Reading results files: also while a campaign writes them, whatever else is in them, and those
// that gzip has compressed.
//
//   for (const ResultLine& line : read_results("thesis.jsonl").lines) draw(line.record);
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "strata/campaign/record.hpp"

namespace strata::campaign {

struct ResultLine {
  std::int64_t number = 0;  // from 1 on
  std::string text;         // as it is in the file, without the line break
  Record record;
};

// Calls `take` for every result, in the order of the file. Returns what it could not use, one
// message each: lines of something else, torn ones, a last one that is not complete. Throws
// FileError if the file cannot be read.
std::vector<std::string> for_each_result(const std::filesystem::path& path,
                                         const std::function<void(ResultLine)>& take);

struct ResultsRead {
  std::vector<ResultLine> lines;
  std::vector<std::string> problems;
};
ResultsRead read_results(const std::filesystem::path& path);

}  // namespace strata::campaign
