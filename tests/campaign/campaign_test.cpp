// Campaign files: which cases they make, in which order, and how wrong ones are refused.

#include "strata/campaign/campaign.hpp"

#include "tests/campaign/support.hpp"

namespace strata::campaign {
namespace {

const std::vector<KnownCommand> kCommands{{"spmv"}, {"mpk"}, {"machine", false}};

class CampaignFile : public test::FolderTest {
 protected:
  Campaign read(const std::string& text) { return read_campaign(write("c.json", text), kCommands); }
  std::vector<std::string> keys_of(const std::string& text) {
    std::vector<std::string> keys;
    for (const Case& each : read(text).cases) keys.push_back(each.key());
    return keys;
  }
  // The message names the file and has `part`.
  void expect_refused(const std::string& text, const std::string& part) {
    SCOPED_TRACE(text);
    const std::string message = test::message_of<InvalidCampaign>([&] { read(text); });
    EXPECT_TRUE(message.starts_with((folder() / "c.json").string() + ":")) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks: " << part;
  }
};

using Keys = std::vector<std::string>;

TEST_F(CampaignFile, MakesEveryCombinationInTheOrderOfTheFile) {
  EXPECT_EQ(keys_of(R"({"matrices": ["b", "a"], "runs": [
              {"command": "mpk", "options": {"-p": [2, 4], "--order": ["plan", "caller"]}},
              {"command": "spmv", "flags": ["--no-validate"]}]})"),
            (Keys{"mpk b -p 2 --order plan", "mpk b -p 2 --order caller", "mpk b -p 4 --order plan",
                  "mpk b -p 4 --order caller", "mpk a -p 2 --order plan",
                  "mpk a -p 2 --order caller", "mpk a -p 4 --order plan",
                  "mpk a -p 4 --order caller", "spmv b --no-validate", "spmv a --no-validate"}));
}

TEST_F(CampaignFile, ParametersGoIntoMatricesAndOptions) {
  const Campaign campaign = read(R"({"matrices": ["stencil5:{n}x{n}", "band:9"],
      "parameters": {"n": [8, 16], "t": ["1k", 0.5]},
      "runs": [{"command": "spmv", "options": {"--min-time": "{t}", "--format": "csr"}}]})");
  Keys keys;
  for (const Case& each : campaign.cases) keys.push_back(each.key());
  EXPECT_EQ(keys, (Keys{"spmv stencil5:8x8 --min-time 1k --format csr",
                        "spmv stencil5:8x8 --min-time 0.5 --format csr",
                        "spmv stencil5:16x16 --min-time 1k --format csr",
                        "spmv stencil5:16x16 --min-time 0.5 --format csr",
                        "spmv band:9 --min-time 1k --format csr",
                        "spmv band:9 --min-time 0.5 --format csr"}));
  EXPECT_EQ(campaign.cases[1].settings,
            (std::vector<Setting>{
                {"n", "8"}, {"t", "0.5"}, {"min-time", "\"0.5\""}, {"format", "\"csr\""}}));
  EXPECT_EQ(campaign.cases[1].matrix, "stencil5:8x8");
}

TEST_F(CampaignFile, OptionsWithoutValueComeAndGo) {
  EXPECT_EQ(keys_of(R"({"matrices": ["a"], "runs": [
              {"command": "spmv", "options": {"--no-validate": [false, true]}}]})"),
            (Keys{"spmv a", "spmv a --no-validate"}));
}

TEST_F(CampaignFile, EveryCaseComesOnce) {
  EXPECT_EQ(keys_of(R"({"matrices": ["a", "a"], "runs": [{"command": "spmv"},
                                                         {"command": "spmv"}]})"),
            Keys{"spmv a"});
}

TEST_F(CampaignFile, CommandsWithoutMatrixRunOnce) {
  EXPECT_EQ(keys_of(R"({"runs": [{"command": "machine", "flags": ["--refresh"]}]})"),
            Keys{"machine --refresh"});
}

TEST_F(CampaignFile, RunsMayHaveMatricesOfTheirOwn) {
  EXPECT_EQ(keys_of(R"({"matrices": ["a"], "runs": [{"command": "spmv", "matrices": ["b"]},
                                                    {"command": "mpk"}]})"),
            (Keys{"spmv b", "mpk a"}));
}

TEST_F(CampaignFile, TheEnvironmentIsPartOfTheKey) {
  EXPECT_EQ(keys_of(R"({"matrices": ["a"], "runs": [{"command": "spmv"}],
                        "environment": {"OMP_NUM_THREADS": 2, "A": "b c"}})"),
            Keys{"OMP_NUM_THREADS=2 A='b c' spmv a"});
}

TEST_F(CampaignFile, RanksAreStartedByTheLauncher) {
  const Campaign campaign = read(R"({"matrices": ["a"], "runs": [
      {"command": "spmv", "ranks": [1, 4], "options": {"--layout": ["rows", "grid"]}}]})");
  Keys keys;
  for (const Case& each : campaign.cases) keys.push_back(each.key());
  EXPECT_EQ(keys, (Keys{"spmv a --layout rows", "spmv a --layout grid",
                        "mpirun -n 4 strata spmv a --layout rows",
                        "mpirun -n 4 strata spmv a --layout grid"}));
  EXPECT_TRUE(campaign.cases[0].launcher.empty()) << "one rank is the command itself";
  EXPECT_EQ(campaign.cases[2].launcher, (Keys{"mpirun", "-n", "4"}));
  EXPECT_EQ(campaign.cases[2].words, (Keys{"spmv", "a", "--layout", "rows"}));
  EXPECT_EQ(campaign.cases[2].settings,
            (std::vector<Setting>{{"ranks", "4"}, {"layout", "\"rows\""}}));
}

TEST_F(CampaignFile, LaunchersAreWordsWithTheNumberOfRanks) {
  EXPECT_EQ(keys_of(R"({"matrices": ["a"], "launcher": "srun -n {ranks} --cpu-bind=cores",
                        "runs": [{"command": "spmv", "ranks": 2}]})"),
            Keys{"srun -n 2 --cpu-bind=cores strata spmv a"});
  EXPECT_EQ(keys_of(R"({"matrices": ["a"], "launcher": ["my run", "-np={ranks}"],
                        "runs": [{"command": "spmv", "ranks": 2}]})"),
            Keys{"'my run' -np=2 strata spmv a"});
}

TEST_F(CampaignFile, GlobsGiveFilesByNameAndTakeThemLiterally) {
  write("m/b.mtx", "");
  write("m/a{1}.mtx", "");
  write("m/c.txt", "");
  EXPECT_EQ(keys_of(R"({"matrices": [{"glob": "m/*.mtx"}], "runs": [{"command": "spmv"}]})"),
            (Keys{"spmv 'm/a{1}.mtx'", "spmv m/b.mtx"}));
  EXPECT_EQ(keys_of(R"({"matrices": [{"glob": "none/*", "optional": true}, "a"],
                        "runs": [{"command": "spmv"}]})"),
            Keys{"spmv a"});
}

TEST_F(CampaignFile, SuitesGiveTheMatricesOfAClass) {
  write("s/suite.txt", "# words\ncpu stencil5:9x9 7\ngpu b\ncpu  extrude:@/a.mtx,layers=2\n");
  EXPECT_EQ(keys_of(R"({"matrices": [{"suite": "s/suite.txt", "class": "cpu"}],
                        "runs": [{"command": "spmv"}]})"),
            (Keys{"spmv stencil5:9x9", "spmv extrude:s/matrices/a.mtx,layers=2"}));
}

TEST_F(CampaignFile, KeysAreWhatAShellWouldRun) {
  EXPECT_EQ(keys_of(R"({"matrices": ["it's <script>\n🙂"], "runs": [{"command": "spmv"}]})"),
            Keys{"spmv 'it'\\''s <script>\n🙂'"});
}

TEST_F(CampaignFile, HasLimitsHostsAndSlurm) {
  const Campaign campaign = read(R"({"name": "n", "description": "d", "matrices": ["a"],
      "runs": [{"command": "spmv"}], "limits": {"seconds": 2.5, "memory": "3M"},
      "hosts": [{"name": "here"}, {"name": "h", "ssh": "u@h", "send": "binary", "folder": "f"},
                {"name": "s", "ssh": "s", "send": "source", "source": "..", "build": "make"},
                {"name": "t", "ssh": "t", "strata": "/bin/strata"}],
      "share": true, "results": "out/r.jsonl",
      "slurm": {"cases_per_task": 4, "at_once": 2, "host": "cluster", "options": ["--time=1"],
                "setup": ["module load x"]}})");
  EXPECT_EQ(campaign.name, "n");
  EXPECT_EQ(campaign.limits, (Limits{.seconds = 2.5, .memory_bytes = 3 << 20}));
  ASSERT_EQ(campaign.hosts.size(), 4u);
  EXPECT_EQ(campaign.hosts[0].ssh, "");
  EXPECT_EQ(campaign.hosts[1].sending, Sending::binary);
  EXPECT_EQ(campaign.hosts[2].sending, Sending::source);
  EXPECT_EQ(campaign.hosts[3].strata, "/bin/strata");
  EXPECT_TRUE(campaign.share);
  EXPECT_EQ(campaign.results, campaign.folder / "out/r.jsonl");
  EXPECT_EQ(campaign.slurm.cases_per_task, 4);
  EXPECT_EQ(campaign.slurm.options, std::vector<std::string>{"--time=1"});
  EXPECT_EQ(read(R"({"matrices": ["a"], "runs": [{"command": "spmv"}]})").name, "c");
}

TEST_F(CampaignFile, TextThatIsNotJsonIsRefusedWithItsLine) {
  expect_refused("{\"runs\": [\n{\"command\":}]}", "c.json:2: is not JSON");
  expect_refused("", ":1: is not JSON");
  expect_refused("[]", "is not an object");
}

TEST_F(CampaignFile, UnknownKeysAreRefused) {
  expect_refused(R"({"matrixes": ["a"], "runs": []})", "'matrixes'");
  expect_refused(R"({"matrices": ["a"], "runs": [{"command": "spmv", "option": {}}]})",
                 "'runs[0]' contains 'option'");
  expect_refused(R"({"matrices": [{"glob": "x", "class": "y"}], "runs": [{"command": "spmv"}]})",
                 "'matrices[0]' contains 'class'");
  expect_refused(R"({"matrices": ["a"], "runs": [{"command": "spmv"}], "limits": {"time": 1}})",
                 "'limits' contains 'time'");
}

TEST_F(CampaignFile, EmptyCampaignsAreRefused) {
  expect_refused("{}", "lacks 'runs'");
  expect_refused(R"({"matrices": ["a"], "runs": []})", "'runs' is empty");
  expect_refused(R"({"matrices": [], "runs": [{"command": "spmv"}]})", "'matrices' is empty");
  expect_refused(R"({"runs": [{"command": "spmv"}]})", "lacks 'matrices'");
  expect_refused(R"({"matrices": [{"glob": "x*"}], "runs": [{"command": "spmv"}]})",
                 "'matrices[0].glob' is 'x*', which matches no file");
  expect_refused(R"({"matrices": [{"glob": "x*", "optional": true}],
                     "runs": [{"command": "spmv"}]})",
                 "no cases");
  write("suite.txt", "cpu a\n");
  expect_refused(R"({"matrices": [{"suite": "suite.txt", "class": "gpu"}],
                     "runs": [{"command": "spmv"}]})",
                 "'matrices[0].class' is 'gpu', which is empty");
}

TEST_F(CampaignFile, WrongValuesAreRefusedWithTheirKey) {
  const auto with = [](const std::string& more) {
    return R"({"matrices": ["a"], "runs": [{"command": "spmv"}], )" + more + "}";
  };
  const auto with_run = [](const std::string& run) {
    return R"({"matrices": ["a"], "runs": [{"command": )" + run + "}]}";
  };
  expect_refused(with_run("\"rm\""), "'runs[0].command' is 'rm', which is none of: spmv mpk");
  expect_refused(with_run("7"), "'runs[0].command' is not a text");
  expect_refused(with_run(R"("machine", "matrices": ["a"])"), "'machine' takes none");
  expect_refused(with_run(R"("spmv", "options": {"-p": []})"), "'runs[0].options.-p' is empty");
  expect_refused(with_run(R"("spmv", "options": {"-p": null})"), "neither a text nor a number");
  expect_refused(with_run(R"("spmv", "options": {"p": 1})"), "begin with -");
  expect_refused(with_run(R"("spmv", "options": {"--json": "x"})"), "does by itself");
  expect_refused(with_run(R"("spmv", "flags": ["--quiet"])"), "does by itself");
  expect_refused(with_run(R"("spmv", "flags": ["a\u0000b"])"), "character 0");
  expect_refused(with_run(R"("spmv", "options": {"-p": "{n}"})"), "{n}");
  expect_refused(with_run(R"("spmv", "options": {"-p": "{n"})"), "{name}");
  expect_refused(R"({"matrices": ["--json"], "runs": [{"command": "spmv"}]})", "'--json'");
  expect_refused(with(R"("parameters": {"n": [1]})"), "'n', which is used nowhere");
  expect_refused(with(R"("parameters": {"n m": [1]})"), "no name");
  expect_refused(with(R"("limits": {"seconds": 0})"), "'limits.seconds' is 0");
  expect_refused(with(R"("limits": {"memory": "3X"})"), "'limits.memory' is '3X'");
  expect_refused(with(R"("limits": {"memory": -1})"), "'limits.memory'");
  expect_refused(with(R"("environment": {"A-B": 1})"), "'environment.A-B'");
  expect_refused(with(R"("hosts": [{"name": "a"}, {"name": "a"}])"), "another host");
  expect_refused(with(R"("hosts": [{"name": "a", "send": "binary"}])"), "'ssh'");
  expect_refused(with(R"("hosts": [{"name": "a", "ssh": "b", "send": "pigeon"}])"), "pigeon");
  expect_refused(with(R"("hosts": [{"name": "a", "ssh": "-oProxyCommand=x"}])"), "hosts[0].ssh");
  expect_refused(with(R"("name": "a/b")"), "'name'");
  expect_refused(with(R"("slurm": {"cases_per_task": 0})"), "'slurm.cases_per_task'");
  expect_refused(with(R"("launcher": "mpirun -n 4")"),
                 "'launcher' does not say where {ranks} goes");
  expect_refused(with(R"("launcher": "mpirun -n {ranks} {x}")"), "{ranks} alone");
  expect_refused(with(R"("launcher": " ")"), "'launcher'");
  expect_refused(with_run(R"("spmv", "ranks": 0)"), "'runs[0].ranks'");
  expect_refused(with_run(R"("spmv", "ranks": [2, "x"])"), "'runs[0].ranks");
}

TEST_F(CampaignFile, FilesThatCannotBeReadAreNamed) {
  const auto read_from = [&](const std::filesystem::path& path) {
    return test::message_of<FileError>([&] { read_campaign(path, kCommands); });
  };
  EXPECT_NE(read_from(folder() / "none.json").find("none.json: cannot be read: No such file"),
            std::string::npos);
  EXPECT_NE(read_from(folder()).find("Is a directory"), std::string::npos);
  const auto message = test::message_of<FileError>([&] {
    read(R"({"matrices": [{"suite": "no.txt", "class": "c"}], "runs": [{"command": "spmv"}]})");
  });
  EXPECT_NE(message.find("no.txt: No such file"), std::string::npos) << message;
}

TEST_F(CampaignFile, TooManyCasesAreRefused) {
  std::string values = "0";
  for (int i = 1; i < 1001; ++i) values += "," + std::to_string(i);
  expect_refused(R"({"matrices": ["{a}:{b}"], "parameters": {"a": [)" + values + R"(], "b": [)" +
                     values + R"(]}, "runs": [{"command": "spmv"}]})",
                 "more than 1000000 cases");
}

}  // namespace
}  // namespace strata::campaign
