// Running the cases of a campaign: whatever becomes of one, the others are done, and nothing is
// done twice.

#include "strata/campaign/runner.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "strata/campaign/case_run.hpp"
#include "strata/campaign/read_results.hpp"
#include "tests/campaign/support.hpp"

namespace strata::campaign {
namespace {

// Does what the name of the matrix says, as the command would.
constexpr const char* kProgram = R"(#!/bin/bash
echo "$*" >> calls
case $2 in
  good) echo '{"strata": "0",'; echo ' "results": [1]}' ;;
  wrong) echo '{"results": []}'; echo 'strata: spmv: row 3 is wrong' >&2; exit 1 ;;
  crash) kill -SEGV $$ ;;
  hang) sleep 600 & wait ;;
  silent) ;;
  babble) echo 'no JSON' ;;
esac
)";

// Hosts that fail as the test wants.
class PretendedHost : public CaseHost {
 public:
  PretendedHost(std::string name, std::function<std::optional<Outcome>(const Case&)> work)
      : name_(std::move(name)), work_(std::move(work)) {}
  const std::string& name() const override { return name_; }
  BuildIdentity prepare(const ProcessWatch&) override {
    ++prepared;
    if (prepared > answers) throw HostLost("no route");
    return {.version = "1", .commit = name_, .build = "{}"};
  }
  std::optional<Outcome> run(const Case& each, const Limits&, const ProcessWatch&) override {
    return work_(each);
  }

  int prepared = 0;
  int answers = 1000;  // how often it can be reached

 private:
  std::string name_;
  std::function<std::optional<Outcome>(const Case&)> work_;
};

std::optional<Outcome> done(const Case&) {
  return Outcome{.document = "{}"};
}

class Runner : public test::FolderTest {
 protected:
  Runner() {
    program_ = write("program", kProgram);
    chmod(program_.c_str(), 0755);
    campaign_.name = "c";
    campaign_.folder = folder();
    campaign_.limits = {.seconds = 600};
  }

  void add_cases(const std::vector<std::string>& matrices) {
    for (const std::string& matrix : matrices) {
      campaign_.cases.push_back(
          {.words = {"spmv", matrix}, .matrix = matrix, .settings = {}, .environment = {}});
    }
  }
  void add_program() {
    hosts_.push_back(make_local_host("here", folder(), {.path = program_, .identity = {"1", "x"}}));
  }
  PretendedHost& add_host(const std::string& name,
                          std::function<std::optional<Outcome>(const Case&)> work) {
    auto host = std::make_unique<PretendedHost>(name, std::move(work));
    PretendedHost& reference = *host;
    hosts_.push_back(std::move(host));
    return reference;
  }

  std::vector<SelectedCase> selected(const Selection& selection = {}) const {
    History history;
    if (std::filesystem::exists(path())) {
      for (const ResultLine& line : read_results(path()).lines) history.add(line.record);
    }
    std::vector<std::string> names;
    for (const auto& host : hosts_) names.push_back(host->name());
    return select_cases(campaign_, names, history, selection);
  }
  RunSummary run(const Selection& selection = {}, const RunEvents& events = {}) {
    ResultsFile file(path());
    return run_cases(campaign_, selected(selection), hosts_, file, events);
  }

  std::filesystem::path path() const { return folder() / "r.jsonl"; }
  std::vector<Record> records() const {
    std::vector<Record> records;
    for (const ResultLine& line : read_results(path()).lines) records.push_back(line.record);
    return records;
  }
  // "HOST MATRIX STATUS", sorted.
  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const Record& record : records()) {
      lines.push_back(record.host + " " + record.matrix + " " +
                      std::string(name_of(record.outcome.status)));
    }
    std::ranges::sort(lines);
    return lines;
  }

  std::filesystem::path program_;
  Campaign campaign_;
  std::vector<std::unique_ptr<CaseHost>> hosts_;
};

using Lines = std::vector<std::string>;

TEST_F(Runner, SaysWhatBecameOfEveryCase) {
  add_cases({"good", "wrong", "crash", "silent", "babble"});
  add_program();
  const RunSummary summary = run();
  EXPECT_EQ(summary.finished, 5u);
  EXPECT_EQ(summary.open, 0u);
  const auto all = records();
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[0].outcome.status, Status::done);
  EXPECT_EQ(all[0].outcome.document, R"({"strata":"0","results":[1]})");
  EXPECT_EQ(all[0].case_key, "spmv good");
  EXPECT_EQ(all[0].build.commit, "x");
  EXPECT_EQ(all[1].outcome.status, Status::failed);
  EXPECT_EQ(all[1].outcome.exit, 1);
  EXPECT_EQ(all[1].outcome.reason, "spmv: row 3 is wrong");
  EXPECT_EQ(all[1].outcome.document, R"({"results":[]})");
  EXPECT_EQ(all[2].outcome.status, Status::crashed);
  EXPECT_EQ(all[2].outcome.reason, "died of SIGSEGV");
  EXPECT_EQ(all[3].outcome.reason, "wrote no JSON");
  EXPECT_EQ(all[4].outcome.status, Status::failed);
  EXPECT_EQ(contents_of(folder() / "calls").substr(0, 32), "spmv good --json - --quiet\nspmv ");
}

// It runs the program and then speaks, as launchers of ranks do about one that failed.
TEST_F(Runner, CasesOfSeveralRanksAreStartedByTheirLauncher) {
  const auto launcher = write("launcher",
                              "#!/bin/bash\necho \"$1 $2\" >> launches\nshift 2\n\"$@\"\n"
                              "status=$?\n[ $status = 0 ] || echo ---- >&2\n"
                              "exit $status\n");
  chmod(launcher.c_str(), 0755);
  add_cases({"good", "wrong"});
  for (Case& each : campaign_.cases) each.launcher = {launcher.string(), "-n", "3"};
  add_program();
  EXPECT_EQ(run().finished, 2u);
  EXPECT_EQ(contents_of(folder() / "launches"), "-n 3\n-n 3\n");
  EXPECT_TRUE(contents_of(folder() / "calls").starts_with("spmv good --json - --quiet\n"));
  const auto all = records();
  EXPECT_EQ(all[0].outcome.status, Status::done);
  EXPECT_EQ(all[0].case_key, shell_text({launcher.string()}) + " -n 3 strata spmv good");
  EXPECT_EQ(all[1].outcome.exit, 1);
  EXPECT_EQ(all[1].outcome.reason, "spmv: row 3 is wrong");
}

TEST_F(Runner, ACaseThatHangsIsEndedAndNamed) {
  add_cases({"hang"});
  add_program();
  campaign_.limits.seconds = 0.25;
  EXPECT_EQ(run().finished, 1u);
  EXPECT_EQ(records()[0].outcome.status, Status::timeout);
  EXPECT_EQ(records()[0].outcome.reason, "took more than 0.25 s");
  EXPECT_EQ(records()[0].case_key, "spmv hang");
}

TEST_F(Runner, DoesNothingTwice) {
  add_cases({"good", "wrong"});
  add_program();
  run();
  EXPECT_EQ(run().finished, 0u);
  EXPECT_EQ(records().size(), 2u);
  add_cases({"silent"});
  EXPECT_EQ(run().finished, 1u);
  EXPECT_EQ(run({.retry_failed = true}).finished, 2u);
  EXPECT_EQ(lines(), (Lines{"here good done", "here silent failed", "here silent failed",
                            "here wrong failed", "here wrong failed"}));
}

TEST_F(Runner, TakesTheCasesThatAreAskedFor) {
  add_cases({"good", "wrong", "silent", "babble"});
  add_host("h", done);
  const auto numbers = [&](const Selection& selection) {
    std::vector<std::size_t> found;
    for (const SelectedCase& each : selected(selection)) found.push_back(each.index + 1);
    return found;
  };
  using Numbers = std::vector<std::size_t>;
  EXPECT_EQ(numbers({.only = "wrong"}), Numbers{2});
  EXPECT_EQ(numbers({.only = "*b*b*"}), Numbers{4});
  EXPECT_EQ(numbers({.only = "spmv [gw]*"}), (Numbers{1, 2}));
  EXPECT_EQ(numbers({.only = "nothing"}), Numbers{});
  EXPECT_EQ(numbers({.first = 2, .last = 3}), (Numbers{2, 3}));
  EXPECT_EQ(numbers({.only = "h"}), (Numbers{1, 2, 3, 4}));
}

TEST_F(Runner, AHostThatDoesNotAnswerLeavesItsCasesOpen) {
  add_cases({"a", "b"});
  add_host("dead", done).answers = 0;
  add_host("alive", done);
  const RunSummary summary = run();
  EXPECT_EQ(summary.finished, 2u);
  EXPECT_EQ(summary.open, 2u);
  ASSERT_EQ(summary.lost_hosts.size(), 1u);
  EXPECT_EQ(summary.lost_hosts[0].name, "dead");
  EXPECT_EQ(summary.lost_hosts[0].reason, "no route");
  EXPECT_EQ(lines(), (Lines{"alive a done", "alive b done"}));
}

TEST_F(Runner, AHostThatDiesMidwayKeepsWhatItDidAndItsOtherCasesStayOpen) {
  add_cases({"a", "b", "c"});
  PretendedHost& host = add_host("h", [](const Case& each) {
    if (each.matrix == "b") throw HostLost("broken pipe");
    return done(each);
  });
  host.answers = 1;
  RunSummary summary = run();
  EXPECT_EQ(summary.finished, 1u);
  EXPECT_EQ(summary.open, 2u);
  EXPECT_EQ(lines(), (Lines{"h a done", "h b lost"}));
  EXPECT_EQ(records()[1].outcome.reason, "h was lost: broken pipe");
  // It is back, and so are its cases.
  hosts_.clear();
  add_host("h", done);
  summary = run();
  EXPECT_EQ(summary.finished, 2u);
  EXPECT_EQ(lines(), (Lines{"h a done", "h b done", "h b lost", "h c done"}));
}

TEST_F(Runner, AConnectionMayBreakOnce) {
  add_cases({"a", "b", "c"});
  bool broken = false;
  PretendedHost& host = add_host("h", [&](const Case& each) {
    if (each.matrix == "b" && !std::exchange(broken, true)) throw HostLost("broken pipe");
    return done(each);
  });
  const RunSummary summary = run();
  EXPECT_EQ(host.prepared, 2);
  EXPECT_TRUE(summary.lost_hosts.empty());
  EXPECT_EQ(summary.open, 0u);
  EXPECT_EQ(lines(), (Lines{"h a done", "h b done", "h b lost", "h c done"}));
}

TEST_F(Runner, AHostThatLosesCaseAfterCaseIsGivenUp) {
  add_cases({"a", "b", "c", "d"});
  add_host("h", [](const Case&) -> std::optional<Outcome> { throw HostLost("out of order"); });
  const RunSummary summary = run();
  EXPECT_EQ(summary.open, 4u);
  EXPECT_EQ(records().size(), 2u);
  ASSERT_EQ(summary.lost_hosts.size(), 1u);
  EXPECT_EQ(summary.lost_hosts[0].reason, "out of order");
}

TEST_F(Runner, HostsThatShareDoEveryCaseOnceAndWhatOneLosesTheOtherDoes) {
  add_cases({"a", "b", "c", "d", "e", "f"});
  campaign_.share = true;
  PretendedHost& dying =
      add_host("dying", [](const Case&) -> std::optional<Outcome> { throw HostLost("power cut"); });
  dying.answers = 1;
  add_host("h", done);
  const RunSummary summary = run();
  EXPECT_EQ(summary.finished, 6u);
  EXPECT_EQ(summary.open, 0u);
  int finished = 0;
  for (const Record& record : records()) finished += is_finished(record.outcome.status) ? 1 : 0;
  EXPECT_EQ(finished, 6);
  EXPECT_EQ(run().finished, 0u);
}

TEST_F(Runner, EveryHostDoesAllCasesUnlessTheyShare) {
  add_cases({"a", "b"});
  add_host("g", done);
  add_host("h", done);
  EXPECT_EQ(run().finished, 4u);
  EXPECT_EQ(lines(), (Lines{"g a done", "g b done", "h a done", "h b done"}));
  EXPECT_EQ(records()[0].build.commit, records()[0].host);
}

TEST_F(Runner, StoppingKeepsWhatIsFinishedAndNothingOfTheRest) {
  add_cases({"good", "hang", "good2"});
  add_program();
  std::atomic<bool> stop = false;
  const RunSummary summary =
      run({}, {.stop = [&] { return stop.load(); },
               .progress = [&](const RunProgress& progress) { stop = progress.finished == 1; }});
  EXPECT_TRUE(summary.stopped);
  EXPECT_EQ(summary.open, 2u);
  EXPECT_EQ(lines(), Lines{"here good done"});
}

TEST_F(Runner, ProgressHasTheTimeThatIsLeft) {
  add_cases({"a", "b", "c", "d"});
  add_host("h", [](const Case&) { return Outcome{.seconds = 10, .document = "{}"}; });
  std::vector<RunProgress> reports;
  run({}, {.progress = [&](const RunProgress& progress) { reports.push_back(progress); }});
  ASSERT_EQ(reports.size(), 5u);  // getting ready, and the beginning of every case
  EXPECT_FALSE(reports[1].seconds_left);
  EXPECT_EQ(reports[2].seconds_left, 30);
  EXPECT_EQ(reports[2].running, "spmv b");
  EXPECT_EQ(reports[4].seconds_left, 10);
  EXPECT_EQ(reports[4].finished, 3u);
  EXPECT_EQ(reports[4].total, 4u);
}

TEST_F(Runner, AProgramThatCannotBeStartedEndsTheCampaign) {
  add_cases({"a", "b"});
  hosts_.push_back(make_local_host("here", folder(), {.path = "/no/strata", .identity = {}}));
  EXPECT_THROW(run(), FileError);
  EXPECT_TRUE(records().empty());
}

TEST(CaseRequests, TravelAsText) {
  const CaseRequest request{.words = {"spmv", "a b"},
                            .environment = {{"X", "y"}},
                            .limits = {.seconds = 2.5, .memory_bytes = 1 << 20},
                            .launcher = {"mpirun", "-n", "2"}};
  const CaseRequest read = parse_case_request(text_of(request));
  EXPECT_EQ(read.words, request.words);
  EXPECT_EQ(read.environment, request.environment);
  EXPECT_EQ(read.limits, request.limits);
  EXPECT_EQ(read.launcher, request.launcher);
  EXPECT_THROW(parse_case_request("{}"), InvalidArgument);
  EXPECT_THROW(parse_case_request("nonsense"), InvalidArgument);
}

TEST(LastLine, IsTheLastThatIsNotEmpty) {
  EXPECT_EQ(last_line("a\nb\n\n  \n"), "b");
  EXPECT_EQ(last_line("\n"), "");
  EXPECT_EQ(last_line("progress\rmessage"), "message");
  EXPECT_EQ(last_line("x"), "x");
}

}  // namespace
}  // namespace strata::campaign
