// The report: one HTML file that has everything in it, made of a template and of results.
//
//   write_page("report.html", page_template(), {.title = "H200"}, {"gpu-spmv.json"});
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace strata::report {

struct PageOptions {
  std::string title = "Strata";
  std::string made = {};  // ISO 8601; empty: now
};

// What the page draws, as JSON: {"strata_report": 1, "title", "made", "sources", "runs"}; see
// docs/report.md. What could not be read of the files is in it, and in `problems`. Throws FileError
// for a file that cannot be read or has no results.
std::string page_data(const std::vector<std::filesystem::path>& files, const PageOptions& options,
                      std::vector<std::string>& problems);

// The page: the template with the data in the place of its marker, compressed and in letters that
// mean nothing to a browser, so that no name of a matrix becomes part of the page. Throws
// InvalidArgument if the template has no marker.
std::string page_with(std::string page_template, const std::string& data);

// Where the template is: STRATA_REPORT_TEMPLATE, the data folder of the installation that has this
// program, or that of the build. Empty if there is none.
std::filesystem::path template_path(const std::filesystem::path& program);

}  // namespace strata::report
