// The suites of benchmark matrices, where they are present: lists of size classes and
// specifications next to the folder of real matrices, '@' standing for that folder.

#include <filesystem>
#include <fstream>
#include <sstream>

#include "strata/gen/recipe.hpp"
#include "tests/gen/gen_check.hpp"
#include "tests/support/matrix_folder.hpp"

namespace strata {
namespace {

struct Line {
  std::string size_class;
  std::string spec;
};

std::vector<Line> read_suite(const char* name) {
  std::vector<Line> lines;
  std::ifstream file(test::matrix_folder().parent_path() / name);
  for (std::string text; std::getline(file, text);) {
    std::istringstream words(text);
    Line line;
    if (!(words >> line.size_class >> line.spec) || line.size_class == "#") continue;
    const std::size_t at = line.spec.find('@');
    if (at != std::string::npos) line.spec.replace(at, 1, test::matrix_folder().string());
    lines.push_back(line);
  }
  return lines;
}

class Suite : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Files, Suite, testing::Values("suite.txt", "suite-random.txt"),
                         [](const auto& file) { return file.index == 0 ? "Plain" : "Random"; });

TEST_P(Suite, EverySpecificationIsValid) {
  const std::vector<Line> lines = read_suite(GetParam());
  if (lines.empty()) GTEST_SKIP() << "there is no such file beside " << test::matrix_folder();
  for (const Line& line : lines) {
    EXPECT_TRUE(is_generator_spec(line.spec)) << line.spec;
    EXPECT_NO_THROW((prepare<double, std::int32_t>(line.spec))) << line.spec;
  }
}

TEST_P(Suite, EveryMatrixOfTheSmallClassCanBeMade) {
  const std::vector<Line> lines = read_suite(GetParam());
  if (lines.empty()) GTEST_SKIP() << "there is no such file beside " << test::matrix_folder();
  for (const Line& line : lines) {
    if (line.size_class != "cpu") continue;
    const auto matrix = generate<float, std::int32_t>(line.spec);
    EXPECT_GT(matrix.nnz(), 1000000) << line.spec;
    EXPECT_LT(matrix.nnz(), 30000000) << line.spec;
  }
}

}  // namespace
}  // namespace strata
