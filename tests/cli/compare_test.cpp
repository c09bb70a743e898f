// strata compare and strata report, run as people run them.
#include <algorithm>
#include <filesystem>

#include "tests/cli/command.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

class Compare : public CommandTest {
 protected:
  // Results of one product whose samples are around so many seconds.
  std::string results(const std::string& name, double seconds) {
    json samples = json::array();
    for (int i = 0; i < 20; ++i) samples.push_back(seconds * (1 + 0.001 * ((i * 7) % 11)));
    const json document{{"matrix", {{"name", "stencil5:9x9"}}},
                        {"results",
                         {{{"kernel", "spmv"},
                           {"backend", "cpu"},
                           {"variant", "CSR"},
                           {"gflops", 1e-3 / seconds},
                           {"seconds", {{"median", seconds}, {"samples", samples}}}}}}};
    write_file(file(name), document.dump());
    return file(name);
  }
};

TEST_F(Compare, ARegressionIsStatus1AndARerunIsNot) {
  const std::string before = results("before.json", 1e-3);
  const std::string rerun = results("rerun.json", 1.002e-3);
  const std::string slower = results("slower.json", 1.1e-3);
  const Outcome same = run({"compare", before, rerun});
  EXPECT_EQ(same.status, 0) << same.err;
  EXPECT_NE(same.out.find("0 regressed"), std::string::npos) << same.out;
  const Outcome worse = run({"compare", before, slower});
  expect_one_line_error(worse, 1, "1 regressed");
  EXPECT_NE(worse.out.find("+10.0 %"), std::string::npos) << worse.out;
  EXPECT_EQ(run({"compare", before, slower, "--threshold", "20"}).status, 0);
  EXPECT_EQ(run({"compare", slower, before}).status, 0) << "faster is no regression";
}

TEST_F(Compare, TheDocumentHasEveryCase) {
  const Outcome outcome = run({"compare", results("before.json", 1), results("after.json", 2),
                               "--json", "-", "--threshold", "200"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const json document = json::parse(outcome.out);
  ASSERT_EQ(document["results"].size(), 1U);
  const json& result = document["results"][0];
  EXPECT_EQ(result["kernel"], "compare");
  EXPECT_EQ(result["verdict"], "slower");
  EXPECT_NEAR(result["ratio"]["median"], 2, 1e-9);
  EXPECT_EQ(result["samples"]["before"], 20);
}

TEST_F(Compare, FilesWithoutResultsAreNamed) {
  write_file(file("other.json"), "{\"a\": 1}");
  const std::string before = results("before.json", 1);
  expect_one_line_error(run({"compare", before, file("other.json")}), 3, "other.json");
  expect_one_line_error(run({"compare", before, file("missing.json")}), 3, "missing.json");
  expect_one_line_error(run({"compare", before}), 2, "AFTER");
  expect_one_line_error(run({"compare", before, before, "--threshold", "-1"}), 2, "threshold");
}

TEST_F(Compare, SolversAreComparedByTheirTimesAndCounts) {
  const auto solved = [&](const std::string& name, int iterations) {
    const json document{{"matrix", {{"name", "stencil7:9x9x9"}}},
                        {"results",
                         {{{"kernel", "solve"},
                           {"backend", "cpu"},
                           {"method", "cg"},
                           {"tolerance", 1e-8},
                           {"status", "converged"},
                           {"iterations", iterations},
                           {"seconds", {{"iteration", 1e-3}, {"total", 1e-3 * iterations}}}}}}};
    write_file(file(name), document.dump());
    return file(name);
  };
  const std::string before = solved("before.json", 100);
  EXPECT_EQ(run({"compare", before, solved("again.json", 100)}).status, 0);
  const Outcome worse = run({"compare", before, solved("more.json", 130)});
  expect_one_line_error(worse, 1, "1 regressed");
  EXPECT_NE(worse.out.find("1 takes another number of iterations"), std::string::npos) << worse.out;
  EXPECT_NE(worse.out.find("regressed, 130 iterations instead of 100"), std::string::npos)
      << worse.out;
  EXPECT_NE(worse.out.find("4 % assumed"), std::string::npos) << worse.out;
  const json document = json::parse(run({"compare", before, file("more.json"), "--json", "-"}).out);
  EXPECT_EQ(document["results"][0]["iterations"]["after"], 130);
  EXPECT_NEAR(document["results"][0]["assumed_noise"], 0.04, 1e-12);
}

// What the program itself wrote.
TEST_F(Compare, ASolveIsTheSameAsItself) {
  ASSERT_EQ(run({"solve", "stencil7:8x8x8", "--method", "cg,ca-cg", "-s", "2", "--json",
                 file("solve.json"), "--quiet"})
                .status,
            0);
  const Outcome same = run({"compare", file("solve.json"), file("solve.json")});
  EXPECT_EQ(same.status, 0) << same.err;
  EXPECT_NE(same.out.find("4 compared: 0 regressed, 0 slower, 0 faster, 4 the same"),
            std::string::npos)
      << same.out;
}

class Report : public Compare {
 protected:
  Report() {
    write_file(file("page.html"), "<p><!--STRATA-DATA--></p>");
    setenv("STRATA_REPORT_TEMPLATE", file("page.html").c_str(), 1);
  }
  ~Report() override { unsetenv("STRATA_REPORT_TEMPLATE"); }
};

TEST_F(Report, WritesOnePage) {
  const Outcome outcome =
      run({"report", results("a.json", 1), results("b.json", 2), "-o", file("report.html")});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("report.html"), std::string::npos) << outcome.out;
  const std::string text = contents_of(file("report.html"));
  EXPECT_TRUE(text.starts_with("<p>H4sI")) << "gzip in base64: " << text.substr(0, 20);
  EXPECT_TRUE(text.ends_with("</p>"));
}

TEST_F(Report, KeepsAnOldPageIfResultsCannotBeRead) {
  write_file(file("report.html"), "old");
  expect_one_line_error(run({"report", file("missing.json"), "-o", file("report.html")}), 3,
                        "missing.json");
  EXPECT_EQ(contents_of(file("report.html")), "old");
}

TEST_F(Report, SaysIfItsPageIsMissing) {
  setenv("STRATA_REPORT_TEMPLATE", file("no-page.html").c_str(), 1);
  expect_one_line_error(run({"report", results("a.json", 1), "-o", file("report.html")}), 3,
                        "no-page.html");
}

// With the page of this build.
class Figures : public Compare {
 protected:
  // Writes figures of one product to the folder "figures"; skips the test where they cannot be
  // drawn.
  Outcome draw(const Words& options) {
    Words words{"report",    results("a.json", 1e-3), "-o", file("report.html"),
                "--figures", file("figures")};
    words.insert(words.end(), options.begin(), options.end());
    return run(words);
  }
  std::vector<std::string> drawn() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(file("figures"))) {
      names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }
  bool has_rsvg_convert() { return run_script("command -v rsvg-convert").status == 0; }
};

// Status 4: node is missing, or the page was not built.
#define SKIP_WITHOUT_PAGE(outcome) \
  if ((outcome).status == 4) GTEST_SKIP() << (outcome).err

TEST_F(Figures, OneCanBeWrittenAlone) {
  const Outcome outcome = draw({"--only", "products"});
  SKIP_WITHOUT_PAGE(outcome);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("1 figure is in"), std::string::npos) << outcome.out;
  const std::vector<std::string> svg{"products.svg"};
  const std::vector<std::string> both{"products.png", "products.svg"};
  EXPECT_EQ(drawn(), has_rsvg_convert() ? both : svg);
}

TEST_F(Figures, AreTheSameEveryTime) {
  const Outcome outcome = draw({"--only", "products"});
  SKIP_WITHOUT_PAGE(outcome);
  const std::string first = contents_of(file("figures/products.svg"));
  EXPECT_NE(first.find("<title>Products per matrix</title>"), std::string::npos);
  draw({});
  EXPECT_EQ(contents_of(file("figures/products.svg")), first);
}

TEST_F(Figures, NamesAndDataAreChecked) {
  const Outcome unknown = draw({"--only", "products,nonsense"});
  SKIP_WITHOUT_PAGE(unknown);
  expect_one_line_error(unknown, 2, "there is no figure \"nonsense\": products, ");
  expect_one_line_error(draw({"--only", "over-threads"}), 3,
                        "no data for the figure over-threads; this gives it: strata spmv");
  EXPECT_TRUE(drawn().empty()) << "neither figures nor what they are drawn from";
  expect_one_line_error(run({"report", file("a.json"), "--only", "products"}), 2, "--figures");
}

TEST_F(Figures, AreWrittenAsPixelsToo) {
  if (!has_rsvg_convert()) GTEST_SKIP() << "rsvg-convert is not installed";
  const Outcome outcome = draw({"--only", "products"});
  SKIP_WITHOUT_PAGE(outcome);
  EXPECT_NE(outcome.out.find("as SVG and PNG"), std::string::npos) << outcome.out;
  const std::string png = contents_of(file("figures/products.png"));
  ASSERT_GT(png.size(), 24U);
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1A\n");
  unsigned width = 0;  // the first number of the header, most significant byte first
  for (int i = 16; i < 20; ++i) width = width << 8 | static_cast<unsigned char>(png[i]);
  EXPECT_EQ(width, 2U * 860U) << "twice the pixels of the SVG";
}

}  // namespace
}  // namespace strata::test
