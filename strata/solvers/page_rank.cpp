#include "strata/solvers/page_rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/csc.hpp"
#include "strata/plans/product_plan.hpp"
#include "strata/solvers/hermitian.hpp"
#include "strata/solvers/timed_operator.hpp"

namespace strata::solvers {

namespace {

// The sum of term(i), with the same bits for any number of threads.
template <class Term>
double sum_of(Offset count, std::vector<double>& partial, const Term& term) {
  constexpr Offset kBlock = 4096;
  const Offset blocks = (count + kBlock - 1) / kBlock;
  partial.resize(static_cast<std::size_t>(blocks));
  parallel_for(blocks, [&](Offset block) {
    double sum = 0;
    const Offset end = std::min((block + 1) * kBlock, count);
    for (Offset i = block * kBlock; i < end; ++i) sum += term(static_cast<std::size_t>(i));
    partial[static_cast<std::size_t>(block)] = sum;
  });
  double sum = 0;
  for (const double each : partial) sum += each;
  return sum;
}

template <Value V, Index I>
double weight_of(const Csr<V, I>& links, std::size_t k, I row) {
  const V value = links.values()[k];
  if (static_cast<double>(std::imag(value)) != 0 || !(static_cast<double>(std::real(value)) >= 0)) {
    throw InvalidArgument(fmt::format("link ({}, {}) has a weight that is negative or not real",
                                      row + 1, links.columns()[k] + 1));
  }
  return static_cast<double>(std::real(value));
}

template <Index I>
struct Transition {
  Csr<double, I> transposed;  // Pᵀ
  Offset dangling = 0;
};

template <Value V, Index I>
Transition<I> transition_of(const Csr<V, I>& links, bool weighted) {
  Array<Offset> offsets(links.row_offsets().begin(), links.row_offsets().end());
  Array<I> columns(links.columns().begin(), links.columns().end());
  Array<double> values(static_cast<std::size_t>(links.nnz()));
  Transition<I> transition;
  for (I row = 0; row < links.rows(); ++row) {
    const auto begin = static_cast<std::size_t>(links.row_offsets()[row]);
    const auto end = static_cast<std::size_t>(links.row_offsets()[row + 1]);
    double sum = 0;
    for (std::size_t k = begin; k < end; ++k) {
      values[k] = weighted ? weight_of(links, k, row) : 1.0;
      sum += values[k];
    }
    if (!(sum > 0)) ++transition.dangling;
    for (std::size_t k = begin; k < end; ++k) values[k] = sum > 0 ? values[k] / sum : 0;
  }
  const Csr<double, I> normalised(links.rows(), links.cols(), std::move(offsets),
                                  std::move(columns), std::move(values));
  transition.transposed = Csc<double, I>::from_csr(normalised).transpose();
  return transition;
}

}  // namespace

template <Value V, Index I>
PageRankResult page_rank(const Csr<V, I>& links, const PageRankOptions& options) {
  require_square(links, "PageRank");
  if (links.rows() == 0) throw InvalidArgument("a graph without nodes has no ranks");
  if (options.weighted) require_finite(links, "PageRank with weights");
  if (!(options.damping > 0 && options.damping < 1)) {
    throw InvalidArgument("the damping is between 0 and 1");
  }
  if (!(options.tolerance > 0)) throw InvalidArgument("the tolerance must be positive");
  const RunningClock setup;
  PageRankResult result;
  auto [transposed, dangling] = transition_of(links, options.weighted);
  result.dangling = dangling;
  const auto plan = plan_product(transposed, {.vector_order = VectorOrder::plan,
                                              .autotune = options.autotune,
                                              .threads = options.threads});
  auto workspace = plan.make_workspace();
  const ThreadCountScope scope(plan.threads());
  const auto rows = static_cast<std::size_t>(links.rows());
  const Offset padded = plan.x_rows();
  const auto elements = static_cast<std::size_t>(padded);
  // 1/n in every row, and 0 where rows are padded: where walks begin, and where they jump to.
  Array<double> anywhere(elements), x(elements), y(elements);
  plan.to_plan_order(std::vector<double>(rows, 1.0 / static_cast<double>(rows)), anywhere);
  std::copy(anywhere.begin(), anywhere.end(), x.begin());
  result.setup_seconds = setup.seconds();

  const RunningClock clock;
  double product_seconds = 0, reduction_seconds = 0, update_seconds = 0, best = 2;
  int without_progress = 0;
  std::vector<double> partial;
  const auto end = [&](SolveStatus status, std::string message) {
    result.status = status;
    result.message = std::move(message);
  };
  while (true) {
    double followed = 0;
    {
      const ClockedScope timed(product_seconds);
      plan.apply(options.damping, x, 0.0, y, workspace);
      ++result.products;
    }
    {
      const ClockedScope timed(reduction_seconds);
      followed = sum_of(padded, partial, [&](std::size_t i) { return y[i]; });
    }
    {
      const ClockedScope timed(update_seconds);
      result.change = sum_of(padded, partial, [&](std::size_t i) {
        y[i] += (1 - followed) * anywhere[i];
        return std::abs(y[i] - x[i]);
      });
    }
    std::swap(x, y);
    ++result.iterations;
    result.history.push_back({result.iterations, result.products, result.change});
    if (result.change <= options.tolerance) break;
    if (options.progress && !options.progress(result.history.back())) {
      end(SolveStatus::stopped, fmt::format("stopped after {} iterations", result.iterations));
      break;
    }
    if (result.iterations >= options.most_iterations) {
      end(SolveStatus::most_iterations,
          fmt::format("{} iterations were not enough", result.iterations));
      break;
    }
    without_progress = result.change < 0.99 * best ? 0 : without_progress + 1;
    best = std::min(best, result.change);
    if (without_progress == 10) {
      end(SolveStatus::stagnated,
          fmt::format("the change stays at {:.1e}: rounding allows no less", result.change));
      break;
    }
  }
  result.ranks.resize(rows);
  plan.to_caller_order(x, result.ranks);
  result.error = options.damping / (1 - options.damping) * result.change;
  result.times = {.total = clock.seconds(),
                  .products = product_seconds,
                  .reductions = reduction_seconds,
                  .updates = update_seconds};
  return result;
}

#define STRATA_INSTANTIATE(V, I) \
  template PageRankResult page_rank(const Csr<V, I>&, const PageRankOptions&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);
#undef STRATA_INSTANTIATE

}  // namespace strata::solvers
