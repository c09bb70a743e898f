// strata solve, eig and expm on a GPU: the results of processors.

#include "tests/cli/benchmark_gpu.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

class SolveGpu : public ProfiledGpuTest {};

TEST_F(SolveGpu, BackendsSolveTheSameSystems) {
  const json document = json_of({"solve", "stencil5:9x9", "--method", "cg,gmres", "--backend",
                                 "cpu," + backend(), "--tol", "1e-9"});
  ASSERT_EQ(document["results"].size(), 4U);
  int number = 0;
  for (const json& result : document["results"]) {
    EXPECT_EQ(result["kernel"], "solve");
    EXPECT_EQ(result["backend"], number % 2 == 0 ? "cpu" : backend());
    EXPECT_EQ(result["method"], number++ < 2 ? "cg" : "gmres");
    EXPECT_EQ(result["status"], "converged");
    EXPECT_LE(result["residual"], 1.01e-9);
    EXPECT_GT(result["seconds"]["iteration"], 0);
    EXPECT_GE(result["seconds"]["total"], result["seconds"]["products"]);
    EXPECT_FALSE(result["variant"].get<std::string>().empty());
  }
  EXPECT_GT(document["machine"]["gpu"]["memory_read_bytes_per_second"], 0);
}

TEST_F(SolveGpu, TheVendorSolvesByConjugateGradients) {
  const Outcome outcome = run({"solve", "stencil5:9x9", "--backend", "vendor", "--json", "-"});
  if (!STRATA_HAS_VENDOR) {
    EXPECT_EQ(outcome.status, 4);
    EXPECT_NE(outcome.err.find("without the library of a GPU's vendor"), std::string::npos);
    return;
  }
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json result = json::parse(outcome.out)["results"][0];
  EXPECT_EQ(result["backend"], "vendor");
  EXPECT_EQ(result["status"], "converged");
  EXPECT_NE(result["variant"].get<std::string>().find("cuSPARSE"), std::string::npos);
  EXPECT_EQ(run({"solve", "stencil5:9x9", "--backend", "vendor", "--method", "gmres"}).status, 4);
}

TEST_F(SolveGpu, EigenvaluesAreThoseOfTheProcessors) {
  for (const std::string method : {"lanczos", "ca-lanczos", "filter", "power", "kpm"}) {
    SCOPED_TRACE(method);
    std::vector<std::string> words{"eig", "stencil5:12x11", "--method", method, "-k",
                                   "3",   "--tol",          "1e-3"};
    if (method == "filter") words.insert(words.end(), {"--target", "3.1", "--degree", "60"});
    if (method == "kpm") words.insert(words.end(), {"--moments", "32", "--vectors", "8"});
    words.push_back("--backend");
    auto on = [&](const std::string& place) {
      auto all = words;
      all.push_back(place);
      if (method != "lanczos" && method != "power") all.push_back("--bare");
      return json_of(all);
    };
    const json document = on(backend());
    EXPECT_GT(document["machine"]["gpu"]["memory_read_bytes_per_second"], 0);
    const json found = document["results"].at(0);
    const json expected = on("cpu")["results"].at(0);
    EXPECT_EQ(found["backend"], backend());
    EXPECT_FALSE(found.contains("threads"));
    EXPECT_FALSE(found["variant"].get<std::string>().empty());
    EXPECT_EQ(found["status"], "converged");
    const std::string list = method == "kpm" ? "moments" : "values";
    ASSERT_EQ(found[list].size(), expected[list].size());
    for (std::size_t k = 0; k < found[list].size(); ++k) {
      EXPECT_NEAR(found[list][k], expected[list][k], 0.03) << k;
    }
    EXPECT_GE(found["seconds"]["total"], found["seconds"]["products"]);
    if (method == "lanczos" || method == "power") continue;
    EXPECT_GT(found["seconds"]["product"], 0);
    EXPECT_GT(found["seconds"]["bare_product"], 0);
  }
  expect_failure({"eig", "stencil5:4x4", "--method", "pagerank", "--backend", backend()}, 4,
                 "processors");
}

TEST_F(SolveGpu, ExponentialsAreThoseOfTheProcessors) {
  const auto on = [&](const std::string& place) {
    return json_of(
               {"expm", "stencil5:12x11", "--time", "-2", "--bare", "--backend", place})["results"]
        .at(0);
  };
  const json found = on(backend()), expected = on("cpu");
  EXPECT_EQ(found["backend"], backend());
  EXPECT_EQ(found["status"], "converged");
  EXPECT_NEAR(found["norm_of_result"], expected["norm_of_result"], 1e-10);
  EXPECT_GT(found["seconds"]["bare_product"], 0);
  EXPECT_FALSE(found["variant"].get<std::string>().empty());
  const Outcome outcome = run({"expm", "stencil5:12x11", "--backend", backend()});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("GB/s from memory"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace strata::test
