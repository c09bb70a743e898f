// What benchmarks over a list of matrices have in common: PROGRAM [--json FILE] [SPEC…].
#pragma once

#include <fmt/format.h>

#include <exception>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "strata/measure/json.hpp"

namespace strata::bench {

using Specs = std::vector<std::string>;

// Calls measure(specs, results) with those of the command line, or the usual ones, and writes the
// results to the file. The status of the program.
inline int run_over_specs(const std::string& program, const Specs& arguments, const Specs& usual,
                          const std::function<void(const Specs&, Json&)>& measure) {
  try {
    const bool with_file = arguments.size() >= 2 && arguments[0] == "--json";
    const Specs asked(arguments.begin() + (with_file ? 2 : 0), arguments.end());
    Json results = Json::array();
    measure(asked.empty() ? usual : asked, results);
    if (with_file) std::ofstream(arguments[1]) << text_of(results) << '\n';
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", program, error.what());
    return 1;
  }
}

}  // namespace strata::bench
