// What the options -mat_strata_… ask of the plans of a matrix.
#pragma once

#include <petscmat.h>

#include <optional>

#include "strata/plans/plan_options.hpp"

namespace strata::petsc {

struct Settings {
  Format format = Format::automatic;        // -mat_strata_format NAME
  std::optional<ProductSpec> product = {};  // -mat_strata_format NAME:PARAMETER=NUMBER,…
  std::optional<StoredValues> values = {};  // -mat_strata_values
  int threads = 0;                          // -mat_strata_threads; 0: chosen
  PetscBool autotune = PETSC_FALSE;         // -mat_strata_autotune
  PetscInt delay = 0;  // -mat_strata_delay: products with the same values that PETSc makes first

  ProductOptions for_products(bool transposed) const;
  // Sweeps of powers run in fewer formats: another one is left to the plan.
  PowerOptions for_powers(int power) const;
  ProductOptions for_solvers() const;  // which run on powers
};

// The options with the prefix of `matrix`. Collective on its communicator.
PetscErrorCode read_settings(Mat matrix, Settings* settings);

}  // namespace strata::petsc
