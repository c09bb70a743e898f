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

TYPED_TEST(Space, BlocksAreProjectedOut) {
  using V = TypeParam;
  const Offset rows = 5000;
  ProcessorSpace<V> space(rows, 2);
  const auto block = this->numbers(3 * rows, 6);
  auto w = this->numbers(rows, 7);
  const auto w0 = w;
  const Scalar first = space.make_scalars(3);
  space.block_dots(block, 3, w, first);
  std::vector<V> h(3);
  space.read(first, h);
  for (std::size_t k = 0; k < 3; ++k) {
    V sum = V(0);
    for (std::size_t i = 0; i < w.size(); ++i) {
      sum += this->conjugate(block[k * w.size() + i]) * w[i];
    }
    EXPECT_LE(std::abs(h[k] - sum), this->tolerance(rows));
  }
  space.add_block(V(-2), block, 3, first, w);
  for (std::size_t i = 0; i < w.size(); ++i) {
    V value = w0[i];
    for (std::size_t k = 0; k < 3; ++k) value -= V(2) * h[k] * block[k * w.size() + i];
    ASSERT_LE(std::abs(w[i] - value), this->tolerance(100));
  }
}

TEST(SpaceErrors, WhatDoesNotExistOrFitIsRefused) {
  ProcessorSpace<double> space(10);
  EXPECT_THROW(space.read(Scalar{0}), InvalidArgument);
  EXPECT_THROW(ProcessorSpace<double>(-1), InvalidArgument);
  const Scalar one = space.make_scalars(1);
  auto x = space.make_vector();
  EXPECT_THROW(space.block_dots(x, 2, x, one), InvalidArgument);
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

}  // namespace
}  // namespace strata::solvers
