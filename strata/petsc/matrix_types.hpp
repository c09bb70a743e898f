// The types seqaijstrata and mpiaijstrata, made of PETSc's seqaij and mpiaij.
#pragma once

#include <petscmat.h>

#include "strata/petsc/local_products.hpp"

namespace strata::petsc {

// Constructors, for MatRegister.
PetscErrorCode create_sequential(Mat matrix);
PetscErrorCode create_parallel(Mat matrix);

// A MATSEQAIJ becomes a seqaijstrata and the other way round, in place; nothing happens if it is
// one already.
PetscErrorCode make_sequential(Mat matrix);
PetscErrorCode make_plain(Mat matrix);

// seqaij to seqaijstrata, for MatSeqAIJRegister.
PetscErrorCode sequential_from_aij(Mat matrix, MatType, MatReuse reuse, Mat* converted);

// Plans of a matrix of type seqaijstrata, and its arrays, as they are now.
PetscErrorCode get_products(Mat matrix, LocalProducts** products, AijArrays* arrays);

}  // namespace strata::petsc
