// What a Matrix Market file may look like, and what it then means.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <unsupported/Eigen/SparseExtra>

#include "strata/base/random.hpp"
#include "strata/io/matrix_market.hpp"
#include "tests/io/support.hpp"
#include "tests/support/eigen.hpp"

namespace strata {
namespace {

using test::dense;
using test::header_of;
using test::read_text;
using Matrix = Csr<double, std::int32_t>;
using Complex = std::complex<double>;
using Header = MatrixMarketHeader;

const std::string kGeneral = "%%MatrixMarket matrix coordinate real general\n";
const Matrix kExample(2, 3, {0, 1, 3}, {1, 0, 2}, {1.5, -2, 3});
const std::string kExampleText = kGeneral + "2 3 3\n1 2 1.5\n2 1 -2\n2 3 3\n";

// The value that a real file holds when it spells it like this.
double value_of(const std::string& spelling) {
  return read_text(kGeneral + "1 1 1\n1 1 " + spelling + "\n").values()[0];
}

TEST(MatrixMarketRead, HeaderSaysHowTheMatrixIsStored) {
  const Header header = header_of("%%MatrixMarket matrix array complex Hermitian\n% x\n\n3 3\n");
  EXPECT_EQ(header.object, Header::Object::matrix);
  EXPECT_EQ(header.layout, Header::Layout::array);
  EXPECT_EQ(header.field, Header::Field::complex);
  EXPECT_EQ(header.symmetry, Symmetry::hermitian);
  EXPECT_EQ(header.rows, 3);
  EXPECT_EQ(header.cols, 3);
  EXPECT_EQ(header.stored_entries, 6);

  const Header vector = header_of("%%MatrixMarket vector coordinate unsigned-integer\n7 2\n");
  EXPECT_EQ(vector.object, Header::Object::vector);
  EXPECT_EQ(vector.layout, Header::Layout::coordinate);
  EXPECT_EQ(name_of(vector.field), "unsigned-integer");
  EXPECT_EQ(vector.symmetry, Symmetry::general);
  EXPECT_EQ(vector.rows, 7);
  EXPECT_EQ(vector.cols, 1);
  EXPECT_EQ(vector.stored_entries, 2);
  EXPECT_EQ(header_of("%%MatrixMarket matrix array real skew-symmetric\n4 4\n").stored_entries, 6);
}

TEST(MatrixMarketRead, LayoutOfTheTextDoesNotMatter) {
  EXPECT_EQ(read_text(kExampleText), kExample);
  EXPECT_EQ(read_text("\n  %%matrixMARKET\tMATRIX  Coordinate DOUBLE\r\n"
                      "%\r\n\r\n   % indented comment\n\t 2   3\t3 \r\n"
                      "% between sizes and entries\n\n1 2 1.5\r\n\n% between entries\n"
                      "  2\t1   -2  \n 2 3 3"),
            kExample);
  EXPECT_EQ(read_text(kExampleText + "\n\n% at the end\n   "), kExample);
  EXPECT_EQ(read_text(kGeneral + "2 3 3\n2 3 3\n2 1 -2\n1 2 1.5\n"), kExample);
}

TEST(MatrixMarketRead, NumbersMayBeSpelledInManyWays) {
  EXPECT_EQ(value_of("12."), 12);
  EXPECT_EQ(value_of(".5"), 0.5);
  EXPECT_EQ(value_of("-.5e-1"), -0.05);
  EXPECT_EQ(value_of("+3"), 3);
  EXPECT_EQ(value_of("1e5"), 1e5);
  EXPECT_EQ(value_of("1E+5"), 1e5);
  EXPECT_EQ(value_of("1.5D+03"), 1500);
  EXPECT_EQ(value_of("-2d-2"), -0.02);
  EXPECT_EQ(value_of("007"), 7);
  EXPECT_EQ(value_of("0.1"), 0.1);
  EXPECT_EQ(value_of("1.7976931348623157e308"), std::numeric_limits<double>::max());
  EXPECT_EQ(value_of("4.9406564584124654e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(value_of("inf"), HUGE_VAL);
  EXPECT_EQ(value_of("-Infinity"), -HUGE_VAL);
  EXPECT_EQ(value_of("+INF"), HUGE_VAL);
  EXPECT_TRUE(std::isnan(value_of("NaN")));
  EXPECT_EQ(read_text(kGeneral + "+1 1 1\n+1 0000000000000000000000001 2\n"), dense(1, 1, {2.0}));
}

TEST(MatrixMarketRead, NumbersTooSmallBecomeZeroOfTheirSign) {
  for (const std::string tiny : {"1e-400", "0.0000001e-330", "123D-99999999999999999999"}) {
    EXPECT_EQ(value_of(tiny), 0) << tiny;
    EXPECT_FALSE(std::signbit(value_of(tiny)));
    EXPECT_TRUE(std::signbit(value_of("-" + tiny)));
  }
  EXPECT_EQ((read_text<float>(kGeneral + "1 1 1\n1 1 1e-60\n").values()[0]), 0);
  EXPECT_EQ(value_of("0e99999999999999999999"), 0);
}

TEST(MatrixMarketRead, ManyDigitsRoundCorrectly) {
  // Halfway between 1 and its successor, from below, exactly and from above.
  EXPECT_EQ(value_of("1.00000000000000011102230246251565404236316680908203124"), 1);
  EXPECT_EQ(value_of("1.00000000000000011102230246251565404236316680908203125"), 1);
  EXPECT_EQ(value_of("1.00000000000000011102230246251565404236316680908203126"),
            1 + std::numeric_limits<double>::epsilon());
  // Through double this would round twice.
  EXPECT_EQ((read_text<float>(kGeneral + "1 1 1\n1 1 1.00000017881393432617187499\n").values()[0]),
            1.00000011920928955078125f);
}

TEST(MatrixMarketRead, IntegersAndPatternsBecomeValues) {
  EXPECT_EQ(read_text("%%MatrixMarket matrix coordinate integer general\n1 2 2\n"
                      "1 1 -8589934592\n1 2 +7\n"),
            dense(1, 2, {-8589934592.0, 7.0}));
  EXPECT_EQ(read_text("%%MatrixMarket matrix coordinate unsigned-integer general\n1 1 1\n"
                      "1 1 18446744073709551615\n"),
            dense(1, 1, {0x1p64}));
  EXPECT_EQ(read_text("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n"),
            Matrix(2, 2, {0, 2, 3}, {0, 1, 0}, {1, 1, 1}));
}

TEST(MatrixMarketRead, VectorsAreMatricesOfOneColumn) {
  EXPECT_EQ(read_text("%%MatrixMarket vector coordinate real general\n4 3\n1 1\n4 2\n4 3\n"),
            Matrix(4, 1, {0, 1, 1, 1, 2}, {0, 0}, {1, 5}));
  EXPECT_EQ(read_text("%%MatrixMarket vector array real general\n2\n1\n0\n"),
            dense(2, 1, {1.0, 0.0}));
  EXPECT_EQ(read_text("%%MatrixMarket vector coordinate pattern\n3 1\n2\n"),
            Matrix(3, 1, {0, 0, 1, 1}, {0}, {1}));
}

TEST(MatrixMarketRead, ArraysAreStoredByColumnsAndKeepTheirZeros) {
  EXPECT_EQ(read_text("%%MatrixMarket matrix array real general\n2 3\n1\n2\n0\n4\n5\n6\n"),
            dense(2, 3, {1.0, 0.0, 5.0, 2.0, 4.0, 6.0}));
  EXPECT_EQ(read_text("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n"),
            dense(3, 3, {1.0, 2.0, 3.0, 2.0, 4.0, 5.0, 3.0, 5.0, 6.0}));
  EXPECT_EQ(read_text("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n"),
            dense(3, 3, {0.0, -1.0, -2.0, 1.0, 0.0, -3.0, 2.0, 3.0, 0.0}));
  EXPECT_EQ(read_text("%%MatrixMarket matrix array real skew-symmetric\n1 1\n"),
            dense(1, 1, {0.0}));
  EXPECT_EQ(read_text<Complex>("%%MatrixMarket matrix array complex hermitian\n2 2\n"
                               "1 0\n2 3\n4 -0\n"),
            dense<Complex>(2, 2, {1.0, Complex(2, -3), Complex(2, 3), 4.0}));
}

TEST(MatrixMarketRead, SymmetriesAreExpandedWithoutDoublingTheDiagonal) {
  const std::string body = "2 2 2\n1 1 0 0\n2 1 1 2\n";
  const auto read_as = [&](const std::string& symmetry) {
    return read_text<Complex>("%%MatrixMarket matrix coordinate complex " + symmetry + "\n" + body);
  };
  const auto expected = [](Complex upper) {
    return Csr<Complex, std::int32_t>(2, 2, {0, 2, 3}, {0, 1, 0}, {0, upper, Complex(1, 2)});
  };
  EXPECT_EQ(read_as("symmetric"), expected(Complex(1, 2)));
  EXPECT_EQ(read_as("skew-symmetric"), expected(Complex(-1, -2)));
  EXPECT_EQ(read_as("hermitian"), expected(Complex(1, -2)));
  EXPECT_EQ(read_as("general").nnz(), 2);
}

TEST(MatrixMarketRead, DuplicatesAreAddedInFileOrder) {
  const std::string entries = "1 1 1e16\n1 1 1\n1 1 -1e16\n1 1 1\n";
  EXPECT_EQ(read_text(kGeneral + "1 1 4\n" + entries), dense(1, 1, {1e16 + 1 - 1e16 + 1}));
}

TEST(MatrixMarketRead, EmptyMatricesHaveTheirSizes) {
  EXPECT_EQ(read_text(kGeneral + "0 0 0\n"), Matrix());
  EXPECT_EQ(read_text(kGeneral + "0 5 0\n").cols(), 5);
  EXPECT_EQ(read_text(kGeneral + "5 0 0").rows(), 5);
  EXPECT_EQ(read_text("%%MatrixMarket matrix array real general\n3 0\n").rows(), 3);
  EXPECT_EQ(read_text("%%MatrixMarket matrix array real general\n0 2000000000\n").cols(),
            2000000000);
}

TEST(MatrixMarketRead, SparseButNotAbsurdRowCountsAreRead) {
  const std::string sizes = std::to_string(kRowsAlwaysRead) + " 1 1\n";
  EXPECT_EQ(read_text(kGeneral + sizes + "1 1 1\n").rows(), kRowsAlwaysRead);
}

TEST(MatrixMarketRead, GzipIsRecognisedByItsBytesAndMayHaveManyMembers) {
  const test::TemporaryFolder folder;
  const std::string half = kExampleText.substr(0, 60);
  const std::string rest = kExampleText.substr(60);
  for (const std::string& bytes : {kExampleText, test::gzipped(kExampleText),
                                   test::gzipped(half) + test::gzipped("") + test::gzipped(rest)}) {
    const auto path = folder.write("plain or not.mtx", bytes);
    EXPECT_EQ((read_matrix_market<double, std::int32_t>(path)), kExample);
    EXPECT_EQ(read_matrix_market_header(path).stored_entries, 3);
  }
}

TEST(MatrixMarketRead, ProgressGoesFromTheStartToTheEnd) {
  const test::TemporaryFolder folder;
  std::string text = kGeneral + "1 1 100000\n";
  for (int k = 0; k < 100000; ++k) text += "1 1 1\n";
  const auto path = folder.write("long.mtx", text);
  double last = 0;
  const ReadOptions options{.progress = [&](double fraction) {
    EXPECT_GE(fraction, last);
    last = fraction;
  }};
  EXPECT_EQ((read_matrix_market<double, std::int32_t>(path, options)), dense(1, 1, {1e5}));
  EXPECT_EQ(last, 1.0);
}

TEST(MatrixMarketRead, AgreesWithEigen) {
  const test::TemporaryFolder folder;
  const Random random(8);
  std::string text = kGeneral + "200 300 5000\n";
  for (int k = 0; k < 5000; ++k) {
    text += std::to_string(random.below(3 * k, 200) + 1) + " " +
            std::to_string(random.below(3 * k + 1, 300) + 1) + " " +
            std::to_string(random.uniform(3 * k + 2, -1, 1)) + "\n";
  }
  const auto path = folder.write("random.mtx", text);
  Eigen::SparseMatrix<double, Eigen::RowMajor, std::int64_t> expected;
  ASSERT_TRUE(Eigen::loadMarket(expected, path.string()));
  const auto matrix = read_matrix_market<double, std::int64_t>(path);
  EXPECT_LT((test::to_eigen(matrix) - expected).norm(), 1e-14 * expected.norm());
  EXPECT_EQ(matrix.nnz(), expected.nonZeros());
}

}  // namespace
}  // namespace strata
