// The one thing that types need and that PETSc declares in a header of its own.

#include <petsc/private/petscimpl.h>

#include "strata/petsc/operations.hpp"

namespace strata::petsc {

PetscErrorCode get_state(Mat matrix, PetscObjectState* state) {
  return PetscObjectStateGet(reinterpret_cast<PetscObject>(matrix), state);
}

}  // namespace strata::petsc
