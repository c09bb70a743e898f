#include "strata/hpcg/benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "strata/base/parallel.hpp"
#include "strata/base/random.hpp"
#include "strata/hpcg/levels.hpp"
#include "strata/hpcg/multigrid.hpp"
#include "strata/hpcg/reference.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "strata/machine/cached_profile.hpp"
#include "strata/plans/product_plan.hpp"
#include "strata/solvers/cg.hpp"
#include "strata/solvers/processor_space.hpp"
#include "strata/solvers/timed_operator.hpp"

namespace strata::hpcg {

namespace {

using Space = solvers::ProcessorSpace<double>;
using solvers::Iteration;
using solvers::Operator;
using solvers::RunningClock;
using solvers::SolveOptions;
using solvers::SolveResult;
using Vector = std::vector<double>;

constexpr int kReferenceIterations = 50;
// Small grids are solved before these are done: what is left is rounding.
constexpr double kSolved = 1e-13;
constexpr int kMostIterations = 10 * kReferenceIterations;
// Of the matrix with a large diagonal.
constexpr double kTestTolerance = 1e-12;
constexpr int kTestPlainIterations = 12;
constexpr int kTestIterations = 2;
// Of a row's sum of magnitudes.
constexpr double kNormOfMatrix = 2 * 26;
constexpr double kLargestVariance = 1e-6;

// The right-hand side of the solution 1 everywhere: 26 less the neighbours of a point.
Vector right_hand_side(const Matrix& matrix) {
  Vector b(matrix.rows());
  const Vector ones(b.size(), 1.0);
  reference::spmv(matrix, 1.0, ones, 0.0, b);
  return b;
}

int iterations_until(const SolveResult& result, double tolerance) {
  for (const Iteration& iteration : result.history) {
    if (iteration.residual <= tolerance) return iteration.number;
  }
  return std::numeric_limits<int>::max();
}

double residual_of(const SolveResult& result) {
  return result.history.empty() ? result.residual : result.history.back().residual;
}

class Benchmark {
 public:
  explicit Benchmark(const Options& options) : options_(options), scope_(options.threads) {}

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
    Space space(finest().rows());
    ReferenceMultigrid multigrid(levels_);
    const Operator<Space> a = [&](auto x, auto y) { reference::spmv(finest(), 1.0, x, 0.0, y); };
    const Operator<Space> m = [&](auto r, auto z) { multigrid.apply(r, z); };
    Vector x(b_.size());
    const RunningClock clock;
    const SolveResult result =
        conjugate_gradients(space, a, m, {b_}, {x}, solve_options(kSolved, kReferenceIterations));
    result_.reference_seconds = clock.seconds();
    result_.reference_iterations = std::min(iterations_until(result, kSolved), result.iterations);
    result_.reference_residual =
        result.history.at(static_cast<std::size_t>(result_.reference_iterations) - 1).residual;
  }

  void optimise() {
    start("planning products, colouring grids");
    const RunningClock clock;
    plan_ = plan_product(finest(), {.vector_order = VectorOrder::plan,
                                    .format = Format::packed_sell,
                                    .values = options_.values,
                                    .profile = options_.profile});
    workspace_ = plan_.make_workspace();
    multigrid_.emplace(levels_, plan_.order(), SmootherOptions{.values = options_.values});
    result_.optimise_seconds = clock.seconds();
    result_.threads = plan_.threads();
    result_.product = format_text(plan_.choice());
    space_.emplace(plan_.x_rows(), plan_.threads());
  }

  Operator<Space> product() {
    return
        [this](std::span<const double> x, std::span<double> y) { plan_.apply(x, y, workspace_); };
  }
  Operator<Space> preconditioner() {
    return [this](std::span<const double> r, std::span<double> z) { multigrid_->apply(r, z); };
  }
  Array<double> ordered(std::span<const double> of_rows) {
    auto vector = space_->make_vector();
    plan_.to_plan_order(of_rows, vector);
    return vector;
  }
  double dot(std::span<const double> x, std::span<const double> y) {
    const solvers::Scalar scalar = space_->make_scalars(1);
    solvers::VectorProgram<double> program;
    program.dot(x, y, scalar);
    space_->run(program);
    return space_->read(scalar);
  }

  // |xᵀAy − yᵀAx| in units of what rounding may leave, and the same for M⁻¹.
  void check_symmetry() {
    start("checking symmetry");
    const auto random_vector = [&](std::uint64_t stream) {
      const Random random(options_.seed, stream);
      Vector numbers(b_.size());
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = random.uniform(i, 0, 1);
      return ordered(numbers);
    };
    const auto x = random_vector(0), y = random_vector(1);
    auto image = space_->make_vector();
    const double unit = 2 * kNormOfMatrix * std::sqrt(dot(x, x)) * std::sqrt(dot(y, y)) *
                        std::numeric_limits<double>::epsilon();
    const auto departure = [&](const Operator<Space>& a) {
      a(y, image);
      const double one = dot(x, image);
      a(x, image);
      return std::abs(one - dot(y, image)) / unit;
    };
    add_check("symmetry of the matrix", departure(product()), 1);
    add_check("symmetry of the preconditioner", departure(preconditioner()), 1);
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
    plan_.update_values(modified);
    multigrid_->replace_finest(modified);
    const auto right = ordered(b);
    const auto iterations = [&](const Operator<Space>& m) {
      auto x = space_->make_vector();
      return iterations_until(
          conjugate_gradients(*space_, product(), m, {right}, {x},
                              solve_options(kTestTolerance, kReferenceIterations)),
          kTestTolerance);
    };
    add_check("iterations, large diagonal, plain", iterations({}), kTestPlainIterations);
    add_check("iterations, large diagonal, preconditioned", iterations(preconditioner()),
              kTestIterations);
    plan_.update_values(finest());
    multigrid_->replace_finest(finest());
  }

  void find_iterations() {
    start("iterations that reach the residual of the reference");
    const auto right = ordered(b_);
    auto x = space_->make_vector();
    const SolveResult result =
        conjugate_gradients(*space_, product(), preconditioner(), {right}, {x},
                            solve_options(result_.reference_residual, kMostIterations));
    const int needed = iterations_until(result, result_.reference_residual);
    add_check("iterations to the residual of the reference", needed, kMostIterations);
    result_.iterations = needed <= kMostIterations ? needed : 0;
  }

  void time_sets() {
    start("timing");
    const auto right = ordered(b_);
    auto x = space_->make_vector();
    double products = 0, preconditioned = 0;
    const Operator<Space> a = solvers::timed<Space>(product(), products);
    const Operator<Space> m = solvers::timed<Space>(preconditioner(), preconditioned);
    multigrid_->take_times();
    Vector residuals;
    while (result_.sets < 2 || result_.seconds < options_.min_seconds) {
      const RunningClock clock;
      solvers::VectorProgram<double> clear;
      clear.set(x, {});
      space_->run(clear);
      const SolveResult result =
          conjugate_gradients(*space_, a, m, {right}, {x}, solve_options(0, result_.iterations));
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
    predict_and_measure(products, preconditioned);
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

  void predict_and_measure(double products, double preconditioned) {
    std::vector<Part>& parts = result_.parts;
    parts = parts_of({.rows = plan_.x_rows(),
                      .entries = finest().nnz(),
                      .matrix_bytes = plan_.choice().format_bytes},
                     *multigrid_);
    predict(parts,
            options_.profile != nullptr ? *options_.profile : cached_machine_profile().profile,
            result_.threads);
    // A set has two products and one preconditioner beside those of its iterations.
    const double per_iteration = 1.0 / result_.sets / result_.iterations;
    const double product_share = 1.0 / result_.sets / (result_.iterations + 2);
    const double cycle_share = 1.0 / result_.sets / (result_.iterations + 1);
    const std::vector<LevelTimes> levels = multigrid_->take_times();
    parts[0].measured_seconds = products * product_share;
    parts[1].measured_seconds = (result_.seconds - products - preconditioned) * per_iteration;
    std::size_t part = 2;
    for (std::size_t level = 0; level < levels.size(); ++level) {
      parts[part++].measured_seconds = levels[level].smoothing * cycle_share;
      if (levels[level].transfer > 0) {
        parts.at(part++).measured_seconds = levels[level].transfer * cycle_share;
      }
    }
    double done = 0;
    for (const Part& each : parts) done += each.flops;
    result_.done_flops = done * result_.iterations;
  }

  const Matrix& finest() const { return levels_[0].matrix; }

  const Options& options_;
  ThreadCountScope scope_;
  Result result_;
  std::vector<Level> levels_;
  Vector b_;
  ProductPlan<double, Row> plan_;
  ProductPlan<double, Row>::Workspace workspace_;
  std::optional<Multigrid> multigrid_;
  std::optional<Space> space_;
};

}  // namespace

Flops flops_of(int iterations, Offset rows, const std::vector<Offset>& entries) {
  const auto k = static_cast<double>(iterations);
  const auto n = static_cast<double>(rows);
  Flops flops{.dots = (3 * k + 1) * 2 * n,
              .updates = (3 * k + 1) * 2 * n,
              .products = (k + 1) * 2 * static_cast<double>(entries.front()),
              .multigrid = k * 4 * static_cast<double>(entries.back())};
  // Two symmetric sweeps of 4 flops an entry and the residual.
  for (std::size_t level = 0; level + 1 < entries.size(); ++level) {
    flops.multigrid += k * (4 + 4 + 2) * static_cast<double>(entries[level]);
  }
  return flops;
}

bool Result::passed() const {
  return std::all_of(checks.begin(), checks.end(), [](const Check& each) { return each.passed; });
}
double Result::predicted_seconds() const {
  double sum = 0;
  for (const Part& part : parts) sum += part.predicted_seconds;
  return sum;
}
double Result::measured_seconds() const {
  double sum = 0;
  for (const Part& part : parts) sum += part.measured_seconds;
  return sum;
}

Result run(const Options& options) {
  return Benchmark(options).run();
}

}  // namespace strata::hpcg
