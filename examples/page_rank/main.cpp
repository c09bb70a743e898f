// PageRank of a graph: of a Matrix Market file, in which an entry (i, j) is a link from i to j, or
// of a random one. What comes out is checked by one more step of the walk, written out.
//
//   page_rank soc-Slashdot0902.mtx.gz
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/gen/generate.hpp"
#include "strata/io/matrix_market.hpp"
#include "strata/solvers/page_rank.hpp"

using Graph = strata::Csr<double, std::int32_t>;

// x⁺ = d Pᵀx + (1 − d + d · rank of nodes without links) / n, in the 1-norm apart from x.
double change_of_a_step(const Graph& links, const std::vector<double>& x, double damping) {
  std::vector<double> next(x.size());
  double jumping = 1 - damping;
  for (std::size_t row = 0; row < x.size(); ++row) {
    const auto begin = links.row_offsets()[row], end = links.row_offsets()[row + 1];
    if (begin == end) jumping += damping * x[row];
    for (auto k = begin; k < end; ++k) {
      next[static_cast<std::size_t>(links.columns()[static_cast<std::size_t>(k)])] +=
          damping * x[row] / static_cast<double>(end - begin);
    }
  }
  double change = 0;
  for (std::size_t row = 0; row < x.size(); ++row) {
    change += std::abs(next[row] + jumping / static_cast<double>(x.size()) - x[row]);
  }
  return change;
}

int main(int argc, char** argv) try {
  const Graph links = argc > 1 ? strata::read_matrix_market<double, std::int32_t>(argv[1])
                               : strata::generate<double, std::int32_t>("rmat:14,edges=8");
  const strata::solvers::PageRankOptions options{.damping = 0.85, .tolerance = 1e-12};
  const auto result = strata::solvers::page_rank(links, options);
  const auto& ranks = result.ranks;

  std::vector<std::size_t> order(ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto shown = std::min<std::size_t>(order.size(), 10);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](std::size_t a, std::size_t b) { return ranks[a] > ranks[b]; });
  std::printf("%d nodes, %lld links, %lld nodes without; %d iterations\n\n  node       rank\n",
              links.rows(), static_cast<long long>(links.nnz()),
              static_cast<long long>(result.dangling), result.iterations);
  for (std::size_t k = 0; k < shown; ++k) {
    std::printf("%6zu %10.3e\n", order[k] + 1, ranks[order[k]]);
  }
  const double change = change_of_a_step(links, ranks, options.damping);
  const double sum = std::accumulate(ranks.begin(), ranks.end(), 0.0);
  std::printf("\none more step changes the ranks by %.1e; their sum is 1%+.0e\n", change, sum - 1);
  return change < 1e-11 && std::abs(sum - 1) < 1e-11 ? 0 : 1;
} catch (const strata::Error& error) {
  std::fprintf(stderr, "page_rank: %s\n", error.what());
  return 1;
}
