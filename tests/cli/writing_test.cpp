// strata gen and strata convert.

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/cli/command.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

class Writing : public CommandTest {
 protected:
  // What two files of the same matrix have in common.
  json profile_of(const std::string& matrix) {
    json profile = json_of({"info", matrix})["matrix"];
    for (const char* key : {"name", "symmetry", "field", "stored_entries"}) profile.erase(key);
    return profile;
  }
};

TEST_F(Writing, AGeneratedFileIsTheGeneratedMatrix) {
  for (const std::string name : {"a.mtx", "a.mtx.gz"}) {
    SCOPED_TRACE(name);
    const Outcome outcome = run({"gen", "hpcg:6x5x4", "-o", file(name)});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(outcome.out.starts_with(file(name) + ": 120 x 120, ")) << outcome.out;
    EXPECT_EQ(profile_of(file(name)), profile_of("hpcg:6x5x4"));
  }
  EXPECT_TRUE(contents_of(file("a.mtx")).starts_with("%%MatrixMarket matrix coordinate real gen"));
  EXPECT_TRUE(contents_of(file("a.mtx.gz")).starts_with("\x1f\x8b"));
  EXPECT_EQ(files(), 2);
}

TEST_F(Writing, QuietSaysNothing) {
  const Outcome outcome = run({"gen", "stencil5:4x4", "-o", file("a.mtx"), "--quiet"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out + outcome.err, "");
}

TEST_F(Writing, JsonSaysWhatWasWritten) {
  const json document = json_of({"gen", "stencil5:4x4", "-o", file("a.mtx")});
  EXPECT_EQ(document["matrix"]["nnz"], 64);
  EXPECT_EQ(document["results"][0]["output"], file("a.mtx"));
  EXPECT_EQ(document["results"][0]["file_bytes"], contents_of(file("a.mtx")).size());
}

TEST_F(Writing, HalvesAreWrittenWhenAskedForAndKept) {
  ASSERT_EQ(run({"gen", "stencil5:9x7", "-o", file("all.mtx")}).status, 0);
  ASSERT_EQ(run({"convert", file("all.mtx"), file("half.mtx"), "--symmetry", "auto"}).status, 0);
  ASSERT_EQ(run({"convert", file("half.mtx"), file("kept.mtx.gz")}).status, 0);
  ASSERT_EQ(run({"convert", file("half.mtx"), file("whole.mtx"), "--symmetry", "general"}).status,
            0);
  const auto stored = [&](const std::string& name) {
    return json_of({"info", file(name)})["matrix"]["stored_entries"].get<int>();
  };
  const int all = stored("all.mtx");
  EXPECT_EQ(stored("half.mtx"), (all + 63) / 2);
  EXPECT_EQ(stored("kept.mtx.gz"), (all + 63) / 2);
  EXPECT_EQ(stored("whole.mtx"), all);
  for (const char* name : {"half.mtx", "kept.mtx.gz", "whole.mtx"}) {
    EXPECT_EQ(profile_of(file(name)), profile_of(file("all.mtx"))) << name;
  }
}

TEST_F(Writing, ASymmetryThatTheMatrixLacksIsAnError) {
  write_file(file("a.mtx"), "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 1\n");
  const Outcome outcome = run({"convert", file("a.mtx"), file("b.mtx"), "--symmetry", "symmetric"});
  expect_one_line_error(outcome, 2, "convert: ");
  EXPECT_EQ(files(), 1);
}

TEST_F(Writing, PatternsStayPatterns) {
  write_file(file("a.mtx"), "%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 2\n2 3\n");
  ASSERT_EQ(run({"convert", file("a.mtx"), file("b.mtx")}).status, 0);
  EXPECT_EQ(json_of({"info", file("b.mtx")})["matrix"]["field"], "pattern");
  ASSERT_EQ(run({"convert", "stencil5:4x4", file("c.mtx"), "--pattern"}).status, 0);
  EXPECT_EQ(json_of({"info", file("c.mtx")})["matrix"]["field"], "pattern");
}

TEST_F(Writing, AFileCanBeConvertedOntoItself) {
  ASSERT_EQ(run({"gen", "stencil9:20x20", "-o", file("a.mtx")}).status, 0);
  const json before = profile_of(file("a.mtx"));
  ASSERT_EQ(run({"convert", file("a.mtx"), file("a.mtx"), "--symmetry", "symmetric"}).status, 0);
  EXPECT_EQ(profile_of(file("a.mtx")), before);
  EXPECT_EQ(json_of({"info", file("a.mtx")})["matrix"]["symmetry"], "symmetric");
  EXPECT_EQ(files(), 1);
}

TEST_F(Writing, ComplexFilesStayComplex) {
  write_file(file("a.mtx"),
             "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 1 0\n2 1 1 2\n");
  ASSERT_EQ(run({"convert", file("a.mtx"), file("b.mtx")}).status, 0);
  const json profile = json_of({"info", file("b.mtx")})["matrix"];
  EXPECT_EQ(profile["field"], "complex");
  EXPECT_EQ(profile["symmetry"], "hermitian");
  EXPECT_EQ(profile["nnz"], 3);
}

TEST_F(Writing, StandardOutputTakesTheMatrixAndNothingElse) {
  ASSERT_EQ(run({"gen", "stencil5:9x7", "-o", file("a.mtx")}).status, 0);
  const std::string expected = contents_of(file("a.mtx"));
  for (const std::string name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    SCOPED_TRACE(name);
    const Outcome outcome = run({"gen", "stencil5:9x7", "-o", name});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.out, expected);
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(run_script("\"$strata\" gen stencil5:9x7 -o " + name + " | cat").out, expected);
    EXPECT_EQ(
        run_script("echo before > b; \"$strata\" gen stencil5:9x7 -o " + name + " >> b; cat b").out,
        "before\n" + expected);
  }
  expect_failure({"gen", "stencil5:9x7", "-o", "/dev/stdout", "--json", "-"}, 2, "both");
}

TEST_F(Writing, PipesAreWrittenInto) {
  const Outcome outcome = run_script(
      "\"$strata\" gen stencil5:9x7 -o a.mtx --quiet &&"
      "\"$strata\" gen stencil5:9x7 -o >(cat > b.mtx; touch done) --quiet &&"
      "while ! [ -e done ]; do sleep 0.01; done; cmp a.mtx b.mtx &&"
      "mkfifo pipe && { cat pipe > c.mtx & } &&"
      "\"$strata\" convert a.mtx pipe --quiet && wait && [ -p pipe ] &&"
      "\"$strata\" info c.mtx --json - > /dev/null");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(files(), 5);
}

TEST_F(Writing, DevicesStayDevices) {
  EXPECT_EQ(run({"gen", "stencil5:4x4", "-o", "/dev/null"}).status, 0);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  expect_failure({"gen", "stencil5:4x4", "-o", "/dev/full"}, 5,
                 "/dev/full: cannot be written: No space left on device");
}

TEST_F(Writing, AFullDiskIsStatus5AndKeepsTheOldFile) {
  write_file(file("a.mtx"), "precious");
  const Outcome outcome =
      run_script("ulimit -f 1 && exec \"$strata\" gen stencil27:20x20x20 -o a.mtx");
  expect_one_line_error(outcome, 5, "a.mtx: cannot be written: File too large");
  EXPECT_EQ(contents_of(file("a.mtx")), "precious");
  EXPECT_EQ(files(), 1);
}

TEST_F(Writing, AnInterruptionDoesNotWaitForAReader) {
  ASSERT_EQ(mkfifo(file("pipe").c_str(), 0600), 0);
  // A reader that never reads: the command stops where the pipe is full.
  const int reader = open(file("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  const pid_t process = start({"gen", "stencil27:20x20x20", "-o", file("pipe")});
  for (int waiting = 0; waiting == 0;) {
    ASSERT_EQ(ioctl(reader, FIONREAD, &waiting), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill(process, SIGINT);
  expect_one_line_error(wait_for(process), 5, "interrupted: ");
  close(reader);
}

}  // namespace
}  // namespace strata::test
