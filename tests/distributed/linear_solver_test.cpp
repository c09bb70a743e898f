// Solvers on several ranks against those of one process: solutions, iterations, and how often ranks
// sum up and send.

#include "strata/distributed/linear_solver.hpp"

#include <gtest/gtest.h>

#include <bit>

#include "strata/base/error.hpp"
#include "strata/solvers/random_rows.hpp"
#include "tests/distributed/parts.hpp"
#include "tests/distributed/systems.hpp"

namespace strata::distributed {
namespace {

using solvers::LinearSolverOptions;
using solvers::Method;
using solvers::Preconditioner;
using solvers::SolveOptions;
using solvers::SolveResult;
using solvers::SolveStatus;

// Without timing, so that runs are the same.
LinearSolverOptions with(Method method, Preconditioner preconditioner = Preconditioner::none,
                         int restart = 300, int powers = 4) {
  return {.method = method,
          .preconditioner = preconditioner,
          .restart = restart,
          .powers = powers,
          .product = {.memory = TuningMemory::ignore, .autotune = false}};
}

template <Value V>
struct Solved {
  SolveResult result;
  std::vector<V> x;  // of all ranks
  Traffic traffic;   // of this rank, in the solution alone
};

template <Value V>
Solved<V> solved_on(const Communicator& ranks, const Csr<V, std::int32_t>& whole,
                    const Partition& rows, const LinearSolverOptions& options,
                    const SolveOptions& asked, int depth = 0) {
  LinearSolver<V> solver(ranks, cut(ranks, whole, rows, rows), options,
                         {.depth = depth, .network = &kSomeNetwork});
  const auto b = solvers::random_rows<V>(rows.size(ranks.rank()), 1, 5, rows.begin(ranks.rank()));
  std::vector<V> x(b.size());
  const Traffic before = ranks.traffic();
  Solved<V> solved{solver.solve(b, x, asked), {}, {}};
  solved.traffic = ranks.traffic() - before;
  solved.x = gathered(ranks, x);
  // The same on all ranks.
  for (const auto& each : ranks.gather_all(solved.result.iterations)) {
    EXPECT_EQ(each, solved.result.iterations);
  }
  for (const double each : ranks.gather_all(solved.result.residual)) {
    EXPECT_EQ(each, solved.result.residual);
  }
  ranks.require_same("a message", solved.result.message + solved.result.remark);
  ranks.require_same("an explanation", solver.variant() + solver.explain());
  return solved;
}

template <Value V>
SolveResult solved_alone(const Csr<V, std::int32_t>& whole, const LinearSolverOptions& options,
                         const SolveOptions& asked) {
  solvers::LinearSolver<V, std::int32_t> solver(whole, options);
  std::vector<V> x(static_cast<std::size_t>(whole.rows()));
  return solver.solve(solvers::random_rows<V>(whole.rows(), 1, 5), x, asked);
}

template <class V>
class DistributedLinearSolver : public testing::Test {};
using Values = testing::Types<double, float, std::complex<double>, std::complex<float>>;
TYPED_TEST_SUITE(DistributedLinearSolver, Values);

TYPED_TEST(DistributedLinearSolver, FindsWhatOneProcessFinds) {
  using V = TypeParam;
  const Communicator ranks(MPI_COMM_WORLD);
  const bool single = std::is_same_v<decltype(std::abs(V())), float>;
  const SolveOptions asked{.tolerance = single ? 1e-4 : 1e-8};
  for (const bool definite : {true, false}) {
    const auto whole = definite ? hermitian<V>("stencil5:17x13") : lopsided<V>("stencil5:17x13");
    for (const Method method : solvers::kMethods) {
      const bool any =
          method == Method::bicgstab || method == Method::gmres || method == Method::ca_gmres;
      if (!definite && !any) continue;
      SCOPED_TRACE(name_of(method));
      const auto options = with(method);
      const SolveResult alone = solved_alone(whole, options, asked);
      ASSERT_EQ(alone.status, SolveStatus::converged) << alone.message;
      for (const Partition& rows :
           {Partition::even(whole.rows(), ranks.size()), uneven(whole.rows(), ranks.size())}) {
        const auto [result, x, traffic] = solved_on(ranks, whole, rows, options, asked);
        EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
        const auto b = solvers::random_rows<V>(whole.rows(), 1, 5);
        const double residual = residual_of(whole, b, x);
        EXPECT_LE(residual, 1.01 * asked.tolerance);
        EXPECT_NEAR(residual, result.residual, (single ? 0.1 : 1e-4) * asked.tolerance);
        // BiCGStab is at the mercy of rounding. Methods on powers count whole blocks, whose first
        // ones differ by one where reductions are fused.
        const double few = method == Method::bicgstab ? 0.3 * alone.iterations + 2
                           : method == Method::ca_gmres || method == Method::ca_cg ? options.powers
                           : single                                                ? 3
                                                                                   : 1;
        EXPECT_NEAR(result.iterations, alone.iterations, few);
      }
    }
  }
}

TEST(DistributedLinearSolver, PreconditionersAreThoseOfOneProcess) {
  const Communicator ranks(MPI_COMM_WORLD);
  const auto whole = hermitian<double>("stencil5:16x15,coefficients=random");
  const SolveOptions asked{.tolerance = 1e-9};
  for (const Preconditioner preconditioner : solvers::kPreconditioners) {
    for (const Method method : {Method::cg, Method::gmres, Method::minres, Method::bicgstab}) {
      SCOPED_TRACE(testing::Message() << name_of(method) << ", " << name_of(preconditioner));
      // A polynomial of GMRES need not be definite.
      if (preconditioner == Preconditioner::gmres && method == Method::minres) continue;
      auto options = with(method, preconditioner);
      options.block_rows = 4;
      const SolveResult alone = solved_alone(whole, options, asked);
      const auto rows = Partition::even(whole.rows(), ranks.size());
      const auto [result, x, traffic] = solved_on(ranks, whole, rows, options, asked);
      EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
      EXPECT_LE(residual_of(whole, solvers::random_rows<double>(whole.rows(), 1, 5), x), 1.01e-9);
      // Blocks of ranks are others than those of one process, unless its rows are a multiple.
      const bool same_blocks =
          preconditioner != Preconditioner::block_jacobi || whole.rows() / ranks.size() % 4 == 0;
      const double few =
          method == Method::bicgstab || !same_blocks ? 0.3 * alone.iterations + 2 : 1;
      EXPECT_NEAR(result.iterations, alone.iterations, few);
    }
  }
}

// A solver with new values does what one that was made for them does.
TEST(DistributedLinearSolver, TakesNewValues) {
  const Communicator ranks(MPI_COMM_WORLD);
  const auto before = hermitian<double>("stencil5:16x15");
  const auto after = hermitian<double>("stencil5:16x15,coefficients=random");
  const auto rows = Partition::even(before.rows(), ranks.size());
  const SolveOptions asked{.tolerance = 1e-9};
  const auto b = solvers::random_rows<double>(before.rows(), 1, 5);
  for (const auto& options : {with(Method::cg), with(Method::cg, Preconditioner::jacobi),
                              with(Method::cg, Preconditioner::block_jacobi),
                              with(Method::gmres, Preconditioner::chebyshev), with(Method::ca_cg),
                              with(Method::ca_gmres)}) {
    SCOPED_TRACE(testing::Message()
                 << name_of(options.method) << ", " << name_of(options.preconditioner));
    LinearSolver<double> solver(ranks, cut(ranks, before, rows, rows), options,
                                {.depth = 0, .network = &kSomeNetwork});
    solver.update_values(cut(ranks, after, rows, rows));
    std::vector<double> own(static_cast<std::size_t>(solver.rows()));
    const SolveResult result = solver.solve(own_part(ranks, b, rows), own, asked);
    EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
    EXPECT_LE(residual_of(after, b, gathered(ranks, own)), 1.01e-9);
    const auto fresh = solved_on(ranks, after, rows, options, asked);
    EXPECT_NEAR(result.iterations, fresh.result.iterations, 1);
  }
}

// Sums of a method that ends after its first cycle: ‖b‖, a residual at either end, and what
// iterations and the first of them take.
TEST(DistributedLinearSolver, RanksSumUpOncePerIteration) {
  const Communicator ranks(MPI_COMM_WORLD);
  const auto whole = hermitian<double>("stencil5:30x40");
  const auto rows = Partition::even(whole.rows(), ranks.size());
  for (const Method method : {Method::cg, Method::minres, Method::gmres, Method::bicgstab}) {
    for (const auto preconditioner : {Preconditioner::none, Preconditioner::jacobi}) {
      SCOPED_TRACE(name_of(method));
      const auto [result, x, traffic] =
          solved_on(ranks, whole, rows, with(method, preconditioner), {.tolerance = 1e-6});
      ASSERT_EQ(result.status, SolveStatus::converged) << result.message;
      EXPECT_EQ(traffic.reductions, 4 + (method == Method::bicgstab ? 2 : 1) * result.iterations);
    }
  }
  // Restarts have two more each.
  const auto [result, x, traffic] =
      solved_on(ranks, whole, rows, with(Method::gmres, Preconditioner::none, 10),
                {.tolerance = 0, .most_iterations = 50});
  EXPECT_EQ(result.iterations, 50);
  EXPECT_EQ(traffic.reductions, 1 + 5 * (1 + 10 + 1) + 1);
}

Offset neighbours(const Communicator& ranks) {
  return (ranks.rank() > 0 ? 1 : 0) + (ranks.rank() + 1 < ranks.size() ? 1 : 0);
}

TEST(DistributedLinearSolver, RanksSumUpAndSendOncePerBlockOfPowers) {
  const Communicator ranks(MPI_COMM_WORLD);
  const auto whole = hermitian<double>("stencil5:30x40");
  const auto rows = Partition::even(whole.rows(), ranks.size());
  for (const int s : {2, 4}) {
    SCOPED_TRACE(s);
    const auto cg = solved_on(ranks, whole, rows, with(Method::ca_cg, Preconditioner::none, 300, s),
                              {.tolerance = 1e-6}, s);
    ASSERT_EQ(cg.result.status, SolveStatus::converged) << cg.result.message;
    ASSERT_EQ(cg.result.remark, "");
    // s plain iterations, of two reductions each; true residuals after 4, 8, 16 … blocks; and the
    // block whose inner products say that the one before was enough.
    const int blocks = (cg.result.iterations - s) / s;
    const int checks = blocks < 4 ? 0 : std::bit_width(static_cast<unsigned>(blocks)) - 2;
    EXPECT_EQ(cg.traffic.reductions, 3 + 2 * s + checks + blocks + 1);
    EXPECT_EQ(cg.traffic.messages, neighbours(ranks) * (2 + s + checks + blocks + 1));
    EXPECT_EQ(cg.result.products, 2 + s + checks + (blocks + 1) * s);

    const auto gmres =
        solved_on(ranks, whole, rows, with(Method::ca_gmres, Preconditioner::none, 400, s),
                  {.tolerance = 1e-6}, s);
    ASSERT_EQ(gmres.result.status, SolveStatus::converged) << gmres.result.message;
    ASSERT_EQ(gmres.result.remark, "");
    // s + 1 vectors one by one, the rest by blocks, and one block in vain.
    const int sweeps = (gmres.result.iterations - s - 1) / s + 1;
    EXPECT_EQ(gmres.traffic.reductions, 3 + s + 1 + sweeps);
    EXPECT_EQ(gmres.traffic.messages, neighbours(ranks) * (2 + s + 1 + sweeps));
  }
  // A sweep of d powers is one exchange, and so is the product of the residual, the one reduction.
  auto options = with(Method::chebyshev);
  options.degree = 4;
  const auto chebyshev =
      solved_on(ranks, whole, rows, options, {.tolerance = 0.01}, options.degree);
  EXPECT_EQ(chebyshev.result.status, SolveStatus::converged) << chebyshev.result.message;
  const int sweeps = chebyshev.result.iterations / (options.degree + 1);
  EXPECT_EQ(chebyshev.traffic.reductions, 1 + sweeps + 1);
  EXPECT_EQ(chebyshev.traffic.messages, neighbours(ranks) * (sweeps + 1 + sweeps));
}

TEST(DistributedLinearSolver, MoreRanksThanRows) {
  const Communicator ranks(MPI_COMM_WORLD);
  for (const char* spec : {"stencil5:1x1", "stencil5:2x1", "stencil5:3x1"}) {
    const auto whole = hermitian<double>(spec);
    for (const Partition& rows :
         {Partition::even(whole.rows(), ranks.size()), uneven(whole.rows(), ranks.size())}) {
      for (const Method method : solvers::kMethods) {
        SCOPED_TRACE(testing::Message() << spec << ", " << name_of(method));
        const auto [result, x, traffic] = solved_on(ranks, whole, rows, with(method), {});
        EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
        EXPECT_LE(residual_of(whole, solvers::random_rows<double>(whole.rows(), 1, 5), x), 1e-8);
      }
    }
  }
}

TEST(DistributedLinearSolver, OneRankStopsAll) {
  const Communicator ranks(MPI_COMM_WORLD);
  const auto whole = hermitian<double>("stencil5:30x40");
  const auto rows = Partition::even(whole.rows(), ranks.size());
  LinearSolver<double> solver(ranks, cut(ranks, whole, rows, rows), with(Method::cg));
  const std::vector<double> b(static_cast<std::size_t>(solver.rows()), 1.0);
  std::vector<double> x(b.size());
  const bool last = ranks.rank() + 1 == ranks.size();
  SolveOptions options;
  if (last) options.progress = [](const solvers::Iteration& now) { return now.number < 5; };
  const SolveResult result = solver.solve(b, x, options);
  EXPECT_EQ(result.status, SolveStatus::stopped);
  EXPECT_EQ(result.iterations, 6);  // the one after the wish

  if (last) {
    options.progress = [](const solvers::Iteration& now) -> bool {
      if (now.number == 3) throw Error("no more");
      return true;
    };
  }
  try {
    solver.solve(b, x, options);
    ADD_FAILURE() << "nothing thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("no more"), std::string::npos) << error.what();
  }
  // And it can be used again.
  EXPECT_EQ(solver.solve(b, x).status, SolveStatus::converged);
}

TEST(DistributedLinearSolver, AllRanksRefuseWhatOneCannotDo) {
  const Communicator ranks(MPI_COMM_WORLD);
  const auto whole = hermitian<double>("stencil5:9x8");
  const auto rows = Partition::even(whole.rows(), ranks.size());
  const auto matrix = cut(ranks, whole, rows, rows);
  if (ranks.size() > 1) {
    auto different = with(ranks.rank() == 0 ? Method::cg : Method::gmres);
    EXPECT_THROW(LinearSolver<double>(ranks, matrix, different), InvalidArgument);
  }
  EXPECT_THROW(LinearSolver<double>(ranks, matrix, with(Method::ca_cg, Preconditioner::jacobi)),
               InvalidArgument);
  // The last row has no diagonal, which one rank alone sees.
  const auto broken = changed(whole, [&](std::int32_t row, std::int32_t column, double value) {
    return row == column && row + 1 == whole.rows() ? 0.0 : value;
  });
  const auto broken_matrix = cut(ranks, broken, rows, rows);
  for (const auto preconditioner : {Preconditioner::jacobi, Preconditioner::block_jacobi}) {
    auto options = with(Method::cg, preconditioner);
    options.block_rows = 1;
    try {
      const LinearSolver<double> solver(ranks, broken_matrix, options);
      ADD_FAILURE() << "nothing thrown";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find("72"), std::string::npos) << error.what();
    }
  }
  LinearSolver<double> solver(ranks, matrix, with(Method::cg));
  const bool wrong = ranks.rank() == 0;
  std::vector<double> b(static_cast<std::size_t>(solver.rows()) + (wrong ? 1 : 0));
  std::vector<double> x(static_cast<std::size_t>(solver.rows()));
  EXPECT_THROW(solver.solve(b, x), InvalidArgument);
  b.resize(x.size());
  if (ranks.size() > 1) {
    EXPECT_THROW(solver.solve(b, x, {.tolerance = wrong ? 1e-3 : 1e-4}), InvalidArgument);
  }
  // Indefinite, and said so by all.
  const auto indefinite = changed(whole, [&](std::int32_t row, std::int32_t column, double value) {
    return row == column && row + 1 == whole.rows() ? -9.0 : value;
  });
  const auto [result, found, traffic] =
      solved_on(ranks, indefinite, rows, with(Method::cg), SolveOptions{});
  EXPECT_EQ(result.status, SolveStatus::not_definite);
  EXPECT_THROW(LinearSolver<double>(ranks, cut(ranks, indefinite, rows, rows),
                                    with(Method::cg, Preconditioner::chebyshev)),
               Error);
}

}  // namespace
}  // namespace strata::distributed
