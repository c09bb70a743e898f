#include "strata/formats/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "strata/base/parallel.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

// The same numbers the obvious way: entries in a map.
template <Value V, Index I>
void expect_obvious_numbers(const Csr<V, I>& matrix) {
  std::map<std::pair<Offset, Offset>, V> entries;
  std::multiset<Offset> lengths;
  std::set<Offset> used_columns;
  MatrixStatistics expected{.rows = matrix.rows(), .cols = matrix.cols(), .entries = matrix.nnz()};
  for (I row = 0; row < matrix.rows(); ++row) {
    const auto columns = matrix.pattern().columns_of(row);
    lengths.insert(static_cast<Offset>(columns.size()));
    expected.empty_rows += columns.empty();
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const V value = matrix.values()[matrix.row_offsets()[row] + static_cast<Offset>(k)];
      entries[{row, columns[k]}] = value;
      used_columns.insert(columns[k]);
      expected.zeros += value == V{};
    }
  }
  const bool square = matrix.rows() == matrix.cols();
  bool symmetric = square;
  for (const auto& [position, value] : entries) {
    const auto [row, column] = position;
    expected.lower_bandwidth = std::max(expected.lower_bandwidth, row - column);
    expected.upper_bandwidth = std::max(expected.upper_bandwidth, column - row);
    expected.diagonal_entries += row == column;
    expected.diagonal_zeros += row == column && value == V{};
    const auto mirror = entries.find({column, row});
    expected.mirrored_entries += mirror != entries.end();
    symmetric &= mirror != entries.end() && mirror->second == value;
  }

  const MatrixStatistics found = statistics_of(matrix);
  EXPECT_EQ(found.zeros, expected.zeros);
  EXPECT_EQ(found.non_finite, 0);
  EXPECT_EQ(found.empty_rows, expected.empty_rows);
  EXPECT_EQ(found.empty_cols, matrix.cols() - static_cast<Offset>(used_columns.size()));
  EXPECT_EQ(found.lower_bandwidth, expected.lower_bandwidth);
  EXPECT_EQ(found.upper_bandwidth, expected.upper_bandwidth);
  EXPECT_EQ(found.diagonal_entries, expected.diagonal_entries);
  EXPECT_EQ(found.diagonal_zeros, expected.diagonal_zeros);
  EXPECT_EQ(found.mirrored_entries, expected.mirrored_entries);
  EXPECT_EQ(found.pattern_symmetric, square && expected.mirrored_entries == matrix.nnz());
  EXPECT_EQ(found.value_symmetry == Symmetry::symmetric, symmetric);
  EXPECT_EQ(found.row_lengths.min, lengths.empty() ? 0 : *lengths.begin());
  EXPECT_EQ(found.row_lengths.max, lengths.empty() ? 0 : *lengths.rbegin());
  if (lengths.empty()) return;
  EXPECT_EQ(found.row_lengths.median, *std::next(lengths.begin(), (matrix.rows() - 1) / 2));
  double squares = 0;
  for (const Offset length : lengths) {
    squares += std::pow(static_cast<double>(length) - found.row_lengths.mean, 2);
  }
  EXPECT_NEAR(found.row_lengths.stddev, std::sqrt(squares / static_cast<double>(lengths.size())),
              1e-12 * (1 + found.row_lengths.stddev));
}

template <class T>
class StatisticsTyped : public testing::Test {};
TYPED_TEST_SUITE(StatisticsTyped, test::AllTypes);

TYPED_TEST(StatisticsTyped, MatchTheObviousNumbersOnAwkwardMatrices) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    SCOPED_TRACE(name);
    expect_obvious_numbers(entries.to_csr());
  }
}

using Matrix = Csr<double, std::int32_t>;
using Complex = std::complex<double>;
using ComplexMatrix = Csr<Complex, std::int32_t>;

Matrix random_square(int rows, int entries) {
  test::Entries<double, std::int32_t> list(rows, rows, 3);
  const Random random(8);
  for (int k = 0; k < entries; ++k) {
    list.add(static_cast<Offset>(random.below(2 * k, rows)),
             static_cast<Offset>(random.below(2 * k + 1, rows)));
  }
  return list.coo().to_csr(Symmetry::symmetric);
}

TEST(Statistics, DoNotDependOnTheNumberOfThreads) {
  const Matrix matrix = random_square(20000, 60000);
  set_thread_count(1);
  const MatrixStatistics serial = statistics_of(matrix);
  set_thread_count(5);
  const MatrixStatistics parallel = statistics_of(matrix);
  set_thread_count(0);
  EXPECT_EQ(serial, parallel);
  EXPECT_EQ(serial.value_symmetry, Symmetry::symmetric);
}

TEST(Statistics, ColumnsWithoutEntriesCostNothing) {
  // As many columns as nobody has memory for, and entries of one column in several rows.
  using Wide = Csr<double, std::int64_t>;
  constexpr std::int64_t kCols = std::numeric_limits<std::int64_t>::max();
  const Wide wide(3, kCols, {0, 2, 3, 5}, {7, kCols - 1, 7, 0, 7}, {1, 2, 3, 4, 5});
  const MatrixStatistics statistics = statistics_of(wide);
  EXPECT_EQ(statistics.empty_cols, kCols - 3);
  EXPECT_EQ(statistics.upper_bandwidth, kCols - 1);
  EXPECT_EQ(statistics.lower_bandwidth, 2);
  EXPECT_EQ(statistics.mirrored_entries, 0);
  EXPECT_EQ(statistics_of(Wide(2, kCols, {0, 0, 0}, {}, {})).empty_cols, kCols);
}

TEST(Statistics, UsedColumnsAreCountedInWideAndInNarrowMatrices) {
  // Around the number of columns per entry where the way of counting changes.
  for (const std::int32_t cols : {5000, 39999, 40000, 40007, 40008, 50000}) {
    test::Entries<double, std::int32_t> entries(2, cols, 1);
    for (int k = 0; k < 5000; ++k) entries.add(k % 2, k / 2 * 2);
    EXPECT_EQ(statistics_of(entries.coo().to_csr()).empty_cols, cols - 2500) << cols;
  }
}

TEST(Statistics, TellTheSymmetriesApart) {
  const auto symmetry = [](Complex above, Complex below, Complex diagonal) {
    const ComplexMatrix matrix(2, 2, {0, 2, 3}, {0, 1, 0}, {diagonal, above, below});
    return statistics_of(matrix).value_symmetry;
  };
  EXPECT_EQ(symmetry({1, 2}, {1, 2}, {5, 5}), Symmetry::symmetric);
  EXPECT_EQ(symmetry({1, 2}, {1, -2}, {5, 0}), Symmetry::hermitian);
  EXPECT_EQ(symmetry({1, 2}, {1, -2}, {5, 5}), Symmetry::general);
  EXPECT_EQ(symmetry({1, 2}, {-1, -2}, {0, 0}), Symmetry::skew_symmetric);
  EXPECT_EQ(symmetry({1, 2}, {-1, -2}, {1, 0}), Symmetry::general);
  EXPECT_EQ(symmetry({3, 0}, {3, 0}, {1, 0}), Symmetry::symmetric);
}

TEST(Statistics, ValuesCanBreakTheSymmetryOfThePattern) {
  const MatrixStatistics statistics = statistics_of(Matrix(2, 2, {0, 1, 2}, {1, 0}, {1, 2}));
  EXPECT_TRUE(statistics.pattern_symmetric);
  EXPECT_EQ(statistics.value_symmetry, Symmetry::general);
  EXPECT_EQ(statistics.mirrored_share(), 1.0);
  EXPECT_EQ(statistics.diagonal_entries, 0);
}

TEST(Statistics, CountValuesThatAreNotNumbers) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const MatrixStatistics statistics =
      statistics_of(Matrix(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {nan, -infinity, 0, 2}));
  EXPECT_EQ(statistics.non_finite, 2);
  EXPECT_EQ(statistics.zeros, 1);
  EXPECT_EQ(statistics.value_symmetry, Symmetry::general);
}

// A matrix whose row i has lengths[i] entries.
Matrix with_lengths(const std::vector<int>& lengths) {
  const int longest = *std::ranges::max_element(lengths);
  test::Entries<double, std::int32_t> entries(static_cast<int>(lengths.size()), longest, 1);
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    for (int column = 0; column < lengths[row]; ++column) {
      entries.add(static_cast<Offset>(row), column);
    }
  }
  return entries.coo().to_csr();
}

TEST(Statistics, QuartilesAreLengthsThatOccur) {
  const RowLengths lengths = statistics_of(with_lengths({9, 1, 3, 7, 5})).row_lengths;
  EXPECT_EQ(lengths.min, 1);
  EXPECT_EQ(lengths.lower_quartile, 3);
  EXPECT_EQ(lengths.median, 5);
  EXPECT_EQ(lengths.upper_quartile, 7);
  EXPECT_EQ(lengths.max, 9);
  EXPECT_DOUBLE_EQ(lengths.mean, 5);
  EXPECT_DOUBLE_EQ(lengths.stddev, std::sqrt(8.0));
}

TEST(Statistics, HistogramsUseOneBinPerLengthThenWideOnesThenPowersOfTwo) {
  using Bins = std::vector<LengthBin>;
  EXPECT_EQ(statistics_of(with_lengths({3, 1, 3})).row_lengths.histogram,
            (Bins{{1, 1, 1}, {2, 2, 0}, {3, 3, 2}}));
  EXPECT_EQ(statistics_of(with_lengths({41, 50, 58, 40, 42})).row_lengths.histogram.front(),
            (LengthBin{40, 41, 2}));
  EXPECT_EQ(statistics_of(with_lengths({0, 1, 2, 3, 20})).row_lengths.histogram,
            (Bins{{0, 0, 1}, {1, 1, 1}, {2, 3, 2}, {4, 7, 0}, {8, 15, 0}, {16, 20, 1}}));
}

}  // namespace
}  // namespace strata
