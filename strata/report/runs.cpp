#include <fmt/format.h>

#include <limits>

#include "strata/base/error.hpp"
#include "strata/campaign/read_results.hpp"
#include "strata/io/read_text.hpp"
#include "strata/report/internal/runs.hpp"

namespace strata::report::detail {

namespace fs = std::filesystem;

namespace {

// What outer members of a collection say about all its runs.
constexpr const char* kCommon[] = {"strata", "commit", "command", "time", "machine", "build"};

// One document, a collection of them, or nothing of ours.
class DocumentReader {
 public:
  DocumentReader(Runs& runs, std::size_t source) : runs_(runs), source_(source) {}

  bool take(const Tree& tree) {
    if (!tree.is_object()) return false;
    if (const Tree& list = member(tree, "runs"); list.is_array()) {
      for (const Tree& inner : list) take_one(inner, &tree);
      return true;
    }
    return take_one(tree, nullptr);
  }

 private:
  bool take_one(const Tree& tree, const Tree* outer) {
    if (!tree.is_object() || !(tree.contains("results") || tree.contains("machine"))) return false;
    Tree document = tree;
    if (outer != nullptr) {
      for (const char* key : kCommon) {
        if (outer->contains(key) && !document.contains(key)) document[key] = outer->at(key);
      }
    }
    Tree record{{"status", "done"}};
    runs_.list.push_back({source_, std::move(record), std::move(document)});
    return true;
  }

  Runs& runs_;
  std::size_t source_;
};

// The record without its document, which has a place of its own.
Run run_of(std::size_t source, Tree line) {
  Run run{.source = source};
  if (line.contains("document")) {
    run.document = std::move(line["document"]);
    line.erase("document");
  }
  for (const char* key : {"commit", "build"}) {
    if (run.document.is_object() && line.contains(key) && !run.document.contains(key)) {
      run.document[key] = line[key];
    }
  }
  for (const char* key : {"strata_results", "commit", "build"}) line.erase(key);
  run.record = std::move(line);
  return run;
}

bool is_results_file(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  const std::string_view line = text.substr(first, text.find('\n', first) - first);
  const Tree tree = Tree::parse(line, nullptr, false);
  return tree.is_object() && tree.contains("strata_results");
}

void read_file(Runs& runs, const fs::path& file) {
  const std::size_t source = runs.sources.size();
  runs.sources.push_back({.name = file.filename().string()});
  const std::string text = read_text(file);
  if (is_results_file(text)) {
    runs.sources.back().problems =
        campaign::for_each_result(file, [&](const campaign::ResultLine& line) {
          runs.list.push_back(run_of(source, Tree::parse(line.text)));
        });
    return;
  }
  const Tree tree = Tree::parse(text, nullptr, false);
  if (tree.is_discarded()) throw FileError(file.string(), "is not JSON");
  if (!DocumentReader(runs, source).take(tree)) {
    throw FileError(file.string(), "has no results of Strata");
  }
}

}  // namespace

Runs read_runs(const std::vector<fs::path>& files) {
  Runs runs;
  for (const fs::path& file : files) read_file(runs, file);
  return runs;
}

const Tree& member(const Tree& object, const char* key) {
  static const Tree none;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

std::string text_member(const Tree& object, const char* key) {
  const Tree& found = member(object, key);
  return found.is_string() ? found.get<std::string>() : std::string();
}

double number_member(const Tree& object, const char* key) {
  const Tree& found = member(object, key);
  return found.is_number() ? found.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace strata::report::detail
