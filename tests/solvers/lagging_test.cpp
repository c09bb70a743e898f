// Methods on a space that reads scalars as a device does, an iteration late: what they then
// compute, and how often they wait.

#include <gtest/gtest.h>

#include <bit>

#include "strata/gen/generate.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "strata/solvers/bicgstab.hpp"
#include "strata/solvers/ca_cg.hpp"
#include "strata/solvers/cg.hpp"
#include "strata/solvers/fused_cg.hpp"
#include "strata/solvers/processor_space.hpp"
#include "strata/solvers/random_rows.hpp"

namespace strata::solvers {
namespace {

using I = std::int32_t;
using Matrix = Csr<double, I>;

class LaggingSpace : public ProcessorSpace<double> {
 public:
  using ProcessorSpace<double>::ProcessorSpace;
  static constexpr int kLag = 1;
  using Reading = std::vector<double>;

  Reading request(Scalar first, int count) {
    Reading reading(static_cast<std::size_t>(count));
    ProcessorSpace<double>::read(first, reading);
    ++under_way;
    return reading;
  }
  void await(const Reading& reading, std::span<double> values) {
    std::copy(reading.begin(), reading.end(), values.begin());
    if (under_way > 0) ++waits;
    --under_way;
  }
  void read(Scalar first, std::span<double> values) {
    ProcessorSpace<double>::read(first, values);
    ++waits;
    under_way = 0;  // what was requested before has arrived, too
  }
  double read(Scalar source) {
    double value = 0;
    read(source, {&value, 1});
    return value;
  }

  int waits = 0;
  int under_way = 0;
};

// Powers by products, one by one.
class PlainPowers : public Powers<LaggingSpace> {
 public:
  PlainPowers(const Matrix& matrix, int power) : matrix_(matrix), power_(power) {}
  int power() const override { return power_; }
  void set_basis(const Basis& basis) override { basis_ = basis; }
  void multiply(std::span<const double> x, std::span<double> y) override {
    reference::spmv(matrix_, 1.0, x, 0.0, y);
  }
  void apply_first(int count, std::span<const double> x, std::span<double> powers) override {
    std::span<const double> before = x, now = x;
    for (int k = 1; k <= count; ++k) {
      const auto step = basis_.step<double>(k);
      const std::span<double> next =
          powers.subspan(static_cast<std::size_t>(k - 1) * x.size(), x.size());
      multiply(now, next);
      for (std::size_t i = 0; i < x.size(); ++i) {
        next[i] = step.alpha * (next[i] - step.shift * now[i]) + step.beta * before[i];
      }
      before = now;
      now = next;
    }
  }
  void apply_sum(std::span<const double>, std::span<const double>, std::span<double>) override {
    FAIL() << "CA-CG needs no sums";
  }

 private:
  const Matrix& matrix_;
  int power_;
  Basis basis_;
};

TEST(Lagging, CaCgWaitsOncePerBlockAndFindsTheSame) {
  const auto matrix = generate<double, I>("stencil5:40x30");
  const std::vector<double> b = random_rows<double>(matrix.rows(), 1, 5);
  for (const int s : {2, 4, 8}) {
    PlainPowers powers(matrix, s);
    LaggingSpace space(matrix.rows(), 2);
    std::vector<double> x(b.size());
    const SolveResult result =
        ca_conjugate_gradients<LaggingSpace>(space, powers, b, x, {.solve = {.tolerance = 1e-9}});
    EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
    EXPECT_LE(result.residual, 1e-9);
    EXPECT_EQ(result.remark, "");
    // Besides: ‖b‖, a residual at either end of every cycle, two for every plain iteration, and
    // true residuals after 4, 8, 16 … blocks.
    const int blocks = (result.iterations - s + s - 1) / s;
    const int checks = blocks < 4 ? 0 : std::bit_width(static_cast<unsigned>(blocks)) - 2;
    EXPECT_LE(space.waits, blocks + 1 + 2 * s + 5 + checks);
    // The last powers of a cycle may be in vain.
    EXPECT_LE(result.products, result.iterations + 3 * s + checks);
    for (std::size_t k = 1; k < result.history.size(); ++k) {
      EXPECT_GT(result.history[k].number, result.history[k - 1].number);
      EXPECT_GE(result.history[k].products, result.history[k - 1].products);
    }
  }
}

TEST(Lagging, CgAndBiCgStabWaitOncePerIteration) {
  const auto matrix = generate<double, I>("stencil5:40x30");
  const std::vector<double> b = random_rows<double>(matrix.rows(), 1, 5);
  const Operator<LaggingSpace> product = [&](std::span<const double> x, std::span<double> y) {
    reference::spmv(matrix, 1.0, x, 0.0, y);
  };
  for (const bool stabilised : {false, true}) {
    LaggingSpace space(matrix.rows(), 2);
    std::vector<double> x(b.size());
    const SolveOptions options{.tolerance = 1e-9};
    const SolveResult result =
        stabilised ? bicgstab<LaggingSpace>(space, product, {}, b, x, options)
                   : conjugate_gradients<LaggingSpace>(space, product, {}, b, x, options);
    EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
    EXPECT_LE(space.waits, result.iterations + 8);
  }
}

TEST(Lagging, FusedCgFindsTheSame) {
  const auto matrix = generate<double, I>("stencil5:40x30");
  const std::vector<double> b = random_rows<double>(matrix.rows(), 1, 5);
  const Operator<LaggingSpace> product = [&](std::span<const double> x, std::span<double> y) {
    reference::spmv(matrix, 1.0, x, 0.0, y);
  };
  LaggingSpace space(matrix.rows(), 2);
  std::vector<double> x(b.size());
  const SolveResult result =
      fused_conjugate_gradients<LaggingSpace>(space, product, {}, b, x, {.tolerance = 1e-9});
  EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
  EXPECT_LE(space.waits, result.iterations + 8);
}

TEST(Lagging, CaCgEndsWhereItWasToldTo) {
  const auto matrix = generate<double, I>("stencil5:60x60");
  const std::vector<double> b = random_rows<double>(matrix.rows(), 1, 5);
  PlainPowers powers(matrix, 4);
  LaggingSpace space(matrix.rows(), 2);
  std::vector<double> x(b.size());
  const SolveResult most = ca_conjugate_gradients<LaggingSpace>(
      space, powers, b, x, {.solve = {.tolerance = 1e-12, .most_iterations = 40}});
  EXPECT_EQ(most.status, SolveStatus::most_iterations);
  EXPECT_EQ(most.iterations, 40);
  std::fill(x.begin(), x.end(), 0.0);
  const SolveResult stopped = ca_conjugate_gradients<LaggingSpace>(
      space, powers, b, x, {.solve = {.tolerance = 1e-12, .progress = [](const Iteration& now) {
                                        return now.number < 20;
                                      }}});
  EXPECT_EQ(stopped.status, SolveStatus::stopped);
  EXPECT_EQ(stopped.remark, "");
  EXPECT_EQ(stopped.iterations, 20);
}

}  // namespace
}  // namespace strata::solvers
