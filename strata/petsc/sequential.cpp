// seqaijstrata: PETSc's seqaij whose products run by plans.

#include "strata/petsc.h"

#include <span>
#include <string>

#include "strata/petsc/errors.hpp"
#include "strata/petsc/matrix_types.hpp"
#include "strata/petsc/operations.hpp"

namespace strata::petsc {

namespace {

const DerivedType& type();

// y = Ax + βy.
PetscErrorCode multiply_by_plan(LocalProducts& products, const AijArrays& arrays, bool transposed,
                                Vec x, PetscScalar beta, Vec y) {
  PetscFunctionBegin;
  if (products.needs_plan(transposed)) {
    PetscCall(logged_plan(x, y, [&] { products.plan(arrays, transposed); }));
  }
  const auto x_size = static_cast<std::size_t>(transposed ? arrays.rows : arrays.cols);
  const auto y_size = static_cast<std::size_t>(transposed ? arrays.cols : arrays.rows);
  const PetscScalar* x_elements = nullptr;
  PetscScalar* y_elements = nullptr;
  PetscCall(VecGetArrayRead(x, &x_elements));
  if (beta == PetscScalar{0}) {
    PetscCall(VecGetArrayWrite(y, &y_elements));
  } else {
    PetscCall(VecGetArray(y, &y_elements));
  }
  const PetscErrorCode error = guarded(
      [&] { products.multiply(transposed, {x_elements, x_size}, beta, {y_elements, y_size}); });
  PetscCall(VecRestoreArrayRead(x, &x_elements));
  PetscCall(VecRestoreArray(y, &y_elements));
  PetscCall(error);
  // As AIJ counts.
  const PetscInt first_of_rows = beta == PetscScalar{0} && !transposed ? products.filled_rows() : 0;
  PetscCall(
      PetscLogFlops(2.0 * static_cast<double>(arrays.nnz()) - static_cast<double>(first_of_rows)));
  PetscFunctionReturn(kSuccess);
}

template <bool transposed>
PetscErrorCode multiply(Mat matrix, Vec x, Vec y) {
  PetscFunctionBegin;
  LocalProducts* products = nullptr;
  AijArrays arrays;
  PetscCall(get_products(matrix, &products, &arrays));
  if (products->takes_product()) {
    PetscCall(multiply_by_plan(*products, arrays, transposed, x, 0, y));
  } else {
    const Base* aij = nullptr;
    PetscCall(type().get_base(&aij));
    PetscCall((transposed ? aij->operations.multiply_transposed : aij->operations.multiply)(matrix,
                                                                                            x, y));
  }
  PetscFunctionReturn(kSuccess);
}

// z = y + Ax, where z may be y.
template <bool transposed>
PetscErrorCode multiply_add(Mat matrix, Vec x, Vec y, Vec z) {
  PetscFunctionBegin;
  LocalProducts* products = nullptr;
  AijArrays arrays;
  PetscCall(get_products(matrix, &products, &arrays));
  if (products->takes_product()) {
    if (y != z) PetscCall(VecCopy(y, z));
    PetscCall(multiply_by_plan(*products, arrays, transposed, x, 1, z));
  } else {
    const Base* aij = nullptr;
    PetscCall(type().get_base(&aij));
    PetscCall((transposed ? aij->operations.multiply_transposed_add : aij->operations.multiply_add)(
        matrix, x, y, z));
  }
  PetscFunctionReturn(kSuccess);
}

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
  if (words && assembled == PETSC_TRUE) {
    LocalProducts* products = nullptr;
    AijArrays arrays;
    std::string text;
    PetscCall(get_products(matrix, &products, &arrays));
    PetscCall(guarded([&] { text = products->explain(arrays); }));
    PetscCall(print_lines(viewer, text));
  }
  PetscFunctionReturn(kSuccess);
}

PetscErrorCode assembly_end(Mat matrix, MatAssemblyType mode) {
  PetscFunctionBegin;
  const Base* aij = nullptr;
  LocalProducts* products = nullptr;
  PetscCall(type().get_base(&aij));
  PetscCall(aij->operations.assembly_end(matrix, mode));
  PetscCall(set_operations(matrix, type().operations));  // AIJ chooses among its own
  PetscCall(get_companion(matrix, &products));
  products->invalidate();
  PetscFunctionReturn(kSuccess);
}

// y[k] = A^(k+1) x
PetscErrorCode powers(Mat matrix, PetscInt p, Vec x, Vec y[]) {
  PetscFunctionBegin;
  PetscCall(check_powers(matrix, p, x, y));
  LocalProducts* products = nullptr;
  AijArrays arrays;
  PetscCall(get_products(matrix, &products, &arrays));
  const int power = clamped_power(p);
  if (products->needs_power_plan(power)) {
    PetscCall(logged_plan(matrix, x, [&] { products->plan_powers(arrays, power); }));
  }
  std::span<const PetscScalar> all;
  PetscCall(with_elements(x, arrays.rows, [&](std::span<const PetscScalar> elements) {
    all = products->powers(power, elements);
  }));
  PetscCall(copy_powers(all, p, y));
  PetscCall(PetscLogFlops(2.0 * static_cast<double>(arrays.nnz()) * static_cast<double>(p)));
  PetscFunctionReturn(kSuccess);
}

// AIJ changes values here without counting it as a change.
PetscErrorCode retrieve_values(Mat matrix) {
  PetscFunctionBegin;
  const Base* aij = nullptr;
  LocalProducts* products = nullptr;
  PetscCall(type().get_base(&aij));
  PetscCall(aij->retrieve_values(matrix));
  PetscCall(get_companion(matrix, &products));
  products->invalidate();
  PetscFunctionReturn(kSuccess);
}

PetscErrorCode to_aij(Mat matrix, MatType, MatReuse reuse, Mat* converted) {
  return convert(matrix, reuse, converted, make_plain);
}

const DerivedType& type() {
  static const DerivedType derived{
      .base = MATSEQAIJ,
      .name = MATSEQAIJSTRATA,
      .operations = {.multiply = multiply<false>,
                     .multiply_transposed = multiply<true>,
                     .multiply_add = multiply_add<false>,
                     .multiply_transposed_add = multiply_add<true>,
                     .assembly_end = assembly_end,
                     .view = view,
                     .destroy = destroy_as_base<type>},
      .retrieve_values = retrieve_values,
      .powers = powers,
      .from_base = sequential_from_aij,
      .to_base = to_aij,
      .convertible = {MATSEQDENSE, MATSEQBAIJ, MATSEQSBAIJ, MATSEQSELL, MATIS, MATHYPRE},
      .dense = MATSEQDENSE};
  return derived;
}

}  // namespace

PetscErrorCode make_sequential(Mat matrix) {
  PetscFunctionBegin;
  PetscBool plain = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(matrix), MATSEQAIJ, &plain));
  if (plain == PETSC_TRUE) PetscCall(type().give(matrix));
  PetscFunctionReturn(kSuccess);
}

PetscErrorCode make_plain(Mat matrix) {
  PetscFunctionBegin;
  PetscBool ours = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(matrix), MATSEQAIJSTRATA, &ours));
  if (ours == PETSC_TRUE) PetscCall(type().take(matrix));
  PetscFunctionReturn(kSuccess);
}

PetscErrorCode create_sequential(Mat matrix) {
  PetscFunctionBegin;
  PetscCall(MatSetType(matrix, MATSEQAIJ));
  PetscCall(make_sequential(matrix));
  PetscFunctionReturn(kSuccess);
}

PetscErrorCode sequential_from_aij(Mat matrix, MatType, MatReuse reuse, Mat* converted) {
  return convert(matrix, reuse, converted, make_sequential);
}

PetscErrorCode get_products(Mat matrix, LocalProducts** products, AijArrays* arrays) {
  PetscFunctionBegin;
  PetscObjectState state = 0;
  PetscCall(get_companion(matrix, products));
  if (!(*products)->has_settings) {
    PetscCall(read_settings(matrix, &(*products)->settings));
    (*products)->has_settings = true;
  }
  PetscCall(get_arrays(matrix, arrays));
  PetscCall(get_state(matrix, &state));
  (*products)->follow(state, *arrays);
  PetscFunctionReturn(kSuccess);
}

}  // namespace strata::petsc
