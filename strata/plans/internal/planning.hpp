// The steps of planning, the same on every device: rows as they are, then rows by levels if that
// could pay, a short timing of the favourites, and the choice. A backend supplies what it can run,
// what that should cost, and how to time it:
//
//   Proposal                      has a `candidate`, and reordered(): whether rows move
//   proposals()                   all that was proposed so far
//   propose_given_order()
//   worth_searching()             whether levels might do better than what was proposed
//   prepare_search()              if it has one: may give memory back that the search needs
//   promising(levels)             whether these might
//   propose_levels(levels)
//   autotune()                    times what may win
//   handicaps()                   by how much what is simpler is preferred
//   take(ranked)                  keeps the first proposal that it has room for; returns its place
//   affords_sweeps()              whether waiting for each other costs nothing
#pragma once

#include <algorithm>
#include <functional>
#include <tuple>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/pattern.hpp"
#include "strata/order/levels.hpp"
#include "strata/order/spreading.hpp"
#include "strata/plans/candidate.hpp"
#include "strata/plans/internal/part_timer.hpp"
#include "strata/plans/internal/power_choice.hpp"

namespace strata::detail {

// Seconds of a clock that only goes forward.
double now();

// How many powers one sweep may have: as asked for; or all, a half, a third or a quarter, which
// make windows as much smaller. 0: nothing asked.
std::vector<int> block_sizes(int power, int asked_for);
// p as a sum of as few blocks, of about the same size, so that the largest window is small: 7 in
// blocks of 3 is 3 + 2 + 2.
std::vector<int> blocks_of(int power, int block);

// How large groups of levels may be so that a window fits: block + 1 of them are in use at a time
// (Alappat et al., IEEE TPDS 34(2), 2023).
Offset level_group_bytes(Offset window_bytes, int block);

// What windows may fill of a cache of so many bytes, see PowerOptions. The share is that of the
// options, if they have one.
Offset window_budget(const PowerOptions& options, Offset measured_bytes, double default_share);

// Whether the options ask for more than plain products, or demand it.
inline bool may_block(const PowerOptions& options) {
  return options.power > 1 && options.strategy != PowerStrategy::spmv;
}
inline bool must_block(const PowerOptions& options) {
  return may_block(options) && options.strategy != PowerStrategy::automatic;
}

// Whether products alone may be faster in another order of the rows: of one product, which there is
// no other way to speed up.
template <class Matrix>
bool may_reorder_products(const Matrix& matrix, const PowerOptions& options) {
  return options.power == 1 && options.strategy == PowerStrategy::automatic &&
         matrix.rows() == matrix.cols() && matrix.nnz() > 0;
}

// Bytes of copying y_0 in and y_1 … y_p out of the plan's order: of an element and its index that
// are read, and of a line that is loaded and stored for an element that is written.
double copy_bytes(const PowerOptions& options, bool reordered, double rows, double row_bytes,
                  double index_bytes);

// Factors on the seconds of what is less simple.
struct Handicaps {
  double blocked = 1;    // more than plain products
  double reordered = 1;  // rows that move
  double whole = 1;      // powers by products of all rows: sums of them need passes of their own
};

// The smaller, the better: what was asked for comes first, and where anything was timed, what was
// not is no choice.
template <class Proposal>
auto rank_of(const Proposal& proposal, const PowerOptions& options, bool any_timed,
             const Handicaps& handicaps) {
  const PowerCandidate& candidate = proposal.candidate;
  const bool asked_for =
      options.strategy == PowerStrategy::automatic || candidate.strategy == options.strategy;
  const double handicap = (candidate.plain() ? 1 : handicaps.blocked) *
                          (proposal.reordered() ? handicaps.reordered : 1) *
                          (candidate.product && options.power > 1 ? handicaps.whole : 1);
  return std::tuple(!asked_for, any_timed && candidate.measured_seconds == 0,
                    candidate.seconds() * handicap);
}

// How long candidates that take part in a trial run.
struct TrialRules {
  int rounds = 3;          // at least,
  double seconds = 0.002;  // and until the fastest has run so long
  double beaten = 1.5;     // whoever takes so many times as long as the fastest drops out,
  double hopeless = 10;    // and who takes so many, even by the warm-up
};

// Times proposals in turn, round by round; seconds_of(proposal) runs one once. The first round is a
// warm-up, which nobody is judged by if there are others.
template <class Proposal, class Seconds>
void time_in_turn(std::vector<Proposal*> running, const TrialRules& rules,
                  const Seconds& seconds_of) {
  double spent = 0;
  for (int round = 0; !running.empty() && (round < rules.rounds || spent < rules.seconds);
       ++round) {
    double fastest = 0;
    for (Proposal* proposal : running) {
      double& measured = proposal->candidate.measured_seconds;
      const double seconds = seconds_of(*proposal);
      measured = round <= 1 ? seconds : std::min(measured, seconds);
      fastest = proposal == running.front() ? measured : std::min(fastest, measured);
    }
    // Nothing to compute takes no time.
    spent += std::max(fastest, rules.seconds / 1e6);
    const double limit = round == 0 && rules.rounds > 1 ? rules.hopeless : rules.beaten;
    std::erase_if(running, [&](const Proposal* proposal) {
      return proposal->candidate.measured_seconds > limit * fastest;
    });
  }
}

// Of a product in CSR, rows as they are given.
inline bool is_csr_product(const PowerCandidate& candidate) {
  return candidate.plain() && candidate.order.kind == RowOrder::Kind::given &&
         candidate.spec() == ProductSpec{FormatSpec(Format::csr)};
}

// Fills in the candidates, the choice first, and what follows from them.
void record_candidates(PlanRecord& record, std::vector<PowerCandidate> candidates,
                       const PowerOptions& options, bool affords_sweeps);

// Of products in CSR, rows as they are given; 0 where they were not timed.
double csr_seconds(const PlanRecord& record);

// Of a product plan: what its choice gains is what it gains over CSR, where that was timed.
void compare_with_csr(PlanRecord& record);

// `started`: when planning began, by now().
template <class Backend>
void choose(Backend& backend, const PowerOptions& options, double started, PlanRecord& record) {
  using Proposal = typename Backend::Proposal;
  backend.propose_given_order();
  const bool searches = backend.worth_searching();
  // A backend may have found out, and searches for nothing then.
  if (searches && !must_block(options)) {
    const PartTimer timer(record, PlanningPart::Kind::pattern);
    record.spreads_fast = spreads_fast(backend.pattern());
  }
  if (searches && !record.spreads_fast) {
    if constexpr (requires { backend.prepare_search(); }) backend.prepare_search();
    const auto structure = [&] {
      const PartTimer timer(record, PlanningPart::Kind::levels);
      return find_levels(backend.pattern());
    }();
    record.levels = structure.levels();
    record.largest_level_rows = structure.max_rows();
    if (must_block(options) || backend.promising(structure)) backend.propose_levels(structure);
  }
  if constexpr (requires { backend.propose_postponed(); }) backend.propose_postponed();
  if (options.autotune) backend.autotune();

  std::vector<Proposal*> ranked;
  bool any_timed = false;
  ProductsToRun products(options);
  for (Proposal& proposal : backend.proposals()) {
    ranked.push_back(&proposal);
    products.add(proposal.candidate);
    any_timed = any_timed || proposal.candidate.measured_seconds > 0;
  }
  std::ranges::stable_sort(ranked, {}, [&](const Proposal* proposal) {
    auto rank = rank_of(*proposal, options, any_timed, backend.handicaps());
    std::get<2>(rank) *= products.factor(proposal->candidate);
    return rank;
  });
  const auto taken = ranked.begin() + backend.take(ranked);
  std::rotate(ranked.begin(), taken, taken + 1);
  std::vector<PowerCandidate> candidates;
  for (const Proposal* proposal : ranked) candidates.push_back(proposal->candidate);
  record_candidates(record, std::move(candidates), options, backend.affords_sweeps());
  std::ranges::stable_sort(record.parts, std::ranges::greater{}, &PlanningPart::seconds);
  record.setup_seconds = now() - started;
}

}  // namespace strata::detail
