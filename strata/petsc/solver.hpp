// The solvers strata-cacg and strata-cagmres of PETSc, for KSPRegister: s iterations at a time,
// from powers of the matrix (solvers/ca_cg.hpp, solvers/ca_gmres.hpp), on one process and on
// several. Matrices are AIJ, and there is no preconditioner.
#pragma once

#include <petscksp.h>

namespace strata::petsc {

PetscErrorCode create_cacg(KSP ksp);
PetscErrorCode create_cagmres(KSP ksp);

}  // namespace strata::petsc
