// What a plan says about itself.

#include <fmt/format.h>

#include <cmath>

#include "strata/base/instantiate.hpp"
#include "strata/plans/internal/candidate_text.hpp"
#include "strata/plans/internal/power_planner.hpp"
#include "strata/plans/internal/prediction.hpp"
#include "strata/plans/power_plan.hpp"

namespace strata {

using detail::bytes_text;
using detail::gain_text;
using detail::method_text;
using detail::time_text;

template <Value V, Index I>
std::string PowerPlan<V, I>::explain() const {
  const detail::PreparedPowers<V, I>& p = prepared();
  const detail::Places places = detail::places_of(p.profile, p.threads);
  const Rates& rates = places.rates;
  std::string text = fmt::format(
      "{} powers ({}) of a matrix with {} rows and {} entries, {} vector{}, {} thread{}.\n",
      power(), p.options.basis.name(), rows(), p.arrangement->matrix.nnz(), vectors(),
      vectors() == 1 ? "" : "s", p.threads, p.threads == 1 ? "" : "s");
  text += fmt::format(
      "The threads read {:.1f} GB/s from memory, {:.1f} GB/s from a shared cache of {} and {:.1f} "
      "GB/s from private caches of {} (usable).\n",
      rates.memory * 1e-9, rates.shared * 1e-9,
      bytes_text(static_cast<double>(places.shared_bytes)), rates.cache * 1e-9,
      bytes_text(static_cast<double>(places.private_bytes)));
  if (!p.remark.empty()) text += fmt::format("Remark: {}.\n", p.remark);
  if (p.levels > 0) {
    text += fmt::format("The rows form {} levels of at most {} rows.\n", p.levels,
                        p.largest_level_rows);
  }
  text += "\n";
  text += detail::candidate_table(candidates(), power());
  text += fmt::format("\n{}\n", reason());
  if (break_even() > 0) {
    text += fmt::format(
        "Planning took {}, as long as {:.0f} plain products; it pays off after {:.0f} "
        "applications.\n",
        time_text(setup_seconds()), setup_seconds() / (p.plain_seconds / power()),
        std::ceil(break_even()));
  } else {
    text += fmt::format("Planning took {}.\n", time_text(setup_seconds()));
  }
  return text;
}

template <Value V, Index I>
std::string PowerPlan<V, I>::reason() const {
  const detail::PreparedPowers<V, I>& p = prepared();
  const PowerCandidate& best = choice();
  const auto plain = std::ranges::find_if(candidates(), [](const PowerCandidate& candidate) {
    return candidate.strategy == PowerStrategy::spmv;
  });
  const auto blocked = std::ranges::find_if(candidates(), [](const PowerCandidate& candidate) {
    return candidate.strategy != PowerStrategy::spmv;
  });
  if (best.strategy != PowerStrategy::spmv) {
    std::string text = fmt::format(
        "Chosen: {} in {}, rows {}. A window of {} stays in the cache, so that {} come from memory",
        method_text(best, power()), best.format, best.order,
        bytes_text(static_cast<double>(best.window_bytes)), bytes_text(best.memory_bytes));
    if (plain != candidates().end()) text += gain_text(*plain, best);
    return text + ".";
  }
  std::string text =
      fmt::format("Chosen: plain products in {}, rows {}. ", best.format, best.order);
  if (p.options.strategy == PowerStrategy::spmv) return text + "As asked for.";
  if (power() == 1) return text + "One power leaves nothing to reuse.";
  if (!p.affords_sweeps) return text + "Waves need a processor for every thread.";
  if (blocked != candidates().end()) {
    return text + fmt::format("Blocking would need {} in the cache and take {:.2f} times as long.",
                              bytes_text(static_cast<double>(blocked->window_bytes)),
                              blocked->seconds() / best.seconds());
  }
  if (p.levels > 0) {
    return text + fmt::format("With {} levels of up to {} of {} rows there is no wave to speak of.",
                              p.levels, p.largest_level_rows, rows());
  }
  return text + "The matrix stays in the cache as it is.";
}

#define STRATA_INSTANTIATE(V, I)                         \
  template std::string PowerPlan<V, I>::explain() const; \
  template std::string PowerPlan<V, I>::reason() const
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
