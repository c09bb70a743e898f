// What the commands share that measure on several ranks: the profile of the machine, a clock that
// stops when the last rank is done, results by rank, and checks that need no whole matrix.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cli/distributed/matrix.hpp"
#include "cli/distributed/world.hpp"
#include "cli/parts/document.hpp"
#include "cli/parts/measuring.hpp"
#include "strata/base/array.hpp"
#include "strata/bench/timing.hpp"
#include "strata/distributed/product.hpp"
#include "strata/measure/contest.hpp"
#include "strata/measure/vectors.hpp"

namespace strata::cli::distributed {

using strata::distributed::Partition;
using strata::distributed::RankShare;

// Runs the action on rank 0, while the others leave the processors to it; throws on all ranks.
void on_first_rank(const std::function<void()>& action);

// Uses as many threads as the options say, or as leave every rank its share of the node.
void use_threads(const CommonOptions& options);

// The profile of the machine of rank 0, on all ranks; measured by rank 0 if none is cached.
const CachedProfile& find_machine_of_ranks(ResultDocument& document, Progress& progress);

// A contest on all ranks: a run begins on all of them at once, and takes as long as on the slowest.
ContestOptions rank_contest_options(const MeasuringOptions& options, Progress& progress);
// Seconds of a run by rank, each by its own clock: medians of so many.
std::vector<double> seconds_by_rank(const std::function<void()>& run, int times);

// The keys of results about ranks: "ranks", "messages", "message_bytes", "imbalance", "per_rank", …
Json json_of(const std::vector<RankShare>& shares, const std::vector<double>& seconds);
double imbalance_of(const std::vector<double>& seconds);
Offset sum_of(const std::vector<RankShare>& shares, Offset RankShare::* of);

// "4 ranks of 1 thread on one node", for the lines above a table.
std::string ranks_text(int threads);

// The elements of a random vector that a rank has: those of random_vector for all of it.
template <Value V>
Array<V> random_part(const Partition& partition, std::uint64_t seed) {
  return random_vector<V>(partition.size(world().rank()), seed, partition.begin(world().rank()));
}

// The rows of a rank, so that steps can be checked with the few elements of vectors that they need.
// The matrix has to live as long; nothing of it is copied but, while they are checked, columns of
// some rows.
template <Value V, Index I>
class LocalRows {
 public:
  explicit LocalRows(const DistributedMatrix<V, I>& matrix);

  // Collective: a step of which ranks have their elements of x, of what was before it and of the
  // result. θ has to be 0. The same on all ranks.
  Check check(const cpu::StepCoefficients<V>& coefficients, std::span<const V> x,
              std::span<const V> previous, std::span<const V> out) const;

  // Collective: y = αAx + βy for the rank's rows, by the reference.
  void multiply(V alpha, std::span<const V> x, V beta, std::span<V> y) const;

 private:
  bool is_own(I column) const { return matrix_.cols.contains(world().rank(), column); }
  std::vector<V> gathered(std::span<const V> x) const;
  // use(the first of some rows, these rows with columns numbered as elements are gathered).
  template <class Use>
  void for_each_piece(const Use& use) const;

  const DistributedMatrix<V, I>& matrix_;
  std::vector<Offset> ghosts_;  // columns of other ranks, increasing
  Offset below_ = 0;            // those of ranks before this one
};

// The worst of all, and the sums of their counts.
Check merged(const std::vector<Check>& checks);

}  // namespace strata::cli::distributed
