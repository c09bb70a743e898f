// Campaigns as Slurm job arrays.

#include "strata/campaign/slurm.hpp"

#include "tests/campaign/support.hpp"

namespace strata::campaign {
namespace {

class Slurm : public test::FolderTest {};

TEST_F(Slurm, TheScriptRunsTheCasesOfItsTask) {
  Campaign campaign;
  campaign.name = "my campaign";
  campaign.file = "/data/it's.json";
  campaign.slurm = {.cases_per_task = 10,
                    .at_once = 4,
                    .host = "cluster",
                    .options = {"--partition=gpu", "--time=01:00:00"},
                    .setup = {"module load cuda"}};
  EXPECT_EQ(slurm_script(campaign, {0, 1, 2, 5, 7, 8}, "/opt/strata", "/data/r.jsonl"),
            "#!/bin/bash\n"
            "#SBATCH --job-name=my-campaign\n"
            "#SBATCH --array=0-2,5,7-8%4\n"
            "#SBATCH --partition=gpu\n"
            "#SBATCH --time=01:00:00\n"
            "set -eu\n"
            "module load cuda\n"
            "first=$((SLURM_ARRAY_TASK_ID * 10 + 1))\n"
            "last=$((first + 10 - 1))\n"
            "exec /opt/strata bench '/data/it'\\''s.json' --case-range \"$first:$last\" "
            "--host cluster \\\n"
            "  --results /data/r.\"$SLURM_ARRAY_TASK_ID\".jsonl\n");
}

TEST_F(Slurm, TasksWithoutOpenCasesAreLeftOut) {
  Campaign campaign;
  campaign.slurm.cases_per_task = 2;
  std::vector<SelectedCase> selected;
  for (std::size_t i = 0; i < 6; ++i)
    selected.push_back({.index = i, .host = "s", .open = i == 1 || i > 4});
  EXPECT_EQ(open_tasks(campaign, selected), (std::vector<std::size_t>{0, 2}));
}

TEST_F(Slurm, ResultsOfTasksAreFoundByTheirNumber) {
  for (const char* name :
       {"r.10.jsonl", "r.9.jsonl", "r.jsonl", "r.x.jsonl", "q.1.jsonl", "r.1.json"}) {
    write(name, "");
  }
  EXPECT_EQ(task_results(folder() / "r.jsonl", 9), folder() / "r.9.jsonl");
  EXPECT_EQ(find_task_results(folder() / "r.jsonl"),
            (std::vector{folder() / "r.9.jsonl", folder() / "r.10.jsonl"}));
}

}  // namespace
}  // namespace strata::campaign
