#include "strata/petsc/local_products.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/petsc/errors.hpp"

namespace strata::petsc {

PetscErrorCode get_arrays(Mat matrix, AijArrays* arrays) {
  PetscFunctionBegin;
  PetscScalar* values = nullptr;
  PetscCall(MatGetLocalSize(matrix, &arrays->rows, &arrays->cols));
  PetscCall(
      MatSeqAIJGetCSRAndMemType(matrix, &arrays->row_offsets, &arrays->columns, &values, nullptr));
  arrays->values = values;
  PetscFunctionReturn(kSuccess);
}

Matrix matrix_over(const AijArrays& arrays) {
  const auto nnz = static_cast<std::size_t>(arrays.nnz());
  const std::span offsets(arrays.row_offsets, static_cast<std::size_t>(arrays.rows) + 1);
  const std::span columns(arrays.columns, nnz);
  const std::span values(arrays.values, nnz);
  try {
    return Matrix::borrow(arrays.rows, arrays.cols, offsets, columns, values);
  } catch (const InvalidMatrix&) {
    return Matrix::from_unsorted(arrays.rows, arrays.cols,
                                 Array<Offset>(offsets.begin(), offsets.end()),
                                 Array<PetscInt>(columns.begin(), columns.end()),
                                 Array<PetscScalar>(values.begin(), values.end()));
  }
}

void LocalProducts::follow(PetscObjectState state, const AijArrays& arrays) {
  if (!invalid_ && state == state_) return;
  invalid_ = false;
  state_ = state;
  ++revision_;
  filled_rows_ = 0;
  for (PetscInt row = 0; arrays.nnz() > 0 && row < arrays.rows; ++row) {
    filled_rows_ += arrays.row_offsets[row] < arrays.row_offsets[row + 1] ? 1 : 0;
  }
  left_to_petsc_ = 0;
  suits_ = Offset{5} * filled_rows_ >
           Offset{2} * arrays.rows;  // PETSc passes over empty rows from 60 % on
}

bool LocalProducts::takes_product() {
  if (!suits_) return false;
  if (left_to_petsc_ >= settings.delay) return true;
  ++left_to_petsc_;
  return false;
}

// Brings the plan up to the present values, and makes it where there is none for this pattern.
template <class Plan, class Make>
void LocalProducts::keep_up(Planned<Plan>& planned, const AijArrays& arrays, const Make& make) {
  if (planned.revision == revision_) return;
  const Matrix matrix = matrix_over(arrays);
  if (planned.revision != 0) {
    try {
      planned.plan.update_values(matrix);
      planned.revision = revision_;
      return;
    } catch (const Error&) {
      // Another pattern, or values that the format refuses.
    }
  }
  planned = {};
  planned.plan = make(matrix);
  planned.workspace = planned.plan.make_workspace();
  planned.revision = revision_;
}

void LocalProducts::plan(const AijArrays& arrays, bool transposed) {
  keep_up(products_[transposed], arrays, [&](const Matrix& matrix) {
    return plan_product(matrix, settings.for_products(transposed));
  });
}

void LocalProducts::multiply(bool transposed, std::span<const PetscScalar> x, PetscScalar beta,
                             std::span<PetscScalar> y) {
  auto& [plan, workspace, revision] = products_[transposed];
  plan.apply(PetscScalar{1}, x, beta, y, workspace);
}

bool LocalProducts::needs_power_plan(int power) const {
  // A plan for more powers makes fewer, too.
  return powers_.revision != revision_ || powers_.plan.power() < power;
}

void LocalProducts::plan_powers(const AijArrays& arrays, int power) {
  if (powers_.revision != 0 && powers_.plan.power() < power) powers_ = {};
  keep_up(powers_, arrays, [&](const Matrix& matrix) {
    return strata::plan_powers(matrix, settings.for_powers(power));
  });
}

std::span<const PetscScalar> LocalProducts::powers(int power, std::span<const PetscScalar> x) {
  const Offset elements = checked_multiply<Offset>(std::ssize(x), power, "the elements of powers");
  if (std::ssize(power_vectors_) < elements) power_vectors_.resize(elements);
  const std::span vectors(power_vectors_.data(), static_cast<std::size_t>(elements));
  powers_.plan.apply_first(power, x, vectors, powers_.workspace);
  return vectors;
}

std::string LocalProducts::explain(const AijArrays& arrays) {
  if (!suits_) {
    return fmt::format("{}: products are PETSc's own.\n",
                       arrays.nnz() == 0 ? "No entries" : "Most rows are empty");
  }
  plan(arrays, false);
  std::string text = products_[0].plan.explain();
  if (products_[1].revision != 0) {
    text += "Products with the transpose:\n" + products_[1].plan.explain();
  }
  if (powers_.revision != 0) text += "Powers:\n" + powers_.plan.explain();
  return text;
}

}  // namespace strata::petsc
