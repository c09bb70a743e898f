// What a plan on a GPU says about itself.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "strata/base/instantiate.hpp"
#include "strata/plans/gpu/internal/planner.hpp"
#include "strata/plans/internal/candidate_text.hpp"

namespace strata::gpu {

using strata::detail::bytes_text;
using strata::detail::gain_text;
using strata::detail::method_text;
using strata::detail::time_text;

namespace {

template <Value V>
std::string reason(const detail::PreparedPowers<V>& p) {
  const PowerCandidate& best = p.candidates.front();
  const auto find = [&](bool plain) {
    return std::ranges::find_if(p.candidates, [&](const PowerCandidate& candidate) {
      return (candidate.strategy == PowerStrategy::spmv) == plain;
    });
  };
  const auto plain = find(true);
  const auto blocked = find(false);
  if (best.strategy != PowerStrategy::spmv) {
    if (plain != p.candidates.end() && best.memory_bytes >= plain->memory_bytes) {
      return fmt::format("Chosen: {} in {}, rows {}, as asked for. No window fits on chip.",
                         method_text(best, p.options.power), best.format, best.order);
    }
    std::string text = fmt::format(
        "Chosen: {} in {}, rows {}. A window of up to {} stays on chip, so that {} move from and "
        "to memory",
        method_text(best, p.options.power), best.format, best.order,
        bytes_text(static_cast<double>(best.window_bytes)), bytes_text(best.memory_bytes));
    if (plain != p.candidates.end()) text += gain_text(*plain, best);
    return text + ".";
  }
  std::string text =
      fmt::format("Chosen: plain products in {}, rows {}. ", best.format, best.order);
  if (p.options.strategy == PowerStrategy::spmv) return text + "As asked for.";
  if (p.options.power == 1) return text + "One power leaves nothing to reuse.";
  if (blocked != p.candidates.end()) {
    return text +
           fmt::format(
               "The best of the others, {}, would take {:.2f} times as long; its bound is {}.",
               method_text(*blocked, p.options.power), blocked->seconds() / best.seconds(),
               blocked->bound);
  }
  if (p.levels > 0) {
    return text + fmt::format("With {} levels of up to {} rows no window fits on chip.", p.levels,
                              p.largest_level_rows);
  }
  return text + "There is nothing to block.";
}

}  // namespace

template <Value V>
std::string PowerPlan<V>::explain() const {
  const detail::PreparedPowers<V>& p = prepared();
  std::string text = fmt::format(
      "{} powers ({}) of a matrix with {} rows and {} entries, {} vector{}, on {}.\n", power(),
      p.options.basis.name(), rows(), p.nnz, vectors(), vectors() == 1 ? "" : "s", p.device);
  text += fmt::format(
      "It reads {:.0f} GB/s from memory and {:.0f} GB/s from {} of L2; news take {} from one "
      "multiprocessor to another.\n",
      p.profile.memory_bandwidth() * 1e-9, p.profile.l2_bandwidth() * 1e-9,
      bytes_text(static_cast<double>(p.profile.l2_bytes())), time_text(p.profile.handoff_seconds));
  for (const std::string& remark : p.remarks) text += fmt::format("Remark: {}.\n", remark);
  if (p.levels > 0) {
    text += fmt::format("The rows form {} levels of at most {} rows.\n", p.levels,
                        p.largest_level_rows);
  }
  text += '\n';
  text += strata::detail::candidate_table(candidates(), power());
  text += fmt::format("\n{}\n", reason(p));
  text += fmt::format("Planning took {}", time_text(setup_seconds()));
  if (break_even() > 0) {
    text += fmt::format("; it pays off after {:.0f} applications", std::ceil(break_even()));
  }
  return text + ".\n";
}

#define STRATA_INSTANTIATE(V, unused) template std::string PowerPlan<V>::explain() const
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu
