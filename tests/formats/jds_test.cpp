#include "strata/formats/jds.hpp"

#include <gtest/gtest.h>

#include "tests/support/format_check.hpp"

namespace strata {
namespace {

using Matrix = Jds<double, std::int32_t>;
using test::copied;

// Rows of 1, 3, 0 and 1 entries.
Csr<double, std::int32_t> uneven() {
  return {4, 5, {0, 1, 4, 4, 5}, {2, 0, 3, 4, 1}, {1, 2, 3, 4, 5}};
}

TEST(Jds, StoresTheLongestRowsFirstDiagonalByDiagonal) {
  const Matrix jds = Matrix::from_csr(uneven());
  EXPECT_EQ(copied(jds.row_of_slot()), (std::vector{1, 0, 3, 2}));
  EXPECT_EQ(copied(jds.diagonal_offsets()), (std::vector<Offset>{0, 3, 4, 5}));
  EXPECT_EQ(copied(jds.columns()), (std::vector{0, 2, 1, 3, 4}));
  EXPECT_EQ(copied(jds.values()), (std::vector<double>{2, 1, 5, 3, 4}));
}

TEST(Jds, CountsItsBytesExactly) {
  const Footprint footprint = Matrix::footprint_of(uneven());
  EXPECT_EQ(footprint.value_bytes, 5 * 8);
  EXPECT_EQ(footprint.index_bytes, 5 * 4 + 4 * 4 + 4 * 8);
  EXPECT_DOUBLE_EQ(footprint.fill(), 1.0);
}

TEST(Jds, TakesArraysThatObeyItsInvariants) {
  const Matrix jds(4, 5, {1, 3, 0, 2}, {0, 3, 4, 5}, {0, 1, 2, 3, 4}, {2, 5, 1, 3, 4});
  EXPECT_EQ(jds.to_csr(), uneven());
  EXPECT_EQ(jds.footprint(), Matrix::footprint_of(uneven()));
}

TEST(Jds, RefusesBadArraysAndNamesTheSlotDiagonalOrRow) {
  const auto expect_refused = [](Array<std::int32_t> rows, Array<Offset> offsets,
                                 Array<std::int32_t> columns, const std::string& message) {
    test::expect_invalid([&] { Matrix(4, 5, rows, offsets, columns, {2, 1, 5, 3, 4}); }, message);
  };
  const Array<std::int32_t> rows{1, 0, 3, 2};
  const Array<Offset> offsets{0, 3, 4, 5};
  const Array<std::int32_t> columns{0, 2, 1, 3, 4};
  expect_refused({1, 0, 3}, offsets, columns, "there are 3 rows by slot instead of 4");
  expect_refused({1, 0, 4, 2}, offsets, columns, "slot 2: row 4 is outside 0 … 3");
  expect_refused({1, 0, 1, 2}, offsets, columns, "slot 2: row 1 again");
  expect_refused(rows, offsets, {0, 2, 1, 3}, "there are 4 columns instead of 5");
  expect_refused(rows, {}, columns, "there are 0 diagonal offsets instead of 1");
  expect_refused(rows, {0, 3, 2, 5}, columns, "diagonal 1: diagonal offsets decrease");
  expect_refused(rows, {0, 3, 4}, columns, "diagonal offsets run from 0 to 4 instead of 0 to 5");
  expect_refused(rows, {0, 2, 5}, columns, "diagonal 1: 3 entries after 2");
  expect_refused(rows, {0, 5}, columns, "diagonal 0: 5 entries after 4");
  expect_refused(rows, {0, 3, 3, 5}, columns, "diagonal 1: 0 entries after 3");
  expect_refused(rows, offsets, {0, 2, 1, 3, 5}, "row 1: column 5 is outside 0 … 4");
  expect_refused(rows, offsets, {0, 2, 1, 3, 3},
                 "row 1: columns 3 and 3 are not in increasing order");
}

}  // namespace
}  // namespace strata
