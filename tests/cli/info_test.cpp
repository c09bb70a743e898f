#include <algorithm>
#include <complex>
#include <cstdlib>
#include <numeric>
#include <set>
#include <vector>

#include "strata/base/internal/sanitizers.hpp"
#include "strata/formats/format.hpp"
#include "strata/gen/generate.hpp"
#include "strata/io/matrix_market.hpp"
#include "strata/io/petsc_binary.hpp"
#include "tests/cli/command.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

class Info : public CommandTest {
 protected:
  // A file with this header, size line and entries.
  std::string matrix(const std::string& kind, const std::string& lines) {
    write_file(file("matrix.mtx"), "%%MatrixMarket matrix " + kind + "\n" + lines);
    return file("matrix.mtx");
  }
};

TEST_F(Info, JsonHasTheKeysOfTheContract) {
  const json document = json_of({"info", "stencil5:30x20"});
  EXPECT_TRUE(document["strata"].is_string());
  EXPECT_EQ(document["command"][1], "info");
  EXPECT_EQ(document["command"][2], "stencil5:30x20");
  EXPECT_EQ(document["time"].get<std::string>().size(), std::string("2000-01-01T00:00:00Z").size());
  EXPECT_TRUE(document["machine"].is_object());
  EXPECT_TRUE(document["machine"]["compiler"].is_string());
  EXPECT_GE(document["machine"]["threads"], 1);

  const json& matrix = document["matrix"];
  EXPECT_EQ(matrix["name"], "stencil5:30x20");
  EXPECT_EQ(matrix["rows"], 600);
  EXPECT_EQ(matrix["cols"], 600);
  EXPECT_EQ(matrix["nnz"], 5 * 600 - 2 * (30 + 20));
  EXPECT_EQ(matrix["symmetry"], "symmetric");
  EXPECT_EQ(matrix["field"], "real");
  EXPECT_EQ(matrix["bandwidth"], 30);
  EXPECT_DOUBLE_EQ(matrix["nnz_per_row"]["mean"], 2900.0 / 600);
  EXPECT_EQ(matrix["nnz_per_row"]["max"], 5);
  EXPECT_GT(matrix["nnz_per_row"]["stddev"], 0);
  EXPECT_GE(matrix["levels"]["count"], 20);
  EXPECT_LE(matrix["levels"]["max_rows"], 30);
  EXPECT_EQ(matrix["components"], 1);
}

TEST_F(Info, MatricesOfPetscAreReadWhateverTheirName) {
  const auto matrix = generate<double, std::int32_t>("stencil5:30x20");
  write_petsc_binary(file("poisson.mtx"), matrix);
  json of_file = json_of({"info", file("poisson.mtx")})["matrix"];
  json generated = json_of({"info", "stencil5:30x20"})["matrix"];
  EXPECT_EQ(of_file["name"], "poisson");
  EXPECT_EQ(of_file["stored_entries"], 2900);
  for (const char* key : {"name", "symmetry", "stored_entries"}) {
    of_file.erase(key);
    generated.erase(key);
  }
  EXPECT_EQ(of_file, generated);

  const auto complex = converted<std::complex<double>, std::int64_t>(matrix);
  write_petsc_binary(file("complex"), complex, {.integer_bits = 64});
  EXPECT_EQ(json_of({"info", file("complex")})["matrix"]["field"], "complex");
  ASSERT_EQ(run({"convert", file("complex"), file("a.mtx"), "--symmetry", "symmetric"}).status, 0);
  EXPECT_TRUE(contents_of(file("a.mtx"))
                  .starts_with("%%MatrixMarket matrix coordinate complex symmetric\n"));
  EXPECT_EQ((read_matrix_market<std::complex<double>, std::int64_t>(file("a.mtx"))), complex);
  expect_failure({"info", file("complex"), "--precision", "double"}, 3, "complex matrix");

  const std::string bytes = contents_of(file("poisson.mtx"));
  write_file(file("short"), bytes.substr(0, bytes.size() - 1));
  expect_failure({"info", file("short")}, 3, "bytes are not the length of a 600 x 600 matrix");
}

TEST_F(Info, TheSpyPlotCountsTheEntriesOfBlocks) {
  // One entry per block: the pattern itself.
  const json small = json_of(
      {"info", matrix("coordinate real general", "2 3 3\n1 1 5\n2 1 5\n2 3 5\n")})["matrix"]["spy"];
  EXPECT_EQ(small, json({{"rows", 2}, {"cols", 3}, {"counts", {1, 0, 0, 1, 0, 1}}}));
  // Blocks of 2 x 2 of a tridiagonal matrix of 128 rows.
  const json spy = json_of({"info", "band:128,width=3"})["matrix"]["spy"];
  EXPECT_EQ(spy["rows"], 64);
  EXPECT_EQ(spy["cols"], 64);
  ASSERT_EQ(spy["counts"].size(), 64U * 64U);
  for (int row = 0; row < 64; ++row) {
    for (int col = 0; col < 64; ++col) {
      const int distance = std::abs(row - col);
      EXPECT_EQ(spy["counts"][64 * row + col], distance == 0 ? 4 : distance == 1 ? 1 : 0);
    }
  }
}

TEST_F(Info, LevelsHaveTheirRows) {
  const auto sum = [](const json& list) {
    const auto numbers = list.get<std::vector<int>>();
    return std::accumulate(numbers.begin(), numbers.end(), 0);
  };
  const json few = json_of({"info", "stencil5:30x20"})["matrix"]["levels"];
  EXPECT_EQ(few["rows"].size(), few["count"].get<std::size_t>());
  EXPECT_EQ(sum(few["rows"]), 600);
  EXPECT_EQ(std::ranges::max(few["rows"].get<std::vector<int>>()), few["max_rows"]);
  EXPECT_FALSE(few.contains("levels_per_entry"));
  // More levels than entries: a path is one row after the other.
  const json many = json_of({"info", "band:4500,width=3"})["matrix"]["levels"];
  const int levels = many["count"];
  const int each = many["levels_per_entry"];
  EXPECT_GT(levels, 2000);
  EXPECT_EQ(each, (levels + 1999) / 2000);
  EXPECT_EQ(many["rows"].size(), static_cast<std::size_t>((levels + each - 1) / each));
  EXPECT_EQ(sum(many["rows"]), 4500);
}

TEST_F(Info, EveryFormatHasItsBytesAndFill) {
  const json document = json_of({"info", "stencil5:30x20"});
  std::set<std::string> formats;
  for (const json& result : document["results"]) {
    formats.insert(result["format"]);
    EXPECT_EQ(result["kernel"], "info");
    EXPECT_EQ(result["bytes"]["minimum"], 8 * (2900 + 600 + 600));
    EXPECT_EQ(result["bytes"]["format"].get<int>(),
              result["bytes"]["values"].get<int>() + result["bytes"]["indices"].get<int>());
    EXPECT_GT(result["fill"], 0.5);
    const bool packed = result["format"] == "packed-sell" || result["format"] == "packed-sell-full";
    EXPECT_EQ(result.contains("slices_by_encoding"), packed);
    EXPECT_EQ(result.contains("encodings"), packed);
    if (packed) {
      const bool full = result["format"] == "packed-sell-full";
      EXPECT_EQ(result["encodings"]["value"] == json({{"full", 1.0}}), full) << result;
      EXPECT_EQ(result["bytes"]["values"].get<int>() >= 8 * 2900, full) << result;
    }
  }
  EXPECT_EQ(document["results"][1]["format"], "csr");
  EXPECT_EQ(document["results"][1]["bytes"]["format"], 12 * 2900 + 8 * 601);
  std::set<std::string> all;
  for (const Format format : kFormats) all.emplace(name_of(format));
  all.emplace("packed-sell-full");
  EXPECT_EQ(document["matrix"]["distinct_values"], 2);
  EXPECT_EQ(formats, all);
}

TEST_F(Info, TypesChangeTheBytes) {
  const auto csr_bytes = [&](const Words& options) {
    Words words{"info", "stencil5:30x20"};
    words.insert(words.end(), options.begin(), options.end());
    const json document = json_of(words);
    return document["results"][1]["bytes"]["format"].get<int>();
  };
  EXPECT_EQ(csr_bytes({"--precision", "single"}), 8 * 2900 + 8 * 601);
  EXPECT_EQ(csr_bytes({"--precision", "complex-double"}), 20 * 2900 + 8 * 601);
  EXPECT_EQ(csr_bytes({"--precision", "complex-single", "--index", "64"}), 16 * 2900 + 8 * 601);
}

TEST_F(Info, TextShowsSizeSpyPlotHistogramFormatsAndBound) {
  const Outcome outcome = run({"info", "stencil27:10x10x10", "--threads", "2"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "") << "progress is for terminals";
  for (const char* part : {"stencil27:10x10x10\n", "1 000 x 1 000, 21 952 entries", "┌", "⠻",
                           "rows by their number of entries", "packed SELL-32", "full values",
                           "code balance", "levels"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
}

TEST_F(Info, JsonInAFileLeavesTheTextOnStandardOutput) {
  const Outcome outcome = run({"info", "stencil5:4x4", "--json", file("r.json")});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.out.find("16 x 16"), std::string::npos);
  EXPECT_EQ(json::parse(contents_of(file("r.json")))["matrix"]["rows"], 16);
  EXPECT_EQ(files(), 1);
}

TEST_F(Info, MatricesWithoutRowsColumnsOrEntriesAreFine) {
  for (const auto& [size, rows, cols] : {std::tuple{"0 0 0", 0, 0},
                                         {"0 3 0", 0, 3},
                                         {"3 0 0", 3, 0},
                                         {"4 4 0", 4, 4},
                                         {"1 9 0", 1, 9}}) {
    SCOPED_TRACE(size);
    const std::string path = matrix("coordinate real general", std::string(size) + "\n");
    const json profile = json_of({"info", path})["matrix"];
    EXPECT_EQ(profile["rows"], rows);
    EXPECT_EQ(profile["cols"], cols);
    EXPECT_EQ(profile["nnz"], 0);
    EXPECT_EQ(profile["empty_rows"], rows);
    EXPECT_EQ(profile["empty_cols"], cols);
    EXPECT_EQ(profile.contains("levels"), rows == cols);
    EXPECT_EQ(profile.contains("spy"), rows > 0 && cols > 0);
    EXPECT_EQ(run({"info", path, "--spy-plot", file("p.png")}).status, 0);
  }
}

TEST_F(Info, OneRowAndOneColumn) {
  const json row = json_of({"info", matrix("coordinate real general", "1 5 2\n1 2 1\n1 5 0\n")});
  EXPECT_EQ(row["matrix"]["zeros"], 1);
  EXPECT_EQ(row["matrix"]["empty_cols"], 3);
  EXPECT_EQ(row["matrix"]["bandwidth"], 4);
  EXPECT_FALSE(row["matrix"].contains("levels"));
  const json column = json_of({"info", matrix("array real general", "3 1\n1\n2\n3\n")});
  EXPECT_EQ(column["matrix"]["nnz"], 3);
  EXPECT_EQ(column["matrix"]["lower_bandwidth"], 2);
}

TEST_F(Info, TheFileSaysItsSymmetryAndTheValuesTheirs) {
  const json general =
      json_of({"info", matrix("coordinate integer general", "2 2 2\n1 2 3\n2 1 3\n")})["matrix"];
  EXPECT_EQ(general["name"], "matrix");
  EXPECT_EQ(general["symmetry"], "general");
  EXPECT_EQ(general["value_symmetry"], "symmetric");
  EXPECT_EQ(general["field"], "integer");
  const json skew =
      json_of({"info", matrix("coordinate real skew-symmetric", "2 2 1\n2 1 3\n")})["matrix"];
  EXPECT_EQ(skew["symmetry"], "skew-symmetric");
  EXPECT_EQ(skew["value_symmetry"], "skew-symmetric");
  EXPECT_EQ(skew["stored_entries"], 1);
  EXPECT_EQ(skew["nnz"], 2);
}

TEST_F(Info, FillThatExplodesIsShownAndNotBuilt) {
  const json document = json_of({"info", "arrow:200000"});
  std::set<std::string> exploded;
  for (const json& result : document["results"]) {
    if (result["fill"] > 60000.0) exploded.insert(result["format"]);
  }
  EXPECT_EQ(exploded, (std::set<std::string>{"ell", "dia"}));
}

TEST_F(Info, ResultsDoNotDependOnTheNumberOfThreads) {
  const auto profile = [&](const std::string& threads) {
    const json document = json_of({"info", "random:5000,nnzr=9", "--threads", threads});
    return std::pair(document["matrix"], document["results"]);
  };
  EXPECT_EQ(profile("1"), profile("4"));
}

#ifndef STRATA_ADDRESS_SANITIZER  // which reserves far more than any limit
TEST_F(Info, MemoryFollowsTheEntriesAndNotTheColumns) {
  const std::string wide = matrix("coordinate real general", "1 2000000000 1\n1 2 3\n");
  const Outcome outcome =
      run_script("ulimit -v 500000 && exec \"$strata\" info " + wide + " --threads 2 --json -");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const json document = json::parse(outcome.out, nullptr, false);
  EXPECT_EQ(document["matrix"]["empty_cols"], 1999999999);
  for (const json& result : document["results"]) {
    EXPECT_FALSE(result.contains("refused")) << result;
    if (result["format"] == "csc") {
      EXPECT_EQ(result["bytes"]["format"], 12 + 8 * 2000000001LL);
    }
    if (result["format"] == "dia") {
      EXPECT_EQ(result["bytes"]["format"], 12);
    }
  }
}
#endif

TEST_F(Info, MoreColumnsThanVectorsCanHaveAreStatus3) {
  const std::string widest =
      matrix("coordinate real general", "1 9223372036854775807 1\n1 9223372036854775807 3\n");
  expect_failure({"info", widest, "--index", "64"}, 3, "does not fit in a 64-bit integer");
  // Vectors of 2^63 − 16 bytes exist; CSC with its column offsets does not.
  const std::string wide = matrix("coordinate real general", "1 1152921504606846973 1\n1 5 3\n");
  const json document = json_of({"info", wide, "--index", "64"});
  EXPECT_EQ(document["matrix"]["upper_bandwidth"], 4);
  for (const json& result : document["results"]) {
    const bool narrow = result["format"] == "csc" || result["format"] == "packed-sell" ||
                        result["format"] == "packed-sell-full";
    EXPECT_EQ(result.contains("refused"), narrow) << result;
  }
}

TEST_F(Info, SpyPlotsAreWrittenByTheirEnding) {
  EXPECT_EQ(run({"info", "stencil5:30x20", "--picture", file("p.png")}).status, 0);
  EXPECT_EQ(run({"info", "stencil5:30x20", "--spy-plot", file("p.svg")}).status, 0);
  EXPECT_TRUE(contents_of(file("p.png")).starts_with("\x89PNG\r\n\x1a\n"));
  EXPECT_TRUE(contents_of(file("p.svg")).starts_with("<svg "));
  EXPECT_EQ(files(), 2);
}

TEST_F(Info, NamesThatAreNotUtf8StillMakeValidJson) {
  const std::string path = file("caf\xe9.mtx");
  write_file(path, "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n");
  EXPECT_EQ(json_of({"info", path})["matrix"]["rows"], 1);
}

}  // namespace
}  // namespace strata::test
