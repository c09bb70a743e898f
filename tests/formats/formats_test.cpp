// What holds for all formats at once. A format is tested here by being in the list: awkward and
// random matrices go through it and back, its bytes are known beforehand, its reference product is
// Eigen's, and nothing depends on the number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "strata/base/parallel.hpp"
#include "strata/formats/registry.hpp"
#include "strata/formats/statistics.hpp"
#include "tests/support/format_check.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

constexpr Symmetry kSymmetries[] = {Symmetry::symmetric, Symmetry::skew_symmetric,
                                    Symmetry::hermitian};

template <Value V, Index I>
Csr<V, I> back_to_csr(const AnyFormat<V, I>& matrix) {
  return std::visit(
      []<class Matrix>(const Matrix& stored) {
        if constexpr (std::same_as<Matrix, Csr<V, I>>) {
          return stored;
        } else {
          return stored.to_csr();
        }
      },
      matrix);
}

// It is in the format that was asked for, says of itself what is true, and is still the same
// matrix.
template <Value V, Index I>
void expect_kept(const AnyFormat<V, I>& matrix, const FormatSpec& spec, const Csr<V, I>& csr) {
  EXPECT_EQ(kFormats[matrix.index()], spec.format());
  std::visit(
      [&](const auto& stored) {
        EXPECT_EQ(stored.rows(), csr.rows());
        EXPECT_EQ(stored.cols(), csr.cols());
        EXPECT_EQ(stored.nnz(), csr.nnz());
        EXPECT_EQ(stored.footprint(), footprint(csr, spec));
      },
      matrix);
  EXPECT_EQ((back_to_csr<V, I>(matrix)), csr);
}

template <Value V, Index I>
auto reference_product(const AnyFormat<V, I>& matrix) {
  return [&matrix](V alpha, const std::vector<V>& x, V beta, std::vector<V>& y, RowRange<I> rows) {
    std::visit([&](const auto& stored) { reference::spmv(stored, alpha, x, beta, y, rows); },
               matrix);
  };
}

// check(matrix) for the matrix in every format that suits it, with the usual parameters.
template <Value V, Index I, class Check>
void for_each_format(const Csr<V, I>& csr, Check&& check) {
  constexpr double kAnyFill = 1e9;
  for (const FormatSpec& spec : usual_specs(statistics_of(csr))) {
    SCOPED_TRACE(text_of(spec));
    const AnyFormat<V, I> matrix = convert(csr, spec, kAnyFill);
    expect_kept<V, I>(matrix, spec, csr);
    check(matrix);
  }
}

template <class T>
class FormatsTyped : public testing::Test {};
TYPED_TEST_SUITE(FormatsTyped, test::AllTypes);

TYPED_TEST(FormatsTyped, AwkwardMatricesGoThroughEveryFormatAndMatchEigen) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  std::set<std::size_t> seen;
  const auto expect_all = [&](const Csr<V, I>& csr) {
    for_each_format(csr, [&](const AnyFormat<V, I>& matrix) {
      seen.insert(matrix.index());
      test::expect_eigens_products<V, I>(reference_product<V, I>(matrix), csr);
    });
  };
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    SCOPED_TRACE(name);
    const Csr<V, I> csr = entries.to_csr();
    expect_all(csr);
    if (csr.rows() != csr.cols()) continue;
    for (const Symmetry symmetry : kSymmetries) {
      SCOPED_TRACE(name_of(symmetry));
      expect_all(test::with_symmetry(csr, symmetry));
    }
  }
  EXPECT_EQ(seen.size(), kFormats.size());
}

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
    for_each_format(csr, [&](const AnyFormat<V, I>& matrix) {
      test::expect_eigens_product<V, I>(reference_product<V, I>(matrix), csr, 2.0, -0.5, rows);
    });
  }
}

TEST(Formats, RandomSymmetricMatricesGoThroughEveryFormatAndBack) {
  using Complex = std::complex<float>;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const auto n = static_cast<I>(Random(seed, 1).below(0, 81));
    const auto square = converted<Complex, I>(random_matrix(n, n, seed));
    for (const Symmetry symmetry : kSymmetries) {
      const auto full = test::with_symmetry(square, symmetry);
      for_each_format(full, [&](const AnyFormat<Complex, I>& matrix) {
        test::expect_eigens_product<Complex, I>(reference_product<Complex, I>(matrix), full,
                                                Complex(2), Complex(-0.5f), full.all_rows());
      });
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
    for_each_format(csr, [](const AnyFormat<V, I>&) {});
    for_each_format(symmetric, [](const AnyFormat<V, I>&) {});
  }
  set_thread_count(0);
}

}  // namespace
}  // namespace strata
