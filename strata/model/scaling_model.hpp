// How products and powers scale over ranks, on paper: the real pattern cut for every number of
// ranks (rank_traffic.hpp), a node that computes as the machine that was measured, and a network of
// latency α and time per byte β (network.hpp). docs/model.md has the formulas.
//
//   const ScalingMachine machine{.network = network, .ranks_per_node = 64, .compute_seconds = …};
//   for (const RankScaling& at : strong_scaling(A.pattern(), work, machine, {1, 64, 4096}, 6)) {
//     at.rows.seconds();   // of a product by rows, of the rank that takes longest
//   }
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/pattern.hpp"
#include "strata/model/network.hpp"
#include "strata/model/rank_traffic.hpp"

namespace strata {

// What a rank reads and writes for a product of its part of the matrix.
struct ScalingWork {
  double bytes_per_entry = 12;  // of the format
  double bytes_per_row = 24;    // of x and y
  double value_bytes = 8;       // of an element in a message

  double bytes(Offset entries, Offset rows) const {
    return bytes_per_entry * static_cast<double>(entries) +
           bytes_per_row * static_cast<double>(rows);
  }
};

struct ScalingMachine {
  Network network = {};    // both kinds of messages are known
  int ranks_per_node = 1;  // in the order of ranks
  // Seconds in which each of so many ranks of a node moves so many bytes.
  std::function<double(double bytes, int ranks_on_node)> compute_seconds = {};
};

// What one way to distribute costs the ranks: every count is the largest over them, the seconds are
// those of the rank that takes longest.
struct DistributionCost {
  double compute_seconds = 0;
  double message_seconds = 0;  // that computing does not hide
  Offset messages = 0;         // the more of those sent and received
  double bytes = 0;
  double imbalance = 1;  // the most entries of a rank over the mean

  double seconds() const { return compute_seconds + message_seconds; }
  double message_share() const { return seconds() > 0 ? message_seconds / seconds() : 0; }
};

struct RankScaling {
  int ranks = 1;
  int grid_rows = 1;
  int grid_cols = 1;
  DistributionCost rows = {};  // of a product
  DistributionCost grid = {};  // of a product
  DistributionCost deep = {};  // of `depth` powers; nothing for matrices that are not square
  Offset ghost_rows = 0;
  Offset redundant_rows = 0;
  double redundant_share = 0;  // of entries that the rank that takes longest multiplies
  int deep_ranks = 0;          // that were counted for it, of all
  double reduction_seconds = 0;

  double grid_partners_at_most() const { return grid_rows + grid_cols - 2; }
};

// The same matrix on more and more ranks. `depth` powers with one exchange. Throws InvalidArgument
// for fewer than one rank and a depth below one.
template <Index I>
RankScaling scale_over(const PatternView<I>& pattern, const ScalingWork& work,
                       const ScalingMachine& machine, int ranks, int depth);
template <Index I>
std::vector<RankScaling> strong_scaling(const PatternView<I>& pattern, const ScalingWork& work,
                                        const ScalingMachine& machine,
                                        const std::vector<int>& ranks, int depth);

// As many rows per rank for any number of them. What a rank exchanges is extrapolated from one real
// partition, that into `counted_ranks`: the largest halo there, and
//
//   along             the matrix grows along its order: halos stay as they are
//   in_all_directions bandwidth and halos grow by (P / P₀)^γ, γ = ln h / ln n for the largest halo
//   h
//                     of n rows: ½ for a square, ⅔ for a cube; partners are as many as hold them
//
// All messages of more than one node count as messages between nodes.
enum class Growth { along, in_all_directions };

struct WeakScaling {
  int base_ranks = 1;       // P₀, that share the matrix itself
  int counted_ranks = 1;    // of the partition that halos are from
  double exponent = 0;      // γ
  double base_seconds = 0;  // of a product of the matrix on P₀ ranks without messages
  std::vector<RankScaling> along;
  std::vector<RankScaling> in_all_directions;
};
template <Index I>
WeakScaling weak_scaling(const PatternView<I>& pattern, const ScalingWork& work,
                         const ScalingMachine& machine, const std::vector<int>& ranks,
                         int base_ranks, int depth);

// Which of several numbers of ranks is the last that pays.
struct PayingRanks {
  int fastest = 0;    // the fewest with the least time
  int efficient = 0;  // the most with an efficiency of at least one half; 0: none
};
// `seconds` by number of ranks, of the same work, which takes `alone` on one rank.
PayingRanks paying_ranks(const std::vector<int>& ranks, const std::vector<double>& seconds,
                         double alone);

}  // namespace strata
