// Under mpirun: matrices of type strata beside equal ones of type aij, before and after everything
// that changes a matrix. Prints what differs; the exit status says whether anything did.
//
//   -register   links the plug-in instead of having it loaded by -dll_append
//   -folder F   where files may be written
//   -blocks     checks AIJ matrices whose blocks -mat_seqaij_type has made strata, and nothing else
//   -show       views a matrix in detail and checks nothing; it is case -case N

#include <petscksp.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "strata/petsc.h"

namespace {

// One rank's error is everyone's end.
void require(PetscErrorCode error, int line) {
  if (error == 0) return;
  std::fprintf(stderr, "check.cpp:%d: PETSc's error %d\n", line, static_cast<int>(error));
  MPI_Abort(MPI_COMM_WORLD, 3);
}
#define DO(call) require(call, __LINE__)

int failures = 0;

PetscMPIInt my_rank() {
  PetscMPIInt rank = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  return rank;
}
PetscMPIInt rank_count() {
  PetscMPIInt ranks = 0;
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  return ranks;
}

void expect(bool holds, const std::string& what) {
  if (holds) return;
  ++failures;
  DO(PetscPrintf(PETSC_COMM_WORLD, "FAILED: %s\n", what.c_str()));
}

// A number that depends on its arguments alone and lies in [-1, 1).
double number(PetscInt row, PetscInt col, int seed) {
  const auto mixed = static_cast<unsigned>(row) * 2654435761U +
                     static_cast<unsigned>(col) * 40503U + static_cast<unsigned>(seed) * 97U +
                     12345U;
  const unsigned hashed = (mixed ^ (mixed >> 15)) * 2246822519U;
  return static_cast<double>((hashed >> 8) % 2000) / 1000.0 - 1.0;
}

using Columns = std::vector<PetscInt>;

struct Case {
  std::string name;
  PetscInt rows = 0;
  PetscInt cols = 0;
  std::function<Columns(PetscInt row)> columns;
  int all_rows_on = -1;  // this rank, if not shared

  bool square() const { return rows == cols; }
};

std::vector<Case> cases() {
  const auto grid = [](PetscInt nx, PetscInt ny) {
    return [nx, ny](PetscInt row) {
      Columns columns;
      const PetscInt x = row % nx;
      const PetscInt y = row / nx;
      if (y > 0) columns.push_back(row - nx);
      if (x > 0) columns.push_back(row - 1);
      columns.push_back(row);
      if (x + 1 < nx) columns.push_back(row + 1);
      if (y + 1 < ny) columns.push_back(row + nx);
      return columns;
    };
  };
  const auto scattered = [](PetscInt cols, PetscInt most, PetscInt every) {
    return [cols, most, every](PetscInt row) {
      Columns columns;
      if (row % every != 0) return columns;
      for (PetscInt k = 0; k < most; ++k) columns.push_back((row * 7 + k * k * 5 + k) % cols);
      std::sort(columns.begin(), columns.end());
      columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
      return columns;
    };
  };
  return {
      {"grid", 13 * 11, 13 * 11, grid(13, 11)},
      {"larger grid", 75 * 70, 75 * 70, grid(75, 70)},
      {"wide", 23, 40, scattered(40, 6, 1)},
      {"tall", 40, 23, scattered(23, 6, 1)},
      {"every other row empty", 50, 50, scattered(50, 5, 2)},
      {"mostly empty", 70, 70, scattered(70, 5, 7)},
      {"no entries", 20, 20, [](PetscInt) { return Columns{}; }},
      {"one row", 1, 30, scattered(30, 8, 1)},
      {"one column", 30, 1, [](PetscInt) { return Columns{0}; }},
      {"one entry", 1, 1, [](PetscInt) { return Columns{0}; }},
      {"all rows on the last rank", 60, 60, scattered(60, 6, 1), rank_count() - 1},
      {"all rows on the first rank", 60, 33, scattered(33, 6, 1), 0},
  };
}

void assemble(Mat matrix) {
  DO(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  DO(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
}

void allow_new_entries(Mat matrix) {
  DO(MatSetOption(matrix, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
}

// Each entry is set by some rank that need not have the row.
void fill(Mat matrix, const Case& of, int seed, InsertMode mode = INSERT_VALUES) {
  for (PetscInt row = 0; row < of.rows; ++row) {
    if ((row + seed) % rank_count() != my_rank()) continue;
    for (const PetscInt col : of.columns(row)) {
      const double distance = row == col ? 4.0 : 0.0;
      DO(MatSetValue(matrix, row, col, number(row, col, seed) + distance, mode));
    }
  }
  assemble(matrix);
}

Mat create(const Case& of, MatType type) {
  Mat matrix = nullptr;
  PetscInt local_rows = PETSC_DECIDE;
  PetscInt local_cols = PETSC_DECIDE;
  if (of.all_rows_on >= 0) {
    local_rows = my_rank() == of.all_rows_on ? of.rows : 0;
    local_cols = of.square() ? local_rows : PETSC_DECIDE;
  }
  DO(MatCreate(PETSC_COMM_WORLD, &matrix));
  DO(MatSetSizes(matrix, local_rows, local_cols, of.rows, of.cols));
  DO(MatSetType(matrix, type));
  DO(MatSeqAIJSetPreallocation(matrix, 9, nullptr));
  DO(MatMPIAIJSetPreallocation(matrix, 9, nullptr, 9, nullptr));
  allow_new_entries(matrix);
  return matrix;
}

Mat build(const Case& of, MatType type, int seed = 1) {
  Mat matrix = create(of, type);
  fill(matrix, of, seed);
  return matrix;
}

Vec filled(Vec vector, int seed) {
  PetscInt begin = 0;
  PetscInt end = 0;
  DO(VecGetOwnershipRange(vector, &begin, &end));
  for (PetscInt row = begin; row < end; ++row) {
    DO(VecSetValue(vector, row, number(row, 0, seed), INSERT_VALUES));
  }
  DO(VecAssemblyBegin(vector));
  DO(VecAssemblyEnd(vector));
  return vector;
}
// One that can be multiplied by the matrix, and one like the result.
Vec right_vector(Mat matrix, int seed) {
  Vec vector = nullptr;
  DO(MatCreateVecs(matrix, &vector, nullptr));
  return filled(vector, seed);
}
Vec left_vector(Mat matrix, int seed) {
  Vec vector = nullptr;
  DO(MatCreateVecs(matrix, nullptr, &vector));
  return filled(vector, seed);
}

double norm_of(Vec vector) {
  PetscReal norm = 0;
  DO(VecNorm(vector, NORM_INFINITY, &norm));
  return norm;
}
double norm_of(Mat matrix) {
  PetscReal norm = 0;
  DO(MatNorm(matrix, NORM_INFINITY, &norm));
  return norm;
}

void expect_near(Vec found, Vec right, double scale, const std::string& what) {
  DO(VecAXPY(found, -1.0, right));
  const double distance = norm_of(found);
  expect(distance <= 1e-13 * (scale + 1e-300),
         what + " is off by " + std::to_string(distance) + " of " + std::to_string(scale));
}

bool is_of_type(Mat matrix, const char* type) {
  PetscBool same = PETSC_FALSE;
  DO(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(matrix), type, &same));
  return same == PETSC_TRUE;
}
bool is_strata(Mat matrix) {
  if (rank_count() == 1) return is_of_type(matrix, MATSEQAIJSTRATA);
  Mat own = nullptr;
  Mat others = nullptr;
  DO(MatMPIAIJGetSeqAIJ(matrix, &own, &others, nullptr));
  return is_of_type(matrix, MATMPIAIJSTRATA) && is_of_type(own, MATSEQAIJSTRATA) &&
         is_of_type(others, MATSEQAIJSTRATA);
}
bool is_plain(Mat matrix) {
  if (rank_count() == 1) return is_of_type(matrix, MATSEQAIJ);
  Mat own = nullptr;
  Mat others = nullptr;
  DO(MatMPIAIJGetSeqAIJ(matrix, &own, &others, nullptr));
  return is_of_type(matrix, MATMPIAIJ) && is_of_type(own, MATSEQAIJ) &&
         is_of_type(others, MATSEQAIJ);
}

void compare_powers(Mat aij, Mat strata, const std::string& what) {
  constexpr PetscInt kPower = 4;
  PetscErrorCode (*powers)(Mat, PetscInt, Vec, Vec[]) = nullptr;
  DO(PetscObjectQueryFunction(reinterpret_cast<PetscObject>(strata), "MatStrataPowers_C", &powers));
  expect(powers != nullptr, what + ": there is no function for powers");
  Vec x = right_vector(aij, 5);
  Vec* found = nullptr;
  DO(VecDuplicateVecs(x, kPower, &found));
  for (const PetscInt p : {PetscInt{2}, kPower, PetscInt{1}}) {
    DO(p == kPower ? MatStrataPowers(strata, p, x, found) : powers(strata, p, x, found));
    Vec right = nullptr;
    Vec next = nullptr;
    DO(VecDuplicate(x, &right));
    DO(VecDuplicate(x, &next));
    DO(VecCopy(x, right));
    double scale = norm_of(x);
    for (PetscInt k = 0; k < p; ++k) {
      DO(MatMult(aij, right, next));
      std::swap(right, next);
      scale *= std::max(norm_of(aij), 1.0);
      expect_near(found[k], right, scale, what + ": power " + std::to_string(k + 1));
    }
    DO(VecDestroy(&right));
    DO(VecDestroy(&next));
  }
  DO(VecDestroyVecs(kPower, &found));
  DO(VecDestroy(&x));
}

// All products of the two.
void compare(Mat aij, Mat strata, const std::string& what) {
  expect(is_strata(strata), what + ": the type is another");
  PetscBool equal = PETSC_FALSE;
  DO(MatEqual(aij, strata, &equal));
  expect(equal == PETSC_TRUE, what + ": entries differ");
  Vec right[2] = {right_vector(aij, 2), right_vector(aij, 3)};
  Vec left[2] = {left_vector(aij, 3), left_vector(aij, 4)};
  Vec wanted = nullptr;
  Vec found = nullptr;
  const double scale = std::max(norm_of(aij) * static_cast<double>(rank_count()), 1.0) * 8;

  DO(VecDuplicate(left[0], &wanted));
  DO(VecDuplicate(left[0], &found));
  DO(VecSet(found, 77.0));
  DO(MatMult(aij, right[0], wanted));
  DO(MatMult(strata, right[0], found));
  expect_near(found, wanted, scale, what + ": MatMult");
  DO(MatMultAdd(aij, right[1], left[0], wanted));
  DO(MatMultAdd(strata, right[1], left[0], found));
  expect_near(found, wanted, scale, what + ": MatMultAdd");
  DO(VecCopy(left[1], wanted));
  DO(VecCopy(left[1], found));
  DO(MatMultAdd(aij, right[1], wanted, wanted));
  DO(MatMultAdd(strata, right[1], found, found));
  expect_near(found, wanted, scale, what + ": MatMultAdd in place");
  DO(VecDestroy(&wanted));
  DO(VecDestroy(&found));

  DO(VecDuplicate(right[0], &wanted));
  DO(VecDuplicate(right[0], &found));
  DO(MatMultTranspose(aij, left[0], wanted));
  DO(MatMultTranspose(strata, left[0], found));
  expect_near(found, wanted, scale * 60, what + ": MatMultTranspose");
  DO(MatMultTransposeAdd(aij, left[1], right[0], wanted));
  DO(MatMultTransposeAdd(strata, left[1], right[0], found));
  expect_near(found, wanted, scale * 60, what + ": MatMultTransposeAdd");
  DO(VecDestroy(&wanted));
  DO(VecDestroy(&found));
  for (Vec& vector : right) DO(VecDestroy(&vector));
  for (Vec& vector : left) DO(VecDestroy(&vector));
  PetscInt rows = 0;
  PetscInt cols = 0;
  DO(MatGetLocalSize(aij, &rows, &cols));
  bool square = rows == cols;
  DO(MPI_Allreduce(MPI_IN_PLACE, &square, 1, MPI_C_BOOL, MPI_LAND, PETSC_COMM_WORLD));
  if (square) compare_powers(aij, strata, what);
}

// What changes a matrix, done to both. `type` is that of the matrix.
struct Change {
  std::string name;
  std::function<void(Mat& matrix, const Case& of, MatType type)> make;
  bool square_only = false;
};

void scale_own_block(Mat matrix) {
  Mat block = matrix;
  if (rank_count() > 1) DO(MatMPIAIJGetSeqAIJ(matrix, &block, nullptr, nullptr));
  PetscScalar* values = nullptr;
  PetscInt begin = 0;
  DO(MatGetOwnershipRange(matrix, &begin, nullptr));
  MatInfo info{};
  DO(MatGetInfo(block, MAT_LOCAL, &info));
  DO(MatSeqAIJGetArray(block, &values));
  for (PetscInt i = 0; i < static_cast<PetscInt>(info.nz_used); ++i) values[i] *= 1.25;
  DO(MatSeqAIJRestoreArray(block, &values));
}

void set_by_coordinates(Mat matrix, const Case& of, int seed) {
  std::vector<PetscInt> rows;
  std::vector<PetscInt> cols;
  std::vector<PetscScalar> values;
  for (PetscInt row = 0; row < of.rows; ++row) {
    if (row % rank_count() != my_rank()) continue;
    for (const PetscInt col : of.columns(row)) {
      rows.push_back(row);
      cols.push_back(col);
      values.push_back(number(row, col, seed));
    }
  }
  DO(MatSetPreallocationCOO(matrix, static_cast<PetscCount>(rows.size()), rows.data(),
                            cols.data()));
  DO(MatSetValuesCOO(matrix, values.data(), INSERT_VALUES));
}

std::vector<Change> changes() {
  return {
      {"MatSetValues on the same pattern",
       [](Mat& matrix, const Case& of, MatType) { fill(matrix, of, 2); }},
      {"MatSetValues that add",
       [](Mat& matrix, const Case& of, MatType) { fill(matrix, of, 3, ADD_VALUES); }},
      {"MatSetValues on a new pattern",
       [](Mat& matrix, const Case& of, MatType) {
         for (PetscInt row = my_rank(); row < of.rows; row += 3) {
           DO(MatSetValue(matrix, row, (row * 11 + 3) % of.cols, 0.5, ADD_VALUES));
         }
         assemble(matrix);
       }},
      {"MatAssembly without values", [](Mat& matrix, const Case&, MatType) { assemble(matrix); }},
      {"MatScale", [](Mat& matrix, const Case&, MatType) { DO(MatScale(matrix, -1.5)); }},
      {"MatShift", [](Mat& matrix, const Case&, MatType) { DO(MatShift(matrix, 0.75)); }, true},
      {"MatDiagonalSet",
       [](Mat& matrix, const Case&, MatType) {
         Vec diagonal = left_vector(matrix, 9);
         DO(MatDiagonalSet(matrix, diagonal, INSERT_VALUES));
         DO(VecDestroy(&diagonal));
       },
       true},
      {"MatDiagonalScale",
       [](Mat& matrix, const Case&, MatType) {
         Vec left = left_vector(matrix, 6);
         Vec right = right_vector(matrix, 7);
         DO(MatDiagonalScale(matrix, left, nullptr));
         DO(MatDiagonalScale(matrix, nullptr, right));
         DO(VecDestroy(&left));
         DO(VecDestroy(&right));
       }},
      {"MatAXPY on the same pattern",
       [](Mat& matrix, const Case&, MatType) {
         Mat other = nullptr;
         DO(MatDuplicate(matrix, MAT_COPY_VALUES, &other));
         DO(MatScale(other, 0.125));
         DO(MatAXPY(matrix, 2.0, other, SAME_NONZERO_PATTERN));
         DO(MatDestroy(&other));
       }},
      {"MatAXPY on another pattern",
       [](Mat& matrix, const Case& of, MatType type) {
         Case other = of;
         other.columns = [&of](PetscInt row) { return Columns{(row * 5 + 1) % of.cols}; };
         Mat more = build(other, type, 4);
         DO(MatAXPY(matrix, 0.5, more, DIFFERENT_NONZERO_PATTERN));
         DO(MatDestroy(&more));
         allow_new_entries(matrix);
       }},
      {"MatAYPX",
       [](Mat& matrix, const Case& of, MatType type) {
         Mat other = build(of, type, 5);
         DO(MatAYPX(matrix, 0.5, other, DIFFERENT_NONZERO_PATTERN));
         DO(MatDestroy(&other));
         allow_new_entries(matrix);
       }},
      {"MatZeroRows",
       [](Mat& matrix, const Case& of, MatType) {
         const PetscInt row = of.rows / 2;
         DO(MatZeroRows(matrix, my_rank() == 0 ? 1 : 0, &row, of.square() ? 3.0 : 0.0, nullptr,
                        nullptr));
       }},
      {"MatZeroRowsColumns",
       [](Mat& matrix, const Case& of, MatType) {
         const PetscInt row = of.rows / 3;
         DO(MatZeroRowsColumns(matrix, my_rank() == 0 ? 1 : 0, &row, 2.0, nullptr, nullptr));
       },
       true},
      {"MatCopy on the same pattern",
       [](Mat& matrix, const Case&, MatType) {
         Mat other = nullptr;
         DO(MatDuplicate(matrix, MAT_COPY_VALUES, &other));
         DO(MatScale(other, 0.3));
         DO(MatCopy(other, matrix, SAME_NONZERO_PATTERN));
         DO(MatDestroy(&other));
       }},
      {"MatCopy on another pattern",
       [](Mat& matrix, const Case& of, MatType type) {
         Mat other = build(of, type, 6);
         DO(MatCopy(other, matrix, DIFFERENT_NONZERO_PATTERN));
         DO(MatDestroy(&other));
       }},
      {"MatZeroEntries", [](Mat& matrix, const Case&, MatType) { DO(MatZeroEntries(matrix)); }},
      {"MatSetValues after zeros",
       [](Mat& matrix, const Case& of, MatType) { fill(matrix, of, 7); }},
      {"MatSeqAIJGetArray", [](Mat& matrix, const Case&, MatType) { scale_own_block(matrix); }},
      {"MatChop", [](Mat& matrix, const Case&, MatType) { DO(MatChop(matrix, 0.25)); }},
      {"MatStoreValues and MatRetrieveValues",
       [](Mat& matrix, const Case&, MatType) {
         Vec x = right_vector(matrix, 2);
         Vec y = left_vector(matrix, 2);
         DO(MatSetOption(matrix, MAT_NEW_NONZERO_LOCATIONS, PETSC_FALSE));
         DO(MatScale(matrix, 1.5));
         DO(MatStoreValues(matrix));
         DO(MatScale(matrix, 4.0));
         DO(MatMult(matrix, x, y));
         DO(MatRetrieveValues(matrix));
         DO(MatSetOption(matrix, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
         allow_new_entries(matrix);
         DO(VecDestroy(&x));
         DO(VecDestroy(&y));
       }},
      {"MatDuplicate with values",
       [](Mat& matrix, const Case&, MatType) {
         Mat copy = nullptr;
         DO(MatDuplicate(matrix, MAT_COPY_VALUES, &copy));
         DO(MatScale(matrix, 100.0));  // of no consequence to the copy
         DO(MatDestroy(&matrix));
         matrix = copy;
       }},
      {"MatDuplicate without values",
       [](Mat& matrix, const Case&, MatType) {
         Mat copy = nullptr;
         DO(MatDuplicate(matrix, MAT_DO_NOT_COPY_VALUES, &copy));
         DO(MatDestroy(&matrix));
         matrix = copy;
       }},
      {"MatSetValues in a duplicate",
       [](Mat& matrix, const Case& of, MatType) {
         allow_new_entries(matrix);
         fill(matrix, of, 8);
       }},
      {"MatTranspose twice",
       [](Mat& matrix, const Case&, MatType) {
         Mat transposed = nullptr;
         Vec x = left_vector(matrix, 2);
         Vec y = right_vector(matrix, 2);
         DO(MatTranspose(matrix, MAT_INITIAL_MATRIX, &transposed));
         DO(MatMult(transposed, x, y));
         DO(MatScale(matrix, 0.5));
         DO(MatTranspose(matrix, MAT_REUSE_MATRIX, &transposed));
         DO(MatMult(transposed, x, y));
         DO(MatDestroy(&matrix));
         DO(MatTranspose(transposed, MAT_INITIAL_MATRIX, &matrix));
         DO(MatDestroy(&transposed));
         DO(VecDestroy(&x));
         DO(VecDestroy(&y));
         allow_new_entries(matrix);
       }},
      {"MatTranspose in place",
       [](Mat& matrix, const Case&, MatType) {
         DO(MatTranspose(matrix, MAT_INPLACE_MATRIX, &matrix));
       },
       true},
      {"MatConvert to aij and back",
       [](Mat& matrix, const Case&, MatType type) {
         Mat plain = nullptr;
         DO(MatConvert(matrix, MATAIJ, MAT_INITIAL_MATRIX, &plain));
         expect(is_plain(plain), "MatConvert to aij gives another type");
         DO(MatScale(plain, 2.0));
         DO(MatDestroy(&matrix));
         DO(MatConvert(plain, type, MAT_INITIAL_MATRIX, &matrix));
         DO(MatScale(matrix, 0.25));
         if (!is_plain(matrix)) {
           DO(MatConvert(matrix, MATAIJ, MAT_REUSE_MATRIX, &plain));
           DO(MatScale(plain, 3.0));
           DO(MatConvert(plain, type, MAT_REUSE_MATRIX, &matrix));
         } else {
           DO(MatScale(matrix, 3.0));
         }
         DO(MatDestroy(&plain));
       }},
      {"MatConvert in place",
       [](Mat& matrix, const Case&, MatType type) {
         DO(MatConvert(matrix, MATAIJ, MAT_INPLACE_MATRIX, &matrix));
         expect(is_plain(matrix), "MatConvert in place to aij gives another type");
         DO(MatScale(matrix, 2.0));
         DO(MatConvert(matrix, type, MAT_INPLACE_MATRIX, &matrix));
         allow_new_entries(matrix);
       }},
      {"MatSetValuesCOO",
       [](Mat& matrix, const Case& of, MatType) {
         Vec x = right_vector(matrix, 2);
         Vec y = left_vector(matrix, 2);
         set_by_coordinates(matrix, of, 9);
         DO(MatMult(matrix, x, y));
         set_by_coordinates(matrix, of, 10);
         DO(VecDestroy(&x));
         DO(VecDestroy(&y));
       }},
  };
}

void check_changes(const Case& of) {
  Mat aij = build(of, MATAIJ);
  Mat strata = build(of, MATSTRATA);
  compare(aij, strata, of.name);
  const std::vector<Change> all = changes();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Change& change = all[i];
    if (change.square_only && !of.square()) continue;
    // Where ranks share few cores all of this takes long: most matrices see every third change.
    if (rank_count() > 3 && of.name != "grid" && i % 3 != of.name.size() % 3) continue;
    change.make(aij, of, MATAIJ);
    change.make(strata, of, MATSTRATA);
    compare(aij, strata, of.name + " after " + change.name);
  }
  DO(MatDestroy(&aij));
  DO(MatDestroy(&strata));
}

// An AIJ matrix with blocks of type strata, as -mat_seqaij_type makes it, beside a dense one.
void check_blocks(const Case& of) {
  Mat matrix = build(of, MATAIJ);
  for (const Change& change : changes()) {
    if (change.name.starts_with("MatConvert")) continue;  // it asks for plain blocks
    change.make(matrix, of, MATAIJ);
    Mat dense = nullptr;
    Vec x = right_vector(matrix, 2);
    Vec wanted = left_vector(matrix, 2);
    Vec found = left_vector(matrix, 3);
    DO(MatConvert(matrix, MATDENSE, MAT_INITIAL_MATRIX, &dense));
    DO(MatMult(dense, x, wanted));
    DO(MatMult(matrix, x, found));
    expect_near(found, wanted, 8 * std::max(norm_of(dense), 1.0),
                "blocks after " + change.name + ": MatMult");
    DO(VecDestroy(&x));
    DO(VecDestroy(&wanted));
    DO(VecDestroy(&found));
    DO(MatDestroy(&dense));
  }
  DO(MatDestroy(&matrix));
}

void check_files(const Case& of, const std::string& folder) {
  const std::string path = folder + "/matrix.petsc";
  Mat aij = build(of, MATAIJ);
  PetscViewer viewer = nullptr;
  DO(PetscViewerBinaryOpen(PETSC_COMM_WORLD, path.c_str(), FILE_MODE_WRITE, &viewer));
  DO(MatView(aij, viewer));
  DO(PetscViewerDestroy(&viewer));
  Mat loaded[2] = {};
  const char* types[] = {MATAIJ, MATSTRATA};
  for (int i = 0; i < 2; ++i) {
    DO(PetscViewerBinaryOpen(PETSC_COMM_WORLD, path.c_str(), FILE_MODE_READ, &viewer));
    DO(MatCreate(PETSC_COMM_WORLD, &loaded[i]));
    DO(MatSetType(loaded[i], types[i]));
    DO(MatLoad(loaded[i], viewer));
    DO(PetscViewerDestroy(&viewer));
  }
  compare(loaded[0], loaded[1], of.name + " after MatLoad");
  for (Mat& matrix : loaded) DO(MatDestroy(&matrix));
  DO(MatDestroy(&aij));
}

void expect_equal(Mat found, Mat right, const std::string& what) {
  DO(MatAXPY(found, -1.0, right, DIFFERENT_NONZERO_PATTERN));
  PetscReal distance = 0;
  PetscReal scale = 0;
  DO(MatNorm(found, NORM_FROBENIUS, &distance));
  DO(MatNorm(right, NORM_FROBENIUS, &scale));
  expect(distance <= 1e-12 * scale, what + " is off by " + std::to_string(distance));
}

// Products of matrices, and conversions to types that are neither.
void check_whole_matrices(const Case& of) {
  Mat matrices[2] = {build(of, MATAIJ), build(of, MATSTRATA)};
  Mat squares[2] = {};
  Mat galerkin[2] = {};
  Mat with_dense[2] = {};
  Mat dense[2] = {};
  Mat block = nullptr;
  DO(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, of.cols, 3, nullptr, &block));
  DO(MatSetRandom(block, nullptr));
  for (int i = 0; i < 2; ++i) {
    DO(MatMatMult(matrices[i], matrices[i], MAT_INITIAL_MATRIX, PETSC_DEFAULT, &squares[i]));
    DO(MatPtAP(matrices[i], matrices[0], MAT_INITIAL_MATRIX, PETSC_DEFAULT, &galerkin[i]));
    DO(MatMatMult(matrices[i], block, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &with_dense[i]));
    DO(MatConvert(matrices[i], MATDENSE, MAT_INITIAL_MATRIX, &dense[i]));
  }
  DO(MatConvert(squares[1], MATAIJ, MAT_INPLACE_MATRIX, &squares[1]));
  expect_equal(squares[1], squares[0], "MatMatMult");
  DO(MatConvert(galerkin[1], MATAIJ, MAT_INPLACE_MATRIX, &galerkin[1]));
  expect_equal(galerkin[1], galerkin[0], "MatPtAP");
  expect_equal(with_dense[1], with_dense[0], "MatMatMult with a dense matrix");
  expect_equal(dense[1], dense[0], "MatConvert to dense");
  for (int i = 0; i < 2; ++i) {
    DO(MatDestroy(&matrices[i]));
    DO(MatDestroy(&squares[i]));
    DO(MatDestroy(&galerkin[i]));
    DO(MatDestroy(&with_dense[i]));
    DO(MatDestroy(&dense[i]));
  }
  DO(MatDestroy(&block));
}

// Over a program's own arrays, whose values it changes itself; columns need not be sorted.
void check_own_arrays() {
  PetscInt offsets[] = {0, 2, 4, 5};
  PetscInt columns[] = {1, 0, 1, 2, 2};
  PetscScalar values[] = {1.0, 2.0, 3.0, 4.0, 5.0};
  Mat aij = nullptr;
  DO(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, 3, 3, offsets, columns, values, &aij));
  DO(MatConvert(aij, MATSTRATA, MAT_INPLACE_MATRIX, &aij));
  expect(is_strata(aij), "a matrix over arrays keeps its type");
  Vec x = nullptr;
  Vec y = nullptr;
  DO(MatCreateVecs(aij, &x, &y));
  const PetscScalar ones_times[] = {3.0, 7.0, 5.0};
  DO(VecSet(x, 1.0));
  for (const double factor : {1.0, 2.0}) {
    const PetscScalar* found = nullptr;
    DO(MatMult(aij, x, y));
    DO(VecGetArrayRead(y, &found));
    for (int i = 0; i < 3; ++i) {
      expect(found[i] == factor * ones_times[i], "a product over a program's own arrays is wrong");
    }
    DO(VecRestoreArrayRead(y, &found));
    for (PetscScalar& value : values) value *= 2.0;
    assemble(aij);
  }
  DO(VecDestroy(&x));
  DO(VecDestroy(&y));
  DO(MatDestroy(&aij));
}

// A solver of the plug-in, with its own matrix, vectors and tolerances.
struct System {
  Mat matrix = nullptr;
  Vec b = nullptr;
  Vec x = nullptr;
  KSP solver = nullptr;

  System(const Case& of, KSPType method, MatType type) : matrix(build(of, type)) {
    PC preconditioner = nullptr;
    // Symmetric and positive definite, or any.
    if (std::string(method) == KSPSTRATACACG) {
      Mat transposed = nullptr;
      DO(MatTranspose(matrix, MAT_INITIAL_MATRIX, &transposed));
      DO(MatAXPY(matrix, 1.0, transposed, DIFFERENT_NONZERO_PATTERN));
      DO(MatDestroy(&transposed));
    }
    b = left_vector(matrix, 11);
    x = right_vector(matrix, 12);
    DO(KSPCreate(PETSC_COMM_WORLD, &solver));
    DO(KSPSetOperators(solver, matrix, matrix));
    DO(KSPSetType(solver, method));
    DO(KSPGetPC(solver, &preconditioner));
    DO(PCSetType(preconditioner, PCNONE));
    DO(KSPSetTolerances(solver, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  }
  ~System() {
    DO(KSPDestroy(&solver));
    DO(VecDestroy(&x));
    DO(VecDestroy(&b));
    DO(MatDestroy(&matrix));
  }
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  KSPConvergedReason solve() {
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    DO(KSPSolve(solver, b, x));
    DO(KSPGetConvergedReason(solver, &reason));
    return reason;
  }
  PetscInt iterations() const {
    PetscInt iterations = 0;
    DO(KSPGetIterationNumber(solver, &iterations));
    return iterations;
  }
  // ‖b − Ax‖ / ‖b‖
  double residual() const {
    Vec r = nullptr;
    PetscReal norm = 0;
    PetscReal norm_of_b = 0;
    DO(VecDuplicate(b, &r));
    DO(MatMult(matrix, x, r));
    DO(VecAYPX(r, -1.0, b));
    DO(VecNorm(r, NORM_2, &norm));
    DO(VecNorm(b, NORM_2, &norm_of_b));
    DO(VecDestroy(&r));
    return norm / norm_of_b;
  }
};

PetscErrorCode stop_at_four(KSP, PetscInt iteration, PetscReal, KSPConvergedReason* reason, void*) {
  *reason = iteration >= 4 ? KSP_CONVERGED_ITS : KSP_CONVERGED_ITERATING;
  return 0;
}

void check_solver(const Case& of, KSPType method, MatType type) {
  const std::string what = std::string(method) + " with " + type;
  System system(of, method, type);
  expect(system.solve() == KSP_CONVERGED_RTOL, what + " does not converge");
  expect(system.residual() <= 1e-10, what + " leaves a residual");
  const PetscInt from_zero = system.iterations();
  expect(from_zero > 0, what + " counts no iterations");
  PetscReal norm = 0;
  PetscReal norm_of_b = 0;
  DO(KSPGetResidualNorm(system.solver, &norm));
  DO(VecNorm(system.b, NORM_2, &norm_of_b));
  expect(std::abs(norm / norm_of_b - system.residual()) <= 1e-13, what + " has another norm");

  DO(KSPSetInitialGuessNonzero(system.solver, PETSC_TRUE));
  expect(system.solve() > 0 && system.iterations() == 0, what + " does not see a solution");
  DO(MatScale(system.matrix, 2.0));
  expect(system.solve() == KSP_CONVERGED_RTOL && system.residual() <= 1e-10,
         what + " does not see new values");
  DO(KSPSetInitialGuessNonzero(system.solver, PETSC_FALSE));
  allow_new_entries(system.matrix);
  for (PetscInt row = 0; my_rank() == 0 && row + 40 < of.rows; row += 9) {
    DO(MatSetValue(system.matrix, row, row + 40, 0.25, ADD_VALUES));
    DO(MatSetValue(system.matrix, row + 40, row, 0.25, ADD_VALUES));
  }
  assemble(system.matrix);
  expect(system.solve() == KSP_CONVERGED_RTOL && system.residual() <= 1e-10,
         what + " does not see a new pattern");

  DO(KSPSetTolerances(system.solver, 1e-30, 1e-3, PETSC_DEFAULT, 500));
  expect(system.solve() == KSP_CONVERGED_ATOL, what + " does not know absolute tolerances");
  DO(KSPSetTolerances(system.solver, 1e-10, 1e-50, PETSC_DEFAULT, 2));
  expect(system.solve() == KSP_DIVERGED_ITS, what + " does not end after so many iterations");
  DO(KSPSetTolerances(system.solver, 1e-10, 1e-50, PETSC_DEFAULT, 500));
  DO(VecSet(system.b, 0.0));
  expect(system.solve() > 0 && norm_of(system.x) == 0, what + " does not solve for zero");
  filled(system.b, 11);
  DO(KSPSetConvergenceTest(system.solver, stop_at_four, nullptr, nullptr));
  expect(system.solve() == KSP_CONVERGED_ITS, what + " does not heed a test of the user's");
}

void check_solvers() {
  const Case grid = cases().front();
  for (const char* method : {KSPSTRATACACG, KSPSTRATACAGMRES}) {
    for (const char* type : {MATSTRATA, MATAIJ}) check_solver(grid, method, type);
  }
  System indefinite(grid, KSPSTRATACACG, MATSTRATA);
  DO(MatShift(indefinite.matrix, -8.0));
  expect(indefinite.solve() == KSP_DIVERGED_INDEFINITE_MAT,
         "strata-cacg does not see an indefinite matrix");
}

void show(const Case& of) {
  Mat matrix = build(of, MATSTRATA);
  DO(PetscViewerPushFormat(PETSC_VIEWER_STDOUT_WORLD, PETSC_VIEWER_ASCII_INFO_DETAIL));
  DO(MatView(matrix, PETSC_VIEWER_STDOUT_WORLD));
  DO(PetscViewerPopFormat(PETSC_VIEWER_STDOUT_WORLD));
  DO(MatDestroy(&matrix));
}

}  // namespace

int main(int argc, char** argv) {
  DO(PetscInitialize(&argc, &argv, nullptr, nullptr));
  PetscBool linked = PETSC_FALSE;
  PetscBool only_shows = PETSC_FALSE;
  PetscBool only_blocks = PETSC_FALSE;
  PetscInt which = 0;
  char folder[PETSC_MAX_PATH_LEN] = ".";
  DO(PetscOptionsGetBool(nullptr, nullptr, "-register", &linked, nullptr));
  DO(PetscOptionsGetBool(nullptr, nullptr, "-show", &only_shows, nullptr));
  DO(PetscOptionsGetBool(nullptr, nullptr, "-blocks", &only_blocks, nullptr));
  DO(PetscOptionsGetInt(nullptr, nullptr, "-case", &which, nullptr));
  DO(PetscOptionsGetString(nullptr, nullptr, "-folder", folder, sizeof(folder), nullptr));
  if (linked == PETSC_TRUE) {
    DO(StrataPetscRegister());
    DO(StrataPetscRegister());
  }
  if (only_shows == PETSC_TRUE) {
    show(cases()[static_cast<std::size_t>(which)]);
  } else if (only_blocks == PETSC_TRUE) {
    check_blocks(cases().front());
    DO(PetscPrintf(PETSC_COMM_WORLD, "%d differences\n", failures));
  } else {
    for (const Case& each : cases()) {
      check_changes(each);
      check_files(each, folder);
    }
    check_whole_matrices(cases().front());
    if (rank_count() == 1) check_own_arrays();
    check_solvers();
    DO(PetscPrintf(PETSC_COMM_WORLD, "%d differences\n", failures));
  }
  DO(PetscFinalize());
  return failures == 0 ? 0 : 1;
}
