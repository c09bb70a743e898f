// Matrices of several ranks as Strata's distributed layer takes them, for powers with one exchange
// and for solvers.
#pragma once

#include <petscmat.h>

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "strata/base/array.hpp"
#include "strata/distributed/communicator.hpp"
#include "strata/distributed/matrix.hpp"
#include "strata/distributed/network.hpp"
#include "strata/distributed/powers.hpp"
#include "strata/petsc/local_products.hpp"
#include "strata/petsc/settings.hpp"

namespace strata::petsc {

// PETSc's counts of changes to a matrix and to its blocks.
struct ParallelStates {
  PetscObjectState whole = 0;
  PetscObjectState own = 0;
  PetscObjectState others = 0;

  bool operator==(const ParallelStates&) const = default;
};

// A MATMPIAIJ's arrays on this rank, as they are now.
struct ParallelArrays {
  AijArrays own;     // columns of this rank, counted from its first
  AijArrays others;  // columns of other ranks, of which column_numbers has the numbers
  const PetscInt* column_numbers = nullptr;
  const PetscInt* row_ranges = nullptr;  // where rows and columns of ranks begin
  const PetscInt* column_ranges = nullptr;
  PetscInt rows = 0;  // of all ranks
  PetscInt cols = 0;
  ParallelStates states = {};
};
PetscErrorCode get_parallel_arrays(Mat matrix, ParallelArrays* arrays);

// Whether something is so on any rank. Collective.
PetscErrorCode on_any_rank(Mat matrix, bool here, bool* anywhere);

// A copy. Collective, for errors.
distributed::DistributedMatrix<PetscScalar, PetscInt> distributed_matrix(
    const distributed::Communicator& ranks, const ParallelArrays& arrays);

// Ax, …, A^p x of a matrix of several ranks. All functions but needs_plan are collective.
class ParallelPowers {
 public:
  explicit ParallelPowers(MPI_Comm ranks) : ranks_(ranks) {}

  bool needs_plan(const ParallelStates& states, int power) const {
    return !powers_ || states_ != states || powers_->power() < power;
  }
  void plan(const ParallelArrays& arrays, const Settings& settings, int power);
  // This rank's elements, which stay until the next call.
  std::span<const PetscScalar> apply(int power, std::span<const PetscScalar> x);
  // Empty without a plan.
  std::string explain() const { return powers_ ? powers_->explain() : std::string(); }

 private:
  using Powers = distributed::DistributedPowers<PetscScalar>;

  distributed::Communicator ranks_;
  std::optional<distributed::Network> network_;  // measured once
  ParallelStates states_ = {};
  std::unique_ptr<Powers> powers_;
  Powers::Workspace workspace_;
  Array<PetscScalar> vectors_;
};

}  // namespace strata::petsc
