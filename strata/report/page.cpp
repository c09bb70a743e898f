#include "strata/report/page.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/report/build_paths.hpp"
#include "strata/report/internal/runs.hpp"

namespace strata::report {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMarker = "<!--STRATA-DATA-->";
constexpr const char* kTemplate = "report.html";

std::string compressed(const std::string& text) {
  z_stream stream{};
  constexpr int kGzip = 16;  // added to the bits of the window: with gzip's header
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, 9,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw Error("zlib cannot be started");
  }
  std::string result(deflateBound(&stream, narrow<uLong>(text.size(), "the size of a page")), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = narrow<uInt>(text.size(), "the size of a page");
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = narrow<uInt>(result.size(), "the size of a page");
  const int ended = deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  if (ended != Z_STREAM_END) throw Error("zlib cannot compress the results");
  return result;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    unsigned bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= count ? kLetters[bits >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

std::string now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace

std::string page_data(const std::vector<fs::path>& files, const PageOptions& options,
                      std::vector<std::string>& problems) {
  using detail::Tree;
  detail::Runs runs = detail::read_runs(files);
  Tree data{{"strata_report", 1},
            {"title", options.title},
            {"made", options.made.empty() ? now() : options.made},
            {"sources", Tree::array()},
            {"runs", Tree::array()}};
  for (const detail::Source& source : runs.sources) {
    data["sources"].push_back({{"name", source.name}, {"problems", source.problems}});
    problems.insert(problems.end(), source.problems.begin(), source.problems.end());
  }
  for (detail::Run& run : runs.list) {
    Tree entry{{"source", run.source}};
    entry.update(run.record);
    entry["document"] = std::move(run.document);
    data["runs"].push_back(std::move(entry));
  }
  return data.dump(-1, ' ', false, Tree::error_handler_t::replace);
}

std::string page_with(std::string page_template, const std::string& data) {
  const std::size_t place = page_template.find(kMarker);
  if (place == std::string::npos) {
    throw InvalidArgument(fmt::format("the template of the page has no {}", kMarker));
  }
  return page_template.replace(place, kMarker.size(), base64(compressed(data)));
}

fs::path template_path(const fs::path& program) {
  if (const char* chosen = std::getenv("STRATA_REPORT_TEMPLATE")) return chosen;
  std::error_code error;
  const fs::path installed = program.parent_path() / kDataFromProgram / kTemplate;
  for (const fs::path& path : {installed, fs::path(kBuiltPage) / kTemplate}) {
    if (fs::is_regular_file(path, error)) return path;
  }
  return {};
}

}  // namespace strata::report
