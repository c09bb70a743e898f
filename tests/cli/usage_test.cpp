// Help, version, wrong usage, unreadable input: the exit statuses and the one line of an error.

#include "strata/base/internal/sanitizers.hpp"
#include "tests/cli/command.hpp"

#include "strata/base/version.hpp"

namespace strata::test {
namespace {

class Usage : public CommandTest {};

TEST_F(Usage, VersionIsPrinted) {
  const Outcome outcome = run({"--version"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, std::string("strata ") + kVersion + "\n");
}

TEST_F(Usage, EveryHelpHasAnExample) {
  for (const Words& words : {Words{"--help"},
                             {"info", "--help"},
                             {"gen", "--help"},
                             {"convert", "-h"},
                             {"machine", "-h"},
                             {"mpk", "-h"},
                             {"explain", "-h"},
                             {"model", "-h"},
                             {"spmv", "-h"},
                             {"eig", "-h"},
                             {"expm", "-h"},
                             {"bench", "-h"}}) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.out.find("Example:\n  strata "), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.err, "");
  }
  EXPECT_NE(run({"gen", "--help"}).out.find("stencil27:"), std::string::npos);
}

TEST_F(Usage, WrongUsageIsStatus2AndPointsToTheHelp) {
  for (const Words& words : {Words{},
                             {"frobnicate"},
                             {"--frobnicate"},
                             {"info"},
                             {"info", "stencil5:4x4", "extra"},
                             {"info", "stencil5:4x4", "--threads", "0"},
                             {"info", "stencil5:4x4", "--threads", "many"},
                             {"info", "stencil5:4x4", "--precision", "half"},
                             {"info", "stencil5:4x4", "--index", "16"},
                             {"info", "stencil5:4x4", "--json"},
                             {"gen", "stencil5:4x4"},
                             {"gen", "-o", "x.mtx"},
                             {"convert", "stencil5:4x4"},
                             {"machine", "stencil5:4x4"},
                             {"machine", "--seconds", "0"},
                             {"machine", "--backend", "abacus"},
                             {"machine", "--device", "-1"},
                             {"convert", "stencil5:4x4", "x.mtx", "--symmetry", "diagonal"}}) {
    expect_failure(words, 2, "--help");
  }
}

TEST_F(Usage, BadSpecificationsAndNamesAreStatus2) {
  expect_failure({"info", "stencil5:4"}, 2, "stencil5");
  expect_failure({"info", "stencil5:4x4,colour=red"}, 2, "colour");
  expect_failure({"gen", "matrix.mtx", "-o", file("x.mtx")}, 2, "matrix.mtx");
  expect_failure({"info", "stencil5:4x4", "--picture", file("x.jpg")}, 2, "x.jpg");
  EXPECT_EQ(files(), 0);
}

TEST_F(Usage, TooManyThreadsAreStatus2AndTheLargestNumberIsNamed) {
  for (const std::string threads : {"1025", "30000", "2147483647"}) {
    expect_failure({"info", "stencil5:4x4", "--threads", threads}, 2, "1024");
  }
  expect_failure({"info", "stencil5:4x4", "--threads", "99999999999"}, 2, "--help");
  EXPECT_EQ(run({"info", "stencil5:4x4", "--threads", "1024"}).status, 0);
}

TEST_F(Usage, SizesWithTwoSignsAreStatus3) {
  write_file(file("a.mtx"), "%%MatrixMarket matrix coordinate real general\n+-1 5 1\n3 1 1.0\n");
  write_file(file("b.mtx"), "%%MatrixMarket matrix coordinate real general\n+-7 3 0\n");
  for (const std::string index : {"32", "64"}) {
    expect_failure({"info", file("a.mtx"), "--index", index}, 3, file("a.mtx") + ":2: the number");
    expect_failure({"info", file("b.mtx"), "--index", index}, 3, file("b.mtx") + ":2: the number");
  }
}

TEST_F(Usage, InputThatCannotBeReadIsStatus3AndNamesFileAndLine) {
  expect_failure({"info", file("missing.mtx")}, 3, file("missing.mtx"));
  expect_failure({"info", file("")}, 3, file(""));
  expect_failure({"info", "foo:12"}, 3, "no generator is called foo");
  write_file(file("junk.mtx"), "hello\n");
  expect_failure({"info", file("junk.mtx")}, 3, file("junk.mtx") + ":1: ");
  write_file(file("bad.mtx"), "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1.0\n");
  expect_failure({"info", file("bad.mtx")}, 3, file("bad.mtx") + ":3: ");
  expect_failure({"convert", file("bad.mtx"), file("out.mtx")}, 3, file("bad.mtx") + ":3: ");
  EXPECT_EQ(files(), 2);
}

TEST_F(Usage, ComplexFilesAreNotReadAsRealOnes) {
  write_file(file("c.mtx"), "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n");
  expect_failure({"info", file("c.mtx"), "--precision", "double"}, 3, file("c.mtx"));
  EXPECT_EQ(json_of({"info", file("c.mtx")})["matrix"]["field"], "complex");
}

TEST_F(Usage, IndicesThatDoNotFitAreStatus3) {
  write_file(file("wide.mtx"),
             "%%MatrixMarket matrix coordinate real general\n1 3000000000 1\n1 1 1\n");
  expect_failure({"info", file("wide.mtx")}, 3, file("wide.mtx"));
}

TEST_F(Usage, OutputThatCannotBeWrittenIsStatus5) {
  expect_failure({"gen", "stencil5:4x4", "-o", file("no/folder.mtx")}, 5, file("no/folder.mtx"));
  expect_failure({"info", "stencil5:4x4", "--json", file("no/folder.json")}, 5, "no/folder.json");
  expect_failure({"info", "stencil5:4x4", "--picture", file("no/p.png")}, 5, "no/p.png");
  expect_one_line_error(run({"info", "stencil5:4x4"}, "/dev/full"), 5, "standard output");
  expect_one_line_error(run({"info", "stencil5:4x4", "--json", "-"}, "/dev/full"), 5, "standard");
}

#ifndef STRATA_ADDRESS_SANITIZER  // whose allocator gives up instead of throwing
TEST_F(Usage, RunningOutOfMemoryIsStatus5) {
  expect_failure({"info", "band:4000000000000,width=3", "--index", "64"}, 5, "out of memory");
}
#endif

}  // namespace
}  // namespace strata::test
