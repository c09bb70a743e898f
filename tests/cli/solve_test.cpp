// strata solve: methods, right-hand sides and what goes wrong.

#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <set>

#include "tests/cli/benchmark.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

class Solve : public BenchmarkTest {};

TEST_F(Solve, SeveralMethodsReachTheSameTrueResidual) {
  const json document = json_of({"solve", "stencil5:30x20", "--method",
                                 "cg,ca-cg,minres,bicgstab,gmres,ca-gmres,chebyshev", "-s", "4",
                                 "--tol", "1e-9", "--max-iterations", "5000"});
  std::set<std::string> methods;
  for (const json& result : document["results"]) {
    SCOPED_TRACE(result["method"].get<std::string>());
    methods.insert(result["method"]);
    EXPECT_EQ(result["kernel"], "solve");
    EXPECT_EQ(result["backend"], "cpu");
    EXPECT_EQ(result["status"], "converged");
    EXPECT_EQ(result["message"], "");
    EXPECT_LE(result["residual"], 1.0001e-9);
    EXPECT_FALSE(result["variant"].get<std::string>().empty());
    const json& history = result["history"];
    ASSERT_FALSE(history.empty());
    EXPECT_EQ(history.back()["iteration"], result["iterations"]);
    EXPECT_LE(history.back()["residual"], 1e-9);
    EXPECT_LE(history.back()["products"], result["products"]);
    const json& seconds = result["seconds"];
    const double parts =
        seconds["products"].get<double>() + seconds["preconditioner"].get<double>() +
        seconds["orthogonalisation"].get<double>() + seconds["reductions"].get<double>() +
        seconds["updates"].get<double>() + seconds["rest"].get<double>();
    EXPECT_NEAR(parts, seconds["total"].get<double>(), 1e-9);
    EXPECT_GT(seconds["products"], 0);
  }
  EXPECT_EQ(methods.size(), 7U);
}

TEST_F(Solve, PreconditionersAndTheirParametersAreRecorded) {
  const json document = json_of(
      {"solve", "stencil5:30x20", "--precond", "chebyshev", "--degree", "5", "--threads", "1"});
  const json& result = document["results"][0];
  EXPECT_EQ(result["preconditioner"], "chebyshev");
  EXPECT_EQ(result["parameters"], json({{"degree", 5}}));
  EXPECT_EQ(result["threads"], 1);
  EXPECT_GT(result["seconds"]["preconditioner"], 0);
  const json blocks =
      json_of({"solve", "stencil5:30x20", "--precond", "block-jacobi", "--block-rows", "6"});
  EXPECT_EQ(blocks["results"][0]["parameters"], json({{"block_rows", 6}}));
}

TEST_F(Solve, OtherLibrariesSolveTheSameSystem) {
  const json document = json_of({"solve", "stencil5:30x20", "--peers", "--tol", "1e-9"});
  ASSERT_GE(document["results"].size(), 2U);
  bool eigen = false;
  for (const json& result : document["results"]) {
    EXPECT_EQ(result["status"], "converged");
    EXPECT_LE(result["residual"], 2e-9);
    EXPECT_NEAR(result["iterations"].get<double>(),
                document["results"][0]["iterations"].get<double>(), 3);
    eigen = eigen || result["variant"].get<std::string>().starts_with("Eigen ");
  }
  EXPECT_TRUE(eigen);
}

TEST_F(Solve, DrawsItsConvergence) {
  const Outcome outcome = run({"solve", "stencil5:30x20", "--method", "cg,ca-cg"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* part : {"converged", "1e-8 |", "products", "a  cg (cpu)", "b  ca-cg (cpu)"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
}

// Written by one command and read by another: what A makes of the solution is the right-hand side.
TEST_F(Solve, RightHandSidesAndSolutionsAreFiles) {
  ASSERT_EQ(run({"solve", "stencil5:12x12", "--rhs", "random", "--tol", "1e-13", "--solution",
                 file("x.mtx"), "--quiet"})
                .status,
            0);
  // Solving for x as right-hand side, then its solution: A y = x.
  const json document = json_of(
      {"solve", "stencil5:12x12", "--rhs", file("x.mtx"), "--tol", "1e-12", "-o", file("y.mtx")});
  EXPECT_EQ(document["results"][0]["status"], "converged");
  expect_failure({"solve", "stencil5:12x13", "--rhs", file("x.mtx")}, 3, "144 rows and 1 columns");
  expect_failure({"solve", "stencil5:12x12", "--rhs", file("none.mtx")}, 3, "none.mtx");
}

TEST_F(Solve, WhatDoesNotConvergeIsStatusOneWithItsReason) {
  const Outcome few =
      run({"solve", "stencil5:40x40", "--max-iterations", "3", "--json", file("few.json")});
  EXPECT_EQ(few.status, 1);
  EXPECT_NE(few.err.find("one method did not converge"), std::string::npos) << few.err;
  EXPECT_NE(few.out.find("3 iterations were not enough"), std::string::npos);
  const json document = json::parse(contents_of(file("few.json")));
  EXPECT_EQ(document["results"][0]["status"], "most-iterations");
  EXPECT_EQ(document["results"][0]["iterations"], 3);

  const Outcome indefinite = run({"solve", "graphene:10x10", "--method", "cg,ca-cg"});
  EXPECT_EQ(indefinite.status, 1);
  EXPECT_NE(indefinite.out.find("not positive definite: (p, Ap) is"), std::string::npos)
      << indefinite.out;
  EXPECT_NE(indefinite.out.find("in iteration"), std::string::npos);
  EXPECT_EQ(run({"solve", "stencil5:20x20", "--tol", "1e-30", "--max-iterations", "10000"}).status,
            1);
}

TEST_F(Solve, WhatIsNoSystemIsRefused) {
  write_file(file("wide.mtx"), "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
  expect_failure({"solve", file("wide.mtx")}, 2, "not square");
  write_file(file("zero.mtx"),
             "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n2 1 1\n");
  expect_failure({"solve", file("zero.mtx"), "--precond", "jacobi"}, 2, "row 1 has no diagonal");
  expect_failure({"solve", file("zero.mtx"), "--precond", "block-jacobi", "--block-rows", "1"}, 2,
                 "singular");
  expect_failure({"solve", "stencil5:4x4", "--method", "sor"}, 2, "'sor' is no method");
  expect_failure({"solve", "stencil5:4x4", "--precond", "ilu"}, 2, "'ilu' is no preconditioner");
  expect_failure({"solve", "stencil5:4x4", "--method", "ca-cg", "--precond", "jacobi"}, 2,
                 "without a preconditioner");
  expect_failure({"solve", "stencil5:4x4", "-s", "0"}, 2, "-s");
  expect_failure({"solve", "graphene:6x6", "--method", "chebyshev"}, 5, "not positive definite");
}

TEST_F(Solve, ZeroAndWhatIsNotFinite) {
  write_file(
      file("zero.mtx"), "%%MatrixMarket matrix array real general\n16 1\n" + [] {
        std::string zeros;
        for (int i = 0; i < 16; ++i) zeros += "0\n";
        return zeros;
      }());
  const json zero = json_of({"solve", "stencil5:4x4", "--rhs", file("zero.mtx"), "--method",
                             "cg,ca-cg,gmres,ca-gmres,minres,bicgstab"});
  for (const json& result : zero["results"]) {
    EXPECT_EQ(result["status"], "converged");
    EXPECT_EQ(result["iterations"], 0);
  }
  write_file(file("nan.mtx"),
             "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 nan\n2 2 1\n");
  const Outcome nan = run({"solve", file("nan.mtx"), "--method", "cg,gmres,ca-gmres"});
  EXPECT_TRUE(nan.status == 1 || nan.status == 3) << nan.status << nan.err;
}

// A system that needs minutes: Ctrl-C ends it with what it has.
TEST_F(Solve, InterruptionLeavesTheBestSolution) {
  const pid_t process =
      start({"solve", "stencil5:1500x1500", "--tol", "1e-15", "--max-iterations", "10000000",
             "--json", file("result.json"), "-o", file("x.mtx"), "--threads", "1"});
  sleep(6);
  kill(process, SIGINT);
  const Outcome outcome = wait_for(process);
  EXPECT_EQ(outcome.status, 5);
  const json document = json::parse(contents_of(file("result.json")));
  if (document["results"].empty()) return;  // it was still planning
  EXPECT_EQ(document["results"][0]["status"], "stopped");
  EXPECT_GT(document["results"][0]["iterations"], 0);
  EXPECT_FALSE(contents_of(file("x.mtx")).empty());
}

}  // namespace
}  // namespace strata::test
