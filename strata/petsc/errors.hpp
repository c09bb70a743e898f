// Where PETSc calls C++: what is thrown becomes an error code with the message, since nothing may
// be thrown through functions of C.
#pragma once

#include <petscsys.h>

#include <exception>
#include <new>

#include "strata/base/error.hpp"

namespace strata::petsc {

// PETSC_SUCCESS, which PETSc 3.18 does not have yet.
inline constexpr PetscErrorCode kSuccess = static_cast<PetscErrorCode>(0);

// Runs work(), which may throw.
template <class Work>
PetscErrorCode guarded(const Work& work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "Strata: out of memory");
  } catch (const InvalidArgument& error) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "Strata: %s", error.what());
  } catch (const std::exception& error) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "Strata: %s", error.what());
  } catch (...) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "Strata: an error without a name");
  }
  return kSuccess;
}

}  // namespace strata::petsc
