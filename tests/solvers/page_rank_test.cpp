// PageRank against the dense linear system that it solves.

#include "strata/solvers/page_rank.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "strata/base/error.hpp"
#include "strata/gen/generate.hpp"
#include "tests/solvers/functions_support.hpp"

namespace strata::solvers {
namespace {

using I = std::int32_t;
using test::dense;
using test::sparse;

// (I − d Sᵀ) x = (1 − d)/n, S with rows of 1/n for nodes without links.
Eigen::VectorXd exact_ranks(Eigen::MatrixXd links, double damping, bool weighted) {
  const auto n = links.rows();
  for (int row = 0; row < n; ++row) {
    if (!weighted) links.row(row) = (links.row(row).array() != 0).cast<double>();
    const double sum = links.row(row).sum();
    if (sum > 0) {
      links.row(row) /= sum;
    } else {
      links.row(row).setConstant(1.0 / static_cast<double>(n));
    }
  }
  const Eigen::MatrixXd system = Eigen::MatrixXd::Identity(n, n) - damping * links.transpose();
  return test::solution<double>(
      system, Eigen::VectorXd::Constant(n, (1 - damping) / static_cast<double>(n)));
}

TEST(PageRank, IsTheSolutionOfItsLinearSystem) {
  for (const char* spec : {"rmat:7,edges=4", "random:150,nnzr=3,seed=2", "arrow:60"}) {
    SCOPED_TRACE(spec);
    auto matrix = generate<double, I>(spec);
    for (double& value : matrix.mutable_values()) value = std::abs(value) + 0.01;
    for (const double damping : {0.5, 0.85, 0.99}) {
      for (const bool weighted : {false, true}) {
        const auto result = page_rank(matrix, {.damping = damping,
                                               .tolerance = 1e-13,
                                               .most_iterations = 5000,
                                               .weighted = weighted,
                                               .threads = 2,
                                               .autotune = false});
        EXPECT_EQ(result.status, SolveStatus::converged) << result.message;
        const auto exact = exact_ranks(dense(matrix), damping, weighted);
        double difference = 0, sum = 0;
        for (std::size_t i = 0; i < result.ranks.size(); ++i) {
          difference += std::abs(result.ranks[i] - exact(static_cast<int>(i)));
          sum += result.ranks[i];
          EXPECT_GT(result.ranks[i], 0);
        }
        EXPECT_LE(difference, result.error + 1e-12);
        EXPECT_NEAR(sum, 1, 1e-12);
      }
    }
  }
}

TEST(PageRank, DanglingNodesAreCountedAndTheirRankIsSpread) {
  Eigen::MatrixXd links = Eigen::MatrixXd::Zero(3, 3);
  links(0, 1) = links(0, 2) = links(1, 2) = 1;
  const auto result = page_rank(sparse(links), {.tolerance = 1e-14, .autotune = false});
  EXPECT_EQ(result.dangling, 1);
  const auto exact = exact_ranks(links, 0.85, false);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(result.ranks[i], exact(static_cast<int>(i)), 1e-13);
  }
  const Csr<double, I> nothing(4, 4, Array<Offset>(5, 0), {}, {});
  const auto even = page_rank(nothing, {.autotune = false});
  EXPECT_EQ(even.ranks, std::vector<double>(4, 0.25));
  EXPECT_EQ(even.dangling, 4);
}

TEST(PageRank, TheResultDoesNotDependOnThreads) {
  const auto matrix = generate<double, I>("rmat:12,edges=8");
  const auto one = page_rank(matrix, {.threads = 1, .autotune = false});
  const auto two = page_rank(matrix, {.threads = 2, .autotune = false});
  ASSERT_EQ(one.ranks.size(), two.ranks.size());
  for (std::size_t i = 0; i < one.ranks.size(); ++i) EXPECT_NEAR(one.ranks[i], two.ranks[i], 1e-15);
}

TEST(PageRank, BadInputIsRefusedOrSaid) {
  const auto matrix = generate<double, I>("random:50,nnzr=3");
  EXPECT_THROW(page_rank(matrix, {.damping = 1}), InvalidArgument);
  EXPECT_THROW(page_rank(matrix, {.tolerance = 0}), InvalidArgument);
  EXPECT_THROW(page_rank(Csr<double, I>()), InvalidArgument);
  EXPECT_THROW(page_rank(Csr<double, I>(2, 3, Array<Offset>(3, 0), {}, {})), InvalidArgument);
  Eigen::MatrixXd negative = Eigen::MatrixXd::Identity(3, 3);
  negative(1, 2) = -1;
  EXPECT_THROW(page_rank(sparse(negative), {.weighted = true}), InvalidArgument);
  negative(1, 2) = std::nan("");
  EXPECT_THROW(page_rank(sparse(negative), {.weighted = true}), InvalidArgument);

  const auto few = page_rank(matrix, {.most_iterations = 3, .autotune = false});
  EXPECT_EQ(few.status, SolveStatus::most_iterations);
  EXPECT_EQ(few.iterations, 3);
  EXPECT_NEAR(std::accumulate(few.ranks.begin(), few.ranks.end(), 0.0), 1, 1e-14);
  const auto stagnated =
      page_rank(matrix, {.tolerance = 1e-30, .most_iterations = 100000, .autotune = false});
  EXPECT_TRUE(stagnated.status == SolveStatus::stagnated || stagnated.change == 0);
  EXPECT_LT(stagnated.change, 1e-15);
  EXPECT_LT(stagnated.iterations, 1000);
  const auto stopped = page_rank(
      matrix, {.autotune = false, .progress = [](const Iteration& now) { return now.number < 4; }});
  EXPECT_EQ(stopped.status, SolveStatus::stopped);
  EXPECT_EQ(stopped.iterations, 4);
}

}  // namespace
}  // namespace strata::solvers
