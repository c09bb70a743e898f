// strata bench: campaigns that are interrupted, killed, sent elsewhere and resumed.

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <map>
#include <thread>

#include "tests/cli/benchmark.hpp"
#include "tests/cli/command.hpp"

namespace strata::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// A matrix of this test alone, among all that run on the machine.
std::string own_mesh(const std::string& size) {
  return fmt::format("mesh:{},dim=3,nnzr=15,seed={}", size, getpid());
}
// One that takes long enough to be interrupted: some seconds.
std::string long_case() {
  return own_mesh("4000000");
}
// As the arguments of its process have it.
std::string running_long_case() {
  return fmt::format("info{}{}{}", '\0', long_case(), '\0');
}

// Runs what it is given here; some hosts fail.
constexpr const char* kSsh = R"sh(#!/bin/bash
while [ "$1" = -o ]; do shift 2; done
[ "$1" != -O ] || exit 0
host=$1
shift 2
case $host in
  dead) echo 'ssh: connect to host dead port 22: Connection timed out' >&2; exit 255 ;;
  dying)
    if [ -e "$0.dead" ]; then
      echo 'ssh: connect to host dying port 22: No route to host' >&2
      exit 255
    fi
    if [[ $1 == *--run-cases ]]; then
      { for i in 1 2; do read -r line; echo "$line"; done
        read -r line
        touch "$0.dead"
        echo 'client_loop: send disconnect: Broken pipe' >&2; } | bash -c "$1"
      exit 255
    fi ;;
esac
mkdir -p "$(dirname "$0")/home-$host"
cd "$(dirname "$0")/home-$host"
exec bash -c "$1"
)sh";

// Runs the tasks of an array one after another.
constexpr const char* kSbatch = R"sh(#!/bin/bash
array=$(sed -n 's/^#SBATCH --array=//p' "$1")
for part in ${array//,/ }; do
  for task in $(seq "${part%-*}" "${part#*-}"); do
    SLURM_ARRAY_TASK_ID=$task bash "$1" > /dev/null || exit 1
  done
done
echo "Submitted batch job 7"
)sh";

class Bench : public BenchmarkTest {
 protected:
  std::string campaign(const json& contents, const std::string& name = "c.json") {
    write_file(file(name), contents.dump());
    return file(name);
  }
  // Short cases: one for each of so many small matrices.
  std::string small_campaign(int cases, json more = json::object()) {
    json contents{{"name", "small"},
                  {"matrices", {"stencil5:{n}x{n}"}},
                  {"parameters", {{"n", json::array()}}},
                  {"runs", {{{"command", "info"}}}}};
    for (int i = 0; i < cases; ++i) contents["parameters"]["n"].push_back(4 + i);
    contents.update(more);
    return campaign(contents);
  }
  Words bench(const std::string& campaign, Words more = {}) const {
    Words words{"bench", campaign, "--results", file("r.jsonl")};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  void script_file(const std::string& name, const std::string& contents) {
    write_file(file(name), contents);
    chmod(file(name).c_str(), 0755);
  }

  std::vector<json> lines() const {
    std::vector<json> lines;
    std::ifstream stream(file("r.jsonl"));
    for (std::string line; std::getline(stream, line);) {
      const json parsed = json::parse(line, nullptr, false);
      if (parsed.is_object()) lines.push_back(parsed);
    }
    return lines;
  }
  // How often every case has a result, by host and matrix.
  std::map<std::string, int> finished() const {
    std::map<std::string, int> count;
    for (const json& line : lines()) {
      if (line["status"] != "lost") {
        ++count[line["host"].get<std::string>() + " " + line["matrix"].get<std::string>()];
      }
    }
    return count;
  }
  void wait_for_lines(std::size_t count) const {
    while (lines().size() < count) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  // Processes that have the text among their arguments.
  static int processes_with(const std::string& text) {
    int count = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      count += contents_of(entry.path() / "cmdline").find(text) != std::string::npos ? 1 : 0;
    }
    return count;
  }
};

TEST_F(Bench, RunsEveryCaseOnceAndKeepsItsDocument) {
  const std::string campaign = small_campaign(3);
  Outcome outcome = run(bench(campaign));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_NE(outcome.out.find("done now"), std::string::npos) << outcome.out;
  ASSERT_EQ(lines().size(), 3u);
  const json line = lines()[1];
  EXPECT_EQ(line["strata_results"], 1);
  EXPECT_EQ(line["campaign"], "small");
  EXPECT_EQ(line["case"], "info stencil5:5x5");
  EXPECT_EQ(line["words"], (json{"info", "stencil5:5x5"}));
  EXPECT_EQ(line["settings"], (json{{"n", 5}}));
  EXPECT_EQ(line["status"], "done");
  EXPECT_EQ(line["document"]["matrix"]["rows"], 25);
  EXPECT_EQ(line["document"]["command"][0], "strata");
  EXPECT_EQ(line["build"]["type"].is_string(), true);
  EXPECT_FALSE(line["commit"].get<std::string>().empty());
  const std::string before = contents_of(file("r.jsonl"));
  outcome = run(bench(campaign));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(contents_of(file("r.jsonl")), before);
}

TEST_F(Bench, KilledTwiceItGoesOnWithoutLossOrRepetition) {
  const std::string campaign =
      small_campaign(30, {{"matrices", {own_mesh("{n}000")}}, {"limits", {{"seconds", 600}}}});
  for (const std::size_t enough : {4u, 11u}) {
    const pid_t process = start(bench(campaign));
    wait_for_lines(enough);
    kill(process, SIGKILL);
    EXPECT_EQ(wait_for(process).status, 128 + SIGKILL);
    EXPECT_LT(lines().size(), 30u);
  }
  // What ran is gone, too.
  while (processes_with(fmt::format("dim=3,nnzr=15,seed={}", getpid())) > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const Outcome outcome = run(bench(campaign));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(finished().size(), 30u);
  EXPECT_EQ(lines().size(), 30u);
}

TEST_F(Bench, AnInterruptionEndsTheCaseAndKeepsTheOthers) {
  const std::string path = campaign({{"matrices", {"stencil5:4x4", long_case(), "stencil5:5x5"}},
                                     {"runs", {{{"command", "info"}}}}});
  const pid_t process = start(bench(path, {"--json", file("b.json")}));
  wait_for_lines(1);
  while (processes_with(running_long_case()) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(process, SIGINT);
  expect_one_line_error(wait_for(process), 5, "interrupted: ");
  EXPECT_EQ(processes_with(running_long_case()), 0);
  EXPECT_EQ(lines().size(), 1u);
  const json document = json::parse(contents_of(file("b.json")));
  EXPECT_EQ(document["interrupted"], true);
  EXPECT_EQ(document["results"].size(), 1u);
}

TEST_F(Bench, CasesThatFailDoNotKeepOthersFromRunning) {
  const std::string path = campaign({{"matrices", {"none.mtx", "stencil5:4", "stencil5:4x4"}},
                                     {"runs", {{{"command", "info"}}}}});
  const Outcome outcome = run(bench(path));
  expect_one_line_error(outcome, 5, "2 of 3 cases failed; info none.mtx: none.mtx: cannot be read");
  ASSERT_EQ(lines().size(), 3u);
  EXPECT_EQ(lines()[0]["exit"], 3);
  EXPECT_EQ(lines()[1]["exit"], 2);
  EXPECT_EQ(lines()[2]["status"], "done");
  EXPECT_TRUE(lines()[0]["document"].is_null());
  // They count until they are retried.
  EXPECT_EQ(run(bench(path)).status, 5);
  EXPECT_EQ(lines().size(), 3u);
  ASSERT_EQ(run({"gen", "stencil5:3x3", "-o", file("none.mtx")}).status, 0);
  EXPECT_EQ(run(bench(path, {"--retry-failed"})).status, 5);
  EXPECT_EQ(lines().size(), 5u);
  EXPECT_EQ(lines()[3]["status"], "done");
  EXPECT_EQ(run(bench(path, {"--only", "none.mtx"})).status, 0);
}

TEST_F(Bench, AWrongResultIsStatus1) {
  const std::string path = small_campaign(1);
  ASSERT_EQ(run(bench(path)).status, 0);
  json line = lines()[0];
  line.update({{"status", "failed"}, {"exit", 1}, {"reason", "row 3 is wrong"}});
  write_file(file("r.jsonl"), "{\"strata_results\":1," + line.dump().substr(1) + "\n");
  expect_one_line_error(run(bench(path)), 1, "row 3 is wrong");
}

TEST_F(Bench, TimeAndMemoryAreLimited) {
  const std::string slow = campaign({{"matrices", {long_case()}},
                                     {"runs", {{{"command", "info"}}}},
                                     {"limits", {{"seconds", 0.3}}}});
  expect_one_line_error(run(bench(slow)), 5, "took more than 0.3 s");
  EXPECT_EQ(lines()[0]["status"], "timeout");
  const std::string large = campaign({{"matrices", {long_case()}},
                                      {"runs", {{{"command", "info"}}}},
                                      {"limits", {{"memory", "40M"}}}});
  expect_one_line_error(run(bench(large, {"--retry-failed"})), 5, "took more than 41.94 MB");
  EXPECT_EQ(lines()[1]["status"], "memory");
}

TEST_F(Bench, ListsWithoutRunning) {
  const std::string path = small_campaign(12);
  ASSERT_EQ(run(bench(path, {"--case-range", "2:3"})).status, 0);
  const Outcome outcome = run(bench(path, {"--dry-run"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("      1  open    info stencil5:4x4\n"
                             "      2  done    info stencil5:5x5\n"),
            std::string::npos)
      << outcome.out;
  EXPECT_TRUE(outcome.out.ends_with("small: 12 cases, 10 of them open\n")) << outcome.out;
  EXPECT_EQ(run(bench(path, {"--dry-run", "--only", "*1?x*"})).out,
            "      7  open    info stencil5:10x10\n      8  open    info stencil5:11x11\n"
            "      9  open    info stencil5:12x12\n     10  open    info stencil5:13x13\n"
            "     11  open    info stencil5:14x14\n     12  open    info stencil5:15x15\n"
            "small: 6 cases, 6 of them open\n");
  EXPECT_EQ(lines().size(), 2u);
}

TEST_F(Bench, WrongUsageAndWrongCampaignsAreNamed) {
  expect_failure({"bench"}, 2, "no campaign given");
  expect_failure({"bench", file("none.json")}, 3, "none.json: cannot be read: No such file");
  const std::string path = small_campaign(2);
  expect_failure(bench(path, {"--only", "nothing"}), 2, "none of the 2 cases is selected");
  expect_failure(bench(path, {"--case-range", "3:2"}), 2, "ends before it begins");
  expect_failure(bench(path, {"--case-range", "0:2"}), 2, "no number of a case");
  expect_failure(bench(path, {"--submit"}), 2, "--slurm");
  expect_failure(bench(campaign({{"matrices", {"a"}}, {"runs", {{{"command", "rm"}}}}})), 3,
                 "'runs[0].command' is 'rm'");
  write_file(file("bad.json"), "{\n]");
  expect_failure(bench(file("bad.json")), 3, "bad.json:2: is not JSON");
  EXPECT_FALSE(fs::exists(file("r.jsonl")));
}

TEST_F(Bench, TwoCampaignsDoNotWriteOneFile) {
  const std::string path =
      campaign({{"matrices", {"stencil5:4x4", long_case()}}, {"runs", {{{"command", "info"}}}}});
  const pid_t process = start(bench(path));
  wait_for_lines(1);
  const Outcome second =
      run_script("\"$strata\" bench c.json --results r.jsonl 2>&1; echo \"status $?\"");
  EXPECT_NE(second.out.find("r.jsonl: another campaign is writing it"), std::string::npos)
      << second.out;
  EXPECT_NE(second.out.find("status 5"), std::string::npos) << second.out;
  kill(process, SIGTERM);
  wait_for(process);
}

TEST_F(Bench, AFullDiskKeepsWhatIsThere) {
  const std::string path = small_campaign(40);
  const Outcome outcome =
      run_script("ulimit -f 30 && exec \"$strata\" bench c.json --results r.jsonl");
  expect_one_line_error(outcome, 5, "r.jsonl: cannot be written: File too large");
  const std::size_t kept = lines().size();
  EXPECT_GT(kept, 0u);
  EXPECT_LT(kept, 40u);
  EXPECT_TRUE(contents_of(file("r.jsonl")).ends_with("}\n"));
  EXPECT_EQ(run(bench(path)).status, 0);
  EXPECT_EQ(lines().size(), 40u);
  EXPECT_EQ(finished().size(), 40u);
}

TEST_F(Bench, ADiskOfSixteenKilobytesKeepsWhatFits) {
  small_campaign(40);
  const Outcome outcome = run_script(
      "unshare -rm true 2>/dev/null || { echo skipped; exit 0; };"
      "unshare -rm bash -c 'mkdir t && mount -t tmpfs -o size=16k none t || { echo skipped; exit "
      "0; };"
      "\"$0\" bench c.json --results t/r.jsonl --quiet; echo \"status $?\"; cp t/r.jsonl .' "
      "\"$strata\"");
  if (outcome.out.find("skipped") != std::string::npos) GTEST_SKIP() << "no small disk can be made";
  EXPECT_NE(outcome.err.find("No space left on device"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.out.find("status 5"), std::string::npos) << outcome.out;
  EXPECT_TRUE(contents_of(file("r.jsonl")).ends_with("}\n"));
  EXPECT_GT(lines().size(), 0u);
}

TEST_F(Bench, ATornLineIsSaidAndItsCaseRunAgain) {
  const std::string path = small_campaign(3);
  ASSERT_EQ(run(bench(path)).status, 0);
  const std::string whole = contents_of(file("r.jsonl"));
  write_file(file("r.jsonl"), whole.substr(0, whole.size() - 100));
  const Outcome outcome = run(bench(path));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("r.jsonl:3: left out: is not JSON"), std::string::npos) << outcome.out;
  EXPECT_EQ(finished().size(), 3u);
}

TEST_F(Bench, NamesMayBeAnything) {
  const std::string name = "it's <script>\n\"🙂\".mtx";
  ASSERT_EQ(run({"gen", "stencil5:4x4", "-o", file(name)}).status, 0);
  const Outcome outcome = run(bench(
      campaign({{"matrices", {name, {{"glob", "*.mtx"}}}}, {"runs", {{{"command", "info"}}}}})));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  ASSERT_EQ(lines().size(), 1u);
  EXPECT_EQ(lines()[0]["matrix"], name);
}

TEST_F(Bench, NeedsNoStandardInput) {
  small_campaign(1);
  run_script("\"$strata\" bench c.json --results r.jsonl <&- >&- 2>&-");
  EXPECT_EQ(lines().size(), 1u);
  EXPECT_EQ(lines()[0]["status"], "done");
}

TEST_F(Bench, RelativePathsStartFromTheCampaign) {
  fs::create_directories(file("sub/m"));
  ASSERT_EQ(run({"gen", "stencil5:4x4", "-o", file("sub/m/a.mtx")}).status, 0);
  const std::string path = campaign({{"matrices", {{{"glob", "m/*"}}}},
                                     {"results", "out.jsonl"},
                                     {"runs", {{{"command", "info"}}}}},
                                    "sub/c.json");
  const Outcome outcome = run({"bench", path});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(contents_of(file("sub/out.jsonl")).find("\"case\":\"info m/a.mtx\""),
            std::string::npos);
}

TEST_F(Bench, OtherHostsAreReachedBySsh) {
  script_file("ssh", kSsh);
  const std::string path = small_campaign(
      3, {{"hosts",
           {{{"name", "here"}},
            {{"name", "sent"}, {"ssh", "me@sent"}, {"send", "binary"}, {"folder", "~/work"}},
            {{"name", "dead"}, {"ssh", "dead"}, {"send", "binary"}},
            {{"name", "dying"}, {"ssh", "dying"}, {"strata", "STRATA"}}}}});
  const Outcome outcome = run_script(
      "sed -i \"s|STRATA|$strata|\" c.json; export STRATA_SSH=$PWD/ssh;"
      "\"$strata\" bench c.json --results r.jsonl");
  // The dying one answers who it is and two cases; then it loses one, and does not come back.
  expect_one_line_error(outcome, 5, "4 of 12 cases are open");
  EXPECT_NE(outcome.out.find("dead was lost: ssh: connect to host dead"), std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("dying was lost: ssh: connect to host dying"), std::string::npos)
      << outcome.out;
  for (const json& line : lines()) {
    if (line["status"] != "lost") continue;
    EXPECT_EQ(line["reason"], "dying was lost: client_loop: send disconnect: Broken pipe");
  }
  const std::map<std::string, int> expected{{"here stencil5:4x4", 1},  {"here stencil5:5x5", 1},
                                            {"here stencil5:6x6", 1},  {"sent stencil5:4x4", 1},
                                            {"sent stencil5:5x5", 1},  {"sent stencil5:6x6", 1},
                                            {"dying stencil5:4x4", 1}, {"dying stencil5:5x5", 1}};
  EXPECT_EQ(finished(), expected);
  EXPECT_EQ(lines().size(), 9u);  // with the lost one
  // The dead stay dead, the dying is well again.
  script_file("ssh", std::string(kSsh).replace(std::string(kSsh).find("dying)"), 6, "well)"));
  const Outcome again =
      run_script("STRATA_SSH=$PWD/ssh \"$strata\" bench c.json --results r.jsonl --only dying");
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(finished().size(), 9u);
}

TEST_F(Bench, TheSourceTravelsAndIsBuiltThere) {
  script_file("ssh", kSsh);
  small_campaign(1, {{"hosts",
                      {{{"name", "builder"},
                        {"ssh", "builder"},
                        {"send", "source"},
                        {"source", "tree"},
                        {"build",
                         "mkdir -p build/cli && cp source/program build/cli/strata && "
                         "echo $STRATA_COMMIT > commit"}}}}});
  const Outcome outcome = run_script(
      "git --version > /dev/null || { echo skipped; exit 0; };"
      "mkdir tree && printf '#!/bin/bash\\nexec \"%s\" \"$@\"\\n' \"$strata\" > tree/program &&"
      "chmod +x tree/program && git -C tree init -q && git -C tree add . &&"
      "git -C tree -c user.name=n -c user.email=e commit -q -m m &&"
      "STRATA_SSH=$PWD/ssh \"$strata\" bench c.json --results r.jsonl &&"
      "[ -s home-builder/.cache/strata/campaign/commit ]");
  if (outcome.out == "skipped\n") GTEST_SKIP() << "no git";
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(finished(), (std::map<std::string, int>{{"builder stencil5:4x4", 1}}));
}

TEST_F(Bench, ALimitHoldsOnOtherHostsAndTheyEndWhatNobodyWaitsFor) {
  script_file("ssh", kSsh);
  const auto hosts = json::array({{{"name", "far"}, {"ssh", "far"}, {"send", "binary"}}});
  campaign({{"matrices", {long_case()}},
            {"runs", {{{"command", "info"}}}},
            {"limits", {{"seconds", 0.3}}},
            {"hosts", hosts}});
  const Outcome limited =
      run_script("STRATA_SSH=$PWD/ssh \"$strata\" bench c.json --results r.jsonl");
  expect_one_line_error(limited, 5, "took more than 0.3 s");
  EXPECT_EQ(lines()[0]["status"], "timeout");
  EXPECT_EQ(lines()[0]["host"], "far");

  setenv("STRATA_SSH", file("ssh").c_str(), 1);
  setenv("TMPDIR", file("").c_str(), 1);  // what a killed campaign leaves goes with the test
  const pid_t process = start(bench(
      campaign({{"matrices", {long_case()}}, {"runs", {{{"command", "info"}}}}, {"hosts", hosts}}),
      {"--retry-failed"}));
  unsetenv("STRATA_SSH");
  unsetenv("TMPDIR");
  const std::string running = running_long_case();
  while (processes_with(running) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  kill(process, SIGKILL);
  wait_for(process);
  while (processes_with(running) > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST_F(Bench, RunsAsASlurmArray) {
  script_file("sbatch", kSbatch);
  small_campaign(5, {{"slurm", {{"cases_per_task", 2}, {"host", "cluster"}}}});
  Outcome outcome =
      run_script("PATH=$PWD:$PATH \"$strata\" bench c.json --results r.jsonl --slurm . --submit");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("3 tasks of at most 2 cases each\nSubmitted batch job 7"),
            std::string::npos)
      << outcome.out;
  outcome = run_script("\"$strata\" bench c.json --results r.jsonl --merge");
  EXPECT_EQ(outcome.out, "r.jsonl: 5 results added from 3 files of tasks\n");
  EXPECT_EQ(run_script("\"$strata\" bench c.json --results r.jsonl --merge").out,
            "r.jsonl: 0 results added from 3 files of tasks\n");
  EXPECT_EQ(finished().size(), 5u);
  EXPECT_EQ(lines()[4]["host"], "cluster");
  EXPECT_EQ(run_script("\"$strata\" bench c.json --results r.jsonl --slurm .").out,
            "small: no case is open\n");
}

TEST_F(Bench, WithoutSbatchTheScriptIsWritten) {
  small_campaign(1);
  const Outcome outcome = run_script("PATH=/no/where \"$strata\" bench c.json --slurm . --submit");
  expect_one_line_error(outcome, 4, "sbatch: cannot be started");
  EXPECT_TRUE(fs::exists(file("small.sbatch")));
  expect_failure(bench(small_campaign(1, {{"hosts", {{{"name", "a"}}}}}), {"--slurm", file("")}), 2,
                 "'hosts'");
}

TEST_F(Bench, CampaignsThatComeWithStrataHaveCases) {
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(STRATA_CAMPAIGNS)) {
    const fs::path& path = entry.path();
    if (path.extension() != ".json" || path.stem() == "suitesparse") continue;
    SCOPED_TRACE(path);
    const Outcome outcome = run(bench(path.string(), {"--dry-run"}));
    // Files of the collection have to be downloaded.
    if (path.stem() == "thesis-suitesparse" && outcome.status == 3) continue;
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(json::parse(contents_of(path))["name"], path.stem().string());
    ++count;
  }
  EXPECT_GE(count, 14);
}

TEST_F(Bench, MeasuresProducts) {
  const Outcome outcome = run(bench(
      campaign({{"matrices", {"stencil5:40x40"}},
                {"runs",
                 {{{"command", "spmv"},
                   {"options",
                    {{"--format", {"csr", "sell"}}, {"--min-time", 0.001}, {"--backend", "cpu"}}}},
                  {{"command", "mpk"}, {"options", {{"-p", {2, 3}}, {"--min-time", 0.001}}}}}}})));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  ASSERT_EQ(lines().size(), 4u);
  EXPECT_EQ(lines()[1]["settings"]["format"], "sell");
  EXPECT_EQ(lines()[3]["settings"]["p"], 3);
  EXPECT_EQ(lines()[3]["document"]["results"][0]["power"], 3);
}

}  // namespace
}  // namespace strata::test
