#include "cli/parts/document.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/parts/build_info.hpp"
#include "cli/parts/interruption.hpp"
#include "cli/parts/ranks.hpp"
#include "strata/base/processors.hpp"
#include "strata/base/version.hpp"
#include "strata/io/replace_file.hpp"
#include "strata/machine/system.hpp"

namespace strata::cli {

namespace {

Json caches() {
  Json list = Json::array();
  for (const ReportedCache& cache : reported_caches()) {
    list.push_back({{"level", cache.level},
                    {"type", cache.type},
                    {"bytes", cache.bytes},
                    {"shared_by_cpus", cache.shared_by_cpus}});
  }
  return list;
}

// Which machine a result comes from, as the operating system reports it; nothing is measured. What
// it does not report is left out.
Json machine_profile() {
  Json profile;
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) profile[key] = value;
  };
  add("cpu", processor_name());
  if (const int cores = physical_cores(); cores > 0) profile["cores"] = cores;
  profile["threads"] = usable_processors();
  profile["caches"] = caches();
  profile["memory_bytes"] = static_cast<long long>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  add("os", value_in_file("/etc/os-release", "PRETTY_NAME", '='));
  utsname system{};
  if (uname(&system) == 0) {
    add("kernel", fmt::format("{} {}", system.sysname, system.release));
    add("architecture", system.machine);
  }
  add("compiler", kCompiler);
  add("flags", kCompilerFlags);
  add("build_type", kBuildType);
  return profile;
}

Json words_json(const std::vector<std::string>& words) {
  Json json = Json::array();
  for (const std::string& word : words) json.push_back(word);
  return json;
}

}  // namespace

ResultDocument::ResultDocument(std::string destination, const std::vector<std::string>& command)
    : destination_(speaks() ? std::move(destination) : std::string()) {
  document_ = {{"strata", kVersion},
               {"command", words_json(command)},
               {"time", utc_now()},
               {"machine", destination_.empty() ? Json::object() : machine_profile()},
               {"matrix", Json::object()},
               {"results", Json::array()}};
  on_interruption([this] { write_interrupted(); });
}

ResultDocument::~ResultDocument() {
  on_interruption({});
}

void ResultDocument::describe_machine(const Json& profile) {
  const std::lock_guard lock(mutex_);
  document_["machine"].update(profile);
}

void ResultDocument::describe_matrix(const Json& profile) {
  const std::lock_guard lock(mutex_);
  document_["matrix"].update(profile);
}

void ResultDocument::add_result(Json result) {
  const std::lock_guard lock(mutex_);
  document_["results"].push_back(std::move(result));
}

void ResultDocument::write() {
  if (destination_.empty()) return;
  const std::lock_guard lock(mutex_);
  const std::string text = text_of(document_, 2) + "\n";
  if (destination_ == "-") {
    write_to_stdout(text);
  } else {
    replace_file(destination_, text);
  }
}

void ResultDocument::write_interrupted() {
  {
    const std::lock_guard lock(mutex_);
    document_["interrupted"] = true;
  }
  write();
}

Offset stored_zeros(const MatrixSource& source, const MatrixStatistics& statistics) {
  const bool half = source.header && source.header->symmetry != Symmetry::general;
  return half ? (statistics.zeros + statistics.diagonal_zeros) / 2 : statistics.zeros;
}

Json describe(const MatrixSource& source) {
  Json profile{{"name", source.name}};
  if (source.header) {
    profile["rows"] = source.header->rows;
    profile["cols"] = source.header->cols;
    profile["symmetry"] = name_of(source.header->symmetry);
    profile["field"] = name_of(source.header->field);
    profile["stored_entries"] = source.header->stored_entries;
  } else {
    profile["field"] = "real";
  }
  return profile;
}

Json describe(const MatrixSource& source, const MatrixStatistics& statistics) {
  const RowLengths& lengths = statistics.row_lengths;
  Json histogram = Json::array();
  for (const LengthBin& bin : lengths.histogram) {
    histogram.push_back({{"first", bin.first}, {"last", bin.last}, {"rows", bin.rows}});
  }
  Json profile = describe(source);
  profile.update({{"rows", statistics.rows},
                  {"cols", statistics.cols},
                  {"nnz", statistics.entries},
                  {"symmetry", source.header ? name_of(source.header->symmetry)
                                             : name_of(statistics.value_symmetry)},
                  {"bandwidth", statistics.bandwidth()},
                  {"lower_bandwidth", statistics.lower_bandwidth},
                  {"upper_bandwidth", statistics.upper_bandwidth},
                  {"nnz_per_row",
                   {{"mean", lengths.mean},
                    {"max", lengths.max},
                    {"stddev", lengths.stddev},
                    {"min", lengths.min},
                    {"lower_quartile", lengths.lower_quartile},
                    {"median", lengths.median},
                    {"upper_quartile", lengths.upper_quartile},
                    {"histogram", histogram}}},
                  {"zeros", stored_zeros(source, statistics)},
                  {"expanded_zeros", statistics.zeros},
                  {"non_finite", statistics.non_finite},
                  {"empty_rows", statistics.empty_rows},
                  {"empty_cols", statistics.empty_cols},
                  {"diagonal_entries", statistics.diagonal_entries},
                  {"pattern_symmetric", statistics.pattern_symmetric},
                  {"mirrored_share", statistics.mirrored_share()},
                  {"value_symmetry", name_of(statistics.value_symmetry)}});
  return profile;
}

}  // namespace strata::cli
