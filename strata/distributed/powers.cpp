#include "strata/distributed/powers.hpp"

#include <fmt/format.h>

#include <algorithm>
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

template <Value V>
void require_local(const DistributedPowerOptions& options) {
  if (options.power.vector_order != VectorOrder::caller) {
    throw InvalidArgument("vectors of distributed powers are in the caller's order");
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
  int depth = 1;
  Offset rows = 0;
  // Of depth 1.
  std::optional<DistributedProduct<V>> product;
  // Of more.
  Halo halo;
  PowerPlan<V, Local> plan;
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

  template <Index I>
  void choose_depth(detail::GhostRows<V, I>& ghosts, const DistributedMatrix<V, I>& matrix);
  template <Index I>
  DepthCost cost_of(const detail::GhostRows<V, I>& ghosts, const DistributedMatrix<V, I>& matrix,
                    int of, const Network& network) const;
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
      block.resize(own);
    } else {
      const HaloRoom room{powers.rows, powers.vectors()};
      x.emplace(*powers.ranks, powers.halo, room);
      if (powers.depth < powers.power()) {
        pair.emplace(*powers.ranks, powers.halo, HaloRoom{room.own, room.vectors, 2});
      }
      plan = powers.plan.make_workspace();
      // What no power writes may be loaded, and multiplied by zero.
      block.assign(static_cast<std::size_t>(checked_multiply(
                       powers.extended_rows * powers.vectors(), powers.depth, "a block of powers")),
                   V(0));
    }
    if (powers.depth < powers.power()) {
      last.resize(own);
      previous.resize(own);
    }
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
  typename PowerPlan<V, Local>::Workspace plan;
  Array<V> block;           // y_1 … y_q of own rows and ghosts; of products the latest
  Array<V> last, previous;  // y_k and y_{k−1} of own rows, from where a block goes on
  const State* of;
};

namespace {

template <Value V>
void copy(std::span<const V> from, std::span<V> to) {
  parallel_chunks(std::ssize(from), [&](Offset begin, Offset end) {
    std::copy(from.data() + begin, from.data() + end, to.data() + begin);
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
  state.choose_depth(ghosts, matrix);
  if (state.depth == 1) {
    state.plan_products(matrix);
  } else {
    state.plan_sweeps(ghosts, matrix.rows);
  }
  state.describe();
}

// By the model, for the rank that it costs most.
template <Value V>
template <Index I>
DepthCost DistributedPowers<V>::State::cost_of(const detail::GhostRows<V, I>& ghosts,
                                               const DistributedMatrix<V, I>& matrix, int of,
                                               const Network& network) const {
  const MachineProfile& profile =
      options.power.profile != nullptr ? *options.power.profile : cached_machine_profile().profile;
  const int on_node = ranks->ranks_on_node();
  const double bandwidth =
      profile.memory_bandwidth(options.power.threads * on_node) / static_cast<double>(on_node);
  const double entry_seconds = static_cast<double>(sizeof(V) + sizeof(Local)) / bandwidth;
  const MessageCost& message =
      network.between_nodes.known() ? network.between_nodes : network.in_node;
  const Offset halo_bytes = ghosts.count_within(of) * vectors() * Offset{sizeof(V)};
  const Offset partners = ghosts.owners_within(of);
  Offset entries = matrix.local.nnz() * power();
  Offset redundant = 0, messages = 0, bytes = 0;
  int done = 0;
  for (const int block : strata::detail::blocks_of(power(), of)) {
    for (int k = 1; k <= block; ++k) {
      for (int distance = 1; distance <= of - k; ++distance) {
        redundant += std::ssize(ghosts.at(distance));
        entries += ghosts.entries_at(distance);
      }
    }
    messages += partners;
    bytes += (of > 1 && reads_before(done) ? 2 : 1) * halo_bytes;
    done += block;
  }
  std::vector<Offset> counts{ghosts.count_within(of - 1), redundant, messages, bytes};
  ranks->max(std::span<Offset>(counts));
  std::vector<double> seconds{static_cast<double>(messages) * message.latency +
                                  static_cast<double>(bytes) * message.seconds_per_byte,
                              static_cast<double>(entries) * entry_seconds};
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
void DistributedPowers<V>::State::choose_depth(detail::GhostRows<V, I>& ghosts,
                                               const DistributedMatrix<V, I>& matrix) {
  const Network network =
      options.network != nullptr ? *options.network : measure_network(*ranks, 0.05);
  const auto most_rows = static_cast<double>(ranks->max(rows));
  const int asked = options.depth;
  for (int tried = 1; tried <= (asked == 0 ? power() : asked); ++tried) {
    if (tried > 1) ghosts.extend();
    const DepthCost cost = cost_of(ghosts, matrix, tried, network);
    const bool too_many = static_cast<double>(cost.ghost_rows) >= kMostGhosts * most_rows;
    if (asked == 0 && tried > 1 && too_many) break;
    depths.push_back(cost);
  }
  depth = asked != 0 ? asked : std::ranges::min_element(depths, {}, &DepthCost::seconds)->depth;
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
    plan = strata::detail::plan_powers_with(
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
        "ms for messages and {:.3g} ms to compute{}\n",
        cost.depth, cost.ghost_rows, cost.redundant_rows, cost.messages, cost.bytes,
        1e3 * cost.message_seconds, 1e3 * cost.compute_seconds,
        cost.depth == depth ? (options.depth == 0 ? ", chosen" : ", asked for") : "");
  }
  text += "\n" + (product ? product->explain()
                          : "Rank 0, with its ghosts:\n" +
                                ranks->broadcast(ranks->rank() == 0 ? plan.explain() : "", 0));
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

// y_1 … y_count one after another: take(k, y_k) sees the rank's elements of each.
template <Value V>
template <class Take>
void DistributedPowers<V>::run(int count, std::span<const V> x, WorkspaceState& work,
                               const Take& take) const {
  const State& state = *state_;
  const std::span steps(state.steps);
  std::span<const V> last = x, previous = x;
  for (int done = 0; done < count;) {
    const int block = std::min(state.depth, count - done);
    std::span<const V> newest, before_newest = last;
    if (state.product) {
      const auto& step = steps[static_cast<std::size_t>(done)];
      const std::span<V> y(work.block);
      state.product->apply(last, y, work.product);
      parallel_for(std::ssize(y), [&](Offset i) {
        V value = y[i];
        if (step.shift != V(0)) value -= strata::detail::plain_product(step.shift, last[i]);
        if (step.alpha != V(1)) value = strata::detail::plain_product(step.alpha, value);
        if (step.beta != V(0)) value += strata::detail::plain_product(step.beta, previous[i]);
        y[i] = value;
      });
      newest = y;
      take(done + 1, newest);
    } else {
      const bool both = state.reads_before(done);
      Exchange<V>& room = both ? *work.pair : *work.x;
      room.start(last, previous);
      copy<V>(last, room.own(0));
      if (both) copy<V>(previous, room.own(1));
      room.finish();
      state.plan.apply_steps(
          steps.subspan(static_cast<std::size_t>(done), static_cast<std::size_t>(block)),
          both ? std::span<const V>(room.elements(1)) : std::span<const V>(), room.elements(0),
          std::span(work.block).first(work.block_elements() * static_cast<std::size_t>(block)),
          work.plan);
      for (int k = 1; k <= block; ++k) take(done + k, std::span<const V>(work.own_of_block(k)));
      newest = work.own_of_block(block);
      if (block > 1) before_newest = work.own_of_block(block - 1);
    }
    done += block;
    if (done == count) break;
    // The next block overwrites this one. The older vector first: it may be in the place of the
    // newer one.
    copy<V>(before_newest, work.previous);
    copy<V>(newest, work.last);
    previous = work.previous;
    last = work.last;
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
  run(count, x, work, [&](int k, std::span<const V> y) {
    copy<V>(y, powers.subspan(static_cast<std::size_t>(k - 1) * x.size(), x.size()));
  });
}

template <Value V>
void DistributedPowers<V>::apply_last(std::span<const V> x, std::span<V> last,
                                      Workspace& workspace) const {
  require_elements(x.size(), 1);
  require_elements(last.size(), 1);
  auto& work = work_of(workspace);
  const ThreadCountScope team(threads());
  run(power(), x, work, [&](int k, std::span<const V> y) {
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
  run(power(), x, work, [&](int k, std::span<const V> y) {
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
  state_->plan.multiply(work.x->elements(), std::span(work.block).first(work.block_elements()),
                        work.plan);
  copy<V>(work.own_of_block(1), y);
}

#define STRATA_INSTANTIATE(V, I)                    \
  template DistributedPowers<V>::DistributedPowers( \
      const Communicator&, const DistributedMatrix<V, I>&, const DistributedPowerOptions&)
#define STRATA_INSTANTIATE_VALUE(V, I) template class DistributedPowers<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_VALUE, );
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::distributed
