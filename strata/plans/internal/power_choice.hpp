// p chosen for a number of products (PowerOptions::products).
//
// One planning finds it, not one per p: rows are ordered, stored and cut once, for a p in the
// middle, and every p is a candidate on them. Processors lay out one sweep of each p; GPUs, whose
// plans try all sweeps that they have, take the powers of one application in sweeps of each p. The
// seconds of candidates are those of the powers that were planned for, until settle_power makes the
// plan one of p powers.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/kernels/has_kernel.hpp"
#include "strata/plans/candidate.hpp"
#include "strata/plans/plan_options.hpp"

namespace strata::detail {

// That an application may have.
int most_powers(const PowerOptions& options);

// The options of the planning that finds p, for those of a caller. `products` stays.
PowerOptions search_options(const PowerOptions& options, KernelTarget target);

// The powers per sweep that are candidates: block_sizes of the options or, where p is chosen, all.
std::vector<int> block_sizes(const PowerOptions& options);
// The sweeps that a candidate with so many powers in each is judged by: those of all powers or,
// where p is chosen, one.
std::vector<int> judged_sweeps(const PowerOptions& options, int block);

// What candidates with different p take for the products that were asked for.
class ProductsToRun {
 public:
  explicit ProductsToRun(const PowerOptions& options) : options_(options) {}

  void add(const PowerCandidate& candidate);
  // A factor on the seconds of a candidate: what whole sweeps leave of the products runs in a
  // shorter one; and of equal ones the smaller p wins, for it needs fewer vectors. 1 where p is
  // given, infinity where it is more than the products.
  double factor(const PowerCandidate& candidate) const;

 private:
  double sweep_seconds(const PowerCandidate& candidate) const;

  const PowerOptions& options_;
  std::array<double, kLargestChosenPower + 1> shortest_{};  // sweep of each p; 0: not known
};

// Of proposals in the order of their predictions what is timed to choose p: plain products, and the
// best way to some p, among them small ones, which models underrate where threads wait for each
// other.
template <class Proposal>
std::vector<Proposal*> favourites_by_power(const std::vector<Proposal*>& by_time) {
  constexpr std::array kTimedPowers{2, 3, 4, 5, 6, 8, 12};
  // So many times as long as the best sweep one may take that is timed.
  constexpr double kMayWin = 1.5;
  std::vector<Proposal*> chosen;
  std::array<bool, kLargestChosenPower + 1> has{};
  double best_sweep = 0;
  for (Proposal* proposal : by_time) {
    const PowerCandidate& candidate = proposal->candidate;
    if (candidate.plain()) {
      chosen.push_back(proposal);
      continue;
    }
    if (best_sweep == 0) best_sweep = candidate.predicted_seconds;
    const bool listed = std::ranges::count(kTimedPowers, candidate.block) != 0;
    const bool best = candidate.predicted_seconds == best_sweep;
    if (has[candidate.block] || candidate.predicted_seconds > kMayWin * best_sweep) continue;
    if (!listed && !best) continue;
    has[candidate.block] = true;
    chosen.push_back(proposal);
  }
  return chosen;
}

// Makes the record of a planning with search_options one of p powers, those of the choice: its
// candidates are then the ways to these, and by_power has the others. Returns p.
int settle_power(PlanRecord& record, const PowerOptions& searched);

}  // namespace strata::detail
