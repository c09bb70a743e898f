// Programs over vectors against loops that do the same, element by element.

#include "strata/solvers/processor_space.hpp"

#include <gtest/gtest.h>

#include <complex>

#include "strata/base/error.hpp"
#include "strata/base/random.hpp"

namespace strata::solvers {
namespace {

template <class V>
class Space : public testing::Test {
 protected:
  static Array<V> numbers(Offset count, std::uint64_t seed) {
    const Random random(seed, 3);
    Array<V> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double a = random.uniform(2 * i) - 0.5, b = random.uniform(2 * i + 1) - 0.5;
      if constexpr (is_complex<V>) {
        values[i] =
            V(static_cast<typename V::value_type>(a), static_cast<typename V::value_type>(b));
      } else {
        values[i] = static_cast<V>(a);
      }
    }
    return values;
  }
  static V conjugate(V value) {
    if constexpr (is_complex<V>) return std::conj(value);
    return value;
  }
  static double tolerance(Offset count) {
    return 4.0 * static_cast<double>(count + 1) *
           std::numeric_limits<decltype(std::abs(V()))>::epsilon();
  }
};

using Values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Space, Values);

TYPED_TEST(Space, ProgramsAreWhatTheirStatementsSay) {
  using V = TypeParam;
  for (const Offset rows :
       {Offset{0}, Offset{1}, Offset{15}, Offset{1024}, Offset{1025}, Offset{70001}}) {
    ProcessorSpace<V> space(rows, 3);
    auto x = this->numbers(rows, 1), y = this->numbers(rows, 2), w = this->numbers(rows, 3);
    const auto x0 = x, y0 = y;
    const Scalar a = space.make_scalars(4), dot{a.index + 1}, other{a.index + 2}, root{a.index + 3};
    space.write(a, V(2));
    VectorProgram<V> program;
    program.set(x, {{x}, {y, a, V(-1)}, weighted<V>(w, y)});  // x = x − 2y + w∘y
    program.set(y, {{x, V(3)}});                              // of the new x
    program.dot(x, y, dot);
    program.dot(w, w, other);
    program.compute(root, other, Operation::square_root);
    program.compute(a, dot, Operation::add, other);
    space.run(program);
    std::complex<double> expected = 0, squares = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const V value = x0[i] - V(2) * y0[i] + w[i] * y0[i];
      ASSERT_LE(std::abs(x[i] - value), this->tolerance(4));
      ASSERT_LE(std::abs(y[i] - V(3) * x[i]), this->tolerance(4));
      expected += std::complex<double>(this->conjugate(x[i]) * y[i]);
      squares += std::complex<double>(this->conjugate(w[i]) * w[i]);
    }
    const double bound = this->tolerance(rows) * (1 + std::abs(expected));
    EXPECT_LE(std::abs(std::complex<double>(space.read(dot)) - expected), bound);
    EXPECT_LE(std::abs(std::complex<double>(space.read(root)) - std::sqrt(squares)), bound);
    EXPECT_EQ(space.read(a), space.read(dot) + space.read(other));
  }
}

TYPED_TEST(Space, DotProductsHaveTheSameBitsForAnyNumberOfThreads) {
  using V = TypeParam;
  const Offset rows = 50'001;
  const auto x = this->numbers(rows, 4), y = this->numbers(rows, 5);
  const auto dot = [&](int threads) {
    ProcessorSpace<V> space(rows, threads);
    const Scalar sum = space.make_scalars(1);
    VectorProgram<V> program;
    program.dot(x, y, sum);
    space.run(program);
    return space.read(sum);
  };
  const V once = dot(1);
  for (const int threads : {2, 3, 7}) EXPECT_EQ(dot(threads), once);
}

// Blocks of columns and interleaved ones against loops over their elements.
TYPED_TEST(Space, BlocksMultiplyAsMatricesDo) {
  using V = TypeParam;
  using ConstBlock = typename ProcessorSpace<V>::ConstBlock;
  for (const Offset rows : {Offset{0}, Offset{1}, Offset{1030}, Offset{5000}}) {
    for (const auto& [m, n] : {std::pair{3, 1}, {5, 2}, {8, 8}, {0, 3}}) {
      for (const bool interleaved : {false, true}) {
        SCOPED_TRACE(testing::Message() << rows << " rows, " << m << " and " << n
                                        << (interleaved ? " interleaved" : ""));
        const auto n_rows = static_cast<std::size_t>(rows);
        const auto at = [&](std::size_t row, int column, int columns) {
          return interleaved
                     ? row * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column)
                     : static_cast<std::size_t>(column) * n_rows + row;
        };
        ProcessorSpace<V> space(rows, 2);
        const auto a = this->numbers(m * rows, 6);
        auto b = this->numbers(n * rows, 7);
        const auto b0 = b;
        const Scalar first = space.make_scalars(std::max(m * n, n * n));
        space.gram({a, m, interleaved}, ConstBlock(b, n, interleaved), first);
        std::vector<V> c(static_cast<std::size_t>(m * n));
        space.read(first, c);
        const auto coefficient = [&](int i, int j) {
          return c[static_cast<std::size_t>(i + j * m)];
        };
        for (int i = 0; i < m; ++i) {
          for (int j = 0; j < n; ++j) {
            V sum = V(0);
            for (std::size_t r = 0; r < n_rows; ++r) {
              sum += this->conjugate(a[at(r, i, m)]) * b[at(r, j, n)];
            }
            EXPECT_LE(std::abs(coefficient(i, j) - sum), this->tolerance(rows));
          }
        }
        space.add_product(V(-2), {a, m, interleaved}, first, {b, n, interleaved});
        for (std::size_t r = 0; r < n_rows; ++r) {
          for (int j = 0; j < n; ++j) {
            V value = b0[at(r, j, n)];
            double size = 1;
            for (int i = 0; i < m; ++i) {
              value -= V(2) * coefficient(i, j) * a[at(r, i, m)];
              size += std::abs(coefficient(i, j));
            }
            ASSERT_LE(std::abs(b[at(r, j, n)] - value), size * this->tolerance(10));
          }
        }
        const auto before = b;
        const auto by = this->numbers(n * n, 8);
        space.write(first, std::span<const V>(by));
        space.transform({b, n, interleaved}, first);
        for (std::size_t r = 0; r < n_rows; ++r) {
          for (int j = 0; j < n; ++j) {
            V value = V(0);
            double size = 1;
            for (int i = 0; i < n; ++i) {
              value += before[at(r, i, n)] * by[static_cast<std::size_t>(i + j * n)];
              size += std::abs(before[at(r, i, n)]);
            }
            ASSERT_LE(std::abs(b[at(r, j, n)] - value), size * this->tolerance(10));
          }
        }
      }
    }
  }
}

TEST(SpaceErrors, WhatDoesNotExistOrFitIsRefused) {
  ProcessorSpace<double> space(10);
  EXPECT_THROW(space.read(Scalar{0}), InvalidArgument);
  EXPECT_THROW(ProcessorSpace<double>(-1), InvalidArgument);
  const Scalar one = space.make_scalars(1);
  auto x = space.make_vector();
  EXPECT_THROW(space.gram({x, 2}, {x, 1}, one), InvalidArgument);
  EXPECT_THROW(space.gram({x, 1}, {x, 1}, one + 1), InvalidArgument);
  EXPECT_THROW(space.transform({x, -1}, one), InvalidArgument);
  VectorProgram<double> program;
  EXPECT_THROW(program.set(x, {{x}, {x}, {x}, {x}, {x}}), InvalidArgument);
  for (int k = 0; k < VectorProgram<double>::kMostDots; ++k) program.dot(x, x, one);
  EXPECT_THROW(program.dot(x, x, one), InvalidArgument);
}

TEST(SpaceSteps, ALengthThatMustNotBeTakenIsZero) {
  ProcessorSpace<double> space(1);
  const Scalar length = space.make_scalars(3), left{length.index + 1}, right{length.index + 2};
  for (const double by : {-1.0, 0.0, std::numeric_limits<double>::quiet_NaN()}) {
    space.write(left, 4);
    space.write(right, by);
    VectorProgram<double> program;
    program.compute(length, left, Operation::divide_positive, right);
    space.run(program);
    EXPECT_EQ(space.read(length), 0);
  }
}

// As if another process had the same elements again, twice.
TYPED_TEST(Space, SumsOverAllPartsOncePerProgramAndGram) {
  using V = TypeParam;
  const Offset rows = 1500;
  const auto x = this->numbers(rows, 4), y = this->numbers(rows, 5);
  ProcessorSpace<V> alone(rows, 2);
  std::vector<std::size_t> lengths;
  ProcessorSpace<V> part(rows, 2, {3 * rows, [&](std::span<V> sums) {
                                     lengths.push_back(sums.size());
                                     for (V& sum : sums) sum *= V(3);
                                   }});
  EXPECT_EQ(alone.dimension(), rows);
  EXPECT_EQ(part.dimension(), 3 * rows);
  EXPECT_EQ(part.rows(), rows);
  for (ProcessorSpace<V>* space : {&alone, &part}) {
    const Scalar first = space->make_scalars(8);
    auto z = space->make_vector();
    VectorProgram<V> without;
    without.set(z, {{x}, {y}});
    space->run(without);
    VectorProgram<V> program;
    program.dot(x, y, first);
    program.dot(z, z, first + 1);
    program.compute(first + 2, first, Operation::add, first + 1);
    space->run(program);
    auto block = space->make_block(2);
    space->gram({std::span<const V>(block), 2}, {std::span<const V>(x), 1}, first + 3);
    space->gram({std::span<const V>(x), 1}, {std::span<const V>(y), 1}, first + 5);
  }
  EXPECT_EQ(lengths, (std::vector<std::size_t>{2, 2, 1}));
  for (const int k : {0, 1, 5}) {
    EXPECT_EQ(part.read(Scalar{k}), V(3) * alone.read(Scalar{k})) << k;
  }
  // Steps see the sums of all.
  EXPECT_EQ(part.read(Scalar{2}), part.read(Scalar{0}) + part.read(Scalar{1}));
  EXPECT_THROW(ProcessorSpace<V>(rows, 1, {rows - 1, [](std::span<V>) {}}), InvalidArgument);
}

}  // namespace
}  // namespace strata::solvers
