#include "strata/formats/fingerprint.hpp"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

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

}  // namespace
}  // namespace strata
