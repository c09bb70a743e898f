// strata model: predictions without a run.

#include "tests/cli/benchmark.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

class Model : public BenchmarkTest {
 protected:
  static const json& line(const json& document, const std::string& variant, int power) {
    for (const json& result : document["results"]) {
      if (result["variant"].get<std::string>().starts_with(variant) && result["power"] == power) {
        return result;
      }
    }
    ADD_FAILURE() << "no " << variant << " at p = " << power;
    return document;
  }
};

TEST_F(Model, BalancesAreThePublishedOnes) {
  const json document = json_of({"model", "stencil5:30x20"});
  const double per_row = 2900.0 / 600;
  EXPECT_NEAR(line(document, "SELL-32, x and y once", 1)["bytes_per_flop"],
              4 / (32 * per_row) + 6 + 8 / per_row, 1e-9);
  EXPECT_NEAR(line(document, "CRS, x once", 1)["bytes_per_flop"], 6 + 14 / per_row, 1e-9);
  EXPECT_NEAR(line(document, "CRS, x for every", 1)["bytes_per_flop"], 10 + 10 / per_row, 1e-9);
  EXPECT_NEAR(line(document, "CSR, true", 1)["bytes_per_flop"],
              (12.0 * 2900 + 8 * 601 + 24 * 600) / (2 * 2900), 1e-9);
}

TEST_F(Model, PowersGainWithP) {
  const json document = json_of({"model", "stencil27:10x10x10", "-p", "4"});
  double before = 0;
  for (int power = 1; power <= 4; ++power) {
    const json& result = line(document, "private caches", power);
    EXPECT_GE(result["speedup_over_spmv"].get<double>(), before);
    EXPECT_GE(result["predicted"]["overlapped_gflops"], result["predicted"]["gflops"]);
    before = result["speedup_over_spmv"];
  }
  EXPECT_NEAR(line(document, "private caches", 1)["speedup_over_spmv"], 1, 1e-12);
}

TEST_F(Model, RectangularAndEmptyMatricesHaveNoPowersToPredict) {
  write_file(file("wide.mtx"), "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 2 1\n");
  write_file(file("zero.mtx"), "%%MatrixMarket matrix coordinate real general\n4 4 0\n");
  EXPECT_NE(run({"model", file("wide.mtx")}).out.find("has no powers"), std::string::npos);
  EXPECT_NE(run({"model", file("zero.mtx")}).out.find("no entries"), std::string::npos);
}

}  // namespace
}  // namespace strata::test
