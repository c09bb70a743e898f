// A campaign as a Slurm job array: every task runs some cases and writes a results file of its own.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "strata/campaign/campaign.hpp"
#include "strata/campaign/selection.hpp"

namespace strata::campaign {

// "runs/thesis.jsonl" of task 3 is "runs/thesis.3.jsonl".
std::filesystem::path task_results(const std::filesystem::path& results, std::size_t task);
// Those of all tasks that have written any, by their number.
std::vector<std::filesystem::path> find_task_results(const std::filesystem::path& results);

// The tasks that have open cases: task t has the cases t·n + 1 … (t + 1)·n.
std::vector<std::size_t> open_tasks(const Campaign& campaign,
                                    const std::vector<SelectedCase>& selected);

// The script for sbatch. All paths in it are absolute.
std::string slurm_script(const Campaign& campaign, const std::vector<std::size_t>& tasks,
                         const std::filesystem::path& program,
                         const std::filesystem::path& results);

// Hands the script to sbatch and returns what that says. Throws FileError if it does not take it.
std::string submit(const std::filesystem::path& script);

}  // namespace strata::campaign
