// strata model: predictions without a run.

#include <fmt/format.h>

#include "strata/gen/generate.hpp"
#include "strata/machine/cached_network.hpp"
#include "strata/machine/gpu/cached_profile.hpp"
#include "strata/model/product_model.hpp"
#include "strata/model/warp_model.hpp"
#include "tests/cli/benchmark.hpp"
#include "tests/machine/gpu/support.hpp"

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

TEST_F(Model, SlicesAreThoseOfTheCandidates) {
  const json document = json_of({"model", "stencil5:30x20"});
  const double per_row = 2900.0 / 600;
  for (const int height : {4, 8, 16, 32}) {
    const double balance = 4 / (height * per_row) + 6 + 8 / per_row;
    EXPECT_NEAR(line(document, fmt::format("SELL-{}, x and y", height), 1)["bytes_per_flop"],
                balance, 1e-9);
    const json& packed = line(document, fmt::format("packed SELL-{}, full", height), 1);
    EXPECT_EQ(packed["parameters"]["slice_height"], height);
    EXPECT_NEAR(packed["published_bytes_per_flop"], balance, 1e-9);
  }
  EXPECT_FALSE(line(document, "ELL, true", 1).contains("published_bytes_per_flop"));
}

// Caches of 64 kB, 20 GB/s from memory.
MachineProfile machine_with_small_caches() {
  MachineProfile profile = imaginary_machine();
  profile.caches = {{1, 64 * kKilo, 4}};
  profile.plateaus = {{1, 64 * kKilo, 100 * kGiga}, {1, 1 * kMega, 10 * kGiga},
                      {2, 64 * kKilo, 200 * kGiga}, {2, 1 * kMega, 19.5 * kGiga},
                      {4, 64 * kKilo, 200 * kGiga}, {4, 1 * kMega, 20 * kGiga}};
  return profile;
}

TEST_F(Model, AlphaIsPredictedFromTheMatrixAndCounted) {
  save_profile(machine_with_small_caches(), profile_path());
  const json document = json_of({"model", "random:30000,nnzr=9", "--threads", "1"});
  const auto matrix = generate<double, std::int32_t>("random:30000,nnzr=9");
  const auto entries = static_cast<double>(matrix.nnz());
  const double alpha = predicted_alpha(matrix.pattern(), {.bytes = 62 * 1024, .ways = 16});
  EXPECT_GT(alpha, 0.5) << "more than x once";
  EXPECT_NEAR(line(document, "α", 1)["alpha"]["predicted"], alpha, 1e-12);
  const double per_row = entries / 30000;
  EXPECT_NEAR(line(document, "CRS, α =", 1)["bytes_per_flop"], 6 + 4 * alpha + 10 / per_row, 1e-9);
  const json& csr = line(document, "CSR, true", 1);
  const double bytes = 12 * entries + 8 * 30001 + 16 * 30000 + 8 * alpha * entries;
  EXPECT_NEAR(csr["bytes_per_flop_with_alpha"], bytes / (2 * entries), 1e-9);
  EXPECT_NEAR(csr["published_bytes_per_flop"], 6 + 4 * alpha + 10 / per_row, 1e-9);
  EXPECT_NEAR(csr["predicted"]["with_alpha_gflops"], 10 / (bytes / (2 * entries)), 1e-9);
  const double once = 12 * entries + 8 * 30001 + 24 * 30000;
  EXPECT_NEAR(csr["roofline"]["gflops"], 10 / (once / (2 * entries)), 1e-9);
  EXPECT_EQ(csr["roofline"]["limit"], "dram");
}

TEST_F(Model, AMatrixInCacheLoadsNothing) {
  const json document = json_of({"model", "stencil5:30x20"});
  EXPECT_EQ(line(document, "α", 1)["alpha"]["predicted"], 0);
  EXPECT_NE(line(document, "CSR, true", 1)["roofline"]["limit"], "dram");
  EXPECT_NEAR(line(document, "CSR, true", 1)["bytes_per_flop_with_alpha"],
              (12.0 * 2900 + 8 * 601 + 16 * 600) / (2 * 2900), 1e-9);
}

// 48 kB of values pass all caches but the last, in which they stay.
TEST_F(Model, TheRooflineHasEveryLevelOfMemory) {
  const json document = json_of({"model", "stencil5:100x60", "--threads", "4"});
  const auto bandwidth = [&](const std::string& level) {
    return line(document, "roofline, " + level, 1)["level_gbytes_per_second"].get<double>();
  };
  EXPECT_NEAR(bandwidth("L1"), 300, 1e-6);
  EXPECT_NEAR(bandwidth("L2"), 300, 1e-6);
  EXPECT_NEAR(bandwidth("L3"), 180, 1e-6);
  EXPECT_NEAR(bandwidth("dram"), 20, 1e-6);
  const json& first = line(document, "roofline, L1", 1);
  const json& second = line(document, "roofline, L2", 1);
  const double x_of_entries =
      first["bytes"]["moved"].get<double>() - second["bytes"]["moved"].get<double>();
  EXPECT_NEAR(x_of_entries, 8.0 * (29680 - 6000), 1e-6);
  EXPECT_NEAR(first["predicted"]["gflops"], 2 * 29680 * 300 / first["bytes"]["moved"].get<double>(),
              1e-6);
  EXPECT_EQ(line(document, "roofline, dram", 1)["bytes"]["moved"], 0);
  EXPECT_FALSE(line(document, "roofline, dram", 1).contains("predicted"));
}

TEST_F(Model, ThreadsSaturateTheMemory) {
  save_profile(machine_with_small_caches(), profile_path());
  const json document = json_of({"model", "stencil5:100x100,coefficients=random"});
  const json& scaling = line(document, "scaling", 1);
  EXPECT_EQ(scaling["thread_counts"], (std::vector{1, 2, 3, 4}));
  EXPECT_EQ(scaling["memory_gbytes_per_second_by_threads"], (std::vector{10.0, 19.5, 19.75, 20.0}));
  EXPECT_NEAR(scaling["gflops_by_threads"][3].get<double>(),
              2 * scaling["gflops_by_threads"][0].get<double>(), 1e-9);
  EXPECT_EQ(scaling["saturated_at_threads"], 2);
}

TEST_F(Model, TrafficOfCsrIsCountedAsRegulyDoes) {
  save_profile(machine_with_small_caches(), profile_path());
  const json document = json_of({"model", "stencil5:100x100", "--threads", "2"});
  const json& traffic = line(document, "CSR traffic", 1);
  const double minimum = 12 * 49600 + 20 * 10000;
  EXPECT_NEAR(traffic["bytes"]["effective"], 20 * 49600 + 12 * 10000, 1e-6);
  EXPECT_NEAR(traffic["bytes"]["worst"], 64 * (3 * 49600 + 2 * 10000), 1e-6);
  EXPECT_NEAR(traffic["bytes"]["minimum"], minimum, 1e-6);
  // Each of two threads has 5000 rows, and loads a hundred elements of the other's half: 13 lines
  // below row 5000 and 13 from the one that row 5000 is in.
  EXPECT_EQ(traffic["parameters"]["block_rows"], 5000);
  EXPECT_NEAR(traffic["bytes"]["caching"], minimum + 26 * 64, 1e-6);
  const double seconds = line(document, "CSR, true", 1)["bytes_per_flop_with_alpha"].get<double>() *
                         2 * 49600 / 19.5e9;
  EXPECT_NEAR(traffic["predicted"]["seconds"], seconds, 1e-12);
  EXPECT_NEAR(traffic["csr_gbytes_per_second"]["minimum"], minimum / seconds / 1e9, 1e-6);
}

TEST_F(Model, TextHasEveryModel) {
  const Outcome outcome = run({"model", "stencil5:30x20"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* part : {"B_C(α)", "predicted are 0", "roofline of", "GF/s at most", "L3", "dram",
                           "threads, ", "95 % of the best with", "effective: x for every entry",
                           "worst: ", "minimum: ", "caching: ", "blocked powers"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
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

TEST_F(Model, AGpuThatIsNotAvailableIsStatus4AndSaysWhatMachineSays) {
  expect_missing_gpus_to_be_status_4({"model", "stencil5:9x9"}, {"", "cpu,"});
}

// 8 TB/s from an L2 of 40 MB, 4 from memory; kernels reach 3.9 after 3 µs.
TEST_F(Model, GpusElsewhereArePredictedFromTheirProfile) {
  save_profile(imaginary_gpu(), file("gpu.json"));
  const json document = json_of({"model", "stencil5:30x20", "-p", "4", "--gpu", file("gpu.json")});
  EXPECT_EQ(document["machine"]["gpu"]["name"], "Imaginary 9000");
  for (const json& result : document["results"]) EXPECT_EQ(result["backend"], "cuda");

  const double per_row = 2900.0 / 600;
  const json& sell = line(document, "SELL-32, x and y once", 1);
  const double balance = 4 / (32 * per_row) + 6 + 8 / per_row;
  EXPECT_NEAR(sell["bytes_per_flop"], balance, 1e-9);
  EXPECT_NEAR(sell["predicted"]["gflops"], 4000 / balance, 1e-6);
  const double bytes = balance * 2 * 2900;
  EXPECT_NEAR(sell["predicted"]["with_latency_gflops"], 2 * 2900 / (3e-6 + bytes / 3900e9) / 1e9,
              1e-6);
  // Stores on a GPU do not load their line first.
  EXPECT_NEAR(line(document, "CSR, true", 1)["bytes_per_flop"],
              (12.0 * 2900 + 8 * 601 + 16 * 600) / (2 * 2900), 1e-9);
  const json& powers = line(document, "L2", 4);
  EXPECT_NEAR(powers["speedup_over_spmv"], 1 / (0.25 + 0.75 / 2), 1e-9);
  EXPECT_NEAR(powers["predicted"]["overlapped_gflops"].get<double>() /
                  line(document, "L2", 1)["predicted"]["overlapped_gflops"].get<double>(),
              2, 1e-9);
}

// 49.6 entries per ten rows: coop is 4, the smallest power of two above the root of 4.96.
TEST_F(Model, WarpsOfAGpuAreThoseOfRegulysRule) {
  save_profile(imaginary_gpu(), file("gpu.json"));
  const Words words{"model", "stencil5:100x100", "--gpu", file("gpu.json")};
  const json document = json_of(words);
  const json& warps = line(document, "warps", 1);
  EXPECT_EQ(warps["parameters"]["coop"], 4);
  EXPECT_EQ(warps["parameters"]["repeat"], 1);
  EXPECT_EQ(warps["parameters"]["block_size"], 128);
  const CoopKernel kernel{.coop = 4, .repeat = 1, .block_size = 128, .warp = 32};
  const auto matrix = generate<double, std::int32_t>("stencil5:100x100");
  const Divergence divergence = predicted_divergence(matrix.pattern(), kernel);
  EXPECT_GT(divergence.branch_share, 0);
  EXPECT_NEAR(warps["divergent_branch_share"], divergence.branch_share, 1e-12);
  EXPECT_NEAR(warps["idle_lane_share"], divergence.idle_share, 1e-12);
  const Multiprocessor multiprocessor{.cache = {.bytes = 228 << 10, .ways = 4, .line_bytes = 128},
                                      .resident_blocks = 16,
                                      .count = 100};
  EXPECT_NEAR(
      warps["first_level_hit_rate"],
      predicted_hit_rate(matrix.pattern(), kernel, multiprocessor, {.value = 8, .index = 4}),
      1e-12);
  EXPECT_EQ(line(document, "CSR traffic", 1)["parameters"]["block_rows"], 32);
  EXPECT_NEAR(line(document, "roofline, L2", 1)["level_gbytes_per_second"], 8000, 1e-6);
  EXPECT_NE(run(words).out.find("coop 4, repeat 1, blocks of 128"), std::string::npos);
}

TEST_F(Model, GpusElsewhereStandBesideTheProcessor) {
  save_profile(imaginary_gpu(), file("gpu.json"));
  const Outcome outcome =
      run({"model", "stencil5:30x20", "--gpu", file("gpu.json"), "--backend", "all"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* part :
       {"Imaginary 4000", "private caches", "Imaginary 9000, device 1: 4000 GB/s",
        "in L2, 40.0 MB: 8000 GB/s, 2.00 times memory", "a kernel each"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
}

// Rows of a band need two elements from each side; a node is the imaginary machine with 4 ranks.
TEST_F(Model, RanksExchangeWhatThePatternSays) {
  const json document = json_of({"model", "band:40000,width=5", "--ranks", "1:64", "-p", "3"});
  EXPECT_EQ(line(document, "scaling, assumptions", 3)["ranks_per_node"], 4);
  EXPECT_GE(line(document, "scaling, assumptions", 3)["assumptions"].size(), 6u);
  int strong = 0;
  for (const json& result : document["results"]) {
    if (result["variant"] != "strong scaling") continue;
    ++strong;
    const int ranks = result["ranks"];
    EXPECT_EQ(result["rows"]["messages"], ranks == 1 ? 0 : ranks == 2 ? 1 : 2);
    EXPECT_EQ(result["rows"]["bytes"], 8.0 * (ranks == 1 ? 0 : ranks == 2 ? 2 : 4));
    EXPECT_EQ(result["deep"]["messages"], result["rows"]["messages"]);
    EXPECT_EQ(result["deep"]["bytes"], 3 * result["rows"]["bytes"].get<double>());
    EXPECT_EQ(result["deep"]["redundant_rows"], ranks == 1 ? 0 : ranks == 2 ? 6 : 12);
    EXPECT_EQ(result["grid"]["grid_rows"].get<int>() * result["grid"]["grid_cols"].get<int>(),
              ranks);
    EXPECT_GT(result["rows"]["efficiency"], 0);
    EXPECT_GE(result["rows"]["seconds"].get<double>(),
              result["rows"]["compute_seconds"].get<double>());
  }
  EXPECT_EQ(strong, 7);
  EXPECT_EQ(line(document, "weak scaling, along", 3)["base_ranks"], 4);
  EXPECT_EQ(line(document, "weak scaling, in all", 3)["counted_ranks"], 4);
  EXPECT_GT(line(document, "scaling limit, rows", 3)["fastest_ranks"], 0);
}

TEST_F(Model, RanksSlowDownWithTheNetwork) {
  const auto seconds = [&](const Words& more) {
    Words words{"model", "stencil5:64x64", "--ranks", "16", "-p", "4"};
    words.insert(words.end(), more.begin(), more.end());
    const json document = json_of(words);
    return line(document, "strong scaling", 4)["rows"]["seconds"].get<double>();
  };
  const double usual = seconds({});
  EXPECT_GT(seconds({"--latency", "100"}), 2 * usual);
  EXPECT_GT(seconds({"--bandwidth", "0.001"}), 2 * usual);
  EXPECT_LT(seconds({"--ranks-per-node", "16"}), usual) << "nobody leaves the node";
  save_network({.network = {.in_node = {1e-4, 0}, .between_nodes = {1e-3, 0}},
                .host = "elsewhere",
                .nodes = 2,
                .measured_at = "now"},
               file("network.json"));
  EXPECT_GT(seconds({"--network", file("network.json")}), 100 * usual);
}

TEST_F(Model, RanksAreExplainedInWords) {
  const Outcome outcome = run({"model", "stencil5:30x20", "--ranks", "1:65536"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* part :
       {"Strong scaling", "Weak scaling", "Assumed:", "More ranks than the 600 rows", "allreduce",
        "6 deep", "1.50 µs and 12.5 GB/s, assumed", "ghost rows are counted on all ranks"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
}

TEST_F(Model, RanksThatMakeNoSenseAreRefused) {
  const Words model{"model", "stencil5:9x9"};
  const auto with = [&](const Words& more) {
    Words words = model;
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  expect_failure(with({"--ranks", "0"}), 2, "--ranks");
  expect_failure(with({"--ranks", "x"}), 2, "--ranks");
  expect_failure(with({"--ranks", "100"}), 2, "81 rows");
  expect_failure(with({"--latency", "2"}), 2, "add --ranks");
  expect_failure(with({"--ranks", "2", "--backend", "cuda"}), 2, "processors");
  expect_failure(with({"--ranks", "2", "--network", file("none.json")}), 3, "no such file");
}

TEST_F(Model, ProfileThatCannotBeUsedFail) {
  save_profile(imaginary_gpu(), file("gpu.json"));
  write_file(file("broken.json"), "{");
  expect_failure({"model", "stencil5:9x9", "--gpu", file("none.json")}, 3, "no such file");
  expect_failure({"model", "stencil5:9x9", "--gpu", file("broken.json")}, 3, "broken.json");
  expect_failure({"model", "stencil5:9x9", "--gpu", file("gpu.json"), "--backend", "hip"}, 2,
                 "a GPU for cuda");
  expect_failure({"model", "stencil5:9x9", "--backend", "vendor"}, 4, "vendor");
}

}  // namespace
}  // namespace strata::test
