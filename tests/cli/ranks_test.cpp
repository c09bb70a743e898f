// The command under mpirun: rank 0 speaks, all ranks end with one status, and nothing hangs.

#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <numeric>
#include <thread>

#include "strata/io/matrix_market.hpp"
#include "strata/machine/cached_network.hpp"
#include "tests/cli/benchmark.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

// Slurm says how many tasks a job has in its batch script, too, where the command is alone.
TEST_F(BenchmarkTest, ACommandInABatchScriptIsAlone) {
  const Outcome outcome = run_script("SLURM_NTASKS=8 SLURM_PROCID=0 \"$strata\" info stencil5:4x4");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

#ifndef STRATA_HAS_MPI

TEST_F(BenchmarkTest, RanksNeedMpi) {
  const Outcome outcome =
      run_script("OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 \"$strata\" info stencil5:4x4");
  expect_one_line_error(outcome, 4, "this build has no MPI");
}

#endif

#ifdef STRATA_MPIEXEC

class Ranks : public BenchmarkTest {
 protected:
  Ranks() {
    for (const char* setting : kSettings) {
      const std::string text = setting;
      setenv(text.substr(0, text.find('=')).c_str(), text.substr(text.find('=') + 1).c_str(), 0);
    }
  }

  // "mpirun -n 3 strata", for scripts.
  static std::string launch(int ranks) {
    return fmt::format("timeout 300 {} -n {} \"$strata\" ", STRATA_MPIEXEC, ranks);
  }
  Outcome run_on(int ranks, const std::string& words) { return run_script(launch(ranks) + words); }

  json json_on(int ranks, const std::string& words) {
    const Outcome outcome = run_on(ranks, words + " --json -");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    json document = json::parse(outcome.out, nullptr, false);
    EXPECT_FALSE(document.is_discarded()) << outcome.out;
    return document;
  }

  // One line of ours on standard error, whatever the launcher adds.
  void expect_one_message(const Outcome& outcome, int status, const std::string& part) {
    EXPECT_EQ(outcome.status, status) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    std::size_t lines = 0;
    std::string message;
    for (std::size_t at = 0; at < outcome.err.size();) {
      const std::size_t end = std::min(outcome.err.find('\n', at), outcome.err.size());
      const std::string line = outcome.err.substr(at, end - at);
      if (line.starts_with("strata: ")) {
        ++lines;
        message = line;
      }
      at = end + 1;
    }
    EXPECT_EQ(lines, 1u) << outcome.err;
    EXPECT_NE(message.find(part), std::string::npos) << outcome.err;
  }

 private:
  static constexpr const char* kSettings[] = {
      "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
      "OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_mpi_yield_when_idle=1",
      "OMPI_MCA_hwloc_base_binding_policy=none"};
};

Offset sum_of(const json& per_rank, const char* key) {
  Offset sum = 0;
  for (const json& rank : per_rank) sum += rank[key].get<Offset>();
  return sum;
}

TEST_F(Ranks, MultiplyInEveryLayoutAndAreChecked) {
  const json document = json_on(
      4, "spmv stencil7:12x10x11 --layout rows,columns,grid --backend cpu --min-time 0.001");
  EXPECT_EQ(document["matrix"]["rows"], 1320);
  const Offset entries = document["matrix"]["nnz"];
  ASSERT_EQ(document["results"].size(), 3u);
  for (const json& result : document["results"]) {
    SCOPED_TRACE(result["variant"].get<std::string>());
    EXPECT_EQ(result["kernel"], "spmv");
    EXPECT_EQ(result["ranks"], 4);
    EXPECT_EQ(result["threads"], result["threads"].get<int>());
    EXPECT_TRUE(result["error"]["passed"].get<bool>());
    EXPECT_EQ(result["error"]["elements"], 1320);
    EXPECT_GT(result["gflops"], 0);
    EXPECT_GE(result["imbalance"]["entries"], 1);
    EXPECT_GE(result["imbalance"]["seconds"], 1);
    const json& ranks = result["per_rank"];
    ASSERT_EQ(ranks.size(), 4u);
    EXPECT_EQ(sum_of(ranks, "entries"), entries);
    EXPECT_EQ(sum_of(ranks, "rows"), 1320);
    EXPECT_EQ(sum_of(ranks, "messages"), result["messages"].get<Offset>());
    EXPECT_EQ(sum_of(ranks, "message_bytes"), result["message_bytes"].get<Offset>());
    for (const json& rank : ranks) EXPECT_GT(rank["seconds"], 0);
  }
  // Planes of 120 elements to each neighbour.
  EXPECT_EQ(document["results"][0]["messages"], 6);
  EXPECT_EQ(document["results"][0]["message_bytes"], 6 * 120 * 8);
}

TEST_F(Ranks, SpeakOnce) {
  const Outcome outcome = run_on(3, "spmv stencil5:30x20 --backend cpu --min-time 0.001");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(outcome.out.starts_with("stencil5:30x20: 600 rows, 2 900 entries")) << outcome.out;
  EXPECT_EQ(outcome.out.find("stencil5", 1), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("3 ranks of"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("All results agree"), std::string::npos) << outcome.out;
  EXPECT_TRUE(run_on(2, "spmv --help").out.find("--layout") != std::string::npos);
}

TEST_F(Ranks, OfOneAreTheCommandItself) {
  const json document =
      json_on(1, "spmv stencil5:30x20 --format csr --backend cpu --min-time 0.001");
  EXPECT_FALSE(document["results"][0].contains("ranks"));
}

TEST_F(Ranks, SendOneMessageForAllPowersInsteadOfOneForEach) {
  const json document = json_on(3, "mpk stencil5:40x30 -p 4 --depth 4 --min-time 0.001");
  ASSERT_EQ(document["results"].size(), 2u);
  const json& products = document["results"][0];
  const json& deep = document["results"][1];
  EXPECT_EQ(products["variant"], "products");
  EXPECT_EQ(deep["depth"], 4);
  EXPECT_EQ(products["messages"], 4 * deep["messages"].get<Offset>());
  EXPECT_EQ(products["redundant_rows"], 0);
  // Rows of 40 columns: at distance d a row of points on each side, 4 − d times.
  EXPECT_EQ(deep["redundant_rows"], 4 * 40 * (3 + 2 + 1));
  for (const json& result : document["results"]) {
    EXPECT_EQ(result["ranks"], 3);
    EXPECT_EQ(result["per_rank"].size(), 3u);
    EXPECT_TRUE(result["error"]["passed"].get<bool>());
    EXPECT_EQ(result["error"]["compared_powers"], 4);
  }
}

TEST_F(Ranks, ChooseADepthAndSayWhy) {
  const json document = json_on(2, "mpk stencil5:40x30 -p 3 --min-time 0.001");
  const json& chosen = document["results"][1];
  EXPECT_EQ(chosen["variant"], "auto");
  EXPECT_FALSE(chosen["depths"].empty());
  const Outcome outcome = run_on(2, "mpk stencil5:40x30 -p 3 --min-time 0.001");
  EXPECT_NE(outcome.out.find("chosen"), std::string::npos) << outcome.out;
}

TEST_F(Ranks, SolveWithOneReductionPerIterationAndFewerForBlocks) {
  const json document = json_on(3, "solve stencil5:30x20 --method cg,ca-cg -s 4 --tol 1e-8");
  ASSERT_EQ(document["results"].size(), 2u);
  for (const json& result : document["results"]) {
    SCOPED_TRACE(result["method"].get<std::string>());
    EXPECT_EQ(result["status"], "converged");
    EXPECT_LT(result["residual"], 1e-7);
    EXPECT_EQ(result["ranks"], 3);
    ASSERT_EQ(result["per_rank"].size(), 3u);
    EXPECT_GT(result["messages"], 0);
    for (const json& rank : result["per_rank"]) {
      EXPECT_EQ(rank["reductions"], result["reductions"]);
    }
  }
  const json& cg = document["results"][0];
  const json& blocks = document["results"][1];
  EXPECT_LE(cg["reductions"].get<double>(), cg["iterations"].get<double>() + 8);
  EXPECT_LT(blocks["reductions"].get<double>(), 0.75 * cg["reductions"].get<double>());
}

TEST_F(Ranks, SolveForVectorsInFilesAndForTheSameRandomNumbers) {
  const auto numbers = [&](const std::string& name) {
    const auto column = read_matrix_market<double, std::int32_t>(file(name));
    return std::vector<double>(column.values().begin(), column.values().end());
  };
  const auto expect_close = [&](const std::string& one, const std::string& other) {
    const std::vector<double> a = numbers(one), b = numbers(other);
    ASSERT_EQ(a.size(), 120u);
    ASSERT_EQ(b.size(), 120u);
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5);
  };
  ASSERT_EQ(run({"solve", "stencil5:12x10", "--rhs", "random", "-o", file("alone.mtx")}).status, 0);
  ASSERT_EQ(run_on(3, "solve stencil5:12x10 --rhs random -o ranks.mtx").status, 0);
  expect_close("alone.mtx", "ranks.mtx");
  ASSERT_EQ(
      run({"solve", "stencil5:12x10", "--rhs", file("ranks.mtx"), "-o", file("a.mtx")}).status, 0);
  ASSERT_EQ(run_on(3, "solve stencil5:12x10 --rhs ranks.mtx --partition rows -o b.mtx").status, 0);
  expect_close("a.mtx", "b.mtx");
  expect_one_message(run_on(2, "solve stencil5:12x10 --rhs none.mtx"), 3, "none.mtx");
}

TEST_F(Ranks, SayTogetherThatASolverDidNotConverge) {
  const Outcome outcome = run_on(2, "solve stencil5:30x20 --max-iterations 2 --json r.json");
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_NE(outcome.err.find("strata: stencil5:30x20: one method did not converge"),
            std::string::npos)
      << outcome.err;
}

TEST_F(Ranks, MayHaveRowsByTheGraph) {
  const Outcome outcome = run_on(
      3, "spmv stencil5:30x20,shuffle=1 --partition graph --backend cpu --min-time 0.001 --json -");
  if (outcome.status == 4) GTEST_SKIP() << "this build has no PT-Scotch";
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json by_graph = json::parse(outcome.out)["results"][0];
  const json by_rows = json_on(
      3, "spmv stencil5:30x20,shuffle=1 --partition nonzeros --backend cpu --min-time 0.001")
      ["results"][0];
  EXPECT_TRUE(by_graph["error"]["passed"].get<bool>());
  EXPECT_LT(by_graph["edge_cut_share"].get<double>(),
            0.5 * by_rows["edge_cut_share"].get<double>());
}

// Where rows are in an order that cuts little they stay there, and where nothing cuts less, too.
TEST_F(Ranks, TakeTheGraphWhereThatIsBetter) {
  const auto partition_of = [&](const std::string& spec) {
    const json document = json_on(2, "spmv " + spec + " --backend cpu --min-time 0.001");
    EXPECT_TRUE(document["results"][0]["error"]["passed"].get<bool>());
    EXPECT_GE(document["matrix"]["load_seconds"].get<double>(), 0);
    return document["matrix"]["partition"].get<std::string>();
  };
  EXPECT_EQ(partition_of("stencil5:30x20"), "nonzeros");
  EXPECT_EQ(partition_of("random:300,nnzr=20"), "nonzeros");
  const std::string shuffled = partition_of("stencil5:30x20,shuffle=1");
  if (run_on(2, "spmv stencil5:9x9 --partition graph --backend cpu --min-time 0.001").status == 4) {
    GTEST_SKIP() << "this build has no PT-Scotch";
  }
  EXPECT_EQ(shuffled, "graph");
}

TEST_F(Ranks, MayBeMoreThanRows) {
  const json document = json_on(4, "spmv stencil5:3x1 --backend cpu --min-time 0.001");
  EXPECT_TRUE(document["results"][0]["error"]["passed"].get<bool>());
}

TEST_F(Ranks, ReadFiles) {
  ASSERT_EQ(run({"gen", "stencil5:20x10", "-o", file("a.mtx")}).status, 0);
  const json document = json_on(3, "spmv a.mtx --backend cpu --min-time 0.001");
  EXPECT_EQ(document["matrix"]["name"], "a");
  EXPECT_EQ(document["matrix"]["rows"], 200);
  EXPECT_EQ(document["matrix"]["nnz"], 940);
  EXPECT_TRUE(document["results"][0]["error"]["passed"].get<bool>());
}

TEST_F(Ranks, FailTogetherWithOneMessage) {
  expect_one_message(run_on(3, "spmv none.mtx"), 3, "none.mtx");
  expect_one_message(run_on(3, "spmv stencil5:0x4"), 2, "stencil5:0x4");
  expect_one_message(run_on(3, "spmv stencil5:9x9 --layout diagonal"), 2, "diagonal");
  expect_one_message(run_on(2, "spmv stencil5:9x9 --nonsense"), 2, "--nonsense");
  expect_one_message(run_on(2, "spmv stencil5:9x9 --layout grid --grid-rows 3"), 2, "grid");
  write_file(file("broken.mtx"), "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n");
  expect_one_message(run_on(2, "spmv broken.mtx"), 3, "broken.mtx");
}

// Rank 0 alone writes, and cannot: all end with its status.
TEST_F(Ranks, EndWithTheFailureOfOne) {
  const std::string words = "spmv stencil5:9x9 --backend cpu --min-time 0.001 --json none/r.json";
  expect_one_message(run_on(3, words), 5, "rank 0: ");
}

TEST_F(Ranks, AreRefusedByCommandsThatDoNotKnowThem) {
  for (const char* words :
       {"gen stencil5:9x9 -o a.mtx", "info stencil5:9x9", "model stencil5:9x9"}) {
    SCOPED_TRACE(words);
    expect_one_message(run_on(2, words), 2, "does not run on 2 ranks");
  }
  EXPECT_FALSE(std::filesystem::exists(file("a.mtx")));
}

TEST_F(Ranks, DoNotChooseThePowersPerSweep) {
  expect_one_message(run_on(2, "mpk stencil5:9x9 -p best"), 2, "-p best is for one rank");
  expect_one_message(run_on(2, "mpk stencil5:9x9 --products 9"), 2, "--products is for -p best");
}

TEST_F(Ranks, MustBeAskedForTheSame) {
  const Outcome outcome = run_script(
      fmt::format("timeout 300 {} -n 1 \"$strata\" spmv stencil5:9x9 : -n 1 \"$strata\" spmv "
                  "stencil5:9x8",
                  STRATA_MPIEXEC));
  expect_one_message(outcome, 2, "must be the same on all ranks");
}

TEST_F(Ranks, OptionsForThemNeedThem) {
  expect_failure({"spmv", "stencil5:9x9", "--layout", "grid"}, 2, "mpirun");
  expect_failure({"mpk", "stencil5:9x9", "--depth", "2"}, 2, "mpirun");
}

// A rank that is killed takes the others with it.
TEST_F(Ranks, DoNotWaitForOneThatIsKilled) {
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome =
      run_script(fmt::format(":\n{} -n 3 \"$strata\" mpk stencil7:40x40x40 -p 2:60 & launcher=$!\n"
                             "for i in $(seq 300); do ranks=($(pgrep -P $launcher -x strata)); "
                             "[ ${{#ranks[@]}} = 3 ] && break; sleep 0.1; done\n"
                             "sleep 2; kill -9 ${{ranks[1]}}\n"
                             "(sleep 120; kill -9 $launcher) & guard=$!\n"
                             "wait $launcher; status=$?\n"
                             "kill $guard; pgrep -P $launcher && exit 99; exit $status",
                             STRATA_MPIEXEC));
  EXPECT_NE(outcome.status, 0);
  EXPECT_NE(outcome.status, 99) << "ranks are left";
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(110)) << outcome.err;
}

TEST_F(Ranks, LeaveValidJsonWhenInterrupted) {
  const Outcome outcome =
      run_script(fmt::format(":\n{} -n 2 \"$strata\" mpk stencil7:40x40x40 -p 2:60 --json r.json & "
                             "launcher=$!\n"
                             "for i in $(seq 300); do ranks=($(pgrep -P $launcher -x strata)); "
                             "[ ${{#ranks[@]}} = 2 ] && break; sleep 0.1; done\n"
                             "sleep 3; kill -INT $launcher\n"
                             "(sleep 120; kill -9 $launcher) & guard=$!\n"
                             "wait $launcher; status=$?; kill $guard; exit $status",
                             STRATA_MPIEXEC));
  EXPECT_NE(outcome.status, 0);
  const auto document = json::parse(contents_of(file("r.json")), nullptr, false);
  ASSERT_TRUE(document.is_object()) << outcome.err;
  ASSERT_TRUE(document.contains("interrupted")) << document;
  EXPECT_EQ(document["matrix"]["name"], "stencil7:40x40x40");
}

// With SIGTERM a launcher ends ranks whose others have failed, and those are who speak.
TEST_F(Ranks, SayThatTheyWereInterruptedUnlessByTheLauncher) {
  const auto lines_after = [&](const char* signal) {
    const Outcome outcome = run_script(
        fmt::format(":\n{} -n 2 \"$strata\" mpk stencil7:40x40x40 -p 2:60 & launcher=$!\n"
                    "for i in $(seq 300); do ranks=($(pgrep -P $launcher -x strata)); "
                    "[ ${{#ranks[@]}} = 2 ] && break; sleep 0.1; done\n"
                    "sleep 2; kill -{} ${{ranks[@]}}\n"
                    "(sleep 120; kill -9 $launcher) & guard=$!\n"
                    "wait $launcher; status=$?; kill $guard; exit $status",
                    STRATA_MPIEXEC, signal));
    EXPECT_NE(outcome.status, 0);
    Offset lines = 0;
    for (std::size_t at = 0; (at = outcome.err.find("strata: interrupted", at)) < std::string::npos;
         ++at) {
      ++lines;
    }
    return lines;
  };
  EXPECT_EQ(lines_after("INT"), 1);
  EXPECT_EQ(lines_after("TERM"), 0);
}

TEST_F(Ranks, MeasureTheNetworkAndModelsUseIt) {
  const json document = json_on(2, "machine");
  ASSERT_EQ(document["results"].size(), 2u);
  EXPECT_EQ(document["results"][0]["kernel"], "machine");
  const json& network = document["results"][1];
  EXPECT_EQ(network["kernel"], "network");
  EXPECT_EQ(network["ranks"], 2);
  EXPECT_GT(network["in_node"]["latency_seconds"], 0);
  EXPECT_GT(network["reduction_seconds"], 0);
  const auto stored = load_network(network["stored_in"].get<std::string>());
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->network.in_node.latency, network["in_node"]["latency_seconds"].get<double>());
  const Outcome model = run({"model", "stencil5:30x20", "--ranks", "1:4"});
  EXPECT_NE(model.out.find("as measured on"), std::string::npos) << model.out;
}

TEST_F(Ranks, AreAParameterOfCampaigns) {
  write_file(file("c.json"),
             fmt::format(R"({{"matrices": ["stencil5:30x20"], "launcher": "{} -n {{ranks}}",
      "runs": [{{"command": "spmv", "ranks": [2, 3], "options": {{"--backend": "cpu"}},
                "flags": ["--min-time", "0.001"]}}]}})",
                         STRATA_MPIEXEC));
  const Outcome outcome = run_script("\"$strata\" bench c.json --results r.jsonl");
  EXPECT_EQ(outcome.status, 0) << outcome.err << contents_of(file("r.jsonl"));
  const std::string results = contents_of(file("r.jsonl"));
  std::vector<int> ranks;
  for (std::size_t at = 0; at < results.size();) {
    const std::size_t end = results.find('\n', at);
    const json record = json::parse(results.substr(at, end - at));
    EXPECT_EQ(record["status"], "done");
    EXPECT_EQ(record["settings"]["ranks"], record["document"]["results"][0]["ranks"]);
    ranks.push_back(record["settings"]["ranks"]);
    at = end + 1;
  }
  EXPECT_EQ(ranks, (std::vector{2, 3}));
  const Outcome compared = run_script("\"$strata\" compare r.jsonl r.jsonl");
  EXPECT_EQ(compared.status, 0) << compared.err;
}

#endif

}  // namespace
}  // namespace strata::test
