#include "strata/plans/internal/sweep_proposals.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/plans/internal/arrangements.hpp"
#include "strata/plans/internal/given_order.hpp"
#include "strata/plans/internal/part_timer.hpp"
#include "strata/plans/internal/planning.hpp"
#include "strata/plans/internal/power_choice.hpp"
#include "strata/plans/internal/prediction.hpp"
#include "strata/schedule/reuse.hpp"
#include "strata/schedule/schedule.hpp"
#include "strata/schedule/tiling.hpp"

namespace strata::detail {

namespace {

constexpr Offset kNoLimit = std::numeric_limits<Offset>::max();
// A thread's part of a task should take much longer than the wait for another thread.
constexpr Offset kSmallestPartBytes = 16 * 1024;
// So many groups of each power share the cache: fine steps keep the window near its lower bound,
// and many threads wait less. On 16 processors five instead of three took sweeps from 1.85 to 2.01
// times plain products in the mean of four matrices; on two they cost 2 %.
constexpr Offset kGroupsPerPower = 3;
constexpr Offset kGroupsOfManyThreads = 5;
// A window is what has to stay in the cache so that no more than this is loaded.
constexpr double kAlmostOnce = 1.1;
// Groups too large for the cache are cut into so many tiles: so finely a band's border can move.
constexpr Offset kTilesPerGroup = 48;
constexpr int kMostBands = 32;
// Groups between a power and its inputs. Few threads do not wait for each other with one; many may
// wait less with two.
constexpr int kMostSlack = 2;
constexpr int kSlackOfFewThreads = 1;
// With fewer powers there is so little time between the first ones that asking for the rows of the
// next one is in the way of the others: on two cores it makes sweeps of two powers 2 % slower.
constexpr int kFewestPowersAhead = 3;

// Of rows that wait for nobody, which is all that the first power needs; of one tile, for any
// power.
template <Index I, class Stored>
Tiling<I> tiles_apart(const Stored& stored, Offset tile_bytes) {
  Tiling<I> tiling;
  const auto before = stored.bytes_before();
  const Array<I> cuts = cut_rows<I>(before, {0, stored.rows()}, std::max<Offset>(tile_bytes, 1),
                                    stored.row_alignment());
  // Rows may be none, and still are a tile.
  for (std::size_t tile = 1; tile < std::max<std::size_t>(cuts.size(), 2); ++tile) {
    const I end = tile < cuts.size() ? cuts[tile] : stored.rows();
    tiling.bytes.push_back(before[end] - before[tiling.row_offsets.back()]);
    tiling.row_offsets.push_back(end);
    tiling.inputs.push_back(static_cast<std::int32_t>(tile) - 1);
    tiling.input_offsets.push_back(static_cast<Offset>(tile));
    tiling.group_offsets.push_back(static_cast<std::int32_t>(tile));
  }
  return tiling;
}

template <Value V, Index I>
class SweepProposer {
 public:
  using Proposal = ProcessorProposal<V, I>;

  explicit SweepProposer(ProcessorState<V, I>& state) : state_(state) {}

  void in_given_order(const SharedArrangement<V, I>& arrangement, std::span<const I> planes) {
    const StoredMatrix<V, I>& stored = arrangement->matrix;
    if (!must_block(state_.options) && state_.fits_private_cache(*arrangement)) return;
    // Not worth cutting into tiles if the lag of one power behind the other fills the cache.
    const auto entries = static_cast<double>(state_.matrix.nnz());
    if (!state_.may_sweep_as_given(static_cast<double>(stored.bytes()) / entries)) return;
    if (!planes.empty()) banded({RowOrder::Kind::planes}, arrangement, planes);
    if (planes_suffice(stored, planes)) return;
    const auto tiling = make_tiling<I>(stored.loaded_columns(), stored.bytes_before(),
                                       {groups_of(*arrangement), kNoLimit, stored.row_alignment()});
    propose_sweeps(arrangement->row_order, arrangement, tiling, false);
  }

  void banded(const RowOrder& order, const SharedArrangement<V, I>& arrangement,
              std::span<const I> groups) {
    const StoredMatrix<V, I>& stored = arrangement->matrix;
    const auto before = stored.bytes_before();
    Offset largest = 0;
    for (std::size_t group = 1; group < groups.size(); ++group) {
      largest = std::max(largest, before[groups[group]] - before[groups[group - 1]]);
    }
    const bool in_bands = state_.options.strategy != PowerStrategy::levels &&
                          largest * state_.options.power > state_.prepared.places.private_bytes;
    const Offset tile_bytes = in_bands ? std::max<Offset>(largest / kTilesPerGroup, 1) : kNoLimit;
    const auto tiling = make_tiling<I>(stored.loaded_columns(), before,
                                       {groups, tile_bytes, stored.row_alignment()});
    propose_sweeps(order, arrangement, tiling, in_bands);
  }

  void plain(const SharedArrangement<V, I>& arrangement) {
    const StoredMatrix<V, I>& stored = arrangement->matrix;
    const auto tiling = tiles_apart<I>(stored, kNoLimit);
    Proposal proposal =
        made(arrangement->row_order, arrangement, tiling, PowerStrategy::spmv, 1, {},
             std::vector<Schedule>{
                 plain_schedule(tiling, state_.options.products > 0 ? 1 : state_.options.power)});
    const auto pieces = tiles_apart<I>(stored, ceil_div<Offset>(stored.bytes(), kTrialPieces));
    proposal.one_product.emplace(pieces, plain_schedule(pieces, 1), stored.bytes_before(),
                                 state_.prepared.threads, stored.row_alignment());
    state_.proposals.push_back(std::move(proposal));
  }

 private:
  // Groups of rows for one power. Where values take next to nothing, the vectors fill the cache and
  // decoding takes the time: groups are then as large as full values would make them.
  Array<I> groups_of(const Arrangement<V, I>& arrangement) const {
    const StoredMatrix<V, I>& stored = arrangement.matrix;
    const RowRange<I> all{0, stored.rows()};
    if (!is_encoded(arrangement)) {
      return cut_rows<I>(stored.bytes_before(), all, group_bytes(state_), stored.row_alignment());
    }
    const double entries =
        static_cast<double>(group_bytes(state_)) / std::max(state_.entry_bytes, 1.0);
    return cut_rows<I>(state_.pattern().row_offsets, all,
                       std::max<Offset>(static_cast<Offset>(entries), 1), stored.row_alignment());
  }

  // Whether groups of other rows than those of planes need not be tried. Every thread has the same
  // lines of all planes, and of other groups lines that others have computed: sweeps by planes are
  // the faster ones, but for windows that do not fit and for parts that are too small.
  bool planes_suffice(const StoredMatrix<V, I>& stored, std::span<const I> planes) const {
    if (planes.empty() || has_many_threads()) return false;
    const Offset plane = stored.bytes() / std::ssize(planes);
    return plane >= kSmallestPartBytes * state_.prepared.threads &&
           smallest_window() <= state_.prepared.places.private_bytes;
  }
  bool has_many_threads() const { return state_.prepared.threads >= kManyThreads; }

  // The fewest bytes that a sweep so far has to keep in the cache, but for sweeps in bands, which
  // load borders again.
  Offset smallest_window() const {
    Offset window = kNoLimit;
    for (const ProcessorProposal<V, I>& proposal : state_.proposals) {
      const PowerCandidate& candidate = proposal.candidate;
      if (!candidate.plain() && candidate.bands == 1 && candidate.block == state_.options.power) {
        window = std::min(window, candidate.window_bytes);
      }
    }
    return window;
  }

  // On all threads: schedules of many tasks take as long as several products.
  void propose_sweeps(const RowOrder& order, const SharedArrangement<V, I>& arrangement,
                      const Tiling<I>& tiling, bool banded) {
    const std::vector<int> blocks = block_sizes(state_.options);
    std::vector<std::vector<Proposal>> sweeps(blocks.size());
    parallel_dynamic(std::ssize(blocks), 1, [&](Offset i, Offset) {
      sweeps[i] = sweeps_of(order, arrangement, tiling, banded, blocks[i]);
    });
    for (std::vector<Proposal>& of_block : sweeps) {
      std::ranges::move(of_block, std::back_inserter(state_.proposals));
    }
  }

  // The sweep with slack, or without, or in bands: whatever fits first; and with more slack, if
  // that fits.
  std::vector<Proposal> sweeps_of(const RowOrder& order, const SharedArrangement<V, I>& arrangement,
                                  const Tiling<I>& tiling, bool banded, int block) const {
    std::vector<Proposal> sweeps;
    Offset window = kNoLimit;
    const auto propose = [&](const WavefrontOptions& wavefront) {
      sweeps.push_back(sweep(order, arrangement, tiling, block, wavefront));
      window = sweeps.back().candidate.window_bytes;
    };
    const Offset cache = state_.prepared.places.private_bytes;
    if (state_.options.strategy != PowerStrategy::levels) {
      for (int slack = has_many_threads() ? kMostSlack : kSlackOfFewThreads; slack > 0; --slack) {
        propose({.slack = slack});
        if (window > cache && slack > 1) sweeps.pop_back();
      }
    }
    if (window > cache) propose({.slack = 0});
    if (!banded || window <= cache) return sweeps;
    const Offset parts = ceil_div<Offset>(window, std::max<Offset>(cache, 1));
    for (const Offset bands : {parts, 2 * parts}) {
      if (bands <= kMostBands) propose({.slack = 0, .bands = static_cast<int>(bands)});
    }
    return sweeps;
  }

  Proposal sweep(const RowOrder& order, const SharedArrangement<V, I>& arrangement,
                 const Tiling<I>& tiling, int block, const WavefrontOptions& wavefront) const {
    std::vector<Schedule> schedules;
    for (const int size : judged_sweeps(state_.options, block)) {
      const bool again = !schedules.empty() && schedules.back().power == size;
      schedules.push_back(again ? schedules.back() : wavefront_schedule(tiling, size, wavefront));
    }
    const auto strategy = state_.options.strategy == PowerStrategy::levels
                              ? PowerStrategy::levels
                              : PowerStrategy::wavefront;
    return made(order, arrangement, tiling, strategy, block, wavefront, std::move(schedules));
  }

  // With a prediction.
  Proposal made(const RowOrder& order, const SharedArrangement<V, I>& arrangement,
                const Tiling<I>& tiling, PowerStrategy strategy, int block,
                const WavefrontOptions& wavefront, std::vector<Schedule> schedules) const {
    const StoredMatrix<V, I>& stored = arrangement->matrix;
    Proposal proposal;
    PowerCandidate& candidate = proposal.candidate;
    candidate.strategy = strategy;
    candidate.order = order;
    candidate.format = arrangement->stored;
    candidate.placement = candidate.plain() ? WindowPlacement::none : WindowPlacement::cache;
    candidate.block = block;
    candidate.bands = wavefront.bands;
    candidate.slack = wavefront.slack;
    const std::optional<ValueStorage> values = stored.value_storage();
    candidate.format_bytes = values ? values->footprint.bytes() : stored.bytes();
    predict(candidate, tiling, schedules, *arrangement);
    proposal.arrangement = arrangement;
    candidate.asks_ahead = block >= kFewestPowersAhead && stored.asks_ahead() &&
                           state_.options.vectors == 1 && !candidate.plain() &&
                           candidate.window_bytes <= state_.prepared.places.private_bytes;
    for (Schedule& schedule : schedules) {
      proposal.sweeps.emplace_back(tiling, std::move(schedule), stored.bytes_before(),
                                   state_.prepared.threads, stored.row_alignment());
      if (candidate.asks_ahead) proposal.sweeps.back().find_upcoming();
    }
    return proposal;
  }

  void predict(PowerCandidate& candidate, const Tiling<I>& tiling,
               std::span<const Schedule> schedules, const Arrangement<V, I>& arrangement) const {
    const Places& places = state_.prepared.places;
    SweepCosts costs;
    SweepCosts of_sweep;
    int powers = 0;
    int last_power = 0;  // sweeps of as many powers are the same
    for (const Schedule& schedule : schedules) {
      powers += schedule.power;
      if (std::exchange(last_power, schedule.power) == schedule.power) {
        costs = costs + of_sweep;
        continue;
      }
      const ReuseProfile profile(tiling, schedule, state_.row_bytes() * (schedule.power + 1));
      // Borders of bands are loaded twice whatever the cache: they are not part of the window.
      const double unavoidable =
          candidate.bands == 1
              ? kAlmostOnce
              : kAlmostOnce * static_cast<double>(profile.bytes_loaded(places.private_bytes)) /
                    static_cast<double>(std::max<Offset>(profile.bytes_once(), 1));
      candidate.window_bytes = std::max(candidate.window_bytes, profile.window_bytes(unavoidable));
      of_sweep = costs_of(profile, places, arrangement.matrix.rows(), state_.row_bytes(), schedule);
      costs = costs + of_sweep;
    }
    const Rates rates = limited_by_kernel(places.rates, costs, arrangement.kernel_seconds * powers);
    const Prediction prediction = predict_without_overlap(costs, rates);
    const PaddedOrder<I>& order = arrangement.order;
    const double copies =
        copy_bytes(state_.options, !order.is_identity(), static_cast<double>(order.rows()),
                   static_cast<double>(state_.row_bytes()), sizeof(I)) /
        places.rates.memory * (powers + 1) / (state_.options.power + 1);
    // Other than 1 to choose p.
    const double share = static_cast<double>(state_.options.power) / powers;
    candidate.memory_bytes = costs.memory_bytes * share;
    candidate.predicted_seconds = (prediction.seconds + copies) * share;
    candidate.predicted_overlapped_seconds =
        (predict_with_overlap(costs, rates).seconds + copies) * share;
    candidate.bound = prediction.bound;
  }

  ProcessorState<V, I>& state_;
};

}  // namespace

template <Value V, Index I>
Offset group_bytes(const ProcessorState<V, I>& state) {
  const PowerOptions& options = state.options;
  const Offset smallest = kSmallestPartBytes * state.prepared.threads;
  const Offset window = state.prepared.places.private_bytes;
  if (options.strategy == PowerStrategy::levels) {
    const int block = options.block > 0 ? std::min(options.block, options.power) : options.power;
    return std::max(smallest, level_group_bytes(window, block));
  }
  const Offset groups =
      state.prepared.threads < kManyThreads ? kGroupsPerPower : kGroupsOfManyThreads;
  return std::max(smallest, window / (groups * options.power));
}

template <Value V, Index I>
void propose_plain(ProcessorState<V, I>& state, const SharedArrangement<V, I>& arrangement) {
  const PartTimer timer(state.prepared.record, PlanningPart::Kind::tiles);
  SweepProposer<V, I>(state).plain(arrangement);
}

template <Value V, Index I>
void propose_in_given_order(ProcessorState<V, I>& state, const SharedArrangement<V, I>& arrangement,
                            std::span<const I> planes) {
  const PartTimer timer(state.prepared.record, PlanningPart::Kind::tiles);
  SweepProposer<V, I>(state).in_given_order(arrangement, planes);
}

template <Value V, Index I>
void propose_banded(ProcessorState<V, I>& state, const RowOrder& order,
                    const SharedArrangement<V, I>& arrangement, std::span<const I> groups) {
  const PartTimer timer(state.prepared.record, PlanningPart::Kind::tiles);
  SweepProposer<V, I>(state).banded(order, arrangement, groups);
}

#define STRATA_INSTANTIATE(V, I)                                                              \
  template Offset group_bytes(const ProcessorState<V, I>&);                                   \
  template void propose_plain(ProcessorState<V, I>&, const SharedArrangement<V, I>&);         \
  template void propose_in_given_order(ProcessorState<V, I>&, const SharedArrangement<V, I>&, \
                                       std::span<const I>);                                   \
  template void propose_banded(ProcessorState<V, I>&, const RowOrder&,                        \
                               const SharedArrangement<V, I>&, std::span<const I>)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
