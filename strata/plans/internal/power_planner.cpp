#include "strata/plans/internal/power_planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/machine/cached_profile.hpp"
#include "strata/order/levels.hpp"
#include "strata/plans/internal/blocks.hpp"
#include "strata/plans/internal/layout.hpp"
#include "strata/plans/internal/prediction.hpp"
#include "strata/plans/internal/trials.hpp"
#include "strata/schedule/reuse.hpp"
#include "strata/schedule/schedule.hpp"

namespace strata::detail {

namespace {

constexpr Offset kNoLimit = std::numeric_limits<Offset>::max();
// A thread's part of a task should take much longer than the wait for another thread.
constexpr Offset kSmallestPartBytes = 16 * 1024;
// Matrices with fewer bytes per thread than this are faster on fewer threads.
constexpr Offset kSmallestShareBytes = 32 * 1024;
// So many groups of each power share the cache: fine steps keep the window near its lower bound.
constexpr Offset kGroupsPerPower = 3;
// A window is what has to stay in the cache so that no more than this is loaded.
constexpr double kAlmostOnce = 1.1;
// RACE's safety factor: the share of the cache that a wave of level groups may take.
constexpr double kLevelGroupShare = 0.7;
// Levels are searched for only if blocking could gain this much, by the model, over what is known.
constexpr double kWorthSearching = 1.15;
// What a kernel can make of the bandwidth of the private cache when x is close at hand.
constexpr double kKernelShare = 0.35;
// Groups too large for the cache are cut into so many tiles: so finely a band's border can move.
constexpr Offset kTilesPerGroup = 48;
constexpr int kMostBands = 32;
// The fewest levels that a wave can use, and the largest share of the matrix that three of them may
// hold.
constexpr Offset kFewestLevels = 6;
constexpr double kLargestLevelShare = 0.5;
// From so many threads on it pays to find out who waits for whom.
constexpr int kManyThreads = 5;
// A wave is timed if it is predicted to take at most so many times as long as the best one.
constexpr double kClose = 1.2;
// Whoever takes this many times as long as the fastest is not timed again.
constexpr double kBeaten = 1.5;
// Each trial runs so often, or until it has taken this long in all.
constexpr int kTrials = 3;
constexpr double kTrialSeconds = 0.01;
// What is simpler wins if it takes at most this much longer: plain products before waves, the given
// order before levels.
constexpr double kSimplerWins = 1.04;

template <Value V, Index I>
struct Proposal {
  PowerCandidate candidate;
  std::shared_ptr<Arrangement<V, I>> arrangement;
  std::vector<Sweep<I>> sweeps;
  std::optional<Sweep<I>> one_product;  // of plain products, tells as much as all of them

  const Sweep<I>& trial_sweep() const { return one_product ? *one_product : sweeps.front(); }
};

// p as a sum of blocks.
std::vector<int> blocks_of(int power, int block) {
  std::vector<int> blocks(power / block, block);
  if (power % block != 0) blocks.push_back(power % block);
  return blocks;
}

template <Value V, Index I>
class Planner {
 public:
  Planner(const Csr<V, I>& matrix, const PowerOptions& options)
      : matrix_(matrix), options_(options), started_(now()), trials_(matrix, options) {}

  PreparedPowers<V, I> plan() {
    prepared_.options = options_;
    prepared_.pattern = fingerprint_of(matrix_.pattern());
    for (int k = 1; k <= options_.power; ++k) {
      prepared_.coefficients.push_back(options_.basis.template step<V>(k));
    }
    choose_threads();
    find_profile();
    consider_given_order();
    if (worth_searching()) consider_levels();
    take_best();
    prepared_.setup_seconds = now() - started_;
    return std::move(prepared_);
  }

 private:
  using SharedArrangement = std::shared_ptr<Arrangement<V, I>>;

  void choose_threads() {
    const Offset shares = matrix_.nnz() * Offset{sizeof(V) + sizeof(I)} / kSmallestShareBytes;
    prepared_.threads = static_cast<int>(std::clamp<Offset>(shares, 1, thread_count()));
    const ProcessorBudget processors =
        options_.processors.usable > 0 ? options_.processors : processor_budget();
    prepared_.affords_sweeps = processors.affords(prepared_.threads);
    const bool may_sweep = options_.power > 1 && options_.strategy != PowerStrategy::spmv;
    if (may_sweep && !prepared_.affords_sweeps) {
      remark(
          fmt::format("{} threads share {}, which slows down waves, where they wait for each other",
                      prepared_.threads, text_of(processors)));
    }
  }

  static std::string text_of(const ProcessorBudget& processors) {
    const bool by_quota = processors.quota > 0 && processors.quota < processors.usable;
    return by_quota ? fmt::format("the time of {:.3g} processors", processors.quota)
                    : fmt::format("{} processor{}", processors.usable,
                                  processors.usable == 1 ? "" : "s");
  }

  void remark(const std::string& text) {
    if (!prepared_.remark.empty() && !text.empty()) prepared_.remark += "; ";
    prepared_.remark += text;
  }

  void find_profile() {
    if (options_.profile != nullptr) {
      prepared_.profile = *options_.profile;
    } else {
      prepared_.profile = cached_machine_profile().profile;
      remark(cached_machine_profile().remark);
    }
    places_ = places_of(prepared_.profile, prepared_.threads);
    if (options_.cache_bytes > 0) places_.private_bytes = options_.cache_bytes;
    places_.shared_bytes = std::max(places_.shared_bytes, places_.private_bytes);
  }

  bool may_block() const {
    const bool in_vain = stays_in_cache_ || !prepared_.affords_sweeps;
    if (options_.strategy == PowerStrategy::automatic && in_vain) return false;
    return options_.power > 1 && options_.strategy != PowerStrategy::spmv && matrix_.nnz() > 0;
  }
  bool must_block() const { return may_block() && options_.strategy != PowerStrategy::automatic; }
  Offset row_bytes() const { return Offset{sizeof(V)} * options_.vectors; }

  Offset group_bytes() const {
    const Offset smallest = kSmallestPartBytes * prepared_.threads;
    if (options_.strategy == PowerStrategy::levels) {
      const double share = kLevelGroupShare / (options_.power + 1);
      return std::max(smallest,
                      static_cast<Offset>(share * static_cast<double>(places_.private_bytes)));
    }
    return std::max(smallest, places_.private_bytes / (kGroupsPerPower * options_.power));
  }

  // `groups`: of rows that sweeps will take together, if that is known.
  SharedArrangement arrange(PaddedOrder<I> order, const StorageChoice& storage,
                            const Csr<V, I>& in_order, std::span<const I> groups) {
    auto arrangement = std::make_shared<Arrangement<V, I>>();
    arrangement->order = std::move(order);
    arrangement->storage = storage;
    arrangement->matrix = PowerMatrix<V, I>(in_order, storage, groups);
    if (options_.autotune) {
      arrangement->kernel_rate = trials_.kernel_rate(arrangement->matrix) * prepared_.threads;
    }
    return arrangement;
  }

  void consider_given_order() {
    auto identity = PaddedOrder<I>::identity(matrix_.rows());
    const StorageChoice storage = choose_storage(matrix_, identity, options_);
    const bool by_planes = may_block() && options_.strategy != PowerStrategy::levels;
    const Array<I> planes = by_planes ? find_planes(storage.alignment()) : Array<I>();
    given_ = arrange(std::move(identity), storage, matrix_, planes);
    if (!must_block()) propose_plain("given", given_);
    const PowerMatrix<V, I>& stored = given_->matrix;
    stays_in_cache_ = stored.bytes() + stored.rows() * row_bytes() * (options_.power + 1) <=
                      places_.private_bytes;
    if (!may_block() || options_.strategy == PowerStrategy::levels) return;
    // Not worth cutting into tiles if the lag of one power behind the other fills the cache.
    if (dependency_distance_bytes(stored) * (options_.power - 1) > places_.shared_bytes &&
        !must_block())
      return;
    const Array<I> groups = cut_rows<I>(stored.bytes_before(), {0, stored.rows()}, group_bytes(),
                                        stored.row_alignment());
    const auto tiling = make_tiling<I>(stored.loaded_columns(), stored.bytes_before(),
                                       {groups, kNoLimit, stored.row_alignment()});
    propose_sweeps("given", given_, tiling, false);
    if (!planes.empty() && best_window() > places_.private_bytes) {
      propose_banded("given, planes", given_, planes);
    }
  }

  // Bands without a level search: a grid in its natural order has planes of equal size, which are
  // levels. The distance between planes is the middle of the farther half of the neighbours. None
  // where that is too small or too large for planes.
  Array<I> find_planes(Offset alignment) const {
    const Offset period = plane_size();
    const Offset rows = matrix_.rows();
    if (period < kTilesPerGroup * alignment / 4 || period > rows / kFewestLevels) return {};
    Array<I> groups(1, 0);
    for (Offset end = period; groups.back() < rows; end += period) {
      groups.push_back(static_cast<I>(std::min<Offset>(end / alignment * alignment, rows)));
    }
    return groups;
  }

  // The fewest bytes that a wave so far has to keep in the cache.
  Offset best_window() const {
    Offset window = kNoLimit;
    for (const Proposal<V, I>& proposal : proposals_) {
      const PowerCandidate& candidate = proposal.candidate;
      if (candidate.strategy != PowerStrategy::spmv && candidate.block == options_.power) {
        window = std::min(window, candidate.window_bytes);
      }
    }
    return window;
  }

  // Of an inner row: of the longest among some in the middle.
  Offset plane_size() const {
    constexpr I kSample = 4096;
    const PatternView<I> pattern = matrix_.pattern();
    const I first = matrix_.rows() / 2;
    const I last = std::min<I>(matrix_.rows() - first, kSample) + first;
    I row = first;
    for (I candidate = first; candidate < last; ++candidate) {
      if (pattern.row_length(candidate) > pattern.row_length(row)) row = candidate;
    }
    std::vector<Offset> distances;
    for (const I column : pattern.columns_of(row)) {
      if (column > row) distances.push_back(column - row);
    }
    if (distances.empty()) return 0;
    std::erase_if(distances, [farthest = distances.back()](Offset d) { return d <= farthest / 2; });
    return distances[distances.size() / 2];
  }

  // Waves over groups of rows that may be too large for the cache.
  void propose_banded(const std::string& name, const SharedArrangement& arrangement,
                      std::span<const I> groups) {
    const PowerMatrix<V, I>& stored = arrangement->matrix;
    const auto before = stored.bytes_before();
    Offset largest = 0;
    for (std::size_t group = 1; group < groups.size(); ++group) {
      largest = std::max(largest, before[groups[group]] - before[groups[group - 1]]);
    }
    const bool banded = options_.strategy != PowerStrategy::levels &&
                        largest * options_.power > places_.private_bytes;
    const Offset tile_bytes = banded ? std::max<Offset>(largest / kTilesPerGroup, 1) : kNoLimit;
    const auto tiling = make_tiling<I>(stored.loaded_columns(), before,
                                       {groups, tile_bytes, stored.row_alignment()});
    propose_sweeps(name, arrangement, tiling, banded);
  }

  // The most data between a row and the last one that it reads, in the given order.
  Offset dependency_distance_bytes(const PowerMatrix<V, I>& stored) const {
    const auto before = stored.bytes_before();
    return parallel_reduce(
        matrix_.rows(), Offset{0},
        [&](Offset begin, Offset end) {
          Offset farthest = 0;
          for (Offset row = begin; row < end; ++row) {
            const auto columns = matrix_.pattern().columns_of(static_cast<I>(row));
            if (columns.empty()) continue;
            const I last = std::max(columns.back(), static_cast<I>(row));
            const I first = std::min(columns.front(), static_cast<I>(row));
            farthest =
                std::max({farthest, before[last] - before[row], before[row] - before[first]});
          }
          return farthest;
        },
        [](Offset one, Offset other) { return std::max(one, other); });
  }

  // By the model: what a sweep would take that loads the matrix once and finds it in the private
  // cache ever after, against the best so far.
  bool worth_searching() const {
    if (!may_block()) return false;
    if (options_.strategy == PowerStrategy::levels) return true;
    const Proposal<V, I>& best = *best_proposal();
    const auto bytes = static_cast<double>(best.candidate.format_bytes);
    const auto vectors = static_cast<double>(matrix_.rows()) * static_cast<double>(row_bytes()) *
                         (1.0 + 2.0 * options_.power);
    const SweepCosts once{.memory_bytes = bytes + vectors,
                          .cache_bytes = bytes * (options_.power - 1)};
    // Another order may make the kernel's accesses to x faster, up to a share of the cache's speed.
    const double kernel_rate =
        std::max(best.arrangement->kernel_rate, kKernelShare * places_.rates.cache);
    const double ideal =
        predict_without_overlap(once, limited_by_kernel(places_.rates, kernel_rate)).seconds;
    return best.candidate.predicted_seconds > kWorthSearching * ideal;
  }

  void consider_levels() {
    const LevelStructure<I> structure = find_levels(matrix_.pattern());
    prepared_.levels = structure.levels();
    prepared_.largest_level_rows = structure.max_rows();
    const auto widest = static_cast<double>(widest_window(matrix_.pattern(), structure, Offset{3}));
    const auto all = static_cast<double>(matrix_.nnz() + matrix_.rows());
    const bool hopeless = structure.levels() < kFewestLevels || widest > kLargestLevelShare * all;
    if (hopeless && !must_block()) return;

    const auto [name, groups, storage] = choose_layout(matrix_, structure, options_, group_bytes());
    const bool same_rows = groups.order.is_identity();
    const bool as_given = same_rows && storage.name() == given_->storage.name();
    const auto arranged = [&](const Csr<V, I>& in_order) {
      return arrange(groups.order, storage, in_order, groups.group_offsets);
    };
    // Packed SELL depends on the groups; the other formats are the same for any.
    const bool as_stored = as_given && storage.format != PowerFormat::packed_sell;
    const auto arrangement = as_stored   ? given_
                             : same_rows ? arranged(matrix_)
                                         : arranged(reordered(matrix_, groups.order));
    if (!must_block() && !as_given) propose_plain(name, arrangement);
    propose_banded(name, arrangement, groups.group_offsets);
  }

  void propose_plain(const std::string& name, const SharedArrangement& arrangement) {
    const auto tiling = single_tile(arrangement->matrix);
    add(name, arrangement, tiling, PowerStrategy::spmv, 1, {},
        std::vector<Schedule>{plain_schedule(tiling, options_.power)});
    proposals_.back().one_product.emplace(tiling, plain_schedule(tiling, 1),
                                          arrangement->matrix.bytes_before(), prepared_.threads,
                                          arrangement->matrix.row_alignment());
  }

  Tiling<I> single_tile(const PowerMatrix<V, I>& stored) const {
    Tiling<I> tiling;
    tiling.row_offsets.push_back(stored.rows());
    tiling.input_offsets.push_back(1);
    tiling.inputs.push_back(0);
    tiling.bytes.push_back(stored.bytes());
    tiling.group_offsets.push_back(1);
    return tiling;
  }

  // For each block size the wave with slack, or without, or in bands: whatever fits first.
  void propose_sweeps(const std::string& name, const SharedArrangement& arrangement,
                      const Tiling<I>& tiling, bool banded) {
    const bool with_slack = options_.strategy != PowerStrategy::levels;
    for (const int block : block_sizes(options_.power, options_.block)) {
      Offset window = kNoLimit;
      if (with_slack) window = propose_sweep(name, arrangement, tiling, block, {.slack = 1});
      if (window > places_.private_bytes) {
        window = propose_sweep(name, arrangement, tiling, block, {.slack = 0});
      }
      if (!banded || window <= places_.private_bytes) continue;
      const Offset parts = ceil_div<Offset>(window, std::max<Offset>(places_.private_bytes, 1));
      for (const Offset bands : {parts, 2 * parts}) {
        if (bands <= kMostBands) {
          propose_sweep(name, arrangement, tiling, block,
                        {.slack = 0, .bands = static_cast<int>(bands)});
        }
      }
    }
  }

  Offset propose_sweep(const std::string& name, const SharedArrangement& arrangement,
                       const Tiling<I>& tiling, int block, const WavefrontOptions& sweep) {
    std::vector<Schedule> schedules;
    for (const int size : blocks_of(options_.power, block)) {
      schedules.push_back(wavefront_schedule(tiling, size, sweep));
    }
    const auto strategy = options_.strategy == PowerStrategy::levels ? PowerStrategy::levels
                                                                     : PowerStrategy::wavefront;
    return add(name, arrangement, tiling, strategy, block, sweep, std::move(schedules));
  }

  // Predicts; returns the window.
  Offset add(const std::string& name, const SharedArrangement& arrangement, const Tiling<I>& tiling,
             PowerStrategy strategy, int block, const WavefrontOptions& sweep,
             std::vector<Schedule> schedules) {
    const PowerMatrix<V, I>& stored = arrangement->matrix;
    Proposal<V, I> proposal;
    PowerCandidate& candidate = proposal.candidate;
    candidate.strategy = strategy;
    candidate.order = name;
    candidate.format = arrangement->storage.name();
    candidate.block = block;
    candidate.bands = sweep.bands;
    candidate.slack = sweep.slack;
    candidate.format_bytes = stored.bytes();
    SweepCosts costs;
    for (const Schedule& schedule : schedules) {
      const ReuseProfile profile(tiling, schedule, row_bytes() * (schedule.power + 1));
      // Borders of bands are loaded twice whatever the cache: they are not part of the window.
      const double unavoidable =
          sweep.bands == 1
              ? kAlmostOnce
              : kAlmostOnce * static_cast<double>(profile.bytes_loaded(places_.private_bytes)) /
                    static_cast<double>(std::max<Offset>(profile.bytes_once(), 1));
      candidate.window_bytes = std::max(candidate.window_bytes, profile.window_bytes(unavoidable));
      costs = costs + costs_of(profile, places_, stored.rows(), row_bytes(), schedule);
    }
    const Rates rates = limited_by_kernel(places_.rates, arrangement->kernel_rate);
    const Prediction prediction = predict_without_overlap(costs, rates);
    const double copies = copy_seconds(arrangement->order);
    candidate.memory_bytes = costs.memory_bytes;
    candidate.predicted_seconds = prediction.seconds + copies;
    candidate.predicted_overlapped_seconds = predict_with_overlap(costs, rates).seconds + copies;
    candidate.bound = prediction.bound;
    proposal.arrangement = arrangement;
    for (Schedule& schedule : schedules) {
      proposal.sweeps.emplace_back(tiling, std::move(schedule), stored.bytes_before(),
                                   prepared_.threads, stored.row_alignment());
    }
    proposals_.push_back(std::move(proposal));
    return proposals_.back().candidate.window_bytes;
  }

  // Vectors in the caller's order are copied in and out: an element and its index are read, and a
  // line for an element written.
  double copy_seconds(const PaddedOrder<I>& order) const {
    if (options_.vector_order == VectorOrder::plan || order.is_identity()) return 0;
    const double elements = static_cast<double>(order.rows()) * (options_.power + 1);
    return elements * static_cast<double>(3 * row_bytes() + Offset{sizeof(I)}) /
           places_.rates.memory;
  }

  void find_neighbours(Proposal<V, I>& proposal) const {
    if (prepared_.threads < kManyThreads || proposal.candidate.strategy == PowerStrategy::spmv) {
      return;
    }
    const LoadedColumns<I> loaded = proposal.arrangement->matrix.loaded_columns();
    for (Sweep<I>& sweep : proposal.sweeps) sweep.find_neighbours(loaded);
  }

  auto best_proposal() const {
    return std::ranges::min_element(proposals_, {}, [](const Proposal<V, I>& proposal) {
      return proposal.candidate.seconds();
    });
  }

  // What is timed: plain products in each order, the best wave by the model, and the best ones in
  // another order or for another cache if they come close.
  std::vector<std::size_t> favourites() const {
    std::vector<std::size_t> by_time(proposals_.size());
    std::iota(by_time.begin(), by_time.end(), std::size_t{0});
    std::ranges::stable_sort(
        by_time, {}, [&](std::size_t i) { return proposals_[i].candidate.predicted_seconds; });
    std::vector<std::size_t> chosen;
    std::vector<std::pair<std::string, bool>> kinds;  // of waves chosen so far
    double best_sweep = 0;
    for (const std::size_t i : by_time) {
      const PowerCandidate& candidate = proposals_[i].candidate;
      if (candidate.strategy == PowerStrategy::spmv) {
        chosen.push_back(i);
        continue;
      }
      if (best_sweep == 0) best_sweep = candidate.predicted_seconds;
      const std::pair kind{candidate.order, candidate.bound == "shared-cache"};
      if (candidate.predicted_seconds > kClose * best_sweep ||
          std::ranges::count(kinds, kind) != 0) {
        continue;
      }
      kinds.push_back(kind);
      chosen.push_back(i);
    }
    return chosen;
  }

  void time_favourites() {
    std::vector<std::size_t> running = favourites();
    if (running.size() < 2) return;
    for (const std::size_t i : running) find_neighbours(proposals_[i]);
    double spent = 0;  // by the fastest
    for (int round = 0; round < kTrials || spent < kTrialSeconds; ++round) {
      double fastest = std::numeric_limits<double>::infinity();
      for (const std::size_t i : running) {
        double& measured = proposals_[i].candidate.measured_seconds;
        const double seconds = trials_.application_seconds(
            *proposals_[i].arrangement, proposals_[i].trial_sweep(), prepared_.threads);
        // The first round finds nothing in the caches and its pages untouched.
        measured = round <= 1 ? seconds : std::min(measured, seconds);
        fastest = std::min(fastest, measured);
      }
      spent += fastest;
      std::erase_if(running, [&](std::size_t i) {
        return proposals_[i].candidate.measured_seconds > kBeaten * fastest;
      });
    }
  }

  void take_best() {
    if (options_.autotune) time_favourites();
    // Whatever was timed is chosen among what was timed.
    const bool timed = std::ranges::any_of(
        proposals_, [](const auto& proposal) { return proposal.candidate.measured_seconds > 0; });
    std::ranges::stable_sort(proposals_, {}, [&](const Proposal<V, I>& proposal) {
      const PowerCandidate& candidate = proposal.candidate;
      const double handicap = (candidate.strategy == PowerStrategy::spmv ? 1 : kSimplerWins) *
                              (proposal.arrangement->order.is_identity() ? 1 : kSimplerWins);
      return std::pair(timed && candidate.measured_seconds == 0, candidate.seconds() * handicap);
    });
    for (const Proposal<V, I>& proposal : proposals_) {
      prepared_.candidates.push_back(proposal.candidate);
      if (proposal.candidate.strategy == PowerStrategy::spmv &&
          proposal.candidate.order == "given") {
        prepared_.plain_seconds = proposal.candidate.seconds();
      }
    }
    Proposal<V, I>& best = proposals_.front();
    if (!timed) find_neighbours(best);
    prepared_.arrangement = std::move(best.arrangement);
    prepared_.sweeps = std::move(best.sweeps);
  }

  const Csr<V, I>& matrix_;
  const PowerOptions& options_;
  double started_;
  Places places_;
  PreparedPowers<V, I> prepared_;
  std::vector<Proposal<V, I>> proposals_;
  SharedArrangement given_;
  bool stays_in_cache_ = false;  // in the private one: nothing to gain
  Trials<V, I> trials_;
};

}  // namespace

template <Value V, Index I>
PreparedPowers<V, I> prepare_powers(const Csr<V, I>& matrix, const PowerOptions& options) {
  const ThreadCountScope team(options.threads);
  return Planner<V, I>(matrix, options).plan();
}

#define STRATA_INSTANTIATE(V, I) \
  template PreparedPowers<V, I> prepare_powers(const Csr<V, I>& matrix, const PowerOptions& options)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
