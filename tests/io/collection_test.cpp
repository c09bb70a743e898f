// Files that others wrote: real matrices, and tiny ones at the edges of the format.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "strata/io/matrix_market.hpp"
#include "tests/io/support.hpp"
#include "tests/support/matrix_folder.hpp"

namespace strata {
namespace {

namespace fs = std::filesystem;
using Matrix = Csr<double, std::int32_t>;
using Complex = std::complex<double>;

const fs::path kMatrices = test::matrix_folder();

class Collection : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(kMatrices / "MANIFEST.md")) {
      GTEST_SKIP() << "there are no matrices in " << kMatrices << " (CMake: STRATA_MATRICES)";
    }
  }
};

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, '|');) {
    const auto first = cell.find_first_not_of(' ');
    const auto last = cell.find_last_not_of(' ');
    cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
  }
  return cells;
}

// The rows of the table that name a matrix.
std::vector<std::vector<std::string>> manifest() {
  std::vector<std::vector<std::string>> rows;
  std::ifstream file(kMatrices / "MANIFEST.md");
  for (std::string line; std::getline(file, line);) {
    const auto cells = cells_of(line);
    if (cells.size() > 10 && cells[1] != "name" && cells[1][0] != '-') rows.push_back(cells);
  }
  return rows;
}

std::string empty_rows_and_columns(const Csr<Complex, std::int32_t>& matrix) {
  std::vector<bool> used(static_cast<std::size_t>(matrix.cols()), false);
  for (const std::int32_t column : matrix.columns()) used[column] = true;
  Offset rows = 0;
  for (std::int32_t row = 0; row < matrix.rows(); ++row) {
    rows += matrix.pattern().row_length(row) == 0;
  }
  return std::to_string(rows) + " / " + std::to_string(std::count(used.begin(), used.end(), false));
}

// Zeros of the file, not of the expansion: in symmetric storage only the lower half counts.
Offset stored_zeros(const Csr<Complex, std::int32_t>& matrix, Symmetry symmetry) {
  Offset zeros = 0;
  for (std::int32_t row = 0; row < matrix.rows(); ++row) {
    for (Offset k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
      const bool stored = symmetry == Symmetry::general || matrix.columns()[k] <= row;
      zeros += stored && matrix.values()[k] == Complex{};
    }
  }
  return zeros;
}

void expect_matches(const std::vector<std::string>& cells) {
  SCOPED_TRACE(cells[1]);
  const fs::path path = kMatrices / (cells[1] + ".mtx.gz");
  const auto header = read_matrix_market_header(path);
  const auto matrix = read_matrix_market<Complex, std::int32_t>(path);
  EXPECT_EQ(std::to_string(matrix.rows()), cells[2]);
  EXPECT_EQ(std::to_string(matrix.cols()), cells[3]);
  EXPECT_EQ(std::to_string(header.stored_entries), cells[4]);
  EXPECT_EQ(std::to_string(matrix.nnz()), cells[5]);
  const bool array = header.layout == MatrixMarketHeader::Layout::array;
  const std::string kind = (array ? "array " : "") + std::string(name_of(header.field)) + " / " +
                           std::string(name_of(header.symmetry));
  EXPECT_EQ(kind, cells[6]);
  if (cells[7] == "-") return;
  Offset longest = 0;
  for (std::int32_t row = 0; row < matrix.rows(); ++row) {
    longest = std::max<Offset>(longest, matrix.pattern().row_length(row));
  }
  EXPECT_EQ(std::to_string(stored_zeros(matrix, header.symmetry)), cells[7]);
  EXPECT_EQ(std::to_string(longest), cells[8]);
  EXPECT_EQ(empty_rows_and_columns(matrix), cells[9]);
}

TEST_F(Collection, EveryMatrixAgreesWithTheManifest) {
  const auto rows = manifest();
  std::set<std::string> named;
  for (const auto& cells : rows) {
    expect_matches(cells);
    named.insert(cells[1] + ".mtx.gz");
  }
  for (const auto& entry : fs::directory_iterator(kMatrices)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".mtx.gz")) {
      EXPECT_TRUE(named.contains(name)) << name << " is not in the manifest";
    }
  }
}

Csr<Complex, std::int64_t> read_edge(const std::string& name) {
  return read_matrix_market<Complex, std::int64_t>(kMatrices / "edge" / name);
}

// The message with which a file of edge/ is refused.
std::string edge_error(const std::string& name) {
  try {
    read_edge(name);
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with((kMatrices / "edge" / name).string() + ":")) << message;
    return message.substr(message.find(name) + name.size());
  }
  return "no error";
}

TEST_F(Collection, InvalidFilesAreRefusedWithFileAndLine) {
  const std::map<std::string, std::string> messages{
      {"invalid__invalid_bad_banner.mtx", ":1: the first line does not start with"},
      {"invalid__invalid_bad_field.mtx", ":1: the banner names an unknown field '____'"},
      {"invalid__invalid_bad_object.mtx", ":1: the banner names an unknown object '___'"},
      {"invalid__invalid_bad_value.mtx", ":3: 'not_a_double' is not a number"},
      {"invalid__invalid_bad_value_3.mtx", ":4: 'ffsafdsafas' is not a number"},
      {"invalid__invalid_dimensions_out_of_range_1.mtx", ":3: the number of rows is '-3'"},
      {"invalid__invalid_dimensions_out_of_range_3.mtx", ":3: the number of entries is '-3'"},
      {"invalid__invalid_indices_out_of_range_2.mtx", ":6: the column index 2000 is outside 1 … 7"},
      {"invalid__invalid_indices_out_of_range_4.mtx", ":6: the column index 0 is outside 1 … 7"},
      {"invalid__invalid_indices_out_of_range_6.mtx", ":6: '-2' is not a column index"},
      {"invalid__invalid_symmetry_vector.mtx", ":1: a vector cannot be symmetric"},
      {"invalid__invalid_truncated_header_2.mtx", ":1: the file ends before the line with"},
      {"invalid__invalid_truncated_line_2.mtx", ":5: the column index is missing"},
      {"invalid__invalid_vector_array_too_long.mtx", ":7: there are more than the 4 entries"},
      {"invalid__invalid_vector_index_out_of_range_1.mtx", ":4: the row index 0 is outside 1 … 4"},
      {"invalid__invalid_vector_negative_length.mtx", ":2: the number of rows is '-4'"},
      {"overflow__overflow_dim_gt_int64.mtx", ":2: the number of rows is '19223372036854775808'"},
      {"overflow__overflow_value_gt_float128.mtx", ":4: the value '1E9999' is too large"},
  };
  for (const auto& [name, message] : messages) {
    EXPECT_TRUE(edge_error(name).starts_with(message)) << name << edge_error(name);
  }
}

TEST_F(Collection, AllOtherEdgeFilesAreRead) {
  for (const auto& entry : fs::directory_iterator(kMatrices / "edge")) {
    const std::string name = entry.path().filename().string();
    const bool refused = name.starts_with("invalid__") ||
                         name == "overflow__overflow_dim_gt_int64.mtx" ||
                         name == "overflow__overflow_value_gt_float128.mtx";
    EXPECT_EQ(edge_error(name) != "no error", refused) << name;
  }
  EXPECT_EQ(read_edge("overflow__overflow_value_gt_int32.mtx").values()[0], 8589934592.0);
  EXPECT_EQ(read_edge("overflow__overflow_index_gt_int8.mtx").row_offsets()[300], 1);
  EXPECT_EQ(read_edge("realworld__banner_without_symmetry_ichol.mtx").nnz(), 47 - 1);
  EXPECT_EQ(read_edge("permissive__permissive_lines_indented.mtx").nnz(), 1);
}

TEST_F(Collection, SymmetricEdgeFilesEqualTheirExpansion) {
  const auto expect_same = [](const std::string& a, const std::string& b) {
    EXPECT_EQ(read_edge(a + ".mtx"), read_edge(b + ".mtx")) << a << " and " << b;
  };
  for (const std::string name :
       {"symmetry__coordinate_pattern_symmetric_row", "symmetry__coordinate_skew_symmetric_row",
        "symmetry__coordinate_symmetric_row", "symmetry_array__array_skew-symmetric",
        "symmetry_array__array_symmetric"}) {
    expect_same(name, name + "_general");
  }
  // A zero on the diagonal beside the value adds nothing; the value twice is another matrix.
  // Without a diagonal all three are the same.
  for (const std::string name :
       {"symmetry__coordinate_pattern_symmetric_row", "symmetry__coordinate_skew_symmetric_row"}) {
    expect_same(name, name + "_general_zero");
    expect_same(name, name + "_general_dup");
  }
  expect_same("symmetry__coordinate_symmetric_row",
              "symmetry__coordinate_symmetric_row_general_zero");
  EXPECT_NE(read_edge("symmetry__coordinate_symmetric_row.mtx"),
            read_edge("symmetry__coordinate_symmetric_row_general_dup.mtx"));
}

TEST_F(Collection, DuplicatesOfEdgeFilesAreAddedUp) {
  const auto vector = read_edge("vector_coordinate_dupes.mtx");
  EXPECT_EQ(vector.nnz(), 3);
  EXPECT_EQ(vector.values()[2], 404.0);
  for (const std::string type : {"bool", "double", "float", "int8", "int16", "int32", "int64"}) {
    const auto matrix = read_edge("graphblas__matrix_" + type + ".mtx");
    EXPECT_EQ(matrix.nnz(), 3);
    EXPECT_EQ(matrix.values()[2], 2.0);
  }
}

}  // namespace
}  // namespace strata
