#include "strata/formats/dia.hpp"

#include <gtest/gtest.h>

#include "tests/support/format_check.hpp"

namespace strata {
namespace {

using Matrix = Dia<double, std::int32_t>;

TEST(Dia, StoresDiagonalsInIncreasingOrder) {
  const Csr<double, std::int32_t> csr(2, 3, {0, 2, 3}, {0, 2, 0}, {1, 0, 3});
  const Matrix dia = Matrix::from_csr(csr);
  EXPECT_EQ(std::vector(dia.offsets().begin(), dia.offsets().end()), (std::vector{-1, 0, 2}));
  EXPECT_EQ(std::vector(dia.values().begin(), dia.values().end()),
            (std::vector<double>{0, 3, 1, 0, 0, 0}));
  EXPECT_EQ(dia.to_csr(), csr);  // the explicit zero at (0, 2) survives, the holes do not
  EXPECT_EQ(dia.footprint().value_bytes, 6 * 8);
  EXPECT_EQ(dia.footprint().index_bytes, 3 * 4);
}

TEST(Dia, KnowsTheBytesOfAHopelessMatrixWithoutAllocatingThem) {
  // 100000 entries on as many diagonals.
  constexpr std::int32_t n = 200000;
  test::Entries<double, std::int32_t> entries(n, n, 1);
  for (int k = 0; k < n / 2; ++k) entries.add(k, n - 1 - k);
  const auto csr = entries.coo().to_csr();
  EXPECT_EQ(Matrix::footprint_of(csr).stored_entries, Offset{n} * (n / 2));
  EXPECT_THROW(Matrix::from_csr(csr), InvalidArgument);
}

TEST(Dia, FindsFewDiagonalsAmongMoreThanMemoryHolds) {
  constexpr std::int64_t kCols = std::int64_t{1} << 62;
  const Csr<double, std::int64_t> csr(2, kCols, {0, 3, 5}, {0, 1, kCols - 1, 0, 2},
                                      {1, 2, 3, 4, 5});
  const auto dia = Dia<double, std::int64_t>::from_csr(csr);
  EXPECT_EQ(std::vector(dia.offsets().begin(), dia.offsets().end()),
            (std::vector<std::int64_t>{-1, 0, 1, kCols - 1}));
  EXPECT_EQ(dia.to_csr(), csr);
}

TEST(Dia, TakesDiagonalsWhoseNonzerosBecomeTheEntries) {
  const Matrix dia(2, 3, {-1, 0, 2}, {0, 3, 1, 0, 2, 0});
  EXPECT_EQ(dia.to_csr(), (Csr<double, std::int32_t>(2, 3, {0, 2, 3}, {0, 2, 0}, {1, 2, 3})));
}

TEST(Dia, RefusesBadArraysAndNamesTheDiagonal) {
  const auto expect_refused = [](Array<std::int32_t> offsets, Array<double> values,
                                 const std::string& message) {
    test::expect_invalid([&] { Matrix(2, 3, offsets, values); }, message);
  };
  expect_refused({0, 3}, {1, 2, 0, 0}, "diagonal 1: offset 3 is outside a 2 x 3 matrix");
  expect_refused({-2, 0}, {0, 0, 1, 2}, "diagonal 0: offset -2 is outside a 2 x 3 matrix");
  expect_refused({1, 1}, {1, 2, 1, 2}, "diagonal 1: offsets 1 and 1 are not in increasing order");
  expect_refused({0, 2}, {1, 2, 3, 4}, "diagonal 1: row 1 lies outside the matrix and is not zero");
  expect_refused({0}, {1}, "there are 1 values instead of 2");
}

}  // namespace
}  // namespace strata
