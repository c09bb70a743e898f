// What must be refused, and what the message has to say.
#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

#include "strata/io/matrix_market.hpp"
#include "tests/io/support.hpp"

namespace strata {
namespace {

using test::error_of;
using test::read_text;

const std::string kGeneral = "%%MatrixMarket matrix coordinate real general\n";

struct BadText {
  std::string name;
  std::string text;
  std::string message;
};

void PrintTo(const BadText& bad, std::ostream* out) {
  *out << bad.name;
}

std::string banner(const std::string& words) {
  return "%%MatrixMarket " + words + "\n";
}

std::vector<BadText> bad_texts() {
  const std::string symmetric = banner("matrix coordinate real symmetric");
  const std::string skew = banner("matrix coordinate real skew-symmetric");
  const std::string integer = banner("matrix coordinate integer general");
  const std::string nul(1, '\0');
  return {
      {"EmptyFile", "", "text:1: the file is empty"},
      {"BlankFile", "\n\n \n", "text:3: the file is empty"},
      {"NoBanner", "3 3 1\n1 1 1\n", "text:1: the first line does not start with %%MatrixMarket"},
      {"ShortBanner", banner("matrix coordinate"), "text:1: the banner is not"},
      {"LongBanner", banner("matrix array real general x"), "text:1: the banner is not"},
      {"Object", banner("tensor array real general"), "text:1: the banner names an unknown object"},
      {"Layout", banner("matrix dense real general"), "text:1: the banner names an unknown layout"},
      {"Field", banner("matrix array octonion"), "text:1: the banner names an unknown field"},
      {"Symmetry", banner("matrix array real odd"), "text:1: the banner names an unknown symmetry"},
      {"PatternArray", banner("matrix array pattern general"), "text:1: an array cannot be"},
      {"SymmetricVector", banner("vector array real symmetric"), "text:1: a vector cannot be"},
      {"RealHermitian", banner("matrix array real hermitian"), "text:1: only complex matrices"},
      {"SkewPattern", banner("matrix coordinate pattern skew-symmetric"), "text:1: a pattern"},
      {"NoSizes", kGeneral + "% comment\n\n", "text:3: the file ends before the line with the"},
      {"TwoSizes", kGeneral + "2 2\n", "text:2: the line with the sizes has 2 numbers, not 3"},
      {"FourSizes", kGeneral + "2 2 1 1\n", "text:2: the line with the sizes has 4 numbers"},
      {"NegativeRows", kGeneral + "\n-2 2 1\n", "text:3: the number of rows is '-2'"},
      {"VeryNegativeRows", kGeneral + "-99999999999999999999 2 1\n", "text:2: the number of rows"},
      {"NegativeEntries", kGeneral + "2 2 -1\n", "text:2: the number of entries is '-1'"},
      {"FractionalSize", kGeneral + "2 2.5 1\n", "text:2: the number of columns is '2.5'"},
      {"SizeIsAWord", kGeneral + "2 two 1\n", "text:2: the number of columns is 'two'"},
      {"HexadecimalSize", kGeneral + "0x1 2 1\n", "text:2: the number of rows is '0x1'"},
      {"SizeIsMinusZero", kGeneral + "2 -0 0\n", "text:2: the number of columns is '-0'"},
      {"SizeIsAPlus", kGeneral + "+ 2 1\n", "text:2: the number of rows is '+', which is not a"},
      {"SizeIsAMinus", kGeneral + "2 2 -\n", "text:2: the number of entries is '-'"},
      {"SizeHasTwoPluses", kGeneral + "++1 2 1\n", "text:2: the number of rows is '++1'"},
      {"SizeHasTwoSigns", kGeneral + "+-1 5 1\n3 1 1.0\n", "text:2: the number of rows is '+-1'"},
      {"SizeHasTwoSignsWithoutEntries", kGeneral + "+-7 3 0\n",
       "text:2: the number of rows is '+-7', which is not a whole number from 0 on"},
      {"ColumnsHaveTwoSigns", kGeneral + "3 +-5 1\n3 1 1.0\n", "text:2: the number of columns is"},
      {"EntriesHaveTwoSigns", kGeneral + "3 5 +-1\n", "text:2: the number of entries is '+-1'"},
      {"SizeHasSignBehind", kGeneral + "3+ 5 1\n", "text:2: the number of rows is '3+'"},
      {"SizeHasExponent", kGeneral + "1e3 5 1\n", "text:2: the number of rows is '1e3'"},
      {"SizeIsInfinite", kGeneral + "inf 5 1\n", "text:2: the number of rows is 'inf'"},
      {"SizeOverflow", kGeneral + "+9223372036854775808 1 1\n",
       "text:2: the number of rows is '+9223372036854775808', which does not fit in a 64-bit"},
      {"LongSize", kGeneral + std::string(100000, '9') + " 1 1\n", "999…', which does not fit"},
      {"ArrayRowsHaveTwoSigns", banner("matrix array real general") + "+-1 -1\n1\n",
       "text:2: the number of rows is '+-1'"},
      {"ArrayColumnsHaveTwoSigns", banner("matrix array real general") + "1 +-1\n1\n",
       "text:2: the number of columns is '+-1'"},
      {"SymmetricArrayHasTwoSigns", banner("matrix array real symmetric") + "+-2 +-2\n1\n",
       "text:2: the number of rows is '+-2'"},
      {"VectorHasTwoSigns", banner("vector coordinate real") + "+-3 1\n3 1\n",
       "text:2: the number of rows is '+-3'"},
      {"NotSquare", symmetric + "2 3 0\n", "text:2: a 2 x 3 matrix cannot be symmetric"},
      {"TooFew", kGeneral + "2 2 3\n1 1 1\n2 2 2\n",
       "text:4: the file ends after 2 of the 3 entries that line 2 promises"},
      {"TooFewInArray", banner("matrix array real general") + "2 2\n1\n2\n3\n",
       "text:5: the file ends after 3 of the 4 entries"},
      {"TooMany", kGeneral + "2 2 1\n% one\n1 1 1\n\n% two\n2 2 2\n% three\n",
       "text:7: there are more than the 1 entries that line 2 promises"},
      {"TooManyComesBeforeAnError", kGeneral + "2 2 1\n1 1 1\n2 2 2\njunk\n", "text:4: there are"},
      {"PromisesATrillion", kGeneral + "1000000 1000000 1000000000000\n1 1 1\n",
       "text:3: the file ends after 1 of the 1000000000000"},
      {"PromisesAHugeArray", banner("matrix array real general") + "1000000 1000000\n1\n",
       "text:3: the file ends after 1 of the 1000000000000"},
      {"IndexZero", kGeneral + "2 2 1\n0 1 1\n", "text:3: the row index 0 is outside 1 … 2"},
      {"NegativeIndex", kGeneral + "2 2 1\n1 -1 1\n", "text:3: '-1' is not a column index"},
      {"IndexIsMinusZero", kGeneral + "2 2 1\n-0 1 1\n", "text:3: '-0' is not a row index"},
      {"IndexIsPlusZero", kGeneral + "2 2 1\n+0 1 1\n", "text:3: the row index +0 is outside"},
      {"IndexIsAPlus", kGeneral + "2 2 1\n1 + 1\n", "text:3: '+' is not a column index"},
      {"IndexIsAMinus", kGeneral + "2 2 1\n- 1 1\n", "text:3: '-' is not a row index"},
      {"IndexHasTwoPluses", kGeneral + "2 2 1\n++1 1 1\n", "text:3: '++1' is not a row index"},
      {"IndexHasTwoSigns", kGeneral + "2 2 1\n1 +-1 1\n", "text:3: '+-1' is not a column index"},
      {"HexadecimalIndex", kGeneral + "2 2 1\n0x1 1 1\n", "text:3: '0x1' is not a row index"},
      {"LongIndex", kGeneral + "2 2 1\n" + std::string(100000, '1') + " 1 1\n",
       "111… is outside 1 … 2"},
      {"VectorIndexHasTwoSigns", banner("vector coordinate real") + "3 1\n+-3 1\n",
       "text:3: '+-3' is not a row index"},
      {"RowBeyond", kGeneral + "2 3 1\n3 1 1\n", "text:3: the row index 3 is outside 1 … 2"},
      {"ColumnBeyond", kGeneral + "2 3 1\n1 4 1\n", "text:3: the column index 4 is outside 1 … 3"},
      {"HugeIndex", kGeneral + "2 2 1\n18446744073709551617 1 1\n", "text:3: the row index 18446"},
      {"EntryInEmptyMatrix", kGeneral + "0 0 1\n1 1 1\n", "text:3: the row index 1 is outside"},
      {"NoColumn", kGeneral + "2 2 1\n1\n", "text:3: the column index is missing"},
      {"NoValue", kGeneral + "2 2 1\n1 1 \n", "text:3: a value is missing"},
      {"CutOff", kGeneral + "2 2 2\n1 1 1\n2", "text:4: the column index is missing"},
      {"JunkIndex", kGeneral + "2 2 1\n1x 1 1\n", "text:3: '1x' is not a row index"},
      {"IndexWithPoint", kGeneral + "2 2 1\n1 1.0 1\n", "text:3: '1.0' is not a column index"},
      {"JunkValue", kGeneral + "2 2 1\n1 1 one\n", "text:3: 'one' is not a number"},
      {"JunkAfterValue", kGeneral + "2 2 1\n1 1 1.5z\n", "text:3: '1.5z' is not a number"},
      {"TwoSigns", kGeneral + "2 2 1\n1 1 +-1\n", "text:3: '+-1' is not a number"},
      {"HalfExponent", kGeneral + "2 2 1\n1 1 1e\n", "text:3: '1e' is not a number"},
      {"Hexadecimal", kGeneral + "2 2 1\n1 1 0x10\n", "text:3: '0x10' is not a number"},
      {"LongJunk", kGeneral + "1 1 1\n1 1 " + std::string(1000, 'y') + "\n", "text:3: 'yyyy"},
      {"FourNumbers", kGeneral + "2 2 1\n1 1 1 5\n", "text:3: unexpected '5' after the entry"},
      {"CommentBehindEntry", kGeneral + "2 2 1\n1 1 1 % x\n", "text:3: unexpected '%' after"},
      {"PatternWithValue", banner("matrix coordinate pattern general") + "1 1 1\n1 1 1\n",
       "text:3: unexpected '1' after the entry"},
      {"TwoValuesPerLine", banner("matrix array real general") + "2 1\n1 2\n",
       "text:3: unexpected '2' after the entry"},
      {"NulInEntry", kGeneral + "2 2 1\n1 1 1" + nul + "\n", "text:3: '1\\x00' is not a number"},
      {"NulLine", kGeneral + "2 2 1\n" + nul + nul + "\n", "text:3: '\\x00\\x00' is not a row"},
      {"NulInComment", kGeneral + "2 2 1\n%" + nul + "\n1 1 1\n", "text:3: a NUL byte"},
      {"NulInFirstComment", kGeneral + "%" + nul + "\n2 2 1\n1 1 1\n", "text:2: a NUL byte"},
      {"NulInBanner", "%%MatrixMarket" + nul + " matrix\n", "text:1: the first line does not"},
      {"ValueOverflow", kGeneral + "2 2 1\n1 1 1E9999\n",
       "text:3: the value '1E9999' is too large"},
      {"LongValueOverflow", kGeneral + "1 1 1\n1 1 1" + std::string(400, '0') + "\n",
       "is too large for a 64-bit floating-point number"},
      {"ExponentOverflow", kGeneral + "1 1 1\n1 1 -.01d99999999999999999999\n",
       "text:3: the value '-.01d99999999999999999999' is too large"},
      {"IntegerOverflow", integer + "2 2 1\n1 1 9223372036854775808\n",
       "text:3: the value '9223372036854775808' does not fit in a 64-bit integer"},
      {"IntegerWithPoint", integer + "2 2 1\n1 1 1.0\n", "text:3: '1.0' is not an integer"},
      {"NanInteger", integer + "2 2 1\n1 1 nan\n", "text:3: 'nan' is not an integer"},
      {"NegativeUnsigned", banner("matrix coordinate unsigned-integer") + "2 2 1\n1 1 -1\n",
       "text:3: '-1' is not an unsigned integer"},
      {"AboveTheDiagonal", symmetric + "2 2 1\n1 2 1\n",
       "text:3: the entry (1, 2) is above the diagonal of a symmetric matrix"},
      {"SkewAboveTheDiagonal", skew + "2 2 1\n1 2 1\n", "text:3: the entry (1, 2) is above"},
      {"SkewDiagonal", skew + "2 2 1\n2 2 1\n",
       "text:3: the entry (2, 2) on the diagonal of a skew-symmetric matrix is not zero"},
      {"LongLine", kGeneral + "1 1 1\n1 1 1\n%" + std::string(3 << 20, 'x'),
       "text:4: the line is longer than 1048576 bytes"},
      {"LongFirstLine", "%" + std::string(3 << 20, 'x'), "text:1: the line is longer than"},
  };
}

class BadTexts : public testing::TestWithParam<BadText> {};
INSTANTIATE_TEST_SUITE_P(MatrixMarket, BadTexts, testing::ValuesIn(bad_texts()),
                         [](const auto& test) { return test.param.name; });

TEST_P(BadTexts, AreRefusedWithFileAndLine) {
  const auto& [name, text, message] = GetParam();
  for (const int threads : {1, 2, 7}) {
    const test::ThreadCount count(threads);
    for (const std::size_t block_bytes : {std::size_t{1} << 18, std::size_t{16}}) {
      for (const std::string& error : {error_of<double, std::int64_t>(text, block_bytes),
                                       error_of<double, std::int32_t>(text, block_bytes)}) {
        EXPECT_NE(error.find(message), std::string::npos) << error;
      }
    }
  }
}

TEST(MatrixMarketErrors, HermitianDiagonalsAreReal) {
  using Complex = std::complex<double>;
  EXPECT_EQ(error_of<Complex>(banner("matrix coordinate complex hermitian") +
                              "2 2 2\n1 1 3 0\n2 2 3 1\n"),
            "text:4: the entry (2, 2) on the diagonal of a hermitian matrix is not real");
  const std::string array = banner("matrix array complex hermitian");
  EXPECT_EQ(error_of<Complex>(array + "2 2\n1 0\n% comment\n2 2\n3 3\n"),
            "text:6: the entry (2, 2) on the diagonal of a hermitian matrix is not real");
  EXPECT_EQ(error_of<Complex>(array + "2 2\n1 1\njunk\n"),
            "text:3: the entry (1, 1) on the diagonal of a hermitian matrix is not real");
  EXPECT_EQ(error_of<Complex>(array + "2 2\n1 0\njunk\n3 3\n"), "text:4: 'junk' is not a number");
}

TEST(MatrixMarketErrors, ComplexFilesNeedComplexValues) {
  const std::string text = banner("matrix coordinate complex general") + "1 1 1\n1 1 2 3\n";
  EXPECT_THROW(read_text(text), InvalidMatrix);
  EXPECT_EQ(error_of(text), "text: a complex matrix cannot be read as a real one");
  const std::string half = banner("matrix coordinate complex general") + "1 1 1\n1 1 2\n";
  EXPECT_EQ(error_of<std::complex<float>>(half), "text:3: a value is missing");
}

TEST(MatrixMarketErrors, ValuesTooLargeForSinglePrecisionAreNamed) {
  const std::string text = kGeneral + "1 1 1\n1 1 -1e39\n";
  EXPECT_EQ(error_of<float>(text),
            "text:3: the value '-1e39' is too large for a 32-bit floating-point number");
  EXPECT_EQ(read_text<double>(text).values()[0], -1e39);
}

TEST(MatrixMarketErrors, SizesMustFitTheIndexType) {
  const std::string rows = kGeneral + "2147483648 1 100000000\n1 1 1\n";
  EXPECT_THROW(read_text(rows), OverflowError);
  EXPECT_EQ(error_of(rows),
            "text:2: the number of rows is 2147483648, which does not fit in a 32-bit integer");
  const std::string columns = kGeneral + "1 2147483648 1\n1 2147483648 1\n";
  EXPECT_THROW(read_text(columns), OverflowError);
  EXPECT_EQ((read_text<double, std::int64_t>(columns).columns()[0]), 2147483647);
  const std::string beyond = kGeneral + "% x\n1 9223372036854775808 1\n";
  EXPECT_THROW((read_text<double, std::int64_t>(beyond)), OverflowError);
  EXPECT_EQ(error_of(beyond),
            "text:3: the number of columns is '9223372036854775808', which does "
            "not fit in a 64-bit integer");
  const std::string array = banner("matrix array real general") + "4294967296 4294967296\n1\n";
  EXPECT_THROW((read_text<double, std::int64_t>(array)), OverflowError);
}

TEST(MatrixMarketErrors, RowsWithoutEntriesAreBounded) {
  const std::string expected =
      "text:2: 1000000000000000 rows for 1 entries: more than 16777216 "
      "rows are read only with at least one entry per 256 rows";
  EXPECT_EQ((error_of<double, std::int64_t>(kGeneral + "1000000000000000 1 1\n1 1 1\n")), expected);
  EXPECT_NE(error_of(kGeneral + "2147483647 1 1\n1 1 1\n"), "no error");
  EXPECT_NE(error_of(banner("matrix array real general") + "2147483647 0\n"), "no error");
  EXPECT_EQ(error_of(kGeneral + "2147483647 1 100000000\n1 1 1\n"),
            "text:3: the file ends after 1 of the 100000000 entries that line 2 promises");
}

TEST(MatrixMarketErrors, TheFirstErrorIsReportedForAnyNumberOfThreads) {
  std::string text = kGeneral + "10 10 20000\n";
  for (int k = 0; k < 20000; ++k) {
    text += k % 7000 == 6999 ? "1 11 1\n" : k % 500 == 0 ? "% comment\n1 1 1\n" : "1 1 1\n";
  }
  for (const int threads : {1, 2, 7}) {
    const test::ThreadCount count(threads);
    for (const std::size_t block_bytes : {100UL, 1000UL, 1UL << 18}) {
      EXPECT_EQ(error_of(text, block_bytes), "text:7016: the column index 11 is outside 1 … 10");
    }
  }
}

TEST(MatrixMarketErrors, CompressedBytesMustBeWholeAndSound) {
  std::string text = kGeneral + "100 100 20000\n";
  for (int k = 0; k < 20000; ++k) {
    text += std::to_string(k % 97 + 1) + " " + std::to_string(k % 89 + 1) + " 1\n";
  }
  const std::string good = test::gzipped(text);
  EXPECT_EQ(error_of(good), "no error");
  EXPECT_EQ(error_of(good.substr(0, good.size() / 2)), "text: the compressed data ends too early");
  EXPECT_EQ(error_of(good.substr(0, good.size() - 1)), "text: the compressed data ends too early");
  EXPECT_EQ(error_of(good.substr(0, 2)), "text: the compressed data ends too early");
  std::string flipped = good;
  flipped[good.size() / 2] = static_cast<char>(flipped[good.size() / 2] ^ 0x55);
  EXPECT_NE(error_of(flipped), "no error");
  std::string wrong_sum = good;
  wrong_sum[good.size() - 6] = static_cast<char>(wrong_sum[good.size() - 6] ^ 1);
  EXPECT_NE(error_of(wrong_sum).find("text: the compressed data is corrupt"), std::string::npos);
  EXPECT_NE(error_of(good + "junk").find("text: the compressed data is corrupt"),
            std::string::npos);
  EXPECT_THROW(read_text(good + "junk"), FileError);
}

TEST(MatrixMarketErrors, ATextErrorBeforeCorruptBytesComesFirst) {
  const std::string good = test::gzipped(kGeneral + "1 1 4\n1 1 1\n1 2 1\n1 1 1\n1 1 1\n");
  for (const int threads : {1, 4}) {
    const test::ThreadCount count(threads);
    EXPECT_EQ(error_of(good + "junk", 8), "text:4: the column index 2 is outside 1 … 1");
  }
}

TEST(MatrixMarketErrors, WhatCannotBeReadIsNamed) {
  const test::TemporaryFolder folder;
  const auto error = [](const std::filesystem::path& path) -> std::string {
    try {
      read_matrix_market<double, std::int32_t>(path);
    } catch (const FileError& failure) {
      EXPECT_EQ(failure.path(), path.string());
      return failure.what();
    }
    return "no error";
  };
  const std::string name = folder.path().string();
  EXPECT_EQ(error(folder.path()), name + ": cannot be read: Is a directory");
  EXPECT_EQ(error(folder.path() / "missing.mtx"),
            name + "/missing.mtx: cannot be read: No such file or directory");
  EXPECT_THROW(read_matrix_market_header(folder.path()), FileError);
  // Opens, but the first read fails.
  if (std::filesystem::exists("/proc/self/mem")) {
    EXPECT_EQ(error("/proc/self/mem"), "/proc/self/mem: cannot be read: Input/output error");
  }
}

TEST(MatrixMarketErrors, UnreadableFilesAreNamed) {
  if (::geteuid() == 0) GTEST_SKIP() << "the superuser may read everything";
  const test::TemporaryFolder folder;
  const auto path = folder.write("secret.mtx", kGeneral + "0 0 0\n");
  std::filesystem::permissions(path, std::filesystem::perms::none);
  EXPECT_THROW((read_matrix_market<double, std::int32_t>(path)), FileError);
}

}  // namespace
}  // namespace strata
