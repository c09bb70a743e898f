#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "strata/report/comparison.hpp"
#include "strata/report/internal/runs.hpp"

namespace strata::report {

namespace {

using detail::member;
using detail::number_member;
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
  return stable;
}

void add_word(std::string& name, const std::string& word) {
  if (word.empty()) return;
  if (!name.empty()) name += ", ";
  name += word;
}

// All that decides what was timed, in words.
std::string name_of(const Run& run, const Tree& result) {
  const Tree& matrix = member(run.document, "matrix");
  std::string name = text_member(matrix, "name");
  if (name.empty()) name = text_member(run.record, "matrix");
  add_word(name, text_member(result, "kernel"));
  add_word(name, text_member(result, "backend"));
  const std::string variant = stable_variant(text_member(result, "variant"));
  add_word(name, variant.empty() ? text_member(result, "format") : variant);
  add_word(name, text_member(result, "strategy"));
  if (const Tree& power = member(result, "power"); power.is_number_integer()) {
    add_word(name, fmt::format("p = {}", power.get<long>()));
  }
  if (const Tree& parameters = member(result, "parameters");
      parameters.is_object() && variant != "plan") {
    for (const auto& [key, value] : parameters.items()) {
      if (value.is_primitive()) add_word(name, key + " " + value.dump());
    }
  }
  if (const Tree& threads = member(result, "threads"); threads.is_number_integer()) {
    add_word(name, fmt::format("{} threads", threads.get<long>()));
  }
  const std::string precision = text_member(result, "precision");
  if (precision != "double") add_word(name, precision);
  if (const std::string host = text_member(run.record, "host"); !host.empty()) {
    add_word(name, "on " + host);
  }
  return name;
}

bool is_peer(const Tree& result) {
  return text_member(result, "backend") == "vendor";
}

double median_seconds(const Tree& result) {
  return number_member(member(result, "seconds"), "median");
}

// Of the fastest other library in the document; NaN if there is none.
double peer_seconds(const Tree& results) {
  double least = std::numeric_limits<double>::quiet_NaN();
  for (const Tree& result : results) {
    const double seconds = is_peer(result) ? median_seconds(result) : least;
    if (seconds > 0 && !(least <= seconds)) least = seconds;
  }
  return least;
}

std::vector<double> samples_of(const Tree& result, bool& sampled) {
  std::vector<double> samples;
  for (const Tree& sample : member(member(result, "seconds"), "samples")) {
    if (sample.is_number() && sample.get<double>() > 0) samples.push_back(sample.get<double>());
  }
  if (!samples.empty()) return samples;
  sampled = false;
  return {median_seconds(result)};
}

class Collector {
 public:
  void add(const Run& run) {
    const Tree& results = member(run.document, "results");
    if (!results.is_array()) return;
    const double peer = peer_seconds(results);
    for (const Tree& result : results) {
      if (!(median_seconds(result) > 0)) continue;
      TimedResult& timed = named(name_of(run, result));
      timed.runs.push_back(samples_of(result, timed.sampled));
      if (peer > 0) timed.over_peers.push_back(median_seconds(result) / peer);
      const Tree& passed = member(member(result, "error"), "passed");
      timed.wrong = timed.wrong || (passed.is_boolean() && !passed.get<bool>());
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
