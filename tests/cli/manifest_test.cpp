// strata info on the real matrices agrees with their manifest.

#include <fstream>
#include <sstream>

#include "tests/cli/command.hpp"
#include "tests/support/matrix_folder.hpp"

namespace strata::test {
namespace {

using nlohmann::json;

// The cells of a line "| a | b | …", without the spaces around them.
Words cells_of(const std::string& line) {
  Words cells;
  std::istringstream stream(line.substr(1));
  for (std::string cell; std::getline(stream, cell, '|');) {
    const std::size_t begin = cell.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    cells.push_back(cell.substr(begin, cell.find_last_not_of(' ') - begin + 1));
  }
  return cells;
}

class Manifest : public CommandTest {};

TEST_F(Manifest, AgreesOnEveryFile) {
  const std::filesystem::path folder = test::matrix_folder();
  std::ifstream manifest(folder / "MANIFEST.md");
  if (!manifest) GTEST_SKIP() << "no matrices in " << folder;
  int checked = 0;
  for (std::string line; std::getline(manifest, line);) {
    if (!line.starts_with("| ") || line.starts_with("| name")) continue;
    const Words cells = cells_of(line);
    ASSERT_GE(cells.size(), 9u) << line;
    SCOPED_TRACE(line);
    const json profile = json_of({"info", (folder / (cells[0] + ".mtx.gz")).string()})["matrix"];
    ++checked;
    EXPECT_EQ(profile["name"], cells[0]);
    EXPECT_EQ(profile["rows"], std::stoll(cells[1]));
    EXPECT_EQ(profile["cols"], std::stoll(cells[2]));
    EXPECT_EQ(profile["stored_entries"], std::stoll(cells[3]));
    EXPECT_EQ(profile["nnz"], std::stoll(cells[4]));
    const std::string kind =
        profile["field"].get<std::string>() + " / " + profile["symmetry"].get<std::string>();
    EXPECT_TRUE(cells[5] == kind || cells[5] == "array " + kind) << cells[5];
    if (cells[6] == "-") continue;
    EXPECT_EQ(profile["zeros"], std::stoll(cells[6]));
    EXPECT_EQ(profile["nnz_per_row"]["max"], std::stoll(cells[7]));
    EXPECT_EQ(std::to_string(profile["empty_rows"].get<long long>()) + " / " +
                  std::to_string(profile["empty_cols"].get<long long>()),
              cells[8]);
  }
  EXPECT_GT(checked, 0);
}

}  // namespace
}  // namespace strata::test
