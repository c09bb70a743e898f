#include "strata/petsc/operations.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <string_view>
#include <type_traits>

#include "strata/petsc.h"

namespace strata::petsc {

namespace {

// visit(operation, function) for each of them.
template <class Members, class Visit>
PetscErrorCode for_each(Members& operations, const Visit& visit) {
  PetscFunctionBegin;
  PetscCall(visit(MATOP_MULT, operations.multiply));
  PetscCall(visit(MATOP_MULT_TRANSPOSE, operations.multiply_transposed));
  PetscCall(visit(MATOP_MULT_ADD, operations.multiply_add));
  PetscCall(visit(MATOP_MULT_TRANSPOSE_ADD, operations.multiply_transposed_add));
  PetscCall(visit(MATOP_ASSEMBLY_END, operations.assembly_end));
  PetscCall(visit(MATOP_VIEW, operations.view));
  PetscCall(visit(MATOP_DESTROY, operations.destroy));
  PetscFunctionReturn(kSuccess);
}

// Of a user's options it heeds none, such as one that would give it another type.
PetscErrorCode create_empty(MatType type, Mat* matrix) {
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, matrix));
  PetscCall(MatSetOptionsPrefix(*matrix, "strata_empty_"));
  PetscCall(MatSetSizes(*matrix, 0, 0, 0, 0));
  PetscCall(MatSetType(*matrix, type));
  PetscFunctionReturn(kSuccess);
}

// What PETSc asks matrices for.
constexpr const char* kRetrieveValues = "MatRetrieveValues_C";

struct Name {
  explicit Name(const char* of) { std::snprintf(text.data(), text.size(), "%s", of); }
  Name(const char* what, const char* from, const char* to) {
    std::snprintf(text.data(), text.size(), "%s_%s_%s_C", what, from, to);
  }
  std::array<char, 128> text = {};
};
Name converter_name(const char* from, const char* to) {
  return {"MatConvert", from, to};
}
Name dense_product_name(const char* sparse, const char* dense) {
  return {"MatProductSetFromOptions", sparse, dense};
}

// Composes what PETSc looks for by name, or takes it away again.
PetscErrorCode compose(const DerivedType& type, Mat matrix, bool composed) {
  PetscFunctionBegin;
  const auto object = reinterpret_cast<PetscObject>(matrix);
  const Base* of_base = nullptr;
  PetscCall(type.get_base(&of_base));
  const auto set = [&](const Name& as, auto function) {
    return PetscObjectComposeFunction(object, as.text.data(), composed ? function : nullptr);
  };
  PetscCall(set(Name("MatStrataPowers_C"), type.powers));
  PetscCall(set(converter_name(type.name, type.base), type.to_base));
  // Asked of the matrix that is converted into, by the name that the user has for its type.
  PetscCall(set(converter_name(type.base, type.name), type.from_base));
  PetscCall(set(converter_name(type.base, MATSTRATA), type.from_base));
  for (const char* other : type.convertible) {
    Operation converter = nullptr;
    PetscCall(
        PetscObjectQueryFunction(object, converter_name(type.base, other).text.data(), &converter));
    if (converter != nullptr) PetscCall(set(converter_name(type.name, other), converter));
  }
  if (of_base->dense_product != nullptr) {
    PetscCall(set(dense_product_name(type.name, type.dense), of_base->dense_product));
  }
  if (type.retrieve_values != nullptr) {
    PetscCall(PetscObjectComposeFunction(
        object, kRetrieveValues, composed ? type.retrieve_values : of_base->retrieve_values));
  }
  PetscFunctionReturn(kSuccess);
}

}  // namespace

PetscErrorCode set_operations(Mat matrix, const Operations& operations) {
  return for_each(operations, [&](MatOperation operation, auto function) {
    return MatSetOperation(matrix, operation, reinterpret_cast<Operation>(function));
  });
}

PetscErrorCode DerivedType::get_base(const Base** found) const {
  PetscFunctionBegin;
  if (known.operations.multiply == nullptr) {
    Mat fresh = nullptr;
    PetscCall(create_empty(base, &fresh));
    PetscCall(for_each(known.operations, [&](MatOperation operation, auto& function) {
      Operation given = nullptr;
      const PetscErrorCode error = MatGetOperation(fresh, operation, &given);
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(given);
      return error;
    }));
    PetscCall(PetscObjectQueryFunction(reinterpret_cast<PetscObject>(fresh), kRetrieveValues,
                                       &known.retrieve_values));
    PetscCall(MatDestroy(&fresh));
    PetscCall(create_empty(dense, &fresh));
    PetscCall(PetscObjectQueryFunction(reinterpret_cast<PetscObject>(fresh),
                                       dense_product_name(base, dense).text.data(),
                                       &known.dense_product));
    PetscCall(MatDestroy(&fresh));
  }
  *found = &known;
  PetscFunctionReturn(kSuccess);
}

PetscErrorCode DerivedType::give(Mat matrix) const {
  PetscFunctionBegin;
  PetscCall(set_operations(matrix, operations));
  PetscCall(compose(*this, matrix, true));
  PetscCall(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(matrix), name));
  PetscFunctionReturn(kSuccess);
}

PetscErrorCode DerivedType::take(Mat matrix) const {
  PetscFunctionBegin;
  const Base* of_base = nullptr;
  PetscCall(get_base(&of_base));
  PetscCall(set_operations(matrix, of_base->operations));
  PetscCall(compose(*this, matrix, false));
  PetscCall(PetscObjectCompose(reinterpret_cast<PetscObject>(matrix), kCompanion, nullptr));
  PetscCall(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(matrix), base));
  PetscFunctionReturn(kSuccess);
}

PetscErrorCode check_powers(Mat matrix, PetscInt p, Vec x, Vec y[]) {
  PetscFunctionBegin;
  const MPI_Comm ranks = PetscObjectComm(reinterpret_cast<PetscObject>(matrix));
  PetscBool assembled = PETSC_FALSE;
  PetscInt rows = 0;
  PetscInt cols = 0;
  PetscCall(MatAssembled(matrix, &assembled));
  PetscCheck(assembled == PETSC_TRUE, ranks, PETSC_ERR_ARG_WRONGSTATE,
             "Powers of a matrix that is not assembled");
  PetscCall(MatGetSize(matrix, &rows, &cols));
  PetscCheck(rows == cols, ranks, PETSC_ERR_ARG_SIZ,
             "Powers of a matrix that is not square: %" PetscInt_FMT " x %" PetscInt_FMT, rows,
             cols);
  PetscCheck(p >= 1, ranks, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " powers of a matrix", p);
  PetscCall(MatGetLocalSize(matrix, &rows, &cols));
  for (PetscInt k = -1; k < p; ++k) {
    const Vec vector = k < 0 ? x : y[k];
    PetscInt size = 0;
    PetscCheck(k < 0 || vector != x, ranks, PETSC_ERR_ARG_IDN, "A power in place of x");
    PetscCall(VecGetLocalSize(vector, &size));
    PetscCheck(size == rows, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
               "A vector of %" PetscInt_FMT " local rows for powers of a matrix of %" PetscInt_FMT,
               size, rows);
  }
  PetscFunctionReturn(kSuccess);
}

int clamped_power(PetscInt p) {
  return static_cast<int>(std::min<PetscInt>(p, std::numeric_limits<int>::max()));
}

PetscErrorCode copy_powers(std::span<const PetscScalar> all, PetscInt p, Vec y[]) {
  PetscFunctionBegin;
  const std::size_t rows = all.size() / static_cast<std::size_t>(p);
  for (PetscInt k = 0; k < p; ++k) {
    PetscScalar* elements = nullptr;
    PetscCall(VecGetArrayWrite(y[k], &elements));
    std::ranges::copy(all.subspan(static_cast<std::size_t>(k) * rows, rows), elements);
    PetscCall(VecRestoreArrayWrite(y[k], &elements));
  }
  PetscFunctionReturn(kSuccess);
}

namespace {
PetscLogEvent planning = 0;
}

PetscErrorCode register_plan_event() {
  return PetscLogEventRegister("MatStrataPlan", MAT_CLASSID, &planning);
}

PetscLogEvent plan_event() {
  return planning;
}

PetscErrorCode print_lines(PetscViewer viewer, const std::string& text, bool of_all) {
  PetscFunctionBegin;
  if (of_all) PetscCall(PetscViewerASCIIPushSynchronized(viewer));
  const auto print = of_all ? PetscViewerASCIISynchronizedPrintf : PetscViewerASCIIPrintf;
  std::string_view rest(text);
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    PetscCall(print(viewer, "%.*s\n", static_cast<int>(line.size()), line.data()));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  if (of_all) {
    PetscCall(PetscViewerFlush(viewer));
    PetscCall(PetscViewerASCIIPopSynchronized(viewer));
  }
  PetscFunctionReturn(kSuccess);
}

PetscErrorCode wants_words(PetscViewer viewer, bool* words, bool* in_detail) {
  PetscFunctionBegin;
  PetscBool ascii = PETSC_FALSE;
  PetscViewerFormat format = PETSC_VIEWER_DEFAULT;
  PetscCall(
      PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  if (ascii == PETSC_TRUE) PetscCall(PetscViewerGetFormat(viewer, &format));
  *in_detail = format == PETSC_VIEWER_ASCII_INFO_DETAIL;
  *words = *in_detail || format == PETSC_VIEWER_ASCII_INFO;
  PetscFunctionReturn(kSuccess);
}

}  // namespace strata::petsc
