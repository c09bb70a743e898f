#include "strata/model/scaling_model.hpp"

#include <algorithm>
#include <cmath>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"

namespace strata {

namespace {

// An exchange as numbers that can be extrapolated.
struct Traffic {
  double near_messages = 0;
  double near_elements = 0;
  double far_messages = 0;
  double far_elements = 0;
};

Traffic traffic_of(const Exchange& exchange) {
  return {static_cast<double>(exchange.near_messages), static_cast<double>(exchange.near_elements),
          static_cast<double>(exchange.far_messages), static_cast<double>(exchange.far_elements)};
}

// What takes time on a number of ranks.
class Costs {
 public:
  Costs(const ScalingWork& work, const ScalingMachine& machine, int ranks)
      : work_(work),
        machine_(machine),
        on_node_(std::min(ranks, machine.ranks_per_node)),
        // Ranks of a node send at the same time over one link.
        far_{machine.network.between_nodes.latency,
             machine.network.between_nodes.seconds_per_byte * on_node_} {}

  double compute(double bytes) const {
    return bytes > 0 ? machine_.compute_seconds(bytes, on_node_) : 0;
  }
  double messages(const Traffic& traffic) const {
    return machine_.network.in_node.seconds(traffic.near_messages,
                                            work_.value_bytes * traffic.near_elements) +
           far_.seconds(traffic.far_messages, work_.value_bytes * traffic.far_elements);
  }
  // The slower of what is sent and what is received.
  double messages(const Exchange& sent, const Exchange& received) const {
    return std::max(messages(traffic_of(sent)), messages(traffic_of(received)));
  }
  double bytes(const Exchange& exchange) const {
    return work_.value_bytes * static_cast<double>(exchange.elements());
  }

 private:
  const ScalingWork& work_;
  const ScalingMachine& machine_;
  int on_node_;
  MessageCost far_;
};

// Keeps the times of the rank that takes longest.
bool keep_slowest(DistributionCost& cost, double compute, double messages) {
  if (compute + messages <= cost.seconds() && cost.compute_seconds > 0) return false;
  cost.compute_seconds = compute;
  cost.message_seconds = messages;
  return true;
}

template <class Share>
double imbalance_of(const std::vector<Share>& shares) {
  Offset most = 0, all = 0;
  for (const Share& share : shares) {
    most = std::max(most, share.entries);
    all += share.entries;
  }
  return all == 0 ? 1
                  : static_cast<double>(most) * static_cast<double>(shares.size()) /
                        static_cast<double>(all);
}

// Interior rows are computed while elements of x are under way.
template <class Share>
double hidden_behind(const Share& share, double compute) {
  return share.entries > 0 ? compute * static_cast<double>(share.interior_entries) /
                                 static_cast<double>(share.entries)
                           : 0;
}

DistributionCost cost_of(const std::vector<RowsShare>& shares, const ScalingWork& work,
                         const Costs& costs) {
  DistributionCost cost{.imbalance = imbalance_of(shares)};
  for (const RowsShare& share : shares) {
    const double compute = costs.compute(work.bytes(share.entries, share.rows));
    const double hidden = hidden_behind(share, compute);
    keep_slowest(cost, compute, std::max(0.0, costs.messages(share.sent, share.received) - hidden));
    cost.messages = std::max({cost.messages, share.sent.messages(), share.received.messages()});
    cost.bytes = std::max({cost.bytes, costs.bytes(share.sent), costs.bytes(share.received)});
  }
  return cost;
}

DistributionCost cost_of(const std::vector<GridShare>& shares, const ScalingWork& work,
                         const Costs& costs) {
  DistributionCost cost{.imbalance = imbalance_of(shares)};
  for (const GridShare& share : shares) {
    // Elements of x that come, and parts of y that go, pass through memory as rows of y do.
    const Offset rows = share.rows + share.expand_received.elements() + share.fold_sent.elements();
    const double compute = costs.compute(work.bytes(share.entries, rows));
    const double expand = costs.messages(share.expand_sent, share.expand_received);
    keep_slowest(cost, compute,
                 std::max(0.0, expand - hidden_behind(share, compute)) +
                     costs.messages(share.fold_sent, share.fold_received));
    cost.messages =
        std::max({cost.messages, share.expand_sent.messages() + share.fold_sent.messages(),
                  share.expand_received.messages() + share.fold_received.messages()});
    cost.bytes =
        std::max({cost.bytes, costs.bytes(share.expand_sent) + costs.bytes(share.fold_sent),
                  costs.bytes(share.expand_received) + costs.bytes(share.fold_received)});
  }
  return cost;
}

// Seconds of `depth` powers of a rank: that many products of a matrix with the mean of the rows.
double deep_compute(double entries, double rows, double redundant_entries, double redundant_rows,
                    int depth, const ScalingWork& work, const Costs& costs) {
  const double bytes = work.bytes_per_entry * (depth * entries + redundant_entries) +
                       work.bytes_per_row * (depth * rows + redundant_rows);
  return depth * costs.compute(bytes / depth);
}

void add_deep(RankScaling& scaling, const std::vector<DeepShare>& shares, int depth,
              const ScalingWork& work, const Costs& costs) {
  DistributionCost& cost = scaling.deep;
  cost.imbalance = imbalance_of(shares);
  for (const DeepShare& share : shares) {
    const double compute =
        deep_compute(static_cast<double>(share.entries), static_cast<double>(share.rows),
                     static_cast<double>(share.redundant_entries),
                     static_cast<double>(share.redundant_rows), depth, work, costs);
    const bool slowest = keep_slowest(cost, compute, costs.messages(traffic_of(share.received)));
    cost.messages = std::max(cost.messages, share.received.messages());
    cost.bytes = std::max(cost.bytes, costs.bytes(share.received));
    scaling.ghost_rows = std::max(scaling.ghost_rows, share.ghost_rows);
    scaling.redundant_rows = std::max(scaling.redundant_rows, share.redundant_rows);
    const double all =
        static_cast<double>(depth * share.entries) + static_cast<double>(share.redundant_entries);
    if (slowest && all > 0) {
      scaling.redundant_share = static_cast<double>(share.redundant_entries) / all;
    }
  }
  scaling.deep_ranks = static_cast<int>(shares.size());
}

void require_ranks(int ranks, int depth) {
  if (ranks < 1) throw InvalidArgument("there is one rank at least");
  if (depth < 1) throw InvalidArgument("a sweep has one power at least");
}

// The largest of every kind of number in the partition that halos are from.
struct Halo {
  double rows = 0;  // of a rank there
  double elements = 0;
  double partners = 0;
  double boundary_entries = 0;  // of rows that need others
  double deep_elements = 0;
  double deep_partners = 0;
  double ghost_rows = 0;
  double redundant_rows = 0;
  double redundant_entries = 0;
  double expand_elements = 0;
  double fold_elements = 0;
};

template <Index I>
Halo largest_halo(const PatternView<I>& pattern, int ranks, int depth) {
  const RankLayout layout = layout_by_entries(pattern, ranks, ranks);
  Halo halo{.rows = static_cast<double>(pattern.rows) / ranks};
  const auto raise = [](double& most, Offset number) {
    most = std::max(most, static_cast<double>(number));
  };
  for (const RowsShare& share : count_rows(pattern, layout)) {
    raise(halo.elements, std::max(share.received.elements(), share.sent.elements()));
    raise(halo.partners, std::max(share.received.messages(), share.sent.messages()));
    raise(halo.boundary_entries, share.entries - share.interior_entries);
  }
  for (const GridShare& share : count_grid(pattern, layout, square_grid_rows(ranks))) {
    raise(halo.expand_elements,
          std::max(share.expand_received.elements(), share.expand_sent.elements()));
    raise(halo.fold_elements, std::max(share.fold_received.elements(), share.fold_sent.elements()));
  }
  if (pattern.rows != pattern.cols) return halo;
  for (const DeepShare& share : count_deep(pattern, layout, depth)) {
    raise(halo.deep_elements, share.received.elements());
    raise(halo.deep_partners, share.received.messages());
    raise(halo.ghost_rows, share.ghost_rows);
    raise(halo.redundant_rows, share.redundant_rows);
    raise(halo.redundant_entries, share.redundant_entries);
  }
  return halo;
}

// Messages that bring so many elements of ranks with `rows` each: as many as in the partition that
// was counted, or as hold them.
Traffic extrapolated(double elements, double partners, double rows, double most_partners,
                     bool far) {
  elements = std::min(elements, most_partners * rows);
  const double messages =
      std::min(most_partners, std::max(partners, rows > 0 ? std::ceil(elements / rows) : 0));
  return far ? Traffic{.far_messages = messages, .far_elements = elements}
             : Traffic{.near_messages = messages, .near_elements = elements};
}

// One rank stands for all: each has n rows, and the halo grown by `factor`.
struct WeakRank {
  double rows = 0;
  double entries = 0;
  double factor = 1;
};

RankScaling weak_point(const WeakRank& rank, const Halo& halo, const ScalingWork& work,
                       const ScalingMachine& machine, int ranks, int depth, bool square) {
  const Costs costs(work, machine, ranks);
  const bool far = ranks > machine.ranks_per_node;
  RankScaling scaling{.ranks = ranks};
  scaling.grid_rows = square_grid_rows(ranks);
  scaling.grid_cols = ranks / scaling.grid_rows;
  scaling.reduction_seconds = machine.network.reduction(ranks);
  const auto set = [&](DistributionCost& cost, const Traffic& traffic) {
    cost.messages += std::llround(traffic.near_messages + traffic.far_messages);
    cost.bytes += work.value_bytes * (traffic.near_elements + traffic.far_elements);
  };
  const double product =
      costs.compute(work.bytes_per_entry * rank.entries + work.bytes_per_row * rank.rows);

  const Traffic by_rows =
      extrapolated(rank.factor * halo.elements, halo.partners, rank.rows, ranks - 1.0, far);
  const double interior =
      rank.entries > 0 ? std::max(0.0, 1 - rank.factor * halo.boundary_entries / rank.entries) : 0;
  set(scaling.rows, by_rows);
  scaling.rows.compute_seconds = product;
  scaling.rows.message_seconds =
      std::max(0.0, costs.messages(by_rows) - (ranks > 1 ? interior * product : 0));

  const Traffic expand =
      extrapolated(rank.factor * halo.expand_elements, 1, rank.rows, scaling.grid_rows - 1.0, far);
  const Traffic fold =
      extrapolated(rank.factor * halo.fold_elements, 1, rank.rows, scaling.grid_cols - 1.0, far);
  set(scaling.grid, expand);
  set(scaling.grid, fold);
  const double through_memory =
      expand.near_elements + expand.far_elements + fold.near_elements + fold.far_elements;
  scaling.grid.compute_seconds = costs.compute(work.bytes_per_entry * rank.entries +
                                               work.bytes_per_row * (rank.rows + through_memory));
  scaling.grid.message_seconds =
      std::max(0.0, costs.messages(expand) - interior * product) + costs.messages(fold);

  if (!square) return scaling;
  const double more = ranks > 1 ? rank.factor : 0;
  const Traffic deep =
      extrapolated(more * halo.deep_elements, halo.deep_partners, rank.rows, ranks - 1.0, far);
  set(scaling.deep, deep);
  scaling.deep.compute_seconds =
      deep_compute(rank.entries, rank.rows, more * halo.redundant_entries,
                   more * halo.redundant_rows, depth, work, costs);
  scaling.deep.message_seconds = costs.messages(deep);
  scaling.ghost_rows = std::llround(more * halo.ghost_rows);
  scaling.redundant_rows = std::llround(more * halo.redundant_rows);
  const double redundant = more * halo.redundant_entries;
  scaling.redundant_share = rank.entries > 0 ? redundant / (depth * rank.entries + redundant) : 0;
  scaling.deep_ranks = 1;
  return scaling;
}

}  // namespace

template <Index I>
RankScaling scale_over(const PatternView<I>& pattern, const ScalingWork& work,
                       const ScalingMachine& machine, int ranks, int depth) {
  require_ranks(ranks, depth);
  const RankLayout layout = layout_by_entries(pattern, ranks, machine.ranks_per_node);
  const Costs costs(work, machine, ranks);
  RankScaling scaling{.ranks = ranks};
  scaling.grid_rows = square_grid_rows(ranks);
  scaling.grid_cols = ranks / scaling.grid_rows;
  scaling.rows = cost_of(count_rows(pattern, layout), work, costs);
  scaling.grid = cost_of(count_grid(pattern, layout, scaling.grid_rows), work, costs);
  if (pattern.rows == pattern.cols) {
    add_deep(scaling, count_deep(pattern, layout, depth), depth, work, costs);
  }
  scaling.reduction_seconds = machine.network.reduction(ranks);
  return scaling;
}

template <Index I>
std::vector<RankScaling> strong_scaling(const PatternView<I>& pattern, const ScalingWork& work,
                                        const ScalingMachine& machine,
                                        const std::vector<int>& ranks, int depth) {
  std::vector<RankScaling> all;
  for (const int count : ranks) all.push_back(scale_over(pattern, work, machine, count, depth));
  return all;
}

template <Index I>
WeakScaling weak_scaling(const PatternView<I>& pattern, const ScalingWork& work,
                         const ScalingMachine& machine, const std::vector<int>& ranks,
                         int base_ranks, int depth) {
  require_ranks(base_ranks, depth);
  // With fewer than four no rank has neighbours on both sides.
  constexpr int kFewestCounted = 4;
  WeakScaling scaling;
  scaling.base_ranks = base_ranks;
  scaling.counted_ranks = std::max(base_ranks, kFewestCounted);
  const Halo halo = largest_halo(pattern, scaling.counted_ranks, depth);
  const auto rows = static_cast<double>(pattern.rows);
  if (halo.elements > 1 && rows > 1) {
    scaling.exponent = std::clamp(std::log(halo.elements) / std::log(rows), 0.0, 1.0);
  }
  WeakRank rank{.rows = rows / base_ranks,
                .entries = static_cast<double>(pattern.entries()) / base_ranks};
  scaling.base_seconds =
      Costs(work, machine, base_ranks)
          .compute(work.bytes_per_entry * rank.entries + work.bytes_per_row * rank.rows);
  const bool square = pattern.rows == pattern.cols;
  for (const int count : ranks) {
    require_ranks(count, depth);
    rank.factor = 1;
    scaling.along.push_back(weak_point(rank, halo, work, machine, count, depth, square));
    rank.factor = std::pow(static_cast<double>(count) / base_ranks, scaling.exponent);
    scaling.in_all_directions.push_back(
        weak_point(rank, halo, work, machine, count, depth, square));
  }
  return scaling;
}

PayingRanks paying_ranks(const std::vector<int>& ranks, const std::vector<double>& seconds,
                         double alone) {
  PayingRanks paying;
  double least = 0;
  for (std::size_t i = 0; i < ranks.size() && i < seconds.size(); ++i) {
    if (paying.fastest == 0 || seconds[i] < least) {
      paying.fastest = ranks[i];
      least = seconds[i];
    }
    if (alone >= 0.5 * ranks[i] * seconds[i]) {
      paying.efficient = std::max(paying.efficient, ranks[i]);
    }
  }
  return paying;
}

#define STRATA_INSTANTIATE(I)                                                                      \
  template RankScaling scale_over(const PatternView<I>&, const ScalingWork&,                       \
                                  const ScalingMachine&, int, int);                                \
  template std::vector<RankScaling> strong_scaling(const PatternView<I>&, const ScalingWork&,      \
                                                   const ScalingMachine&, const std::vector<int>&, \
                                                   int);                                           \
  template WeakScaling weak_scaling(const PatternView<I>&, const ScalingWork&,                     \
                                    const ScalingMachine&, const std::vector<int>&, int, int)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
