#include "strata/distributed/powers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/internal/plain_product.hpp"
#include "strata/base/parallel.hpp"
#include "strata/distributed/halo.hpp"
#include "strata/distributed/internal/ghost_rows.hpp"
#include "strata/machine/cached_profile.hpp"
#include "strata/plans/internal/planning.hpp"
#include "strata/plans/internal/prepared.hpp"
#include "strata/plans/internal/product_request.hpp"
#include "strata/plans/power_plan.hpp"

namespace strata::distributed {

using detail::Local;

namespace {

// Fewer ghosts than so many times the rows of the largest rank, unless it is asked for more.
constexpr double kMostGhosts = 1.0;
// Nor deeper than that, where an exchange costs each power a sixteenth.
constexpr int kDeepest = 16;
// How much faster sweeps with ghosts must have been, so that products are not taken instead.
constexpr double kProductsWin = 0.98;
constexpr int kTimes = 5;

template <Value V>
void require_local(const DistributedPowerOptions& options) {
  if (options.power.vector_order != VectorOrder::caller) {
    throw InvalidArgument("vectors of distributed powers are in the caller's order");
  }
  if (options.power.products != 0) {
    throw InvalidArgument("distributed powers do not choose p for a number of products");
  }
  if (options.power.power < 1) {
    throw InvalidArgument(fmt::format("power {}: there is at least one", options.power.power));
  }
  if (options.depth < 0 || options.depth > options.power.power) {
    throw InvalidArgument(
        fmt::format("a depth of {} for {} powers", options.depth, options.power.power));
  }
  options.power.basis.require_steps<V>(options.power.power);
}

std::string text_of(const DistributedPowerOptions& options) {
  return fmt::format("{} powers ({}) in depth {}, {} vectors", options.power.power,
                     options.power.basis.name(), options.depth, options.power.vectors);
}

// What the product of distributed powers of depth 1 is asked for.
ProductOptions product_options(const PowerOptions& options) {
  return {.vectors = options.vectors,
          .format = options.format,
          .slice_height = options.slice_height,
          .values = options.values,
          .autotune = options.autotune,
          .threads = options.threads,
          .affinity = options.affinity,
          .profile = options.profile};
}

}  // namespace

template <Value V>
struct DistributedPowers<V>::State {
  const Communicator* ranks = nullptr;
  DistributedPowerOptions options;
  std::vector<cpu::StepCoefficients<V>> steps;
  Offset rows = 0;
  int depth = 1;
  // Of depth 1.
  std::optional<DistributedProduct<V>> product;
  // Of more.
  Halo halo;
  PowerPlan<V, Local> sweeps;
  Offset extended_rows = 0;

  std::vector<Offset> redundant_rows;
  std::vector<RankShare> shares;
  std::vector<DepthCost> depths;
  std::string text;

  int power() const { return options.power.power; }
  int vectors() const { return options.power.vectors; }
  Offset elements() const { return rows * vectors(); }
  // Whether the block that begins after so many powers reads two of them.
  bool reads_before(int done) const {
    return done > 0 && steps[static_cast<std::size_t>(done)].beta != V(0);
  }

  void take_basis(const Basis& basis) {
    std::vector<cpu::StepCoefficients<V>> taken;
    basis.require_steps<V>(power());
    for (int k = 1; k <= power(); ++k) taken.push_back(basis.step<V>(k));
    steps = std::move(taken);
    options.power.basis = basis;
  }

  // The same powers, yet to be planned in some depth.
  std::unique_ptr<State> in_depth(int chosen) const {
    auto other = std::make_unique<State>();
    other->ranks = ranks;
    other->options = options;
    other->steps = steps;
    other->rows = rows;
    other->depth = chosen;
    return other;
  }

  // Depths to plan for, the best by the model first; all that were considered are kept.
  template <Index I>
  std::vector<int> weigh_depths(detail::GhostRows<V, I>& ghosts,
                                const DistributedMatrix<V, I>& matrix);
  template <Index I>
  DepthCost cost_of(const detail::GhostRows<V, I>& ghosts, const DistributedMatrix<V, I>& matrix,
                    int of, const Network& network) const;
  template <Index I>
  void plan(const detail::GhostRows<V, I>& ghosts, const DistributedMatrix<V, I>& matrix);
  template <Index I>
  void plan_sweeps(const detail::GhostRows<V, I>& ghosts, const Partition& parts);
  template <Index I>
  void plan_products(const DistributedMatrix<V, I>& matrix);
  void describe();
};

template <Value V>
struct DistributedPowers<V>::WorkspaceState {
  explicit WorkspaceState(const State& powers) : of(&powers) {
    const auto own = static_cast<std::size_t>(powers.elements());
    if (powers.product) {
      product = powers.product->make_workspace();
      block.resize(kRotating * own);
    } else {
      const HaloRoom room{powers.rows, powers.vectors()};
      x.emplace(*powers.ranks, powers.halo, room);
      if (powers.depth < powers.power()) {
        pair.emplace(*powers.ranks, powers.halo, HaloRoom{room.own, room.vectors, 2});
      }
      sweeps = powers.sweeps.make_workspace();
      // What no power writes may be loaded, and multiplied by zero.
      block.assign(static_cast<std::size_t>(checked_multiply(
                       powers.extended_rows * powers.vectors(), powers.depth, "a block of powers")),
                   V(0));
    }
  }

  // Where a product goes that nobody keeps: it and the two before it are there.
  std::span<V> rotating(int k) {
    const auto own = static_cast<std::size_t>(of->elements());
    return std::span(block).subspan(static_cast<std::size_t>(k % kRotating) * own, own);
  }

  // All of power 1, with ghosts.
  std::size_t block_elements() const { return block.size() / static_cast<std::size_t>(of->depth); }
  // The rank's own elements of power k of a block.
  std::span<V> own_of_block(int k) {
    const auto begin = static_cast<std::size_t>(of->halo.below() * of->vectors());
    return std::span(block).subspan(static_cast<std::size_t>(k - 1) * block_elements() + begin,
                                    static_cast<std::size_t>(of->elements()));
  }

  typename DistributedProduct<V>::Workspace product;
  std::optional<Exchange<V>> x;     // before the first block
  std::optional<Exchange<V>> pair;  // y_k and y_{k−1}, where steps after it read both
  typename PowerPlan<V, Local>::Workspace sweeps;
  Array<V> block;  // y_1 … y_q of own rows and ghosts; of products the latest three
  const State* of;

  static constexpr int kRotating = 3;
};

namespace {

template <Value V>
void copy(std::span<const V> from, std::span<V> to) {
  parallel_chunks(std::ssize(from), [&](Offset begin, Offset end) {
    std::copy(from.data() + begin, from.data() + end, to.data() + begin);
  });
}

// y = α(y − θ·last) + β·previous, where y = A·last.
template <Value V>
void take_step(const cpu::StepCoefficients<V>& step, std::span<const V> last,
               std::span<const V> previous, std::span<V> y) {
  if (step.shift == V(0) && step.alpha == V(1) && step.beta == V(0)) return;
  parallel_for(std::ssize(y), [&](Offset i) {
    V value = y[i];
    if (step.shift != V(0)) value -= strata::detail::plain_product(step.shift, last[i]);
    if (step.alpha != V(1)) value = strata::detail::plain_product(step.alpha, value);
    if (step.beta != V(0)) value += strata::detail::plain_product(step.beta, previous[i]);
    y[i] = value;
  });
}

}  // namespace

template <Value V>
template <Index I>
DistributedPowers<V>::DistributedPowers(const Communicator& ranks,
                                        const DistributedMatrix<V, I>& matrix,
                                        const DistributedPowerOptions& options)
    : state_(std::make_unique<State>()) {
  ranks.require_same("the options of distributed powers", text_of(options));
  State& state = *state_;
  state.ranks = &ranks;
  state.options = options;
  ranks.together([&] {
    require_local<V>(options);
    detail::require_shape(ranks, matrix);
    if (!matrix.square()) {
      throw InvalidArgument(
          "powers are those of a square matrix whose rows and columns are in the same parts");
    }
    state.take_basis(options.power.basis);
  });
  if (options.power.threads == 0) state.options.power.threads = ranks.threads_per_rank();
  if (options.power.profile == nullptr) {
    ranks.one_per_node_first([] { cached_machine_profile(); });
  }
  state.rows = matrix.rows.size(ranks.rank());
  detail::GhostRows<V, I> ghosts(ranks, matrix);
  const std::vector<int> chosen = state.weigh_depths(ghosts, matrix);
  if (chosen.size() == 1) {
    state.depth = chosen.front();
    state.plan(ghosts, matrix);
  } else {
    take_fastest(chosen, ghosts, matrix);
  }
  state_->describe();
}

template <Value V>
template <Index I>
void DistributedPowers<V>::State::plan(const detail::GhostRows<V, I>& ghosts,
                                       const DistributedMatrix<V, I>& matrix) {
  if (depth == 1) {
    plan_products(matrix);
  } else {
    plan_sweeps(ghosts, matrix.rows);
  }
}

// All are planned and timed in turn.
template <Value V>
template <class Ghosts, class Matrix>
void DistributedPowers<V>::take_fastest(const std::vector<int>& depths, const Ghosts& ghosts,
                                        const Matrix& matrix) {
  struct Candidate {
    std::unique_ptr<State> state;
    std::unique_ptr<WorkspaceState> work;
    double seconds = std::numeric_limits<double>::infinity();
  };
  const std::unique_ptr<State> weighed = std::move(state_);
  const Communicator& ranks = *weighed->ranks;
  std::vector<Candidate> candidates;
  for (const int depth : depths) {
    Candidate& candidate = candidates.emplace_back();
    candidate.state = weighed->in_depth(depth);
    candidate.state->plan(ghosts, matrix);
    candidate.work = std::make_unique<WorkspaceState>(*candidate.state);
  }
  const Array<V> x(static_cast<std::size_t>(weighed->elements()), V(0));
  Array<V> powers(static_cast<std::size_t>(
      checked_multiply(weighed->elements(), weighed->power(), "the elements of all powers")));
  for (int time = 0; time < kTimes; ++time) {
    for (Candidate& candidate : candidates) {
      state_ = std::move(candidate.state);
      const ThreadCountScope team(threads());
      ranks.barrier();
      const auto begin = std::chrono::steady_clock::now();
      run(power(), x, powers, *candidate.work, [](int, std::span<const V>) {});
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      candidate.seconds = std::min(candidate.seconds, ranks.max(seconds.count()));
      candidate.state = std::move(state_);
    }
  }
  for (DepthCost& cost : weighed->depths) {
    for (const Candidate& candidate : candidates) {
      if (candidate.state->depth == cost.depth) cost.measured_seconds = candidate.seconds;
    }
  }
  const auto fastest = std::ranges::min_element(candidates, {}, [](const Candidate& candidate) {
    return candidate.state->depth == 1 ? kProductsWin * candidate.seconds : candidate.seconds;
  });
  state_ = std::move(fastest->state);
  state_->depths = std::move(weighed->depths);
}

// By the model, for the rank that it costs most.
template <Value V>
template <Index I>
DepthCost DistributedPowers<V>::State::cost_of(const detail::GhostRows<V, I>& ghosts,
                                               const DistributedMatrix<V, I>& matrix, int of,
                                               const Network& network) const {
  const MachineProfile& profile =
      options.power.profile != nullptr ? *options.power.profile : cached_machine_profile().profile;
  // Bytes per second of a rank where all of its node read as many.
  const int on_node = ranks->ranks_on_node();
  const int threads = options.power.threads * on_node;
  const auto rate = [&](Offset bytes_of_node) {
    return profile.read_bandwidth(threads, bytes_of_node) / static_cast<double>(on_node);
  };
  const auto entry_bytes = Offset{sizeof(V) + sizeof(Local)};
  const MessageCost& message =
      network.between_nodes.known() ? network.between_nodes : network.in_node;
  const Offset halo_bytes = ghosts.count_within(of) * vectors() * Offset{sizeof(V)};
  const Offset partners = ghosts.owners_within(of);
  Offset computed = matrix.local.nnz() * power();  // entries, over all powers
  Offset stored = matrix.local.nnz();
  for (int distance = 1; distance < of; ++distance) stored += ghosts.entries_at(distance);
  Offset redundant = 0, messages = 0, bytes = 0, blocks = 0;
  int done = 0;
  for (const int block : strata::detail::blocks_of(power(), of)) {
    for (int k = 1; k <= block; ++k) {
      for (int distance = 1; distance <= of - k; ++distance) {
        redundant += std::ssize(ghosts.at(distance));
        computed += ghosts.entries_at(distance);
      }
    }
    ++blocks;
    messages += partners;
    bytes += (of > 1 && reads_before(done) ? 2 : 1) * halo_bytes;
    done += block;
  }
  std::vector<Offset> counts{ghosts.count_within(of - 1), redundant, messages, bytes};
  ranks->max(std::span<Offset>(counts));
  // A sweep reads every entry once from wherever all of them fit, and again from the cores' caches.
  const double first_read =
      static_cast<double>(blocks * stored * entry_bytes) / rate(on_node * stored * entry_bytes);
  const double all_reads =
      static_cast<double>(computed * entry_bytes) /
      rate(of == 1 ? on_node * stored * entry_bytes : profile.private_cache_bytes(threads));
  std::vector<double> seconds{static_cast<double>(messages) * message.latency +
                                  static_cast<double>(bytes) * message.seconds_per_byte,
                              std::max(first_read, all_reads)};
  ranks->max(std::span<double>(seconds));
  return {.depth = of,
          .ghost_rows = counts[0],
          .redundant_rows = counts[1],
          .messages = counts[2],
          .bytes = counts[3],
          .message_seconds = seconds[0],
          .compute_seconds = seconds[1]};
}

template <Value V>
template <Index I>
std::vector<int> DistributedPowers<V>::State::weigh_depths(detail::GhostRows<V, I>& ghosts,
                                                           const DistributedMatrix<V, I>& matrix) {
  const Network network =
      options.network != nullptr ? *options.network : measure_network(*ranks, 0.05);
  const auto most_rows = static_cast<double>(ranks->max(rows));
  const int asked = options.depth;
  const int deepest = asked == 0 ? std::min(power(), kDeepest) : asked;
  for (int tried = 1; tried <= deepest; ++tried) {
    if (tried > 1) ghosts.extend();
    const DepthCost cost = cost_of(ghosts, matrix, tried, network);
    const bool too_many = static_cast<double>(cost.ghost_rows) >= kMostGhosts * most_rows;
    if (asked == 0 && tried > 1 && too_many) break;
    depths.push_back(cost);
  }
  if (asked != 0) return {asked};
  const auto best = std::ranges::min_element(depths, {}, &DepthCost::seconds);
  // The model knows sweeps at their best alone: whether they are as good is timed.
  if (best->depth == 1 || !options.power.autotune) return {best->depth};
  return {best->depth, 1};
}

template <Value V>
template <Index I>
void DistributedPowers<V>::State::plan_sweeps(const detail::GhostRows<V, I>& ghosts,
                                              const Partition& parts) {
  const auto extended = ranks->together_make([&] { return ghosts.extended(depth); });
  extended_rows = extended.matrix.rows();
  halo = Halo(*ranks, parts, extended.ghosts);
  std::vector<std::int32_t> last_powers;
  for (const std::int32_t distance : extended.distances) last_powers.push_back(depth - distance);
  for (int k = 1; k <= depth; ++k) redundant_rows.push_back(ghosts.count_within(depth - k));
  PowerOptions of_rank = options.power;
  of_rank.power = depth;
  of_rank.basis = Basis::monomial();  // steps are given to every application
  ranks->together([&] {
    sweeps = strata::detail::plan_powers_with(
        extended.matrix, of_rank,
        {.searches = true, .memory = TuningMemory::recall, .last_powers = last_powers});
  });
  RankShare own{.rows = rows,
                .entries = extended.matrix.nnz(),
                .ghosts = std::ssize(extended.ghosts),
                .partners = std::ssize(halo.targets())};
  const Offset bytes = halo.sent_elements() * vectors() * Offset{sizeof(V)};
  for (int done = 0; done < power(); done += depth) {
    own.messages += own.partners;
    own.bytes += (reads_before(done) ? 2 : 1) * bytes;
  }
  shares = ranks->gather_all(own);
}

template <Value V>
template <Index I>
void DistributedPowers<V>::State::plan_products(const DistributedMatrix<V, I>& matrix) {
  product.emplace(*ranks, matrix, DistributedOptions{.product = product_options(options.power)});
  redundant_rows = {0};
  shares = product->shares();
  for (RankShare& share : shares) {
    share.messages *= power();
    share.bytes *= power();
  }
}

template <Value V>
void DistributedPowers<V>::State::describe() {
  const std::size_t blocks = strata::detail::blocks_of(power(), depth).size();
  text = fmt::format(
      "{} ranks with {} threads each: {} powers ({}) in depth {}, which is {} exchange{} of "
      "messages "
      "instead of {}.\nBy the model, for the rank that it costs most:\n",
      ranks->size(), options.power.threads, power(), options.power.basis.name(), depth, blocks,
      blocks == 1 ? "" : "s", power());
  for (const DepthCost& cost : depths) {
    text += fmt::format(
        "  depth {}: {} ghost rows, {} rows computed for others, {} messages with {} bytes; {:.3g} "
        "ms for messages and {:.3g} ms to compute{}{}\n",
        cost.depth, cost.ghost_rows, cost.redundant_rows, cost.messages, cost.bytes,
        1e3 * cost.message_seconds, 1e3 * cost.compute_seconds,
        cost.measured_seconds > 0 ? fmt::format(", took {:.3g} ms", 1e3 * cost.measured_seconds)
                                  : "",
        cost.depth == depth ? (options.depth == 0 ? ", chosen" : ", asked for") : "");
  }
  text += "\n" + (product ? product->explain()
                          : "Rank 0, with its ghosts:\n" +
                                ranks->broadcast(ranks->rank() == 0 ? sweeps.explain() : "", 0));
}

template <Value V>
DistributedPowers<V>::~DistributedPowers() = default;
template <Value V>
DistributedPowers<V>::DistributedPowers(DistributedPowers&&) noexcept = default;
template <Value V>
DistributedPowers<V>& DistributedPowers<V>::operator=(DistributedPowers&&) noexcept = default;

template <Value V>
DistributedPowers<V>::Workspace::Workspace() = default;
template <Value V>
DistributedPowers<V>::Workspace::~Workspace() = default;
template <Value V>
DistributedPowers<V>::Workspace::Workspace(Workspace&&) noexcept = default;
template <Value V>
auto DistributedPowers<V>::Workspace::operator=(Workspace&&) noexcept -> Workspace& = default;

template <Value V>
Offset DistributedPowers<V>::rows() const {
  return state_->rows;
}
template <Value V>
int DistributedPowers<V>::power() const {
  return state_->power();
}
template <Value V>
int DistributedPowers<V>::vectors() const {
  return state_->vectors();
}
template <Value V>
int DistributedPowers<V>::depth() const {
  return state_->depth;
}
template <Value V>
int DistributedPowers<V>::threads() const {
  return state_->options.power.threads;
}
template <Value V>
const std::vector<RankShare>& DistributedPowers<V>::shares() const {
  return state_->shares;
}
template <Value V>
const std::vector<Offset>& DistributedPowers<V>::redundant_rows() const {
  return state_->redundant_rows;
}
template <Value V>
const std::vector<DepthCost>& DistributedPowers<V>::depths() const {
  return state_->depths;
}
template <Value V>
const std::string& DistributedPowers<V>::explain() const {
  return state_->text;
}
template <Value V>
void DistributedPowers<V>::set_basis(const Basis& basis) {
  state_->take_basis(basis);
}

template <Value V>
template <Index I>
void DistributedPowers<V>::update_values(const DistributedMatrix<V, I>& matrix) {
  State& state = *state_;
  if (state.product) {
    state.product->update_values(matrix);
    return;
  }
  const Communicator& ranks = *state.ranks;
  ranks.together([&] {
    detail::require_shape(ranks, matrix);
    if (matrix.rows.size(ranks.rank()) != state.rows || !matrix.square()) {
      throw InvalidArgument("new values come with other rows");
    }
  });
  detail::GhostRows<V, I> ghosts(ranks, matrix);
  for (int distance = 2; distance <= state.depth; ++distance) ghosts.extend();
  const auto extended = ranks.together_make([&] { return ghosts.extended(state.depth); });
  ranks.together([&] {
    if (extended.ghosts != state.halo.wanted()) {
      throw InvalidArgument("new values come with another pattern");
    }
  });
  // All or nothing on a rank; one rank that fails leaves the others with new values.
  ranks.together([&] { state.sweeps.update_values(extended.matrix); });
}

template <Value V>
auto DistributedPowers<V>::make_workspace() const -> Workspace {
  Workspace workspace;
  workspace.state_ = std::make_unique<WorkspaceState>(*state_);
  return workspace;
}

template <Value V>
auto DistributedPowers<V>::work_of(Workspace& workspace) const -> WorkspaceState& {
  if (!workspace.state_ || workspace.state_->of != state_.get()) {
    throw InvalidArgument("the workspace is that of other powers");
  }
  return *workspace.state_;
}

template <Value V>
void DistributedPowers<V>::require_elements(std::size_t elements, int vectors) const {
  if (static_cast<Offset>(elements) == state_->elements() * vectors) return;
  throw InvalidArgument(fmt::format("{} elements where {} rows have {}", elements, rows(),
                                    state_->elements() * vectors));
}

// y_1 … y_count one after another: take(k, y_k) sees the rank's elements of each. `all` has room
// for them, if they are to stay.
template <Value V>
template <class Take>
void DistributedPowers<V>::run(int count, std::span<const V> x, std::span<V> all,
                               WorkspaceState& work, const Take& take) const {
  const State& state = *state_;
  const std::span steps(state.steps);
  const auto kept = [&](int k) {
    return all.subspan(static_cast<std::size_t>(k - 1) * x.size(), x.size());
  };
  std::span<const V> last = x, previous = x;
  for (int done = 0; done < count;) {
    const int block = std::min(state.depth, count - done);
    std::span<const V> newest, before_newest = last;
    if (state.product) {
      const auto& step = steps[static_cast<std::size_t>(done)];
      const std::span<V> y = all.empty() ? work.rotating(done) : kept(done + 1);
      state.product->apply(last, y, work.product);
      take_step(step, last, previous, y);
      newest = y;
      take(done + 1, newest);
    } else {
      const bool both = state.reads_before(done);
      Exchange<V>& room = both ? *work.pair : *work.x;
      room.start(last, previous);
      copy<V>(last, room.own(0));
      if (both) copy<V>(previous, room.own(1));
      room.finish();
      state.sweeps.apply_steps(
          steps.subspan(static_cast<std::size_t>(done), static_cast<std::size_t>(block)),
          both ? std::span<const V>(room.elements(1)) : std::span<const V>(), room.elements(0),
          std::span(work.block).first(work.block_elements() * static_cast<std::size_t>(block)),
          work.sweeps);
      room.release();
      for (int k = 1; k <= block; ++k) {
        before_newest = newest.empty() ? last : newest;
        newest = work.own_of_block(k);
        if (!all.empty()) {
          copy<V>(newest, kept(done + k));
          newest = kept(done + k);
        }
        take(done + k, newest);
      }
    }
    // The next block overwrites this one after it has copied what it reads.
    done += block;
    previous = before_newest;
    last = newest;
  }
}

template <Value V>
void DistributedPowers<V>::apply(std::span<const V> x, std::span<V> powers,
                                 Workspace& workspace) const {
  apply_first(power(), x, powers, workspace);
}

template <Value V>
void DistributedPowers<V>::apply_first(int count, std::span<const V> x, std::span<V> powers,
                                       Workspace& workspace) const {
  if (count < 1 || count > power()) {
    throw InvalidArgument(fmt::format("{} powers of a plan for {}", count, power()));
  }
  require_elements(x.size(), 1);
  require_elements(powers.size(), count);
  auto& work = work_of(workspace);
  const ThreadCountScope team(threads());
  run(count, x, powers, work, [](int, std::span<const V>) {});
}

template <Value V>
void DistributedPowers<V>::apply_last(std::span<const V> x, std::span<V> last,
                                      Workspace& workspace) const {
  require_elements(x.size(), 1);
  require_elements(last.size(), 1);
  auto& work = work_of(workspace);
  const ThreadCountScope team(threads());
  run(power(), x, {}, work, [&](int k, std::span<const V> y) {
    if (k == power()) copy<V>(y, last);
  });
}

template <Value V>
void DistributedPowers<V>::apply_sum(std::span<const V> x, std::span<const V> coefficients,
                                     std::span<V> sum, Workspace& workspace) const {
  require_elements(x.size(), 1);
  require_elements(sum.size(), 1);
  if (std::ssize(coefficients) != power() + 1) {
    throw InvalidArgument(
        fmt::format("{} coefficients for a sum of x and {} powers", coefficients.size(), power()));
  }
  auto& work = work_of(workspace);
  const ThreadCountScope team(threads());
  const strata::detail::PowerSum<V> adding{coefficients, sum.data()};
  run(power(), x, {}, work, [&](int k, std::span<const V> y) {
    parallel_chunks(std::ssize(sum), [&](Offset begin, Offset end) {
      adding.add(k, x.data(), y.data(), begin, end);
    });
  });
}

template <Value V>
void DistributedPowers<V>::multiply(std::span<const V> x, std::span<V> y,
                                    Workspace& workspace) const {
  require_elements(x.size(), 1);
  require_elements(y.size(), 1);
  auto& work = work_of(workspace);
  if (state_->product) {
    state_->product->apply(x, y, work.product);
    return;
  }
  const ThreadCountScope team(threads());
  work.x->start(x);
  copy<V>(x, work.x->own());
  work.x->finish();
  state_->sweeps.multiply(work.x->elements(), std::span(work.block).first(work.block_elements()),
                          work.sweeps);
  work.x->release();
  copy<V>(work.own_of_block(1), y);
}

#define STRATA_INSTANTIATE(V, I)                                                            \
  template DistributedPowers<V>::DistributedPowers(                                         \
      const Communicator&, const DistributedMatrix<V, I>&, const DistributedPowerOptions&); \
  template void DistributedPowers<V>::update_values(const DistributedMatrix<V, I>&)
#define STRATA_INSTANTIATE_VALUE(V, I) template class DistributedPowers<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_VALUE, );
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::distributed
