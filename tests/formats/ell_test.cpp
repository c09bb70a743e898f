#include "strata/formats/ell.hpp"

#include <gtest/gtest.h>

#include "tests/support/format_check.hpp"

namespace strata {
namespace {

using Matrix = Ell<double, std::int32_t>;

// Row lengths 1, 0 and 2.
Csr<double, std::int32_t> uneven() {
  return {3, 4, {0, 1, 1, 3}, {2, 0, 3}, {1, 2, 3}};
}

TEST(Ell, StoresColumnsOfEntriesAndPadsWithColumnsThatExist) {
  const Matrix ell = Matrix::from_csr(uneven());
  EXPECT_EQ(ell.width(), 2);
  EXPECT_EQ(std::vector(ell.values().begin(), ell.values().end()),
            (std::vector<double>{1, 0, 2, 0, 0, 3}));
  EXPECT_EQ(std::vector(ell.columns().begin(), ell.columns().end()),
            (std::vector{2, 1, 0, 2, 1, 3}));
  EXPECT_EQ(ell.footprint().value_bytes, 6 * 8);
  EXPECT_EQ(ell.footprint().index_bytes, 6 * 4);
  EXPECT_DOUBLE_EQ(ell.footprint().fill(), 2.0);
}

// An empty row pads with its own number while there is such a column.
TEST(Ell, EmptyRowsPadWithTheirOwnColumnOrTheLast) {
  const Matrix ell = Matrix::from_csr({4, 2, {0, 1, 1, 1, 1}, {0}, {1}}, {.max_fill = 4});
  EXPECT_EQ(std::vector(ell.columns().begin(), ell.columns().end()), (std::vector{0, 1, 1, 1}));
}

TEST(Ell, RefusesHopelessFillBeforeItAllocates) {
  // One row of 10^6 entries in 10^6 rows would take 12 TB.
  constexpr std::int32_t n = 1000000;
  Array<Offset> offsets(n + 1, n);
  offsets[0] = 0;
  Array<std::int32_t> columns(n);
  for (std::int32_t j = 0; j < n; ++j) columns[j] = j;
  const Csr<double, std::int32_t> matrix(n, n, offsets, columns, Array<double>(n, 1.0));
  EXPECT_EQ(Matrix::footprint_of(matrix).stored_entries, Offset{n} * n);
  EXPECT_THROW(Matrix::from_csr(matrix), InvalidArgument);
}

TEST(Ell, TakesArraysThatObeyItsInvariants) {
  const Matrix ell(3, 4, 2, {1, 0, 2}, {2, 0, 0, 1, 3, 3}, {1, 0, 2, 0, 0, 3});
  EXPECT_EQ(ell.to_csr(), uneven());
  EXPECT_EQ(ell.nnz(), 3);
}

TEST(Ell, RefusesBadArraysAndNamesTheRow) {
  const auto expect_refused = [](Array<std::int32_t> lengths, Array<std::int32_t> columns,
                                 Array<double> values, const std::string& message) {
    test::expect_invalid([&] { Matrix(3, 4, 2, lengths, columns, values); }, message);
  };
  expect_refused({1, 0, 3}, {2, 0, 0, 1, 3, 3}, {1, 0, 2, 0, 0, 3},
                 "row 2: length 3 is outside 0 … 2");
  expect_refused({1, 0, 2}, {2, 0, 3, 1, 3, 3}, {1, 0, 2, 0, 0, 3},
                 "row 2: columns 3 and 3 are not in increasing order");
  expect_refused({1, 0, 2}, {2, 0, 0, 1, 4, 3}, {1, 0, 2, 0, 0, 3},
                 "row 1: column 4 is outside 0 … 3");
  expect_refused({1, 0, 2}, {2, 0, 0, 1, 3, 3}, {1, 0, 2, 5, 0, 3},
                 "row 0: padding after the last entry is not zero");
  expect_refused({1, 0}, {2, 0, 0, 1, 3, 3}, {1, 0, 2, 0, 0, 3},
                 "there are 2 row lengths instead of 3");
  expect_refused({1, 0, 2}, {2, 0, 0}, {1, 0, 2, 0, 0, 3}, "there are 3 columns instead of 6");
  expect_refused({1, 0, 2}, {2, 0, 0, 1, 3, 3}, {1}, "there are 1 values instead of 6");
  test::expect_invalid([] { Matrix(1, 1, 2, {0}, {0, 0}, {0, 0}); },
                       "rows of 1 columns cannot have width 2");
}

}  // namespace
}  // namespace strata
