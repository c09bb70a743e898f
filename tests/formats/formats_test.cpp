// What holds for all formats at once: random matrices through each of them and back, and results
// that do not depend on the number of threads.
#include <gtest/gtest.h>

#include <algorithm>

#include "strata/base/parallel.hpp"
#include "tests/support/format_check.hpp"

namespace strata {
namespace {

using V = double;
using I = std::int32_t;

// From empty to dense, scattered or along diagonals, zeros among the values.
Csr<V, I> random_matrix(I rows, I cols, std::uint64_t seed) {
  const Random random(seed, 2);
  test::Entries<V, I> entries(rows, cols, seed);
  const bool diagonals = random.uniform(2) < 0.5;
  const double density = random.uniform(3) * random.uniform(4);
  for (I row = 0; row < rows; ++row) {
    for (I column = 0; column < cols; ++column) {
      const auto here = static_cast<std::uint64_t>(row) * 100 + column + 1000;
      const auto line = static_cast<std::uint64_t>(column - row + 100);
      const double line_density = diagonals ? (random.uniform(line) < 0.1 ? 0.9 : 0.0) : density;
      if (random.uniform(here) >= line_density) continue;
      if (here % 11 == 0) {
        entries.add(row, column, 0.0);
      } else {
        entries.add(row, column);
      }
    }
  }
  return entries.coo().to_csr();
}

// check(name, matrix) for the matrix in every format that can hold any matrix.
template <class Check>
void for_each_format(const Csr<V, I>& csr, Check&& check) {
  constexpr double any = 1e9;
  check("COO", test::build<Coo<V, I>>(csr));
  check("CSC", test::build<Csc<V, I>>(csr));
  check("ELLPACK", test::build<Ell<V, I>>(csr, EllOptions{.max_fill = any}));
  check("HYB", test::build<Hyb<V, I>>(csr));
  check("BCSR 2 x 2", test::build<Bcsr<V, I>>(csr, BcsrOptions{.max_fill = any}));
  check("BCSR 3 x 5", test::build<Bcsr<V, I>>(
                          csr, BcsrOptions{.block_rows = 3, .block_cols = 5, .max_fill = any}));
  check("DIA", test::build<Dia<V, I>>(csr, DiaOptions{.max_fill = any}));
  check("SELL-32-1", test::build<Sell<V, I>>(csr, SellOptions{.max_fill = any}));
  check("SELL-8-64", test::build<Sell<V, I>>(
                         csr, SellOptions{.slice_height = 8, .sort_window = 64, .max_fill = any}));
  for (const Offset slice_height : {4, 8, 16, 32}) {
    for (const Offset sort_window : {1, 64}) {
      check("packed SELL",
            test::build<PackedSell<V, I>>(csr, PackedSellOptions{.slice_height = slice_height,
                                                                 .sort_window = sort_window,
                                                                 .max_fill = any}));
    }
  }
}

TEST(Formats, RandomMatricesGoThroughEveryFormatAndBack) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Random random(seed, 1);
    const auto size = [&](int counter, I bound) {
      return static_cast<I>(random.below(counter, bound + 1));
    };
    const Csr<V, I> csr = random_matrix(size(0, 80), size(1, 80), seed);
    const I a = size(2, csr.rows());
    const I b = size(3, csr.rows());
    const RowRange<I> rows{std::min(a, b), std::max(a, b)};
    for_each_format(csr, [&](const char* name, const auto& matrix) {
      SCOPED_TRACE(name);
      EXPECT_EQ(matrix.to_csr(), csr);
      test::expect_product(matrix, csr, 2.0, -0.5, rows);
    });
  }
}

TEST(Formats, RandomSymmetricMatricesGoThroughSymmetricCsrAndBack) {
  using Complex = std::complex<float>;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const auto n = static_cast<I>(Random(seed, 1).below(0, 81));
    const auto square = converted<Complex, I>(random_matrix(n, n, seed));
    for (const Symmetry symmetry :
         {Symmetry::symmetric, Symmetry::skew_symmetric, Symmetry::hermitian}) {
      const auto full = test::with_symmetry(square, symmetry);
      const auto half = SymmetricCsr<Complex, I>::from_csr(full, symmetry);
      EXPECT_EQ(half.to_csr(), full);
      test::expect_product(half, full, Complex(2), Complex(-0.5f), full.all_rows());
    }
  }
}

TEST(Formats, ConversionsDoNotDependOnTheNumberOfThreads) {
  // Large enough that every loop really is split, with rows of 1 to 9 entries on 13 diagonals.
  constexpr I n = 50000;
  test::Entries<V, I> entries(n, n, 1);
  for (I row = 0; row < n; ++row) {
    for (I k = 0; k <= row % 7; ++k) {
      const I column = row + (k * 5 + row % 3) % 13 - 6;
      if (column >= 0 && column < n) entries.add(row, column);
    }
  }
  const Csr<V, I> csr = entries.coo().to_csr();
  const Csr<V, I> symmetric = test::with_symmetry(csr, Symmetry::symmetric);
  for (const int threads : {1, 5}) {
    SCOPED_TRACE(testing::Message() << threads << " threads");
    set_thread_count(threads);
    for_each_format(csr, [&](const char* name, const auto& matrix) {
      EXPECT_EQ(matrix.to_csr(), csr) << name;
    });
    EXPECT_EQ((SymmetricCsr<V, I>::from_csr(symmetric, Symmetry::symmetric).to_csr()), symmetric);
  }
  set_thread_count(0);
}

}  // namespace
}  // namespace strata
