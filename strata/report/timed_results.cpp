#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "strata/report/comparison.hpp"
#include "strata/report/internal/measured_times.hpp"
#include "strata/report/internal/runs.hpp"

namespace strata::report {

namespace {

using detail::MeasuredTime;
using detail::member;
using detail::Run;
using detail::text_member;
using detail::Tree;

// Versions and choices that differ from run to run are no part of a name: of "Eigen 3.4.0" the
// library, of "plan: SELL-32-1" that it is a plan.
std::string stable_variant(const std::string& variant) {
  if (variant.starts_with("plan: ")) return "plan";
  std::string stable;
  for (std::size_t i = 0; i < variant.size(); ++i) {
    const bool begins = i == 0 || variant[i - 1] == ' ';
    if (!begins || variant[i] < '0' || variant[i] > '9') {
      stable += variant[i];
      continue;
    }
    const std::size_t end = std::min(variant.find(' ', i), variant.size());
    const std::string_view word = std::string_view(variant).substr(i, end - i);
    if (std::ranges::count(word, '.') < 2) {
      stable += variant[i];
      continue;
    }
    i = end;  // and the blank behind it
  }
  while (stable.ends_with(' ')) stable.pop_back();
  return stable;
}

void add_word(std::string& name, const std::string& word) {
  if (word.empty()) return;
  if (!name.empty()) name += ", ";
  name += word;
}

bool is_peer(const Tree& result) {
  return text_member(result, "backend") == "vendor";
}

// What is false, 0 or missing says nothing.
void add_member(std::string& name, const Tree& object, const std::string& key) {
  const Tree& value = member(object, key.c_str());
  if (value.is_string()) add_word(name, value.get<std::string>());
  if (value.is_boolean() && value.get<bool>()) add_word(name, key);
  if (value.is_number() && value.get<double>() != 0) add_word(name, key + " " + value.dump());
}

long threads_of(const Tree& result) {
  const Tree& threads = member(result, "threads");
  return threads.is_number_integer() ? threads.get<long>() : 0;
}

// What plans chose is no part of what solvers were asked for. Nor is, of a library on a GPU, which
// of its products was the fastest; on processors all of them solve, and are told apart.
void add_solver_words(std::string& name, const Tree& result) {
  if (is_peer(result)) {
    const std::string variant = stable_variant(text_member(result, "variant"));
    add_word(name, threads_of(result) > 0 ? variant : variant.substr(0, variant.find(' ')));
  }
  add_member(name, result, "method");
  if (text_member(result, "preconditioner") != "none") add_member(name, result, "preconditioner");
  for (const char* key : {"matrix", "degree", "which", "s", "vectors", "damping", "time",
                          "imaginary", "phi", "right_hand_side", "tolerance"}) {
    // Degrees are the elements' of fem; those of polynomials are chosen.
    if (std::string_view(key) == "degree" && text_member(result, "kernel") != "fem") continue;
    add_member(name, result, key);
  }
  if (const Tree& moments = member(result, "moments"); moments.is_array()) {
    add_word(name, fmt::format("{} moments", moments.size()));
  }
  if (const Tree& elements = member(result, "elements"); elements.is_array()) {
    std::string sizes;
    for (const Tree& size : elements) sizes += (sizes.empty() ? "" : "x") + size.dump();
    add_word(name, sizes + " elements");
  }
  if (const std::string values = text_member(result, "values"); !values.empty()) {
    add_word(name, values + " values");
  }
}

// All that decides what was timed, in words.
std::string name_of(const Run& run, const Tree& result) {
  const Tree& matrix = member(run.document, "matrix");
  std::string name = text_member(matrix, "name");
  if (name.empty()) name = text_member(run.record, "matrix");
  add_word(name, text_member(result, "kernel"));
  add_word(name, text_member(result, "backend"));
  const bool solves = detail::is_solver(result);
  const std::string variant = stable_variant(text_member(result, "variant"));
  if (solves) {
    add_solver_words(name, result);
  } else {
    add_word(name, variant.empty() ? text_member(result, "format") : variant);
  }
  add_word(name, text_member(result, "strategy"));
  if (const Tree& power = member(result, "power"); power.is_number_integer()) {
    add_word(name, fmt::format("p = {}", power.get<long>()));
  }
  if (const Tree& parameters = member(result, "parameters");
      parameters.is_object() && variant != "plan") {
    for (const auto& [key, value] : parameters.items()) {
      const bool said = solves && member(result, key.c_str()) == value;
      if (!value.is_primitive() || said) continue;
      add_word(name, key + " " + (value.is_string() ? value.get<std::string>() : value.dump()));
    }
  }
  if (const Tree& ranks = member(result, "ranks");
      ranks.is_number_integer() && ranks.get<long>() > 1) {
    add_word(name, fmt::format("{} ranks", ranks.get<long>()));
  }
  if (const long threads = threads_of(result); threads > 0) {
    add_word(name, fmt::format("{} threads", threads));
  }
  const std::string precision = text_member(result, "precision");
  if (precision != "double") add_word(name, precision);
  if (const std::string host = text_member(run.record, "host"); !host.empty()) {
    add_word(name, "on " + host);
  }
  return name;
}

// The same time of the fastest other library in the document; NaN if there is none.
double peer_seconds(const Tree& results, const std::string& what) {
  double least = std::numeric_limits<double>::quiet_NaN();
  for (const Tree& result : results) {
    if (!is_peer(result)) continue;
    for (const MeasuredTime& time : detail::measured_times(result)) {
      if (time.what == what && !(least <= time.seconds)) least = time.seconds;
    }
  }
  return least;
}

class Collector {
 public:
  void add(const Run& run) {
    const Tree& results = member(run.document, "results");
    if (!results.is_array()) return;
    for (const Tree& result : results) {
      for (MeasuredTime& time : detail::measured_times(result)) {
        std::string name = name_of(run, result);
        add_word(name, time.what);
        TimedResult& timed = named(name);
        timed.sampled = timed.sampled && !time.samples.empty();
        timed.averaged = time.averaged;
        timed.wrong = timed.wrong || detail::is_wrong(result);
        timed.counted = time.counted;
        timed.count = time.count;
        const double peer = peer_seconds(results, time.what);
        if (peer > 0) timed.over_peers.push_back(time.seconds / peer);
        if (time.samples.empty()) time.samples = {time.seconds};
        timed.runs.push_back(std::move(time.samples));
      }
    }
  }

  std::vector<TimedResult> take() { return std::move(list_); }

 private:
  TimedResult& named(const std::string& name) {
    const auto [place, added] = places_.try_emplace(name, list_.size());
    if (added) list_.push_back({.name = name});
    return list_[place->second];
  }

  std::vector<TimedResult> list_;
  std::map<std::string, std::size_t> places_;
};

}  // namespace

std::vector<double> TimedResult::all_samples() const {
  std::vector<double> all;
  for (const auto& run : runs) all.insert(all.end(), run.begin(), run.end());
  return all;
}

std::vector<TimedResult> timed_results(const std::vector<std::filesystem::path>& files,
                                       std::vector<std::string>& problems) {
  const detail::Runs runs = detail::read_runs(files);
  for (const detail::Source& source : runs.sources) {
    problems.insert(problems.end(), source.problems.begin(), source.problems.end());
  }
  Collector collector;
  for (const Run& run : runs.list) collector.add(run);
  return collector.take();
}

}  // namespace strata::report
