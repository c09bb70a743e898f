// What is written can be read back, and is as short as it can be.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "strata/io/internal/write.hpp"
#include "strata/io/matrix_market.hpp"
#include "tests/io/support.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

using Matrix = Csr<double, std::int32_t>;
using Complex = std::complex<double>;

template <Value V, Index I>
std::string text_of(const Csr<V, I>& matrix, const WriteOptions& options = {}) {
  std::string text;
  detail::write_matrix<V, I>(
      [&](std::span<const char> bytes) { text.append(bytes.begin(), bytes.end()); }, matrix,
      options, false);
  return text;
}

template <class T>
class MatrixMarketWriteTyped : public testing::Test {};
TYPED_TEST_SUITE(MatrixMarketWriteTyped, test::AllTypes);

TYPED_TEST(MatrixMarketWriteTyped, ReadingBackGivesTheSameMatrix) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  const test::TemporaryFolder folder;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    SCOPED_TRACE(name);
    const auto matrix = entries.to_csr();
    for (const std::string file : {"matrix.mtx", "matrix.mtx.gz"}) {
      write_matrix_market(folder.path() / file, matrix);
      EXPECT_EQ((read_matrix_market<V, I>(folder.path() / file)), matrix);
    }
  }
  EXPECT_EQ(folder.files(), 2);
}

TYPED_TEST(MatrixMarketWriteTyped, SymmetricHalvesReadBackAsTheWhole) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "half.mtx.gz";
  for (const Symmetry symmetry :
       {Symmetry::symmetric, Symmetry::skew_symmetric, Symmetry::hermitian}) {
    if (symmetry == Symmetry::hermitian && !is_complex<V>) continue;
    for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
      if (entries.rows() != entries.cols()) continue;
      SCOPED_TRACE(name);
      // The strictly lower entries, mirrored, and a diagonal that every symmetry allows.
      test::Entries<V, I> lower(entries.rows(), entries.cols(), 1);
      for (Offset k = 0; k < entries.nnz(); ++k) {
        const I row = entries.row_indices()[k];
        const I column = entries.column_indices()[k];
        const V diagonal = symmetry == Symmetry::skew_symmetric ? V{} : V{3};
        if (column <= row) lower.add(row, column, column < row ? entries.values()[k] : diagonal);
      }
      const auto matrix = lower.coo().to_csr(symmetry);
      write_matrix_market(path, matrix, {.symmetry = symmetry});
      EXPECT_EQ(read_matrix_market_header(path).symmetry, symmetry);
      EXPECT_LE(read_matrix_market_header(path).stored_entries, lower.coo().nnz());
      EXPECT_EQ((read_matrix_market<V, I>(path)), matrix);
    }
  }
}

TYPED_TEST(MatrixMarketWriteTyped, AwkwardNumbersKeepTheirBits) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  using Real = decltype(std::abs(V{}));
  using Limits = std::numeric_limits<Real>;
  Array<Real> numbers = {Real(0.1),        Real(1) / 3,          Limits::max(),      Limits::min(),
                         Limits::lowest(), Limits::denorm_min(), Limits::infinity(), -Real(0)};
  const Random random(3);
  for (int k = 0; k < 2000; ++k) {
    const int power = static_cast<int>(random.below(2 * k, 60)) - 30;
    numbers.push_back(static_cast<Real>(std::ldexp(random.uniform(2 * k + 1, -1, 1), power)));
  }
  Array<I> rows;
  Array<I> columns;
  Array<V> values;
  for (const Real number : numbers) {
    rows.push_back(0);
    columns.push_back(static_cast<I>(columns.size()));
    values.push_back(V(number));
  }
  const auto size = static_cast<I>(numbers.size());
  const auto matrix = Coo<V, I>(1, size, rows, columns, values).to_csr();
  const auto again = test::read_text<V, I>(text_of(matrix));
  ASSERT_EQ(again.nnz(), matrix.nnz());
  for (Offset k = 0; k < matrix.nnz(); ++k) {
    const Real expected = std::real(matrix.values()[k]);
    EXPECT_EQ(std::real(again.values()[k]), expected);
    EXPECT_EQ(std::signbit(std::real(again.values()[k])), std::signbit(expected));
  }
}

TEST(MatrixMarketWrite, NumbersAreAsShortAsTheyCanBe) {
  const Matrix matrix(2, 3, {0, 2, 3}, {0, 2, 1}, {0.1, -1e300, 3});
  EXPECT_EQ(text_of(matrix),
            "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 0.1\n1 3 -1e+300\n2 2 3\n");
  const Csr<std::complex<float>, std::int64_t> complex(1, 1, {0, 1}, {0}, {{0.1f, -2}});
  EXPECT_EQ(text_of(complex),
            "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 0.1 -2\n");
}

TEST(MatrixMarketWrite, OptionsChooseSymmetryPatternAndComment) {
  const Matrix matrix(2, 2, {0, 1, 3}, {1, 0, 1}, {5, 5, 7});
  EXPECT_EQ(text_of(matrix, {.symmetry = Symmetry::symmetric, .comment = " two\n\n lines"}),
            "%%MatrixMarket matrix coordinate real symmetric\n% two\n%\n% lines\n2 2 2\n"
            "2 1 5\n2 2 7\n");
  EXPECT_EQ(text_of(matrix, {.pattern = true}),
            "%%MatrixMarket matrix coordinate pattern general\n2 2 3\n1 2\n2 1\n2 2\n");
  EXPECT_EQ(text_of(Matrix(2, 2, {0, 1, 2}, {1, 0}, {5, 6}),
                    {.symmetry = Symmetry::symmetric, .pattern = true}),
            "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n");
}

TEST(MatrixMarketWrite, RefusesSymmetriesThatTheMatrixDoesNotHave) {
  const auto error_of = [](const auto& matrix, const WriteOptions& options) -> std::string {
    try {
      text_of(matrix, options);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "no error";
  };
  const Matrix values(3, 3, {0, 0, 1, 2}, {2, 1}, {5, 6});
  const Matrix hole(3, 3, {0, 1, 1, 1}, {2}, {5});
  const Matrix diagonal(2, 2, {0, 1, 2}, {0, 1}, {0, 1});
  EXPECT_EQ(error_of(values, {.symmetry = Symmetry::symmetric}),
            "the matrix is not symmetric: see the entry at row 1, column 2");
  EXPECT_EQ(error_of(hole, {.symmetry = Symmetry::symmetric, .pattern = true}),
            "the matrix is not symmetric: see the entry at row 0, column 2");
  EXPECT_EQ(error_of(diagonal, {.symmetry = Symmetry::skew_symmetric}),
            "the matrix is not skew-symmetric: see the entry at row 1, column 1");
  const Csr<Complex, std::int32_t> complex(1, 1, {0, 1}, {0}, {Complex(1, 1)});
  EXPECT_EQ(error_of(complex, {.symmetry = Symmetry::hermitian}),
            "the matrix is not hermitian: see the entry at row 0, column 0");
  EXPECT_NE(error_of(values, {.symmetry = Symmetry::hermitian}), "no error");
  EXPECT_NE(error_of(Matrix(), {.symmetry = Symmetry::skew_symmetric, .pattern = true}),
            "no error");
  EXPECT_NE(error_of(Matrix(1, 2, {0, 0}, {}, {}), {.symmetry = Symmetry::symmetric}), "no error");
  EXPECT_NE(error_of(Matrix(), {.comment = std::string_view("a\0b", 3)}), "no error");
}

TEST(MatrixMarketWrite, ManyBlocksComeOutInOrder) {
  test::Entries<double, std::int32_t> entries(5000, 100, 9);
  for (int row = 0; row < 5000; ++row) {
    for (int column = row % 3; column < 100; column += 1 + row % 2) entries.add(row, column);
  }
  const auto matrix = entries.coo().to_csr();
  ASSERT_GT(matrix.nnz(), 300000);
  const std::string expected = text_of(matrix);
  EXPECT_EQ(test::read_text(expected), matrix);
  const test::TemporaryFolder folder;
  for (const int threads : {1, 2, 7}) {
    const test::ThreadCount count(threads);
    double last = 0;
    write_matrix_market(folder.path() / "a.mtx", matrix,
                        {.progress = [&](double fraction) { last = fraction; }});
    EXPECT_EQ(last, 1.0);
    EXPECT_EQ(test::contents_of(folder.path() / "a.mtx"), expected);
    write_matrix_market(folder.path() / "a.mtx.gz", matrix);
    EXPECT_EQ((read_matrix_market<double, std::int32_t>(folder.path() / "a.mtx.gz")), matrix);
  }
}

TEST(MatrixMarketWrite, FailuresKeepTheOldFileAndLeaveNothingBehind) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("old.mtx", "precious");
  const Matrix lopsided(2, 2, {0, 1, 1}, {1}, {5});
  EXPECT_THROW(write_matrix_market(path, lopsided, {.symmetry = Symmetry::symmetric}),
               InvalidArgument);
  EXPECT_EQ(test::contents_of(path), "precious");
  EXPECT_EQ(folder.files(), 1);
  write_matrix_market(path, lopsided);
  EXPECT_EQ((read_matrix_market<double, std::int32_t>(path)), lopsided);
  EXPECT_EQ(folder.files(), 1);
}

TEST(MatrixMarketWrite, SymbolicLinksStayLinks) {
  const test::TemporaryFolder folder;
  const auto target = folder.write("target.mtx", "old");
  std::filesystem::create_symlink(target, folder.path() / "link.mtx");
  write_matrix_market(folder.path() / "link.mtx", Matrix());
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path() / "link.mtx"));
  EXPECT_EQ((read_matrix_market<double, std::int32_t>(target)), Matrix());
}

TEST(MatrixMarketWrite, WhatCannotBeWrittenIsNamed) {
  const test::TemporaryFolder folder;
  const auto error = [](const std::filesystem::path& path) -> std::string {
    try {
      write_matrix_market(path, Matrix());
    } catch (const FileError& failure) {
      return failure.what();
    }
    return "no error";
  };
  const std::string name = folder.path().string();
  EXPECT_EQ(error(folder.path()), name + ": cannot be written: Is a directory");
  EXPECT_EQ(error(folder.path() / "no" / "a.mtx"),
            name + "/no/a.mtx: cannot be written: No such file or directory");
  if (std::filesystem::exists("/dev/full")) {
    EXPECT_EQ(error("/dev/full"), "/dev/full: cannot be written: No space left on device");
    EXPECT_EQ(error("/dev/null"), "no error");
    EXPECT_FALSE(std::filesystem::is_regular_file("/dev/null"));
  }
}

}  // namespace
}  // namespace strata
