// Powers of a matrix of PETSc's by Strata: y[k] = A^(k+1) x for a Laplacian on a line, and the same
// by products to compare with.
//
//   ./petsc_powers -n 100000 -mat_view ::ascii_info

#include <petscmat.h>
#include <strata/petsc.h>

int main(int argc, char** argv) {
  PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
  PetscCall(StrataPetscRegister());
  PetscInt n = 1000;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-n", &n, nullptr));

  Mat A = nullptr;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(A, MATSTRATA));
  PetscCall(MatSeqAIJSetPreallocation(A, 3, nullptr));
  PetscCall(MatMPIAIJSetPreallocation(A, 3, nullptr, 2, nullptr));
  PetscInt first = 0;
  PetscInt last = 0;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    if (row > 0) PetscCall(MatSetValue(A, row, row - 1, -0.25, INSERT_VALUES));
    PetscCall(MatSetValue(A, row, row, 0.5, INSERT_VALUES));
    if (row + 1 < n) PetscCall(MatSetValue(A, row, row + 1, -0.25, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));

  constexpr PetscInt p = 4;
  Vec x = nullptr;
  Vec product = nullptr;
  Vec* y = nullptr;
  PetscCall(MatCreateVecs(A, &x, &product));
  PetscCall(VecDuplicateVecs(x, p, &y));
  PetscCall(VecSetRandom(x, nullptr));
  PetscCall(MatStrataPowers(A, p, x, y));

  PetscReal worst = 0;
  for (PetscInt k = 0; k < p; ++k) {
    PetscReal distance = 0;
    PetscCall(MatMult(A, k == 0 ? x : y[k - 1], product));
    PetscCall(VecAXPY(product, -1.0, y[k]));
    PetscCall(VecNorm(product, NORM_INFINITY, &distance));
    worst = PetscMax(worst, distance);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d powers %s with products\n", static_cast<int>(p),
                        worst < 1e-14 ? "agree" : "disagree"));

  PetscCall(VecDestroyVecs(p, &y));
  PetscCall(VecDestroy(&product));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return worst < 1e-14 ? 0 : 1;
}
