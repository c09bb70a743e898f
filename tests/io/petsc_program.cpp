// PETSc's side of the tests of its files: `write FILE` stores a matrix that the test knows, then a
// vector; `sum FILE` loads a matrix and says its sizes and A·(1, 2, 3, …).
#include <petscmat.h>
#include <petscviewer.h>

#include <cstdio>
#include <cstring>

namespace {

// Row i has the value 10·i + j + ½ in the columns i − 2, i, i + 3 that there are.
PetscErrorCode write_matrix(const char* name) {
  constexpr PetscInt kRows = 6;
  constexpr PetscInt kCols = 8;
  Mat matrix = nullptr;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, kRows, kCols, 3, nullptr, &matrix));
  for (PetscInt row = 0; row < kRows; ++row) {
    for (const PetscInt column : {row - 2, row, row + 3}) {
      if (column < 0 || column >= kCols || row == 4) continue;
      PetscCall(MatSetValue(matrix, row, column,
                            10.0 * static_cast<double>(row) + static_cast<double>(column) + 0.5,
                            INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  Vec vector = nullptr;
  PetscCall(MatCreateVecs(matrix, nullptr, &vector));
  PetscCall(VecSet(vector, 1));
  PetscViewer viewer = nullptr;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, name, FILE_MODE_WRITE, &viewer));
  PetscCall(MatView(matrix, viewer));
  PetscCall(VecView(vector, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(VecDestroy(&vector));
  PetscCall(MatDestroy(&matrix));
  return 0;
}

PetscErrorCode say_product(const char* name) {
  PetscViewer viewer = nullptr;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, name, FILE_MODE_READ, &viewer));
  Mat matrix = nullptr;
  PetscCall(MatCreate(PETSC_COMM_SELF, &matrix));
  PetscCall(MatSetType(matrix, MATSEQAIJ));
  PetscCall(MatLoad(matrix, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscInt rows = 0;
  PetscInt cols = 0;
  PetscCall(MatGetSize(matrix, &rows, &cols));
  Vec x = nullptr;
  Vec y = nullptr;
  PetscCall(MatCreateVecs(matrix, &x, &y));
  for (PetscInt i = 0; i < cols; ++i) {
    PetscCall(VecSetValue(x, i, static_cast<double>(i + 1), INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscCall(MatMult(matrix, x, y));
  std::printf("%lld %lld", static_cast<long long>(rows), static_cast<long long>(cols));
  for (PetscInt i = 0; i < rows; ++i) {
    PetscScalar value = 0;
    PetscCall(VecGetValues(y, 1, &i, &value));
    std::printf(" %.17g", static_cast<double>(PetscRealPart(value)));
  }
  std::printf("\n");
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&matrix));
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3 || PetscInitialize(nullptr, nullptr, nullptr, nullptr) != 0) return 2;
  const bool write = std::strcmp(words[1], "write") == 0;
  const PetscErrorCode error = write ? write_matrix(words[2]) : say_product(words[2]);
  PetscFinalize();
  return error != 0;
}
