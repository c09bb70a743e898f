// What a processor can run of a matrix, what that should cost, and how to time it: the backend of
// planning.hpp for CPU threads.

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/plans/internal/arrangements.hpp"
#include "strata/plans/internal/format_choice.hpp"
#include "strata/plans/internal/given_order.hpp"
#include "strata/plans/internal/layout.hpp"
#include "strata/plans/internal/part_timer.hpp"
#include "strata/plans/internal/planning.hpp"
#include "strata/plans/internal/power_choice.hpp"
#include "strata/plans/internal/prediction.hpp"
#include "strata/plans/internal/prepared.hpp"
#include "strata/plans/internal/processor_state.hpp"
#include "strata/plans/internal/product_proposals.hpp"
#include "strata/plans/internal/storage.hpp"
#include "strata/plans/internal/sweep_proposals.hpp"

namespace strata::detail {

namespace {

// Levels are searched for only if blocking could gain this much, by the model, over what is known.
constexpr double kWorthSearching = 1.15;
// What a kernel can make of the bandwidth of the private cache when x is close at hand.
constexpr double kKernelShare = 0.35;
// Planes of a grid have so many slices at least: in bands, each is cut into tiles.
constexpr Offset kSmallestPlane = 12;
// The fewest levels that a sweep can use, and the largest share of the matrix that three of them
// may hold.
constexpr Offset kFewestLevels = 6;
constexpr double kLargestLevelShare = 0.5;
// A sweep is timed if it is predicted to take at most so many times as long as the best one, and
// plain products if they are; so many sweeps at most, more of many threads, whose waiting is not
// predicted.
constexpr double kClose = 1.2;
constexpr double kNotFarBehind = 1.5;
constexpr int kMostSweeps = 3;
constexpr int kMostSweepsOfManyThreads = 5;
// A piece of a sweep that is timed should take so long at least.
constexpr double kPieceSeconds = 0.001;
// What is simpler wins if it takes at most this much longer: plain products before sweeps, the
// given order before levels, formats that sweeps run in before others.
constexpr double kSimplerWins = 1.04;

template <Value V, Index I>
class ProcessorPlanner {
 public:
  using Proposal = ProcessorProposal<V, I>;

  ProcessorPlanner(const Csr<V, I>& matrix, const Reach& reach, const PowerOptions& options,
                   const ProductRequest& request, Prepared<V, I>& prepared)
      : state_(matrix, reach, options, request, prepared) {}

  PatternView<I> pattern() const { return state_.pattern(); }
  std::vector<Proposal>& proposals() { return state_.proposals; }
  static Handicaps handicaps() {
    return {.blocked = kSimplerWins, .reordered = kSimplerWins, .whole = kSimplerWins};
  }
  bool affords_sweeps() const { return state_.affords_sweeps; }

  void propose_given_order() {
    if (propose_asked_products(state_) || propose_stored_choice(state_)) return;
    postponed_ = state_.searches_first();
    if (postponed_) {
      sample_given_order();
    } else {
      propose_all_as_given();
    }
  }

  // Rows as they are given, which the search for levels came before, if nothing came of it.
  void propose_postponed() {
    if (!postponed_) return;
    const bool sweeps = std::ranges::any_of(
        state_.proposals, [](const Proposal& proposal) { return !proposal.candidate.plain(); });
    if (!sweeps) return propose_all_as_given();
    state_.prepared.record.remarks.emplace_back(
        "rows as they are given read x from all over, so that they were neither stored nor timed");
  }

  // By the model: what a sweep would take that loads the matrix once and finds it in the private
  // cache ever after, against the best so far.
  bool worth_searching() const {
    if (state_.settled) return false;
    if (postponed_) return true;
    if (may_reorder_products(state_.matrix, state_.options)) {
      return state_.scattered();
    }
    if (state_.searches_plain_powers() && state_.options.strategy == PowerStrategy::automatic &&
        !state_.stays_in_cache && state_.scattered()) {
      return true;
    }
    if (!state_.blocks()) return false;
    if (state_.options.strategy == PowerStrategy::levels) return true;
    if (planes_are_least(state_.pattern())) return false;
    const Proposal& best = *std::ranges::min_element(
        state_.proposals, {},
        [](const Proposal& proposal) { return proposal.candidate.seconds(); });
    const auto bytes = static_cast<double>(best.candidate.format_bytes);
    const auto vectors = static_cast<double>(state_.matrix.rows()) *
                         static_cast<double>(state_.row_bytes()) *
                         (1.0 + 2.0 * state_.options.power);
    const SweepCosts once{.memory_bytes = bytes + vectors,
                          .cache_bytes = bytes * (state_.options.power - 1)};
    // Another order may make the kernel's accesses to x faster, up to a share of the cache's speed,
    // but not the decoding of values.
    const Rates& rates = state_.prepared.places.rates;
    double kernel_seconds = best.arrangement->kernel_seconds * state_.options.power;
    if (!is_encoded(*best.arrangement)) {
      kernel_seconds = std::min(
          kernel_seconds, (once.memory_bytes + once.cache_bytes) / (kKernelShare * rates.cache));
    }
    const double ideal =
        predict_without_overlap(once, limited_by_kernel(rates, once, kernel_seconds)).seconds;
    return best.candidate.predicted_seconds > kWorthSearching * ideal;
  }

  // Rows that lie anywhere will move, if levels are any good, and the search needs memory.
  void prepare_search() {
    if (state_.scattered()) settle_given_order();
  }

  bool promising(const LevelStructure<I>& structure) const {
    const auto widest = static_cast<double>(widest_window(state_.pattern(), structure, Offset{3}));
    const auto all = static_cast<double>(state_.matrix.nnz() + state_.matrix.rows());
    return structure.levels() >= kFewestLevels && widest <= kLargestLevelShare * all;
  }

  void propose_levels(const LevelStructure<I>& structure) {
    const auto [order, groups, storage] = [&] {
      const PartTimer timer(state_.prepared.record, PlanningPart::Kind::order);
      return choose_layout(state_.matrix, structure, state_.options, group_bytes(state_),
                           state_.entry_bytes);
    }();
    const bool same_rows = groups.order.is_identity();
    if (!same_rows) settle_given_order();
    const FormatChoice choice = choose_formats(state_, storage, groups.order, state_.blocks());
    const StoredFormat& first = choice.formats.front();
    // Packed SELL depends on the groups; the other formats are the same for any.
    const bool as_stored = same_rows && state_.given && choice.formats.size() == 1 &&
                           first == state_.given->stored && first.format != Format::packed_sell &&
                           !state_.given->is_released();
    const std::vector<SharedArrangement<V, I>> arrangements =
        as_stored ? std::vector<SharedArrangement<V, I>>{state_.given}
                  : arrange_all<V, I>(state_, {order, groups.order, groups.group_offsets}, choice);
    for (const SharedArrangement<V, I>& arrangement : arrangements) {
      const bool as_given = same_rows && state_.is_proposed(arrangement->stored);
      if (!must_block(state_.options) && !as_given) propose_plain(state_, arrangement);
      if (!state_.blocks() || !worth_sweeping<V, I>(*arrangement, arrangements)) continue;
      propose_banded<V, I>(state_, order, arrangement, groups.group_offsets);
    }
  }

  void autotune() {
    time_favourites(false);
    if (!state_.searches_plain_powers()) return;
    // Another form is stored beside the best one. There is no room for vectors of sweeps as well:
    // what is known of their time has to do.
    state_.trials.release_vectors();
    const std::size_t before = state_.proposals.size();
    propose_plain_powers(state_);
    if (state_.proposals.size() == before) return;
    std::vector<Proposal*> running = fastest_stored();
    std::erase_if(running, [](const Proposal* proposal) { return !proposal->candidate.plain(); });
    for (std::size_t i = before; i < state_.proposals.size(); ++i) {
      running.push_back(&state_.proposals[i]);
    }
    time_all(running);
  }

  std::ptrdiff_t take(const std::vector<Proposal*>& ranked) {
    Proposal& best = *ranked.front();
    for (Proposal& other : state_.proposals) {
      if (other.arrangement != best.arrangement) release(*other.arrangement);
    }
    if (best.arrangement->is_released()) restore(state_, *best.arrangement);
    best.arrangement->matrix.take_over();
    if (best.candidate.measured_seconds == 0) find_neighbours(best);
    state_.prepared.arrangement = best.arrangement;
    state_.prepared.sweeps = std::move(best.sweeps);
    if (best.candidate.product && best.candidate.product->format.format() == Format::csr) {
      // So far it refers to the caller's matrix.
      state_.prepared.arrangement->product =
          store_own_product(state_.matrix, *best.candidate.product);
    }
    state_.prepared.record.values = state_.prepared.arrangement->matrix.value_storage();
    if (state_.prepared.record.values) {
      state_.prepared.record.values->seconds = state_.prepared.arrangement->conversion_seconds;
    }
    return 0;
  }

  void finish() {
    if (state_.options.power == 1) finish_products(state_);
  }

 private:
  void propose_all_as_given() {
    propose_rows_as_given();
    propose_ranked_products(state_);
    propose_rcm(state_);
  }

  // What a sweep would store the rows in; tells how large their entries are.
  SampledFormat sample_given_order() {
    const PartTimer timer(state_.prepared.record, PlanningPart::Kind::formats);
    const SampledFormat storage = choose_storage(
        state_.matrix, PaddedOrder<I>::identity(state_.matrix.rows()), state_.options);
    state_.entry_bytes = storage.bytes_per_entry;
    return storage;
  }

  void propose_rows_as_given() {
    auto identity = PaddedOrder<I>::identity(state_.matrix.rows());
    const SampledFormat storage = sample_given_order();
    // Where levels are demanded, rows as they are given only tell how large entries are.
    const bool by_levels =
        must_block(state_.options) && state_.options.strategy == PowerStrategy::levels;
    const bool swept = state_.blocks() && state_.options.strategy != PowerStrategy::levels &&
                       state_.may_sweep_as_given(state_.entry_bytes);
    FormatChoice choice = by_levels ? FormatChoice{{storage.stored}}
                                    : choose_formats(state_, storage, identity, swept);
    if (choice.for_sweeps_alone) {
      time_alone({{}, identity}, choice.formats.front());
      choice.formats.erase(choice.formats.begin());
    }
    const Offset alignment =
        std::ranges::max_element(choice.formats, {}, &StoredFormat::alignment)->alignment();
    const Array<I> planes = swept ? find_planes(state_.pattern(), {.alignment = alignment,
                                                                   .smallest = kSmallestPlane,
                                                                   .fewest = kFewestLevels})
                                  : Array<I>();
    const auto arrangements = arrange_all<V, I>(state_, {{}, identity, planes}, choice);
    state_.given = arrangements.front();
    state_.stays_in_cache = state_.fits_private_cache(*state_.given);
    if (!must_block(state_.options) || !state_.blocks()) {
      for (const SharedArrangement<V, I>& arrangement : arrangements) {
        propose_plain(state_, arrangement);
      }
    }
    if (!state_.blocks() || state_.options.strategy == PowerStrategy::levels) return;
    for (const SharedArrangement<V, I>& arrangement : arrangements) {
      if (worth_sweeping<V, I>(*arrangement, arrangements)) {
        propose_in_given_order<V, I>(state_, arrangement, planes);
      }
    }
  }

  // Plain products in a format that sweeps will not use, before the rows are stored in another.
  void time_alone(const OrderedRows<V, I>& rows, const StoredFormat& stored) {
    const SharedArrangement<V, I> arrangement = arrange<V, I>(state_, rows, stored);
    propose_plain(state_, arrangement);
    time_all({&state_.proposals.back()});
    release(*arrangement);
  }

  // Before rows are stored in another order: rows as they are given are timed, and stored again if
  // they turn out to be the best.
  void settle_given_order() {
    if (!state_.given || state_.given->is_released()) return;
    if (state_.options.autotune) time_favourites(true);
    state_.trials.release_vectors();
    release(*state_.given);
    for (Proposal& proposal : state_.proposals) {
      const bool whole = proposal.arrangement->product != nullptr;
      if (!whole && !proposal.reordered()) release(*proposal.arrangement);
    }
  }

  // Plain products, and sweeps that may be faster. `more`: others will be proposed.
  void time_favourites(bool more) {
    if (state_.proposals.empty()) return;
    if (state_.options.products > 0) return time_all(favourites_by_power(by_prediction()));
    std::vector<Proposal*> running = plain_favourites();
    const bool compared = more || running.size() < state_.proposals.size();
    if (running.size() > 1 || compared || state_.searches_plain_powers()) {
      time_all(running);
    }
    const Proposal& fastest = state_.fastest();
    const double seconds = fastest.candidate.measured_seconds;
    const auto sweeps =
        sweep_favourites(seconds > 0 ? seconds : std::numeric_limits<double>::infinity());
    if (sweeps.empty() || (sweeps.size() == 1 && seconds == 0 && !more)) return;
    running = fastest_stored();
    running.insert(running.end(), sweeps.begin(), sweeps.end());
    time_all(running);
  }

  // The fastest of those that were timed, to be timed in turn with others, if it can be.
  std::vector<Proposal*> fastest_stored() {
    Proposal& fastest = state_.fastest();
    if (fastest.candidate.measured_seconds == 0 || fastest.arrangement->is_released()) return {};
    return {&fastest};
  }

  void find_neighbours(Proposal& proposal) const {
    if (state_.prepared.threads < kManyThreads || proposal.candidate.plain()) return;
    const LoadedColumns<I> loaded = proposal.arrangement->matrix.loaded_columns();
    for (Sweep<I>& sweep : proposal.sweeps) sweep.find_neighbours(loaded);
  }

  void time_all(const std::vector<Proposal*>& running) {
    const PartTimer timer(state_.prepared.record, PlanningPart::Kind::timing);
    std::vector<double> known;  // by earlier trials, which are as good
    for (Proposal* proposal : running) {
      known.push_back(proposal->candidate.measured_seconds);
      if (known.back() == 0) find_neighbours(*proposal);
    }
    const ThreadCountScope team(state_.prepared.threads);
    // Each timing takes another piece than the one before: what several candidates read would still
    // be in a large shared cache. The first piece is left out: not all powers are at work in it.
    int timings = 0;
    time_in_turn(running, {.rounds = 4}, [&](Proposal& proposal) {
      if (proposal.arrangement->product) {
        return state_.trials.application_seconds(*proposal.arrangement->product);
      }
      const int pieces = pieces_of(proposal.candidate);
      const int piece = pieces == 1 ? 0 : 1 + timings++ % (pieces - 1);
      return state_.trials.application_seconds(*proposal.arrangement, proposal.trial_sweep(),
                                               state_.prepared.threads, {piece, pieces});
    });
    for (std::size_t i = 0; i < running.size(); ++i) {
      double& measured = running[i]->candidate.measured_seconds;
      if (known[i] > 0) measured = std::min(measured, known[i]);
    }
  }

  // As many as take long enough to be timed. Those of a sweep have several windows each, or a band,
  // so that all powers are at work in all but the first.
  int pieces_of(const PowerCandidate& candidate) const {
    const double seconds = candidate.predicted_seconds /
                           (candidate.plain() ? state_.options.power : 1) / kPieceSeconds;
    const int most = candidate.bands > 1 ? std::min(candidate.bands, kTrialPieces) : kTrialPieces;
    const int pieces = static_cast<int>(std::clamp(seconds, 1.0, static_cast<double>(most)));
    if (candidate.plain() || candidate.bands > 1) return pieces;
    const Offset windows = candidate.format_bytes / std::max<Offset>(2 * candidate.window_bytes, 1);
    return static_cast<int>(std::clamp<Offset>(windows, 1, pieces));
  }

  // Of what is stored.
  std::vector<Proposal*> by_prediction() {
    std::vector<Proposal*> sorted;
    for (Proposal& proposal : state_.proposals) {
      if (!proposal.arrangement->is_released()) sorted.push_back(&proposal);
    }
    std::ranges::stable_sort(
        sorted, {}, [](const Proposal* proposal) { return proposal->candidate.predicted_seconds; });
    return sorted;
  }
  std::vector<Proposal*> by_prediction(bool plain) {
    std::vector<Proposal*> sorted = by_prediction();
    std::erase_if(sorted,
                  [&](const Proposal* proposal) { return proposal->candidate.plain() != plain; });
    return sorted;
  }

  // Plain products in each order, of powers unless they are far behind.
  std::vector<Proposal*> plain_favourites() {
    std::vector<Proposal*> chosen = by_prediction(true);
    if (chosen.empty() || state_.options.power == 1) return chosen;
    const double limit = kNotFarBehind * chosen.front()->candidate.predicted_seconds;
    std::erase_if(chosen, [&](const Proposal* proposal) {
      return proposal->candidate.predicted_seconds > limit;
    });
    return chosen;
  }

  // The best sweep by the model, and the best ones in another order, for another cache or of other
  // powers if they come close; all of them might take less than so many seconds.
  std::vector<Proposal*> sweep_favourites(double limit) {
    std::vector<Proposal*> chosen;
    const int most =
        state_.prepared.threads < kManyThreads ? kMostSweeps : kMostSweepsOfManyThreads;
    std::vector<std::tuple<RowOrder, StoredFormat, bool, int, int>> kinds;  // chosen so far
    double best = 0;
    for (Proposal* proposal : by_prediction(false)) {
      const PowerCandidate& candidate = proposal->candidate;
      if (candidate.predicted_overlapped_seconds * kSimplerWins > limit) continue;
      if (best == 0) best = candidate.predicted_seconds;
      if (std::ssize(chosen) == most || candidate.predicted_seconds > kClose * best) break;
      const std::tuple kind{candidate.order, candidate.format,
                            candidate.bound == Bound::shared_cache, candidate.block,
                            std::max(candidate.slack, 1)};
      if (std::ranges::count(kinds, kind) != 0) continue;
      kinds.push_back(kind);
      chosen.push_back(proposal);
    }
    return chosen;
  }

  ProcessorState<V, I> state_;
  bool postponed_ = false;  // rows as they are given, until levels were searched for
};

}  // namespace

template <Value V, Index I>
std::unique_ptr<Prepared<V, I>> prepare(const Csr<V, I>& matrix, const PowerOptions& options,
                                        const ProductRequest& request) {
  const double started = now();
  const ThreadCountScope team(options.threads);
  const AffinityScope affinity(options.affinity);
  auto prepared = std::make_unique<Prepared<V, I>>();
  prepared->options = options;
  prepared->cols = matrix.cols();
  KnownPattern known;
  {
    const PartTimer timer(prepared->record, PlanningPart::Kind::pattern);
    if (may_block(options)) {
      known = look_at(matrix.pattern());
    } else {
      known.fingerprint = fingerprint_of(matrix.pattern());
    }
  }
  prepared->pattern = known.fingerprint;
  prepared->set_basis(options.basis);
  ProcessorPlanner<V, I> planner(matrix, known.reach, options, request, *prepared);
  choose(planner, options, started, prepared->record);
  planner.finish();
  if (!prepared->arrangement->product) {
    prepared->limits = RowLimits<I>(request.last_powers, prepared->arrangement->order,
                                    prepared->arrangement->matrix.row_alignment());
  }
  return prepared;
}

#define STRATA_INSTANTIATE(V, I)                                                          \
  template std::unique_ptr<Prepared<V, I>> prepare(const Csr<V, I>&, const PowerOptions&, \
                                                   const ProductRequest&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
