#include "strata/campaign/slurm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "strata/campaign/case_run.hpp"
#include "strata/campaign/process.hpp"

namespace strata::campaign {

namespace fs = std::filesystem;

namespace {

// "0-3,7"
std::string array_text(const std::vector<std::size_t>& tasks) {
  std::string text;
  for (std::size_t i = 0; i < tasks.size();) {
    std::size_t last = i;
    while (last + 1 < tasks.size() && tasks[last + 1] == tasks[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += last == i ? fmt::format("{}", tasks[i]) : fmt::format("{}-{}", tasks[i], tasks[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace

fs::path task_results(const fs::path& results, std::size_t task) {
  return results.parent_path() / fmt::format("{}.{}.jsonl", results.stem().string(), task);
}

std::vector<fs::path> find_task_results(const fs::path& results) {
  const std::string prefix = results.stem().string() + ".";
  constexpr std::string_view kSuffix = ".jsonl";
  const fs::path folder = results.parent_path();
  std::map<std::size_t, fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || !name.ends_with(kSuffix) ||
        name.size() <= prefix.size() + kSuffix.size()) {
      continue;
    }
    std::size_t task = 0;
    const char* const end = name.data() + name.size() - kSuffix.size();
    const auto [stop, problem] = std::from_chars(name.data() + prefix.size(), end, task);
    if (problem == std::errc() && stop == end) found[task] = folder / name;
  }
  std::vector<fs::path> files;
  for (const auto& [task, file] : found) files.push_back(file);
  return files;
}

std::vector<std::size_t> open_tasks(const Campaign& campaign,
                                    const std::vector<SelectedCase>& selected) {
  std::set<std::size_t> tasks;
  for (const SelectedCase& each : selected) {
    if (each.open)
      tasks.insert(each.index / static_cast<std::size_t>(campaign.slurm.cases_per_task));
  }
  return {tasks.begin(), tasks.end()};
}

std::string slurm_script(const Campaign& campaign, const std::vector<std::size_t>& tasks,
                         const fs::path& program, const fs::path& results) {
  const SlurmSpec& slurm = campaign.slurm;
  std::string name = campaign.name;
  std::ranges::replace(name, ' ', '-');
  std::string text =
      fmt::format("#!/bin/bash\n#SBATCH --job-name={}\n#SBATCH --array={}{}\n", name,
                  array_text(tasks), slurm.at_once > 0 ? fmt::format("%{}", slurm.at_once) : "");
  for (const std::string& option : slurm.options) text += fmt::format("#SBATCH {}\n", option);
  text += "set -eu\n";
  for (const std::string& command : slurm.setup) text += command + "\n";
  const fs::path whole = fs::absolute(results).lexically_normal();
  const std::string file = shell_text({(whole.parent_path() / whole.stem()).string()});
  text += fmt::format(
      "first=$((SLURM_ARRAY_TASK_ID * {0} + 1))\n"
      "last=$((first + {0} - 1))\n"
      "exec {1} bench {2} --case-range \"$first:$last\" --host {3} \\\n"
      "  --results {4}.\"$SLURM_ARRAY_TASK_ID\".jsonl\n",
      slurm.cases_per_task, shell_text({program.string()}), shell_text({campaign.file.string()}),
      shell_text({slurm.host}), file);
  return text;
}

std::string submit(const fs::path& script) {
  const ProcessResult result =
      run_process({.words = {"sbatch", script.string()}, .limits = {.seconds = 120}});
  if (result.ending == Ending::exited && result.status == 0) return last_line(result.output);
  throw FileError("sbatch",
                  fmt::format("did not take {}: {}", script.string(), last_line(result.error)));
}

}  // namespace strata::campaign
