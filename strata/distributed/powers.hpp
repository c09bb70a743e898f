// DistributedPowers: [y_1, …, y_p] of a matrix whose rows are on several ranks, with one exchange
// of messages for all powers instead of p.
//
//   DistributedPowers<double> powers(world, matrix, {.power = {.power = 6}});
//   powers.apply(x, y, workspace);   // the rank's elements of x and of y_1, …, y_6
//
// Besides its own rows a rank has those within distance q − 1 of them in the graph of the matrix,
// its ghosts, and computes them, too: power k on the rows within distance q − k. All it needs then
// are the elements of x within distance q, which every neighbour sends in one message (Demmel,
// Hoemmen, Mohiyuddin, Yelick: Avoiding communication in sparse matrix computations, IPDPS 2008).
// Inside a rank, rows and ghosts are swept in levels as on one machine. The depth q is p, or less
// where ghosts grow too large: a sweep per q powers, with one exchange each; q = 1 are products.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/distributed/communicator.hpp"
#include "strata/distributed/matrix.hpp"
#include "strata/distributed/network.hpp"
#include "strata/distributed/product.hpp"
#include "strata/plans/plan_options.hpp"

namespace strata::distributed {

struct DistributedPowerOptions {
  PowerOptions power = {};  // of every rank; `threads` and order of vectors as for products
  int depth = 0;            // q; 0: chosen by the model and, with `autotune`, by timing
  // What messages cost, for the choice; none: as measured when the plan is made.
  const Network* network = nullptr;
};

// What one depth costs the rank that it costs most, by the model, and what it took.
struct DepthCost {
  int depth = 0;
  Offset ghost_rows = 0;      // that a rank has besides its own
  Offset redundant_rows = 0;  // that it computes besides its own, over all p powers
  Offset messages = 0;        // of all p powers
  Offset bytes = 0;
  double message_seconds = 0;
  double compute_seconds = 0;   // at best: as if caches held whatever a sweep reads again
  double measured_seconds = 0;  // of the few that were timed
  double seconds() const { return message_seconds + compute_seconds; }
};

template <Value V>
class DistributedPowers {
 public:
  class Workspace;

  // Collective. The communicator has to live as long. Throws as DistributedProduct, and
  // InvalidArgument for matrices that are not square.
  template <Index I>
  DistributedPowers(const Communicator& ranks, const DistributedMatrix<V, I>& matrix,
                    const DistributedPowerOptions& options = {});
  ~DistributedPowers();
  DistributedPowers(DistributedPowers&&) noexcept;
  DistributedPowers& operator=(DistributedPowers&&) noexcept;

  Offset rows() const;  // of this rank
  int power() const;
  int vectors() const;
  int depth() const;
  int threads() const;

  // Collective.
  Workspace make_workspace() const;

  // All collective, and as those of PowerPlan, with the elements of this rank.
  void apply(std::span<const V> x, std::span<V> powers, Workspace& workspace) const;
  void apply_first(int count, std::span<const V> x, std::span<V> powers,
                   Workspace& workspace) const;
  void apply_last(std::span<const V> x, std::span<V> last, Workspace& workspace) const;
  void apply_sum(std::span<const V> x, std::span<const V> coefficients, std::span<V> sum,
                 Workspace& workspace) const;
  void multiply(std::span<const V> x, std::span<V> y, Workspace& workspace) const;
  void set_basis(const Basis& basis);

  // Collective. New values on the pattern that it was made for, those of ghosts included. Throws
  // InvalidArgument for another pattern.
  template <Index I>
  void update_values(const DistributedMatrix<V, I>& matrix);

  // Of all ranks, by rank; messages and bytes are those of all p powers.
  const std::vector<RankShare>& shares() const;
  // Rows of other ranks that this one computes for powers 1 … depth.
  const std::vector<Offset>& redundant_rows() const;
  // The depths that were considered, the one chosen among them.
  const std::vector<DepthCost>& depths() const;
  const std::string& explain() const;

 private:
  struct State;
  struct WorkspaceState;
  WorkspaceState& work_of(Workspace& workspace) const;
  void require_elements(std::size_t elements, int vectors) const;
  template <class Ghosts, class Matrix>
  void take_fastest(const std::vector<int>& depths, const Ghosts& ghosts, const Matrix& matrix);
  template <class Take>
  void run(int count, std::span<const V> x, std::span<V> all, WorkspaceState& work,
           const Take& take) const;

  std::unique_ptr<State> state_;
};

template <Value V>
class DistributedPowers<V>::Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

 private:
  friend class DistributedPowers<V>;
  std::unique_ptr<WorkspaceState> state_;
};

}  // namespace strata::distributed
