// Matrices from pipes: every command opens its file once.

#include "tests/cli/benchmark.hpp"
#include "tests/cli/command.hpp"

namespace strata::test {
namespace {

class PipedInput : public BenchmarkTest {};

TEST_F(PipedInput, IsReadAsTheFileWouldBe) {
  ASSERT_EQ(run({"gen", "stencil5:40x40", "-o", file("a.mtx")}).status, 0);
  ASSERT_EQ(run({"gen", "stencil5:40x40", "-o", file("a.mtx.gz")}).status, 0);
  const std::string profile = json_of({"info", file("a.mtx")})["results"].dump();
  for (const std::string command : {
           "\"$strata\" info <(zcat a.mtx.gz) --json -",
           "\"$strata\" info <(cat a.mtx.gz) --json -",
           "cat a.mtx | \"$strata\" info /dev/stdin --json -",
           "\"$strata\" info /dev/stdin --json - < a.mtx",
           "mkfifo pipe && { cat a.mtx > pipe & } && \"$strata\" info pipe --json -",
       }) {
    SCOPED_TRACE(command);
    const Outcome outcome = run_script(command);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(nlohmann::json::parse(outcome.out, nullptr, false)["results"].dump(), profile);
  }
}

TEST_F(PipedInput, IsTakenByEveryCommand) {
  ASSERT_EQ(run({"gen", "stencil5:40x40", "-o", file("a.mtx.gz")}).status, 0);
  for (const std::string command :
       {"convert <(zcat a.mtx.gz) b.mtx", "convert <(zcat a.mtx.gz) /dev/stdout",
        "model <(zcat a.mtx.gz) -p 2", "explain <(zcat a.mtx.gz) -p 2",
        "spmv <(zcat a.mtx.gz) --min-time 0.001", "mpk <(zcat a.mtx.gz) -p 2 --min-time 0.001",
        "info extrude:<(zcat a.mtx.gz),layers=2", "info blocks:<(zcat a.mtx.gz),dof=2",
        "gen extrude:/dev/stdin,layers=2,shuffle=1 -o c.mtx < <(cat a.mtx.gz)"}) {
    SCOPED_TRACE(command);
    const Outcome outcome = run_script("\"$strata\" " + command);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
  }
}

}  // namespace
}  // namespace strata::test
