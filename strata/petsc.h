/* Strata for PETSc: the matrix type "strata", an AIJ matrix whose products run by Strata's plans,
 * and powers of such matrices. Programs that are not changed load the plug-in:
 *
 *   ./program -dll_append libstrata_petsc.so -mat_type strata
 *
 * Others link with strata::petsc, call StrataPetscRegister once after PetscInitialize, and may ask
 * for powers:
 *
 *   MatStrataPowers(A, 4, x, y);   // y[0] = Ax, …, y[3] = A⁴x
 *
 * Functions return PETSc's error codes; none of them throws. */
#ifndef STRATA_PETSC_H
#define STRATA_PETSC_H

#include <petscmat.h>

/* Of one process or of several, as PETSc's "aij". The other two are what it becomes; PETSc knows
 * what derives from AIJ by the beginnings of their names. */
#define MATSTRATA "strata"
#define MATSEQAIJSTRATA "seqaijstrata"
#define MATMPIAIJSTRATA "mpiaijstrata"

/* Solvers that make s iterations at a time from powers of the matrix, without a preconditioner
 * (-pc_type none): CA-CG for symmetric positive definite matrices, CA-GMRES for any. */
#define KSPSTRATACACG "strata-cacg"
#define KSPSTRATACAGMRES "strata-cagmres"

#if defined(__cplusplus)
#define STRATA_PETSC_FUNCTION extern "C" __attribute__((visibility("default")))
#else
#define STRATA_PETSC_FUNCTION extern __attribute__((visibility("default")))
#endif

/* Makes the types known to PETSc. May be called again. */
STRATA_PETSC_FUNCTION PetscErrorCode StrataPetscRegister(void);

/* y[k] = A^(k+1) x for k = 0 … p − 1. A is square and of type strata; x and the elements of y are
 * different vectors. Calls what A has composed as "MatStrataPowers_C", a function of this type, so
 * that programs can also ask for it without linking:
 *
 *   PetscErrorCode (*powers)(Mat, PetscInt, Vec, Vec[]);
 *   PetscObjectQueryFunction((PetscObject)A, "MatStrataPowers_C", &powers); */
STRATA_PETSC_FUNCTION PetscErrorCode MatStrataPowers(Mat A, PetscInt p, Vec x, Vec y[]);

#endif
