// The phases of the benchmark, for processors and GPUs.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include "strata/base/parallel.hpp"
#include "strata/base/random.hpp"
#include "strata/hpcg/benchmark.hpp"
#include "strata/hpcg/levels.hpp"
#include "strata/hpcg/reference.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "strata/solvers/cg.hpp"
#include "strata/solvers/processor_space.hpp"
#include "strata/solvers/timed_operator.hpp"

namespace strata::hpcg::detail {

using solvers::Iteration;
using solvers::Operator;
using solvers::RunningClock;
using solvers::SolveOptions;
using solvers::SolveResult;
using Vector = std::vector<double>;

inline constexpr int kReferenceIterations = 50;
// Small grids are solved before these are done: what is left is rounding.
inline constexpr double kSolved = 1e-13;
inline constexpr int kMostIterations = 10 * kReferenceIterations;
// Of the matrix with a large diagonal.
inline constexpr double kTestTolerance = 1e-12;
inline constexpr int kTestPlainIterations = 12;
inline constexpr int kTestIterations = 2;
// Of a row's sum of magnitudes.
inline constexpr double kNormOfMatrix = 2 * 26;
inline constexpr double kLargestVariance = 1e-6;

// The right-hand side of the solution 1 everywhere: 26 less the neighbours of a point.
inline Vector right_hand_side(const Matrix& matrix) {
  Vector b(matrix.rows());
  const Vector ones(b.size(), 1.0);
  reference::spmv(matrix, 1.0, ones, 0.0, b);
  return b;
}

inline int iterations_until(const SolveResult& result, double tolerance) {
  for (const Iteration& iteration : result.history) {
    if (iteration.residual <= tolerance) return iteration.number;
  }
  return std::numeric_limits<int>::max();
}

inline double residual_of(const SolveResult& result) {
  return result.history.empty() ? result.residual : result.history.back().residual;
}

// What was timed.
struct TimedSets {
  int sets = 0;
  int iterations = 0;  // of each
  double seconds = 0;  // of all
};

// A backend is where the coloured solver runs:
//
//   Space                              of its vectors, in an order of its own
//   space(), product(), preconditioner()
//   ordered(of_rows)                   a vector from one of the host
//   replace_finest(matrix)             other values, in the product and on the finest level
//   threads(), product_text()
//   start_timing(), parts(timed)       the parts of an iteration, predicted and measured
template <class Backend>
class Benchmark {
 public:
  using Space = typename Backend::Space;
  // make(levels) makes the backend.
  using Make = std::function<std::unique_ptr<Backend>(std::span<const Level> levels)>;

  Benchmark(const Options& options, Make make)
      : options_(options), make_(std::move(make)), scope_(options.threads) {}

  Result run() {
    make_problem();
    run_reference();
    optimise();
    check_symmetry();
    check_large_diagonal();
    find_iterations();
    if (result_.iterations > 0) time_sets();
    return std::move(result_);
  }

 private:
  void start(std::string_view phase) const {
    if (options_.progress) options_.progress(phase);
  }
  void add_check(std::string_view name, double value, double limit) {
    Check& check = result_.checks.emplace_back();
    check.name = name;
    check.value = value;
    check.limit = limit;
    check.passed = value <= limit;
  }
  SolveOptions solve_options(double tolerance, int most) const {
    return {.tolerance = tolerance, .most_iterations = most, .progress = [this](const Iteration&) {
              if (options_.poll) options_.poll();
              return true;
            }};
  }

  void make_problem() {
    start("making the problem");
    const RunningClock clock;
    levels_ = make_levels(options_.grid);
    b_ = right_hand_side(finest());
    result_.setup_seconds = clock.seconds();
    result_.grid = options_.grid;
    result_.rows = finest().rows();
    for (const Level& level : levels_) {
      result_.grids.push_back(level.grid);
      result_.entries.push_back(level.matrix.nnz());
    }
  }

  void run_reference() {
    start("the reference, Gauss-Seidel in the order of the points");
    using Host = solvers::ProcessorSpace<double>;
    Host space(finest().rows());
    ReferenceMultigrid multigrid(levels_);
    const Operator<Host> a = [&](auto x, auto y) { reference::spmv(finest(), 1.0, x, 0.0, y); };
    const Operator<Host> m = [&](auto r, auto z) { multigrid.apply(r, z); };
    Vector x(b_.size());
    const RunningClock clock;
    const SolveResult result = solvers::conjugate_gradients<Host>(
        space, a, m, b_, x, solve_options(kSolved, kReferenceIterations));
    result_.reference_seconds = clock.seconds();
    result_.reference_iterations = std::min(iterations_until(result, kSolved), result.iterations);
    result_.reference_residual =
        result.history.at(static_cast<std::size_t>(result_.reference_iterations) - 1).residual;
  }

  void optimise() {
    start("planning products, colouring grids");
    const RunningClock clock;
    backend_ = make_(levels_);
    result_.optimise_seconds = clock.seconds();
    result_.threads = backend_->threads();
    result_.product = backend_->product_text();
  }

  template <class X, class Y>
  double dot(const X& x, const Y& y) {
    Space& space = backend_->space();
    const solvers::Scalar scalar = space.make_scalars(1);
    solvers::VectorProgram<double> program;
    program.dot(x, y, scalar);
    space.run(program);
    return space.read(scalar);
  }
  auto zeros() { return backend_->space().make_vector(); }
  SolveResult solve(const Operator<Space>& m, const typename Space::Vector& b,
                    typename Space::Vector& x, const SolveOptions& options) {
    return solvers::conjugate_gradients<Space>(backend_->space(), backend_->product(), m, b, x,
                                               options);
  }

  // |xᵀAy − yᵀAx| in units of what rounding may leave, and the same for M⁻¹.
  void check_symmetry() {
    start("checking symmetry");
    const auto random_vector = [&](std::uint64_t stream) {
      const Random random(options_.seed, stream);
      Vector numbers(b_.size());
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = random.uniform(i, 0, 1);
      return backend_->ordered(numbers);
    };
    const auto x = random_vector(0), y = random_vector(1);
    auto image = zeros();
    const double unit = 2 * kNormOfMatrix * std::sqrt(dot(x, x)) * std::sqrt(dot(y, y)) *
                        std::numeric_limits<double>::epsilon();
    const auto departure = [&](const Operator<Space>& a) {
      a(y, image);
      const double one = dot(x, image);
      a(x, image);
      return std::abs(one - dot(y, image)) / unit;
    };
    add_check("symmetry of the matrix", departure(backend_->product()), 1);
    add_check("symmetry of the preconditioner", departure(backend_->preconditioner()), 1);
  }

  // A diagonal that is a million times as large, and 2 … 10 times that in nine rows, makes a matrix
  // with ten clusters of eigenvalues.
  void check_large_diagonal() {
    start("checking convergence with a large diagonal");
    Matrix modified = finest();
    Vector b = b_;
    const std::span<double> values = modified.mutable_values();
    for (Row row = 0; row < modified.rows(); ++row) {
      const auto i = static_cast<std::size_t>(row);
      const double factor = row < 9 ? 1e6 * (row + 2) : 1e6;
      for (Offset k = modified.row_offsets()[i]; k < modified.row_offsets()[i + 1]; ++k) {
        if (modified.columns()[k] == row) {
          values[k] *= factor;
        }
      }
      b[i] *= factor;
    }
    backend_->replace_finest(modified);
    const auto right = backend_->ordered(b);
    const auto iterations = [&](const Operator<Space>& m) {
      auto x = zeros();
      return iterations_until(
          solve(m, right, x, solve_options(kTestTolerance, kReferenceIterations)), kTestTolerance);
    };
    add_check("iterations, large diagonal, plain", iterations({}), kTestPlainIterations);
    add_check("iterations, large diagonal, preconditioned", iterations(backend_->preconditioner()),
              kTestIterations);
    backend_->replace_finest(finest());
  }

  void find_iterations() {
    start("iterations that reach the residual of the reference");
    const auto right = backend_->ordered(b_);
    auto x = zeros();
    const SolveResult result = solve(backend_->preconditioner(), right, x,
                                     solve_options(result_.reference_residual, kMostIterations));
    const int needed = iterations_until(result, result_.reference_residual);
    add_check("iterations to the residual of the reference", needed, kMostIterations);
    result_.iterations = needed <= kMostIterations ? needed : 0;
  }

  void time_sets() {
    start("timing");
    const auto right = backend_->ordered(b_);
    auto x = zeros();
    backend_->start_timing();
    Vector residuals;
    while (result_.sets < 2 || result_.seconds < options_.min_seconds) {
      const RunningClock clock;
      solvers::VectorProgram<double> clear;
      clear.set(x, {});
      backend_->space().run(clear);
      const SolveResult result =
          solve(backend_->preconditioner(), right, x, solve_options(0, result_.iterations));
      result_.seconds += clock.seconds();
      ++result_.sets;
      residuals.push_back(residual_of(result));
      result_.true_residual = result.residual;
    }
    const double mean = std::accumulate(residuals.begin(), residuals.end(), 0.0) / result_.sets;
    double variance = 0;
    for (const double residual : residuals) {
      variance += (residual - mean) * (residual - mean) / result_.sets;
    }
    result_.residual = mean;
    add_check("variance of the residuals of sets", variance, kLargestVariance);
    rate();
    result_.parts = backend_->parts(
        {.sets = result_.sets, .iterations = result_.iterations, .seconds = result_.seconds});
    double done = 0;
    for (const Part& part : result_.parts) done += part.flops;
    result_.done_flops = done * result_.iterations;
  }

  void rate() {
    result_.flops = flops_of(result_.iterations, result_.rows, result_.entries);
    const double total = result_.flops.total() * result_.sets;
    const double counted = total * result_.reference_iterations / result_.iterations;
    const double overhead =
        result_.sets * (result_.optimise_seconds / 10 + result_.setup_seconds / 10);
    result_.raw = total / result_.seconds;
    result_.converged = counted / result_.seconds;
    result_.rating = counted / (result_.seconds + overhead);
  }

  const Matrix& finest() const { return levels_[0].matrix; }

  const Options& options_;
  Make make_;
  ThreadCountScope scope_;
  Result result_;
  std::vector<Level> levels_;
  Vector b_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace strata::hpcg::detail
