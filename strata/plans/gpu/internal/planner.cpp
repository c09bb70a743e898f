#include "strata/plans/gpu/internal/planner.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "strata/base/instantiate.hpp"
#include "strata/machine/gpu/known.hpp"
#include "strata/plans/gpu/internal/trials.hpp"
#include "strata/plans/internal/trials.hpp"

namespace strata::gpu::detail {

namespace {

using I = std::int32_t;

// How many waves over rows in one order are timed, the most promising first; and of levels, if they
// are asked for.
constexpr std::size_t kTimed = 4;
// Plain products win unless another way is this much faster.
constexpr double kSimplerWins = 1.02;

template <Value V>
class Planner {
 public:
  Planner(const Csr<V, I>& matrix, const GpuPowerOptions& options, Stream& stream)
      : matrix_(matrix), options_(options), stream_(stream), started_(strata::detail::now()) {}

  PreparedPowers<V> plan() {
    prepared_.options = options_;
    prepared_.nnz = matrix_.nnz();
    for (int k = 1; k <= options_.power; ++k) {
      prepared_.coefficients.push_back(options_.basis.template step<V>(k));
    }
    find_facts();
    Proposals<V> found = find_proposals(matrix_, options_, prepared_.facts, stream_);
    prepared_.levels = found.levels;
    prepared_.largest_level_rows = found.largest_level_rows;
    if (options_.confirm) time_favourites(found.proposals);
    take_best(found.proposals);
    prepared_.setup_seconds = strata::detail::now() - started_;
    return std::move(prepared_);
  }

 private:
  void find_facts() {
    if (options_.facts != nullptr) {
      prepared_.facts = *options_.facts;
    } else {
      const auto& known = known_gpu(current_device());
      prepared_.facts = known.facts;
      prepared_.remark = known.remark;
    }
  }

  bool chooses() const { return options_.strategy == PowerStrategy::automatic; }

  // Plain products and the most promising waves. Levels if they were asked for, or if their
  // prediction, which is seldom reached, beats all that was timed.
  void time_favourites(std::vector<Proposal<V>>& proposals) {
    std::ranges::stable_sort(proposals, {}, [](const Proposal<V>& proposal) {
      return proposal.candidate.predicted_seconds;
    });
    Trials<V> trials(matrix_, options_.power, options_.vectors, stream_);
    double fastest = std::numeric_limits<double>::infinity();
    std::map<const Rows*, std::size_t> timed;
    for (Proposal<V>& proposal : proposals) {
      if (chooses() && is_by_levels(proposal.candidate.strategy)) continue;
      if (!proposal.plain() && timed[proposal.rows.get()]++ >= kTimed) continue;
      fastest = std::min(fastest, time(proposal, trials));
    }
    for (Proposal<V>& proposal : proposals) {
      const PowerCandidate& candidate = proposal.candidate;
      if (candidate.measured_seconds == 0 && is_by_levels(candidate.strategy) && chooses() &&
          candidate.predicted_seconds < fastest) {
        fastest = std::min(fastest, time(proposal, trials));
      }
    }
  }

  double time(Proposal<V>& proposal, Trials<V>& trials) {
    complete(proposal, options_);
    proposal.candidate.measured_seconds =
        trials.seconds_of(proposal.method, proposal.rows->order.positions());
    return proposal.candidate.seconds();
  }

  // What was asked for comes first. Where anything was timed, what was not is no choice.
  auto rank(const Proposal<V>& proposal) const {
    const PowerCandidate& candidate = proposal.candidate;
    const bool asked_for = chooses() || candidate.strategy == options_.strategy;
    return std::tuple(!asked_for, options_.confirm && candidate.measured_seconds == 0,
                      candidate.seconds() * (proposal.plain() ? 1 : kSimplerWins));
  }

  void take_best(std::vector<Proposal<V>>& proposals) {
    std::ranges::stable_sort(proposals, {}, [&](const Proposal<V>& p) { return rank(p); });
    for (const Proposal<V>& proposal : proposals) {
      prepared_.candidates.push_back(proposal.candidate);
      if (proposal.rows->name == "given" && proposal.plain() &&
          (prepared_.plain_seconds == 0 ||
           proposal.candidate.seconds() < prepared_.plain_seconds)) {
        prepared_.plain_seconds = proposal.candidate.seconds();
      }
    }
    Proposal<V>& best = proposals.front();
    complete(best, options_);
    prepared_.rows = best.rows;
    prepared_.storage = best.storage;
    prepared_.method = std::move(best.method);
  }

  const Csr<V, I>& matrix_;
  const GpuPowerOptions& options_;
  Stream& stream_;
  double started_;
  PreparedPowers<V> prepared_;
};

}  // namespace

template <Value V>
PreparedPowers<V> prepare_powers(const Csr<V, I>& matrix, const GpuPowerOptions& options,
                                 Stream& stream) {
  return Planner<V>(matrix, options, stream).plan();
}

#define STRATA_INSTANTIATE(V, unused) \
  template PreparedPowers<V> prepare_powers(const Csr<V, I>&, const GpuPowerOptions&, Stream&)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu::detail
