// mpiaijstrata: PETSc's mpiaij whose blocks, the square one of a rank's own columns and the one of
// all others, are of type seqaijstrata. PETSc overlaps the product with the first and the exchange
// of what the second needs.

#include <fmt/format.h>

#include <memory>
#include <span>
#include <string>

#include "strata/petsc.h"
#include "strata/petsc/distributed.hpp"
#include "strata/petsc/errors.hpp"
#include "strata/petsc/matrix_types.hpp"
#include "strata/petsc/operations.hpp"

namespace strata::petsc {

namespace {

const DerivedType& type();

// What a matrix of several ranks knows on each of them.
struct Blocks {
  Settings settings = {};
  bool has_settings = false;
  bool known = false;
  PetscObjectState state = 0;
  std::unique_ptr<ParallelPowers> powers = {};
};

struct BlockPair {
  Mat own = nullptr;
  Mat others = nullptr;
};

PetscErrorCode get_blocks(Mat matrix, BlockPair* blocks) {
  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(matrix, &blocks->own, &blocks->others, nullptr));
  PetscFunctionReturn(kSuccess);
}

// Before products. AIJ's operations on the whole matrix change blocks behind their backs: when the
// whole has changed, blocks are told, and get their type if they are new.
PetscErrorCode refresh(Mat matrix) {
  PetscFunctionBegin;
  Blocks* known = nullptr;
  PetscObjectState state = 0;
  PetscCall(get_companion(matrix, &known));
  PetscCall(get_state(matrix, &state));
  if (known->known && known->state == state) PetscFunctionReturn(kSuccess);
  if (!known->has_settings) {
    PetscCall(read_settings(matrix, &known->settings));
    known->has_settings = true;
  }
  BlockPair blocks;
  PetscCall(get_blocks(matrix, &blocks));
  for (Mat block : {blocks.own, blocks.others}) {
    LocalProducts* products = nullptr;
    PetscCall(make_sequential(block));
    PetscCall(get_companion(block, &products));
    products->invalidate();
    products->settings = known->settings;
    products->has_settings = true;
  }
  known->known = true;
  known->state = state;
  PetscFunctionReturn(kSuccess);
}

template <Multiply Operations::* multiplication>
PetscErrorCode multiply(Mat matrix, Vec x, Vec y) {
  PetscFunctionBegin;
  const Base* aij = nullptr;
  PetscCall(type().get_base(&aij));
  PetscCall(refresh(matrix));
  PetscCall((aij->operations.*multiplication)(matrix, x, y));
  PetscFunctionReturn(kSuccess);
}

template <MultiplyAdd Operations::* multiplication>
PetscErrorCode multiply_add(Mat matrix, Vec x, Vec y, Vec z) {
  PetscFunctionBegin;
  const Base* aij = nullptr;
  PetscCall(type().get_base(&aij));
  PetscCall(refresh(matrix));
  PetscCall((aij->operations.*multiplication)(matrix, x, y, z));
  PetscFunctionReturn(kSuccess);
}

PetscErrorCode assembly_end(Mat matrix, MatAssemblyType mode) {
  PetscFunctionBegin;
  const Base* aij = nullptr;
  Blocks* known = nullptr;
  PetscCall(type().get_base(&aij));
  PetscCall(aij->operations.assembly_end(matrix, mode));
  PetscCall(get_companion(matrix, &known));
  known->known = false;
  if (mode == MAT_FINAL_ASSEMBLY) PetscCall(refresh(matrix));
  PetscFunctionReturn(kSuccess);
}

PetscErrorCode describe(Mat block, const char* what, std::string* text) {
  PetscFunctionBegin;
  LocalProducts* products = nullptr;
  AijArrays arrays;
  PetscCall(get_products(block, &products, &arrays));
  PetscCall(guarded([&] {
    *text += fmt::format("{}, {} x {}, {} nonzeros:\n{}", what, arrays.rows, arrays.cols,
                         arrays.nnz(), products->explain(arrays));
  }));
  PetscFunctionReturn(kSuccess);
}

// The plans of the first rank or, in detail, of all of them.
PetscErrorCode view(Mat matrix, PetscViewer viewer) {
  PetscFunctionBegin;
  const Base* aij = nullptr;
  bool words = false;
  bool in_detail = false;
  PetscBool assembled = PETSC_FALSE;
  PetscCall(type().get_base(&aij));
  PetscCall(aij->operations.view(matrix, viewer));
  PetscCall(wants_words(viewer, &words, &in_detail));
  PetscCall(MatAssembled(matrix, &assembled));
  if (!words || assembled == PETSC_FALSE) PetscFunctionReturn(kSuccess);
  PetscMPIInt rank = 0;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm(reinterpret_cast<PetscObject>(matrix)), &rank));
  Blocks* known = nullptr;
  BlockPair blocks;
  std::string text;
  PetscCall(guarded([&] {
    text = in_detail ? fmt::format("Rank {}\n", rank) : "Rank 0 (::ascii_info_detail shows all)\n";
  }));
  PetscCall(refresh(matrix));
  PetscCall(get_blocks(matrix, &blocks));
  PetscCall(describe(blocks.own, "Columns of its own", &text));
  PetscCall(describe(blocks.others, "Columns of other ranks", &text));
  PetscCall(get_companion(matrix, &known));
  if (known->powers != nullptr) {
    PetscCall(guarded([&] { text += known->powers->explain(); }));
  }
  PetscCall(print_lines(viewer, text, in_detail));
  PetscFunctionReturn(kSuccess);
}

// y[k] = A^(k+1) x with as few exchanges as pay.
PetscErrorCode powers(Mat matrix, PetscInt p, Vec x, Vec y[]) {
  PetscFunctionBegin;
  PetscCall(check_powers(matrix, p, x, y));
  Blocks* known = nullptr;
  ParallelArrays arrays;
  PetscCall(refresh(matrix));
  PetscCall(get_companion(matrix, &known));
  PetscCall(get_parallel_arrays(matrix, &arrays));
  if (known->powers == nullptr) {
    const MPI_Comm ranks = PetscObjectComm(reinterpret_cast<PetscObject>(matrix));
    PetscCall(guarded([&] { known->powers = std::make_unique<ParallelPowers>(ranks); }));
  }
  const int power = clamped_power(p);
  bool plans = known->powers->needs_plan(arrays.states, power);
  PetscCall(on_any_rank(matrix, plans, &plans));
  if (plans) {
    PetscCall(logged_plan(matrix, x, [&] { known->powers->plan(arrays, known->settings, power); }));
  }
  std::span<const PetscScalar> all;
  PetscCall(with_elements(x, arrays.own.rows, [&](std::span<const PetscScalar> elements) {
    all = known->powers->apply(power, elements);
  }));
  PetscCall(copy_powers(all, p, y));
  PetscFunctionReturn(kSuccess);
}

PetscErrorCode make_strata(Mat matrix) {
  PetscFunctionBegin;
  PetscBool assembled = PETSC_FALSE;
  PetscCall(type().give(matrix));
  PetscCall(MatAssembled(matrix, &assembled));
  if (assembled == PETSC_TRUE) PetscCall(refresh(matrix));
  PetscFunctionReturn(kSuccess);
}

PetscErrorCode make_aij(Mat matrix) {
  PetscFunctionBegin;
  BlockPair blocks;
  PetscCall(type().take(matrix));
  PetscCall(get_blocks(matrix, &blocks));
  for (Mat block : {blocks.own, blocks.others}) {
    if (block != nullptr) PetscCall(make_plain(block));
  }
  PetscFunctionReturn(kSuccess);
}

PetscErrorCode from_aij(Mat matrix, MatType, MatReuse reuse, Mat* converted) {
  return convert(matrix, reuse, converted, make_strata);
}

PetscErrorCode to_aij(Mat matrix, MatType, MatReuse reuse, Mat* converted) {
  return convert(matrix, reuse, converted, make_aij);
}

const DerivedType& type() {
  static const DerivedType derived{
      .base = MATMPIAIJ,
      .name = MATMPIAIJSTRATA,
      .operations = {.multiply = multiply<&Operations::multiply>,
                     .multiply_transposed = multiply<&Operations::multiply_transposed>,
                     .multiply_add = multiply_add<&Operations::multiply_add>,
                     .multiply_transposed_add = multiply_add<&Operations::multiply_transposed_add>,
                     .assembly_end = assembly_end,
                     .view = view,
                     .destroy = destroy_as_base<type>},
      .powers = powers,
      .from_base = from_aij,
      .to_base = to_aij,
      .convertible = {MATMPIDENSE, MATMPIBAIJ, MATMPISBAIJ, MATMPISELL, MATIS, MATHYPRE},
      .dense = MATMPIDENSE};
  return derived;
}

}  // namespace

PetscErrorCode create_parallel(Mat matrix) {
  PetscFunctionBegin;
  PetscCall(MatSetType(matrix, MATMPIAIJ));
  PetscCall(make_strata(matrix));
  PetscFunctionReturn(kSuccess);
}

}  // namespace strata::petsc
