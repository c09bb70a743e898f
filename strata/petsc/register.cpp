// What programs call, or PETSc when it loads the plug-in.

#include "strata/petsc.h"

#include <cstdlib>

#include "strata/machine/profile_policy.hpp"
#include "strata/petsc/errors.hpp"
#include "strata/petsc/matrix_types.hpp"
#include "strata/petsc/operations.hpp"
#include "strata/petsc/solver.hpp"

namespace {

using strata::petsc::guarded;
using strata::petsc::kSuccess;

// Nobody expects a program to measure the machine in its first product, and ranks would measure
// each other: stored profiles are used, unless the user says otherwise.
void choose_profile_policy() {
  if (std::getenv("STRATA_PROFILE") == nullptr) {
    strata::set_profile_policy({.measure = false, .write = false});
  }
}

}  // namespace

PetscErrorCode StrataPetscRegister() {
  PetscFunctionBegin;
  PetscCall(guarded(choose_profile_policy));
  PetscCall(MatRegister(MATSEQAIJSTRATA, strata::petsc::create_sequential));
  PetscCall(MatRegister(MATMPIAIJSTRATA, strata::petsc::create_parallel));
  PetscCall(MatRegisterRootName(MATSTRATA, MATSEQAIJSTRATA, MATMPIAIJSTRATA));
  PetscCall(strata::petsc::register_plan_event());
  PetscCall(MatSeqAIJRegister(MATSEQAIJSTRATA, strata::petsc::sequential_from_aij));
#if defined(STRATA_HAS_SOLVERS)
  PetscCall(KSPRegister(KSPSTRATACACG, strata::petsc::create_cacg));
  PetscCall(KSPRegister(KSPSTRATACAGMRES, strata::petsc::create_cagmres));
#endif
  PetscFunctionReturn(kSuccess);
}

PetscErrorCode MatStrataPowers(Mat A, PetscInt p, Vec x, Vec y[]) {
  PetscFunctionBegin;
  strata::petsc::Powers powers = nullptr;
  MatType type = nullptr;
  PetscCall(
      PetscObjectQueryFunction(reinterpret_cast<PetscObject>(A), "MatStrataPowers_C", &powers));
  PetscCall(MatGetType(A, &type));
  PetscCheck(powers != nullptr, PetscObjectComm(reinterpret_cast<PetscObject>(A)), PETSC_ERR_SUP,
             "Powers of a matrix of type %s, which is not strata", type);
  PetscCall(powers(A, p, x, y));
  PetscFunctionReturn(kSuccess);
}

// PETSc calls this by the name of the library.
STRATA_PETSC_FUNCTION PetscErrorCode PetscDLLibraryRegister_strata_petsc(void);
PetscErrorCode PetscDLLibraryRegister_strata_petsc() {
  return StrataPetscRegister();
}
