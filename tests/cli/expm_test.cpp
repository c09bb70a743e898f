// strata expm: values that are known, files, and what it refuses.

#include <cmath>

#include "tests/cli/command.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

class Expm : public CommandTest {
 protected:
  // [2 1; 1 2], whose eigenvalues are 1 and 3.
  std::string small() {
    write_file(file("small.mtx"),
               "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n"
               "1 1 2\n2 1 1\n2 2 2\n");
    return file("small.mtx");
  }
  // exp(t) of a matrix with ones above its diagonal: not symmetric.
  std::string shift() {
    write_file(file("shift.mtx"),
               "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 1\n2 3 1\n");
    return file("shift.mtx");
  }
  std::vector<double> vector_of(const std::string& path) {
    const json info = json_of({"info", path});
    EXPECT_EQ(info["matrix"]["cols"], 1);
    std::vector<double> values;
    const std::string text = contents_of(path);
    std::size_t at = text.find('\n');
    while (text[at + 1] == '%') at = text.find('\n', at + 1);
    at = text.find('\n', at + 1);  // the sizes
    while (at + 1 < text.size()) {
      const std::size_t end = text.find('\n', at + 1);
      const std::string line = text.substr(at + 1, end - at - 1);
      values.push_back(std::stod(line.substr(line.rfind(' ') + 1)));
      at = end;
    }
    return values;
  }
};

TEST_F(Expm, OfASymmetricMatrixByAllMethods) {
  for (const std::string method : {"auto", "chebyshev", "taylor", "leja"}) {
    const json document = json_of({"expm", small(), "--time", "0.5", "--method", method, "-o",
                                   file("y.mtx"), "--threads", "1"});
    const json& result = document["results"].at(0);
    EXPECT_EQ(result["kernel"], "expm");
    EXPECT_EQ(result["status"], "converged");
    EXPECT_LE(result["error_bound"].get<double>(), 1e-12);
    EXPECT_EQ(result["method"], method == "auto" ? "chebyshev" : method);
    EXPECT_NEAR(result["norm_of_vector"], std::sqrt(2), 1e-12);
    const auto y = vector_of(file("y.mtx"));
    ASSERT_EQ(y.size(), 2u);
    for (const double value : y) EXPECT_NEAR(value, std::exp(1.5), 1e-11);
  }
}

TEST_F(Expm, ImaginaryTimeKeepsTheNorm) {
  const json document = json_of({"expm", small(), "--imaginary", "--time", "7"});
  const json& result = document["results"].at(0);
  EXPECT_EQ(result["precision"], "complex-double");
  EXPECT_NEAR(result["norm_of_result"], std::sqrt(2), 1e-12);
}

TEST_F(Expm, PhiFunctionsAndVectorsOfFiles) {
  write_file(file("v.mtx"), "%%MatrixMarket matrix array real general\n3 1\n0\n0\n6\n");
  // φ_1(A) = I + A/2 + A²/6
  json_of({"expm", shift(), "--phi", "1", "--vector", file("v.mtx"), "-o", file("y.mtx")});
  const auto y = vector_of(file("y.mtx"));
  ASSERT_EQ(y.size(), 3u);
  EXPECT_NEAR(y[0], 1, 1e-11);
  EXPECT_NEAR(y[1], 3, 1e-11);
  EXPECT_NEAR(y[2], 6, 1e-11);
}

TEST_F(Expm, TheTableSaysWhatWasDone) {
  const Outcome outcome = run({"expm", "stencil5:20x20", "--time", "-3"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("exp(-3 A) v"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("error bound"), std::string::npos);
}

TEST_F(Expm, BarePowersAreTimedBesideSweeps) {
  const json plain = json_of({"expm", "stencil5:20x20", "--time", "-3"})["results"].at(0);
  EXPECT_EQ(plain["backend"], "cpu");
  EXPECT_FALSE(plain["variant"].get<std::string>().empty());
  EXPECT_GT(plain["seconds"]["product"], 0);
  EXPECT_FALSE(plain["seconds"].contains("bare_product"));
  for (const std::string phi : {"0", "1"}) {
    const json timed =
        json_of({"expm", "stencil5:20x20", "--time", "-3", "--bare", "--phi", phi})["results"].at(
            0);
    EXPECT_GT(timed["seconds"]["bare_product"], 0);
  }
  const Outcome outcome =
      run({"expm", "stencil5:20x20", "--time", "-3", "--bare", "--backend", "cpu"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("bare"), std::string::npos) << outcome.out;
}

TEST_F(Expm, BackendsThatAreNotThereAreRefused) {
  expect_failure({"expm", small(), "--backend", "abacus"}, 2, "abacus");
  expect_failure({"expm", small(), "--backend", "all"}, 2, "all");
  // There is at most one of these here.
  expect_failure({"expm", small(), "--backend", "cuda,hip"}, 4, "GPU");
}

TEST_F(Expm, WhatCannotBeIsRefused) {
  expect_failure({"expm", shift(), "--method", "chebyshev"}, 2, "symmetric");
  expect_failure({"expm", small(), "--imaginary", "--phi", "1"}, 2, "--phi");
  expect_failure({"expm", small(), "--method", "frob"}, 2, "--method");
  expect_failure({"expm", small(), "--vector", file("none.mtx")}, 3, "none.mtx");
  write_file(file("v.mtx"), "%%MatrixMarket matrix array real general\n3 1\n0\n0\n6\n");
  expect_failure({"expm", small(), "--vector", file("v.mtx")}, 3, "3 rows");
  expect_failure({"expm", small(), "--time", "1e5"}, 2, "overflows");
  expect_one_line_error(run({"expm", small(), "--tol", "1e-40"}), 1, "stagnated");
  write_file(file("wide.mtx"), "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
  expect_failure({"expm", file("wide.mtx")}, 2, "square");
}

}  // namespace
}  // namespace strata::test
