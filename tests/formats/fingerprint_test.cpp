#include "strata/formats/fingerprint.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <set>
#include <tuple>
#include <vector>

#include "strata/base/parallel.hpp"
#include "strata/gen/generate.hpp"
#include "tests/support/matrices.hpp"

namespace strata {
namespace {

using Matrix = Csr<double, std::int32_t>;

Fingerprint fingerprint(const Matrix& matrix) {
  return fingerprint_of(matrix.pattern());
}

TEST(Fingerprint, DoesNotDependOnValuesThreadsOrIndexType) {
  const auto matrix = generate<double, std::int32_t>("mesh:20000,dim=2,nnzr=9");
  const Fingerprint expected = fingerprint(matrix);
  EXPECT_EQ(fingerprint_of(generate<float, std::int64_t>("mesh:20000,dim=2,nnzr=9").pattern()),
            expected);
  for (const int threads : {1, 3, 8}) {
    set_thread_count(threads);
    EXPECT_EQ(fingerprint(matrix), expected);
  }
  set_thread_count(0);
}

TEST(Fingerprint, TellsAwkwardPatternsApart) {
  std::set<std::tuple<Offset, Offset, Offset, std::uint64_t, std::uint64_t>> seen;
  std::set<std::tuple<Offset, Offset, std::vector<Offset>, std::vector<std::int32_t>>> patterns;
  for (const auto& [name, entries] : test::awkward_matrices<double, std::int32_t>()) {
    const Matrix matrix = entries.to_csr();
    const Fingerprint print = fingerprint(matrix);
    seen.emplace(print.rows, print.cols, print.entries, print.sums[0], print.sums[1]);
    patterns.emplace(matrix.rows(), matrix.cols(),
                     std::vector<Offset>(matrix.row_offsets().begin(), matrix.row_offsets().end()),
                     std::vector<std::int32_t>(matrix.columns().begin(), matrix.columns().end()));
  }
  EXPECT_EQ(seen.size(), patterns.size());
}

TEST(Fingerprint, TellsEntriesThatMovedFromThoseThatStayed) {
  const Matrix matrix(3, 3, {0, 2, 3, 4}, {0, 1, 1, 2}, {1, 2, 3, 4});
  // Rows as long as before with other columns; the same columns in rows of other lengths; two rows
  // that changed places.
  const Matrix other_columns(3, 3, {0, 2, 3, 4}, {0, 2, 1, 2}, {1, 2, 3, 4});
  const Matrix other_rows(3, 3, {0, 2, 2, 4}, {0, 1, 1, 2}, {1, 2, 3, 4});
  const Matrix exchanged(3, 3, {0, 2, 3, 4}, {0, 1, 2, 1}, {1, 2, 3, 4});
  EXPECT_NE(fingerprint(other_columns), fingerprint(matrix));
  EXPECT_NE(fingerprint(other_rows), fingerprint(matrix));
  EXPECT_NE(fingerprint(exchanged), fingerprint(matrix));
}

// Every column and every offset counts, wherever it is among those that are summed up together.
TEST(Fingerprint, TellsAnyOneColumnAndOffset) {
  constexpr std::int32_t kRows = 11;
  const std::vector<Offset> offsets{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22};
  std::vector<std::int32_t> columns;
  for (std::int32_t row = 0; row < kRows; ++row) columns.insert(columns.end(), {row, row + 20});
  const auto print_of = [&](const std::vector<Offset>& of_rows,
                            const std::vector<std::int32_t>& of_entries) {
    return fingerprint_of(PatternView<std::int32_t>{kRows, 50, of_rows, of_entries});
  };
  std::set<std::array<std::uint64_t, 2>> seen{print_of(offsets, columns).sums};
  for (std::size_t entry = 0; entry < columns.size(); ++entry) {
    std::vector<std::int32_t> changed = columns;
    changed[entry] += entry % 2 == 0 ? 1 : 15;
    EXPECT_TRUE(seen.insert(print_of(offsets, changed).sums).second) << entry;
  }
  for (std::size_t row = 1; row + 1 < offsets.size(); ++row) {
    std::vector<Offset> changed = offsets;
    --changed[row];
    EXPECT_TRUE(seen.insert(print_of(changed, columns).sums).second) << row;
  }
}

TEST(Fingerprint, VisitsEveryRowOnce) {
  const auto matrix = generate<double, std::int32_t>("rmat:14,edges=8");
  for (const int threads : {1, 3}) {
    set_thread_count(threads);
    std::vector<std::atomic<int>> visits(static_cast<std::size_t>(matrix.rows()));
    const Fingerprint print =
        fingerprint_of<std::int32_t>(matrix.pattern(), [&](RowRange<std::int32_t> rows) {
          for (std::int32_t row = rows.begin; row < rows.end; ++row) ++visits[row];
        });
    EXPECT_EQ(print, fingerprint(matrix));
    EXPECT_TRUE(std::ranges::all_of(visits, [](const auto& times) { return times == 1; }));
  }
  set_thread_count(0);
}

}  // namespace
}  // namespace strata
