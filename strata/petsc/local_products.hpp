// LocalProducts: the plans of a matrix in PETSc's AIJ arrays. They are made when they are first
// needed and follow the matrix: whether its values have changed is asked of PETSc before each
// product, and whether its pattern has is found out by the plans themselves.
#pragma once

#include <petscmat.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "strata/base/array.hpp"
#include "strata/formats/csr.hpp"
#include "strata/petsc/settings.hpp"
#include "strata/plans/power_plan.hpp"
#include "strata/plans/product_plan.hpp"

namespace strata::petsc {

using Matrix = Csr<PetscScalar, PetscInt>;

// A MATSEQAIJ's arrays, as they are now.
struct AijArrays {
  PetscInt rows = 0;
  PetscInt cols = 0;
  const PetscInt* row_offsets = nullptr;
  const PetscInt* columns = nullptr;
  const PetscScalar* values = nullptr;

  PetscInt nnz() const { return row_offsets == nullptr ? 0 : row_offsets[rows]; }
};
PetscErrorCode get_arrays(Mat matrix, AijArrays* arrays);

// The matrix over these arrays, or over copies if rows are not sorted.
Matrix matrix_over(const AijArrays& arrays);

class LocalProducts {
 public:
  Settings settings = {};
  bool has_settings = false;

  // What is known of the matrix is not to be believed any longer.
  void invalidate() { invalid_ = true; }
  // `state` is PETSc's count of changes; a new one invalidates.
  void follow(PetscObjectState state, const AijArrays& arrays);

  // Whether Strata makes the next product. Those of matrices whose rows are mostly empty, such as
  // those that couple the ranks of a grid, are left to PETSc, which passes over empty rows; and
  // the first few with the same values, where the settings say so.
  bool takes_product();

  // Before the next product with these values, and with the transpose or not: plans, or has the
  // plan follow the matrix. Nothing to do otherwise.
  bool needs_plan(bool transposed) const { return products_[transposed].revision != revision_; }
  void plan(const AijArrays& arrays, bool transposed);
  // y = Ax + βy or Aᵀx + βy.
  void multiply(bool transposed, std::span<const PetscScalar> x, PetscScalar beta,
                std::span<PetscScalar> y);
  // Rows with entries.
  PetscInt filled_rows() const { return filled_rows_; }

  // The same for powers: Ax, …, A^p x, one after another, which stay until the next call.
  bool needs_power_plan(int power) const;
  void plan_powers(const AijArrays& arrays, int power);
  std::span<const PetscScalar> powers(int power, std::span<const PetscScalar> x);

  // How y = Ax is computed, and what else there is a plan for.
  std::string explain(const AijArrays& arrays);

 private:
  template <class Plan>
  struct Planned {
    Plan plan = {};
    typename Plan::Workspace workspace = {};
    std::uint64_t revision = 0;  // of the values in the plan; 0: there is no plan
  };
  template <class Plan, class Make>
  void keep_up(Planned<Plan>& planned, const AijArrays& arrays, const Make& make);

  bool invalid_ = true;
  PetscObjectState state_ = 0;
  std::uint64_t revision_ = 0;
  PetscInt filled_rows_ = 0;
  bool suits_ = false;
  PetscInt left_to_petsc_ = 0;                               // products with these values
  Planned<ProductPlan<PetscScalar, PetscInt>> products_[2];  // Ax, Aᵀx
  Planned<PowerPlan<PetscScalar, PetscInt>> powers_;
  Array<PetscScalar> power_vectors_;
};

}  // namespace strata::petsc
