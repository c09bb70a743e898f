// Results files: what is in them stays in them.

#include "strata/campaign/results_file.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "strata/base/error.hpp"
#include "strata/campaign/history.hpp"
#include "strata/campaign/read_results.hpp"
#include "strata/io/internal/gzip.hpp"
#include "tests/campaign/support.hpp"

namespace strata::campaign {
namespace {

Record record_of(const std::string& key, Status status = Status::done) {
  return {.campaign = "c",
          .case_key = key,
          .host = "h",
          .matrix = "stencil5:9x9",
          .words = {"spmv", "stencil5:9x9"},
          .settings = {{"p", "4"}, {"format", "\"csr\""}},
          .started = "2024-01-02T03:04:05Z",
          .outcome = {.status = status,
                      .exit = status == Status::done ? 0 : 5,
                      .reason = status == Status::done ? "" : "why",
                      .seconds = 1.5,
                      .peak_bytes = 4096,
                      .document = R"({"strata":"0","results":[{"x":1.25}]})"},
          .build = {.version = "0.1", .commit = "abc", .build = R"({"type":"Release"})"}};
}

class Results : public test::FolderTest {
 protected:
  std::filesystem::path path() const { return folder() / "r.jsonl"; }
  std::vector<std::string> keys() const {
    std::vector<std::string> keys;
    for (const ResultLine& line : read_results(path()).lines) keys.push_back(line.record.case_key);
    return keys;
  }
};

using Keys = std::vector<std::string>;

TEST_F(Results, ComeBackAsTheyWere) {
  Record record = record_of("spmv 'a\n\"<script>🙂'", Status::crashed);
  record.outcome.signal = 6;
  const std::string line = line_of(record);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(line)["document"]["results"][0]["x"], 1.25);
  const Record read = parse_record(line);
  EXPECT_EQ(read.case_key, record.case_key);
  EXPECT_EQ(read.settings, record.settings);
  EXPECT_EQ(read.words, record.words);
  EXPECT_EQ(read.build, record.build);
  EXPECT_EQ(read.outcome.status, Status::crashed);
  EXPECT_EQ(read.outcome.signal, 6);
  EXPECT_EQ(read.outcome.reason, "why");
  EXPECT_EQ(read.outcome.document, record.outcome.document);
  EXPECT_EQ(line_of(read), line);
  EXPECT_EQ(parse_outcome(text_of(record.outcome)).document, record.outcome.document);
  EXPECT_EQ(parse_identity(text_of(record.build)), record.build);
}

TEST_F(Results, WithoutADocumentHaveNull) {
  Record record = record_of("a", Status::failed);
  record.outcome.document.clear();
  EXPECT_TRUE(nlohmann::json::parse(line_of(record))["document"].is_null());
  EXPECT_EQ(parse_record(line_of(record)).outcome.document, "");
}

TEST_F(Results, MessagesThatAreNotUtf8DoNotSpoilTheLine) {
  Record record = record_of("a", Status::failed);
  record.outcome.reason = "bad \xff byte";
  EXPECT_EQ(parse_record(line_of(record)).outcome.reason, "bad \xef\xbf\xbd byte");
}

TEST_F(Results, AreAppendedAndCanBeReadInBetween) {
  ResultsFile file(path());
  EXPECT_EQ(keys(), Keys{});
  file.append(line_of(record_of("a")));
  EXPECT_EQ(keys(), Keys{"a"});
  file.append(line_of(record_of("b")));
  EXPECT_EQ(keys(), (Keys{"a", "b"}));
  EXPECT_TRUE(read_results(path()).problems.empty());
}

TEST_F(Results, AreReadFromAGzipFileAndNotAppendedToOne) {
  const std::string text = line_of(record_of("one")) + "\n" + line_of(record_of("two")) + "\n";
  const Array<char> packed = strata::detail::gzip_member(text);
  write("r.jsonl", {packed.data(), static_cast<std::size_t>(packed.size())});
  EXPECT_EQ(keys(), (Keys{"one", "two"}));
  EXPECT_THROW(ResultsFile{path()}, Error);
  EXPECT_EQ(keys(), (Keys{"one", "two"}));
}

TEST_F(Results, ATornLastLineIsLeftOutAndTheNextOneIsWhole) {
  {
    ResultsFile(path()).append(line_of(record_of("a")));
  }
  const std::string line = line_of(record_of("b"));
  for (const std::size_t torn : {std::size_t{1}, std::size_t{20}, line.size() - 1}) {
    SCOPED_TRACE(torn);
    const std::string whole = contents_of(path());
    write("r.jsonl", whole + line.substr(0, torn));
    ASSERT_EQ(read_results(path()).problems.size(), 1u);
    EXPECT_NE(read_results(path()).problems[0].find("r.jsonl:2: "), std::string::npos);
    EXPECT_EQ(keys(), Keys{"a"});
    ResultsFile(path()).append(line_of(record_of("c")));
    EXPECT_EQ(keys(), (Keys{"a", "c"}));
    EXPECT_TRUE(contents_of(path()).starts_with(whole + line.substr(0, torn) + "\n"));
    write("r.jsonl", whole);
  }
}

TEST_F(Results, ALineThatLacksItsBreakAloneIsNotLost) {
  write("r.jsonl", line_of(record_of("a")));
  const ResultsFile file(path());
  EXPECT_EQ(keys(), Keys{"a"});
}

TEST_F(Results, EveryPieceOfALineIsMended) {
  const std::string line = line_of(record_of("a"));
  for (std::size_t size = 1; size < line.size(); size += size < 20 ? 1 : 40) {
    write("r.jsonl", line.substr(0, size));
    ResultsFile(path()).append(line_of(record_of("b")));
    ASSERT_EQ(keys(), Keys{"b"}) << size;
    const ResultsFile again(path());
  }
}

TEST_F(Results, LinesOfSomethingElseAreLeftOutAndNamed) {
  write("r.jsonl", line_of(record_of("a")) + "\n{\"strata\":\"0.1.0\"}\n\nnoise\xff\n[1]\n" +
                       R"({"strata_results":2,"case":"x","status":"done"})" + "\n" +
                       R"({"strata_results":1,"case":"x","status":"enchanted"})" + "\n" +
                       R"({"strata_results":1,"status":"done"})" + "\n" + line_of(record_of("b")) +
                       "\n");
  EXPECT_EQ(keys(), (Keys{"a", "b"}));
  const auto problems = read_results(path()).problems;
  ASSERT_EQ(problems.size(), 6u);
  EXPECT_NE(problems[0].find("r.jsonl:2: left out: is no result"), std::string::npos);
  EXPECT_NE(problems[1].find(":4: left out: is not JSON"), std::string::npos);
  EXPECT_NE(problems[3].find("newer Strata"), std::string::npos);
  EXPECT_NE(problems[4].find("enchanted"), std::string::npos);
  EXPECT_NE(problems[5].find("names no case"), std::string::npos);
}

TEST_F(Results, KeysThatOlderVersionsLackedMayBeMissing) {
  const Record record = parse_record(R"({"strata_results":1,"case":"a","status":"done","new":7})");
  EXPECT_EQ(record.case_key, "a");
  EXPECT_EQ(record.outcome.seconds, 0);
}

TEST_F(Results, TwoCampaignsDoNotWriteOneFile) {
  const ResultsFile file(path());
  const std::string message = test::message_of<FileError>([&] { ResultsFile second(path()); });
  EXPECT_NE(message.find("r.jsonl: another campaign is writing it"), std::string::npos) << message;
  if (std::filesystem::exists("/proc/locks")) {
    EXPECT_NE(message.find("process " + std::to_string(getpid())), std::string::npos) << message;
  }
}

TEST_F(Results, TheLockEndsWithItsHolder) {
  {
    const ResultsFile file(path());
  }
  const ResultsFile again(path());
}

TEST_F(Results, OtherFilesAreNotTouched) {
  for (const std::string contents : {"precious", "{\"strata\": \"0.1.0\"}\n", "\n"}) {
    write("r.jsonl", contents);
    const std::string message = test::message_of<FileError>([&] { ResultsFile file(path()); });
    EXPECT_NE(message.find("is no results file"), std::string::npos);
    EXPECT_EQ(contents_of(path()), contents);
  }
  EXPECT_THROW(ResultsFile("/dev/full"), FileError);
  EXPECT_THROW(ResultsFile{folder()}, FileError);
  EXPECT_THROW(ResultsFile{folder() / "no" / "r.jsonl"}, FileError);
}

// In a process of its own, whose files may not grow beyond a limit: writes stop in the middle of a
// line, as on a full disk.
TEST_F(Results, AFullDiskLosesNothingThatWasThere) {
  const std::string line = line_of(record_of("a"));
  const pid_t process = fork();
  if (process == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlim_t size = 3 * (line.size() + 1) + 10;
    const rlimit limit{size, size};
    setrlimit(RLIMIT_FSIZE, &limit);
    ResultsFile file(path());
    int written = 0;
    std::string message;
    try {
      for (; written < 10; ++written) file.append(line);
    } catch (const FileError& full) {
      message = full.what();
    }
    // What is smaller still goes in.
    _exit(written == 3 && message.find("r.jsonl: cannot be written: ") != std::string::npos ? 0
                                                                                            : 1);
  }
  int state = 0;
  waitpid(process, &state, 0);
  EXPECT_EQ(state, 0);
  EXPECT_EQ(contents_of(path()), line + "\n" + line + "\n" + line + "\n");
  ResultsFile(path()).append(line_of(record_of("b")));
  EXPECT_EQ(keys(), (Keys{"a", "a", "a", "b"}));
}

TEST_F(Results, OfTwoResultsTheLaterCountsAndLostOnesDoNot) {
  History history;
  history.add(record_of("a", Status::failed));
  history.add(record_of("a"));
  history.add(record_of("a", Status::lost));
  history.add(record_of("b", Status::lost));
  ASSERT_NE(history.find("a", "h"), nullptr);
  EXPECT_EQ(history.find("a", "h")->status, Status::done);
  EXPECT_EQ(history.find("a", "other"), nullptr);
  EXPECT_EQ(history.find("b", "h"), nullptr);
}

}  // namespace
}  // namespace strata::campaign
