// Methods on vectors of which every process has a part: here threads, which sum up in memory. What
// they find, and how often they sum up.

#include <gtest/gtest.h>

#include <bit>
#include <complex>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "strata/gen/generate.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "strata/solvers/bicgstab.hpp"
#include "strata/solvers/block_jacobi.hpp"
#include "strata/solvers/ca_cg.hpp"
#include "strata/solvers/ca_gmres.hpp"
#include "strata/solvers/cg.hpp"
#include "strata/solvers/diagonal.hpp"
#include "strata/solvers/fused_ca_gmres.hpp"
#include "strata/solvers/fused_cg.hpp"
#include "strata/solvers/fused_gmres.hpp"
#include "strata/solvers/fused_minres.hpp"
#include "strata/solvers/minres.hpp"
#include "strata/solvers/processor_space.hpp"
#include "strata/solvers/random_rows.hpp"
#include "strata/solvers/spectrum_bounds.hpp"

namespace strata::solvers {
namespace {

using I = std::int32_t;

// One that sleeps: others spin, which takes long where there are more threads than processors.
class Barrier {
 public:
  explicit Barrier(std::ptrdiff_t size) : size_(size) {}
  void wait() {
    std::unique_lock lock(mutex_);
    const auto round = round_;
    if (++arrived_ == size_) {
      arrived_ = 0;
      ++round_;
      all_.notify_all();
    } else {
      all_.wait(lock, [&] { return round != round_; });
    }
  }

 private:
  std::ptrdiff_t size_;
  std::ptrdiff_t arrived_ = 0;
  std::uint64_t round_ = 0;
  std::mutex mutex_;
  std::condition_variable all_;
};

// Rows of a matrix on threads, by offsets.
template <Value V>
class Team {
 public:
  Team(const Csr<V, I>& matrix, std::vector<Offset> offsets)
      : matrix_(matrix),
        offsets_(std::move(offsets)),
        barrier_(std::ssize(offsets_) - 1),
        slots_(offsets_.size() - 1),
        x_(static_cast<std::size_t>(matrix.rows())) {}

  int size() const { return static_cast<int>(slots_.size()); }
  Offset begin(int part) const { return offsets_[static_cast<std::size_t>(part)]; }
  Offset rows(int part) const { return begin(part + 1) - begin(part); }

  ProcessorSpace<V> space(int part) {
    return {rows(part), 1, {matrix_.rows(), [this, part](std::span<V> values) {
                              if (part == 0) ++sums;
                              slots_[static_cast<std::size_t>(part)].assign(values.begin(),
                                                                            values.end());
                              barrier_.wait();
                              for (std::size_t k = 0; k < values.size(); ++k) {
                                values[k] = V(0);
                                for (const auto& slot : slots_) values[k] += slot.at(k);
                              }
                              barrier_.wait();
                            }}};
  }

  Operator<ProcessorSpace<V>> product(int part) {
    return [this, part](std::span<const V> x, std::span<V> y) {
      std::copy(x.begin(), x.end(), x_.begin() + begin(part));
      barrier_.wait();
      for (Offset row = 0; row < rows(part); ++row) {
        V sum = V(0);
        const auto at = static_cast<std::size_t>(begin(part) + row);
        for (Offset k = matrix_.row_offsets()[at]; k < matrix_.row_offsets()[at + 1]; ++k) {
          const auto entry = static_cast<std::size_t>(k);
          sum += matrix_.values()[entry] * x_[static_cast<std::size_t>(matrix_.columns()[entry])];
        }
        y[static_cast<std::size_t>(row)] = sum;
      }
      barrier_.wait();
    };
  }

  // The rows of a part, with the columns of the whole.
  Csr<V, I> local(int part) const {
    Array<Offset> row_offsets{0};
    Array<I> columns;
    Array<V> values;
    for (Offset row = begin(part); row < begin(part + 1); ++row) {
      const auto at = static_cast<std::size_t>(row);
      for (Offset k = matrix_.row_offsets()[at]; k < matrix_.row_offsets()[at + 1]; ++k) {
        columns.push_back(matrix_.columns()[static_cast<std::size_t>(k)]);
        values.push_back(matrix_.values()[static_cast<std::size_t>(k)]);
      }
      row_offsets.push_back(std::ssize(columns));
    }
    return {static_cast<I>(rows(part)), matrix_.cols(), std::move(row_offsets), std::move(columns),
            std::move(values)};
  }

  // work(part) on a thread each.
  template <class Work>
  void run(const Work& work) {
    std::vector<std::jthread> threads;
    for (int part = 0; part < size(); ++part) threads.emplace_back([&work, part] { work(part); });
  }

  int sums = 0;

 private:
  const Csr<V, I>& matrix_;
  std::vector<Offset> offsets_;
  Barrier barrier_;
  std::vector<std::vector<V>> slots_;
  std::vector<V> x_;
};

// Powers by products, one by one.
template <Value V>
class PlainPowers : public Powers<ProcessorSpace<V>> {
 public:
  PlainPowers(Operator<ProcessorSpace<V>> product, int power)
      : product_(std::move(product)), power_(power) {}
  int power() const override { return power_; }
  void set_basis(const Basis& basis) override { basis_ = basis; }
  void multiply(std::span<const V> x, std::span<V> y) override { product_(x, y); }
  void apply_first(int count, std::span<const V> x, std::span<V> powers) override {
    std::span<const V> before = x, now = x;
    for (int k = 1; k <= count; ++k) {
      const auto step = basis_.step<V>(k);
      const auto next = powers.subspan(static_cast<std::size_t>(k - 1) * x.size(), x.size());
      multiply(now, next);
      for (std::size_t i = 0; i < x.size(); ++i) {
        next[i] = step.alpha * (next[i] - step.shift * now[i]) + step.beta * before[i];
      }
      before = now;
      now = next;
    }
  }
  void apply_sum(std::span<const V>, std::span<const V>, std::span<V>) override {
    FAIL() << "nobody needs sums";
  }

 private:
  Operator<ProcessorSpace<V>> product_;
  int power_;
  Basis basis_;
};

enum class By { cg, fused_cg, gmres, fused_gmres, minres, fused_minres, bicgstab, fused_bicgstab };

template <Value V>
SolveResult solve(By by, ProcessorSpace<V>& space, const Operator<ProcessorSpace<V>>& a,
                  const Operator<ProcessorSpace<V>>& m, std::span<const V> b, std::span<V> x,
                  const SolveOptions& options, int restart = 30) {
  switch (by) {
    case By::cg: return conjugate_gradients(space, a, m, b, x, options);
    case By::fused_cg: return fused_conjugate_gradients(space, a, m, b, x, options);
    case By::gmres: return gmres(space, a, m, b, x, {options, restart});
    case By::fused_gmres: return fused_gmres(space, a, m, b, x, {options, restart});
    case By::minres: return minres(space, a, m, b, x, options);
    case By::fused_minres: return fused_minres(space, a, m, b, x, options);
    case By::bicgstab: return bicgstab(space, a, m, b, x, options);
    case By::fused_bicgstab: break;
  }
  return fused_bicgstab(space, a, m, b, x, options);
}

struct Solved {
  SolveResult result;
  double residual = 0;  // computed here
  int sums = 0;
};

template <Value V>
double true_residual(const Csr<V, I>& matrix, const std::vector<V>& b, const std::vector<V>& x) {
  std::vector<V> ax(b.size());
  reference::spmv(matrix, V(1), x, V(0), ax);
  double left = 0, whole = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    left += std::norm(b[i] - ax[i]);
    whole += std::norm(b[i]);
  }
  return std::sqrt(left / whole);
}

// `method(space, product, part, b, x)`, on parts of which all end with the same.
template <Value V, class Method>
Solved solve_in_parts(const Csr<V, I>& matrix, std::vector<Offset> offsets, const Method& method) {
  Team<V> team(matrix, std::move(offsets));
  std::vector<V> x(static_cast<std::size_t>(matrix.rows())), b;
  std::vector<SolveResult> results(static_cast<std::size_t>(team.size()));
  b = random_rows<V>(matrix.rows(), 1, 5);
  team.run([&](int part) {
    ProcessorSpace<V> space = team.space(part);
    const auto mine = random_rows<V>(team.rows(part), 1, 5, team.begin(part));
    const auto first = static_cast<std::size_t>(team.begin(part));
    results[static_cast<std::size_t>(part)] =
        method(space, team.product(part), team, part, std::span<const V>(mine),
               std::span<V>(x).subspan(first, mine.size()));
  });
  for (const SolveResult& each : results) {
    EXPECT_EQ(each.status, results[0].status);
    EXPECT_EQ(each.iterations, results[0].iterations);
    EXPECT_EQ(each.residual, results[0].residual);
  }
  return {results[0], true_residual(matrix, b, x), team.sums};
}

template <Value V>
Solved solve_in_parts(By by, const Csr<V, I>& matrix, std::vector<Offset> offsets,
                      const SolveOptions& options, bool preconditioned = false, int restart = 30) {
  return solve_in_parts<V>(matrix, std::move(offsets),
                           [&](ProcessorSpace<V>& space, const Operator<ProcessorSpace<V>>& a,
                               Team<V>& team, int part, std::span<const V> b, std::span<V> x) {
                             Operator<ProcessorSpace<V>> m;
                             if (preconditioned) {
                               m = [inverse = inverse_diagonal(team.local(part), team.begin(part))](
                                       std::span<const V> from, std::span<V> to) {
                                 for (std::size_t i = 0; i < from.size(); ++i)
                                   to[i] = inverse[i] * from[i];
                               };
                             }
                             return solve<V>(by, space, a, m, b, x, options, restart);
                           });
}

// Even ones, and ranges without rows.
std::vector<std::vector<Offset>> partitions(Offset rows) {
  return {{0, rows}, {0, rows / 3, rows}, {0, 0, 1, rows, rows}};
}

// Σ over programs and grams of a method that ends after its first cycle, without preconditioner.
int reductions_of(By by, int iterations) {
  switch (by) {
    case By::cg: return 4 + 2 * iterations;
    case By::fused_cg: return 4 + iterations;
    case By::gmres: return 3 + 4 * iterations;
    case By::fused_gmres: return 4 + iterations;
    case By::minres: return 4 + 2 * iterations;
    case By::fused_minres: return 4 + iterations;
    case By::bicgstab: return 4 + 3 * iterations;
    case By::fused_bicgstab: return 4 + 2 * iterations;
  }
  return 0;
}

TEST(Parts, MethodsSumUpAsOftenAsTheySayAndFindTheSame) {
  const auto matrix = generate<double, I>("stencil5:30x20");
  for (const bool preconditioned : {false, true}) {
    for (const By by : {By::cg, By::fused_cg, By::gmres, By::fused_gmres, By::minres,
                        By::fused_minres, By::bicgstab, By::fused_bicgstab}) {
      SCOPED_TRACE(static_cast<int>(by));
      const SolveOptions options{.tolerance = 1e-6};
      int iterations = 0;
      for (const auto& offsets : partitions(matrix.rows())) {
        const Solved solved =
            solve_in_parts(by, matrix, offsets, options, preconditioned, /*restart=*/300);
        EXPECT_EQ(solved.result.status, SolveStatus::converged) << solved.result.message;
        EXPECT_LE(solved.residual, 1.0001e-6);
        EXPECT_NEAR(solved.residual, solved.result.residual, 1e-9);
        if (iterations == 0) iterations = solved.result.iterations;
        EXPECT_NEAR(solved.result.iterations, iterations,
                    by >= By::bicgstab ? 0.2 * iterations : 1);
        const bool third = preconditioned && by == By::cg;  // (r, z) is not (r, r)
        EXPECT_EQ(solved.sums, reductions_of(by, solved.result.iterations) +
                                   (third ? solved.result.iterations : 0));
      }
    }
  }
}

TEST(Parts, FusedMethodsTakeTheIterationsOfTheOthers) {
  for (const char* spec :
       {"stencil5:40x30", "stencil7:12x12x12", "hpcg:10x10x10", "fem:12x12,degree=3"}) {
    SCOPED_TRACE(spec);
    const auto matrix = generate<double, I>(spec);
    for (const double tolerance : {1e-4, 1e-8, 1e-12}) {
      for (const auto& [plain, fused] :
           {std::pair(By::cg, By::fused_cg), std::pair(By::gmres, By::fused_gmres),
            std::pair(By::minres, By::fused_minres)}) {
        SCOPED_TRACE(static_cast<int>(plain));
        const SolveOptions options{.tolerance = tolerance};
        for (const bool preconditioned : {false, true}) {
          const Solved one =
              solve_in_parts(plain, matrix, {0, matrix.rows()}, options, preconditioned, 60);
          const Solved other =
              solve_in_parts(fused, matrix, {0, matrix.rows()}, options, preconditioned, 60);
          EXPECT_EQ(other.result.status, SolveStatus::converged) << other.result.message;
          EXPECT_LE(other.residual, 1.0001 * tolerance);
          EXPECT_NEAR(other.result.iterations, one.result.iterations,
                      1 + 0.02 * one.result.iterations);
        }
      }
    }
  }
}

template <Value V>
Solved solve_by_powers(bool gmres, bool fused, const Csr<V, I>& matrix, std::vector<Offset> offsets,
                       int s, const SolveOptions& options, int blocks = 100,
                       KrylovBasis basis = KrylovBasis::newton) {
  return solve_in_parts<V>(
      matrix, std::move(offsets),
      [&](ProcessorSpace<V>& space, const Operator<ProcessorSpace<V>>& a, Team<V>&, int,
          std::span<const V> b, std::span<V> x) {
        PlainPowers<V> powers(a, s);
        if (!gmres) return ca_conjugate_gradients(space, powers, b, x, {options, basis, fused});
        return fused ? fused_ca_gmres(space, powers, b, x, {options, blocks, basis})
                     : ca_gmres(space, powers, b, x, {options, blocks, basis});
      });
}

TEST(Parts, MethodsOnPowersSumUpOncePerBlock) {
  const auto matrix = generate<double, I>("stencil5:30x20");
  const SolveOptions options{.tolerance = 1e-6};
  for (const int s : {2, 8}) {
    SCOPED_TRACE(s);
    for (const auto& offsets : partitions(matrix.rows())) {
      for (const bool fused : {false, true}) {
        const Solved cg = solve_by_powers(false, fused, matrix, offsets, s, options);
        EXPECT_EQ(cg.result.status, SolveStatus::converged) << cg.result.message;
        EXPECT_EQ(cg.result.remark, "");
        EXPECT_LE(cg.residual, 1.0001e-6);
        // ‖b‖, a residual at either end, s plain iterations, and true residuals after 4, 8, 16 …
        // blocks; fused, the inner products in which the last (r, r) is.
        const int blocks = (cg.result.iterations - s) / s;
        const int checks = blocks < 4 ? 0 : std::bit_width(static_cast<unsigned>(blocks)) - 2;
        EXPECT_EQ(cg.sums, 3 + 2 * s + checks + (fused ? blocks + 1 : 2 * blocks));

        const Solved gmres = solve_by_powers(true, fused, matrix, offsets, s, options);
        EXPECT_EQ(gmres.result.status, SolveStatus::converged) << gmres.result.message;
        EXPECT_EQ(gmres.result.remark, "");
        EXPECT_LE(gmres.residual, 1.0001e-6);
        // The first s vectors, fused s + 1, are made one by one. Fused, another block begins before
        // residuals of the last are known.
        const int first = fused ? s + 1 : s;
        const int of_blocks = (gmres.result.iterations - first) / s;
        EXPECT_EQ(gmres.sums, 3 + (fused ? first + of_blocks + 1 : 2 * first + 2 * of_blocks));
      }
    }
  }
}

TEST(Parts, FusedMethodsOnPowersTakeTheIterationsOfTheOthers) {
  for (const char* spec :
       {"stencil5:40x30", "stencil7:12x12x12", "hpcg:10x10x10", "fem:12x12,degree=3"}) {
    SCOPED_TRACE(spec);
    const auto matrix = generate<double, I>(spec);
    for (const double tolerance : {1e-5, 1e-11}) {
      for (const auto basis : {KrylovBasis::newton, KrylovBasis::monomial}) {
        for (const int s : {3, 12}) {
          for (const bool gmres : {false, true}) {
            SCOPED_TRACE(testing::Message() << s << " " << gmres << " " << tolerance);
            const SolveOptions options{.tolerance = tolerance};
            const std::vector<Offset> one_part{0, matrix.rows()};
            const Solved one =
                solve_by_powers(gmres, false, matrix, one_part, s, options, 64 / s, basis);
            const Solved other =
                solve_by_powers(gmres, true, matrix, one_part, s, options, 64 / s, basis);
            EXPECT_EQ(other.result.status, SolveStatus::converged) << other.result.message;
            EXPECT_LE(other.residual, 1.0001 * tolerance);
            EXPECT_LE(other.result.iterations, 1.1 * one.result.iterations + s);
          }
        }
      }
    }
  }
}

// Complex and real numbers of either length, and matrices that are not symmetric.
template <class V>
class PartsOf : public testing::Test {};
using Values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(PartsOf, Values);

TYPED_TEST(PartsOf, FusedMethodsSolveOtherMatrices) {
  using V = TypeParam;
  using Real = decltype(std::abs(V()));
  const auto symmetric = generate<V, I>("stencil5:14x11");
  Array<Offset> row_offsets(symmetric.row_offsets().begin(), symmetric.row_offsets().end());
  Array<I> columns(symmetric.columns().begin(), symmetric.columns().end());
  Array<V> values;
  for (I row = 0; row < symmetric.rows(); ++row) {
    for (Offset k = row_offsets[static_cast<std::size_t>(row)];
         k < row_offsets[static_cast<std::size_t>(row) + 1]; ++k) {
      const I column = columns[static_cast<std::size_t>(k)];
      V value = symmetric.values()[static_cast<std::size_t>(k)];
      value *= Real(row < column ? 1.3 : row > column ? 0.7 : 1.0);
      if constexpr (is_complex<V>) {
        if (row != column) value *= std::polar(Real(1), Real(0.3 * (row - column)));
      }
      values.push_back(value);
    }
  }
  const Csr<V, I> matrix(symmetric.rows(), symmetric.cols(), std::move(row_offsets),
                         std::move(columns), std::move(values));
  const SolveOptions options{.tolerance = sizeof(Real) == 4 ? 1e-4 : 1e-9};
  for (const auto& offsets : partitions(matrix.rows())) {
    for (const By by : {By::fused_gmres, By::fused_bicgstab}) {
      for (const bool preconditioned : {false, true}) {
        const Solved solved = solve_in_parts(by, matrix, offsets, options, preconditioned, 20);
        EXPECT_EQ(solved.result.status, SolveStatus::converged) << solved.result.message;
        EXPECT_LE(solved.residual, 1.1 * options.tolerance);
      }
    }
    const Solved solved = solve_by_powers(true, true, matrix, offsets, 4, options, 5);
    EXPECT_EQ(solved.result.status, SolveStatus::converged) << solved.result.message;
    EXPECT_LE(solved.residual, 1.1 * options.tolerance);
  }
}

TEST(Parts, FusedMethodsEndAsTheOthersDo) {
  const auto indefinite = generate<double, I>("anderson:8x8x8");
  const std::vector<Offset> parts{0, 100, indefinite.rows()};
  EXPECT_EQ(solve_in_parts(By::fused_cg, indefinite, parts, {}).result.status,
            SolveStatus::not_definite);
  EXPECT_EQ(solve_in_parts(By::fused_minres, indefinite, parts, {.tolerance = 1e-6}).result.status,
            SolveStatus::converged);
  const auto matrix = generate<double, I>("stencil5:30x20");
  for (const By by : {By::fused_cg, By::fused_gmres, By::fused_minres, By::fused_bicgstab}) {
    SCOPED_TRACE(static_cast<int>(by));
    const Solved cut = solve_in_parts(by, matrix, {0, 50, matrix.rows()},
                                      {.tolerance = 1e-12, .most_iterations = 7});
    EXPECT_EQ(cut.result.status, SolveStatus::most_iterations);
    EXPECT_EQ(cut.result.iterations, 7);
    EXPECT_NEAR(cut.residual, cut.result.residual, 1e-6);
    const Solved precise = solve_in_parts(by, matrix, {0, 50, matrix.rows()},
                                          {.tolerance = 1e-30, .most_iterations = 100000});
    EXPECT_EQ(precise.result.status, SolveStatus::stagnated);
    EXPECT_LT(precise.residual, 1e-12);
  }
  for (const bool gmres : {false, true}) {
    const Solved cut = solve_by_powers(gmres, true, matrix, {0, 50, matrix.rows()}, 4,
                                       {.tolerance = 1e-12, .most_iterations = 20});
    EXPECT_EQ(cut.result.status, SolveStatus::most_iterations);
    EXPECT_EQ(cut.result.iterations, 20);
  }
  // A matrix of few rows has no more directions than these.
  for (const char* spec : {"stencil5:1x1", "stencil5:2x1", "stencil5:3x1"}) {
    const auto tiny = generate<double, I>(spec);
    for (const By by : {By::fused_cg, By::fused_gmres, By::fused_minres, By::fused_bicgstab}) {
      const Solved solved = solve_in_parts(by, tiny, {0, 0, tiny.rows()}, {});
      EXPECT_EQ(solved.result.status, SolveStatus::converged) << solved.result.message;
    }
    for (const bool gmres : {false, true}) {
      const Solved solved = solve_by_powers(gmres, true, tiny, {0, 0, tiny.rows()}, 4, {});
      EXPECT_EQ(solved.result.status, SolveStatus::converged) << solved.result.message;
    }
  }
}

TEST(Parts, RandomRowsOfRangesAreThoseOfAllRows) {
  for (const int vectors : {1, 3}) {
    const auto all = random_rows<std::complex<double>>(50, vectors, 7);
    const auto some = random_rows<std::complex<double>>(20, vectors, 7, 13);
    for (std::size_t i = 0; i < some.size(); ++i) {
      EXPECT_EQ(some[i], all[i + 13 * static_cast<std::size_t>(vectors)]);
    }
  }
}

TEST(Parts, DiagonalsAndCirclesOfRangesAreThoseOfAllRows) {
  const auto matrix = generate<double, I>("stencil5:9x7,coefficients=random");
  Team<double> team(matrix, {0, 10, 10, matrix.rows()});
  const auto whole = inverse_diagonal(matrix);
  const SpectrumBounds bounds = gershgorin_bounds(matrix);
  const Array<double> blocks = block_inverses(matrix, 5);
  double low = bounds.high, high = bounds.low;
  for (const int part : {0, 2}) {
    const auto local = team.local(part);
    const auto first = static_cast<std::size_t>(team.begin(part));
    const auto some = inverse_diagonal(local, team.begin(part));
    for (std::size_t i = 0; i < some.size(); ++i) EXPECT_EQ(some[i], whole[first + i]);
    const SpectrumBounds of_part = gershgorin_bounds(local, team.begin(part));
    low = std::min(low, of_part.low);
    high = std::max(high, of_part.high);
    // Blocks of five rows begin where parts do.
    const Array<double> some_blocks = block_inverses(local, 5, team.begin(part));
    for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(some_blocks[i], blocks[first * 5 + i]);
  }
  EXPECT_EQ(low, bounds.low);
  EXPECT_EQ(high, bounds.high);
}

}  // namespace
}  // namespace strata::solvers
