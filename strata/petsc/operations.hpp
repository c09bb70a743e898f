// Matrix types that derive from one of PETSc's own: some of its operations are replaced, all others
// stay, and the replaced ones can be called and put back.
#pragma once

#include <petscmat.h>

#include <array>
#include <span>
#include <string>

#include "strata/petsc/errors.hpp"

namespace strata::petsc {

// What MatSetOperation takes, which has other names in other versions.
template <class>
struct OperationOf;
template <class T>
struct OperationOf<PetscErrorCode (*)(Mat, MatOperation, T)> {
  using type = T;
};
using Operation = OperationOf<decltype(&MatSetOperation)>::type;

using Multiply = PetscErrorCode (*)(Mat, Vec, Vec);
using MultiplyAdd = PetscErrorCode (*)(Mat, Vec, Vec, Vec);
using AssemblyEnd = PetscErrorCode (*)(Mat, MatAssemblyType);
using View = PetscErrorCode (*)(Mat, PetscViewer);
using Destroy = PetscErrorCode (*)(Mat);

// Those of a type that are replaced in types that derive from it.
struct Operations {
  Multiply multiply = nullptr;
  Multiply multiply_transposed = nullptr;
  MultiplyAdd multiply_add = nullptr;
  MultiplyAdd multiply_transposed_add = nullptr;
  AssemblyEnd assembly_end = nullptr;
  View view = nullptr;
  Destroy destroy = nullptr;
};
PetscErrorCode set_operations(Mat matrix, const Operations& operations);

using Convert = PetscErrorCode (*)(Mat, MatType, MatReuse, Mat*);
using Powers = PetscErrorCode (*)(Mat, PetscInt, Vec, Vec[]);

// What PETSc gives to new matrices of a type.
struct Base {
  Operations operations = {};
  Destroy retrieve_values = nullptr;  // "MatRetrieveValues_C"
  Operation dense_product = nullptr;  // "MatProductSetFromOptions_…_C" with its dense type
};

// A type, the one that it derives from, and what PETSc looks for by their names.
struct DerivedType {
  const char* base = nullptr;
  const char* name = nullptr;
  Operations operations = {};
  Destroy retrieve_values = nullptr;  // none: that of the base
  Powers powers = nullptr;
  Convert from_base = nullptr;
  Convert to_base = nullptr;
  // Types into which AIJ converts without changing operations, and the dense one that it is
  // multiplied with.
  std::array<const char*, 6> convertible = {};
  const char* dense = nullptr;

  // Asked for once.
  PetscErrorCode get_base(const Base** found) const;
  // Gives the type to a matrix of the base, and takes it away again.
  PetscErrorCode give(Mat matrix) const;
  PetscErrorCode take(Mat matrix) const;

  // What get_base has found out.
  mutable Base known = {};
};

// MatDestroy of a type: it is taken away, and the one that it derives from does the rest.
template <const DerivedType& (*type)()>
PetscErrorCode destroy_as_base(Mat matrix) {
  PetscFunctionBegin;
  const Base* base = nullptr;
  PetscCall(type().get_base(&base));
  PetscCall(type().take(matrix));
  PetscCall(base->operations.destroy(matrix));
  PetscFunctionReturn(kSuccess);
}

// MatConvert between a type and the one that it derives from: `retype(B)` changes the type of a
// matrix B that has the values of `matrix`, and that is `matrix` if it is converted in place.
template <class Retype>
PetscErrorCode convert(Mat matrix, MatReuse reuse, Mat* converted, const Retype& retype) {
  PetscFunctionBegin;
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatCopy(matrix, *converted, DIFFERENT_NONZERO_PATTERN));
    PetscFunctionReturn(kSuccess);
  }
  Mat made = matrix;
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(matrix, MAT_COPY_VALUES, &made));
  PetscCall(retype(made));
  *converted = made;
  PetscFunctionReturn(kSuccess);
}

// Under which name a matrix carries along what is ours.
inline constexpr const char* kCompanion = "strata";

// The T that the matrix carries along; one is made where it has none, as after
// MatHeaderMerge. It is destroyed with the matrix.
template <class T>
PetscErrorCode get_companion(Mat matrix, T** companion) {
  PetscFunctionBegin;
  PetscContainer container = nullptr;
  const auto object = reinterpret_cast<PetscObject>(matrix);
  PetscCall(PetscObjectQuery(object, kCompanion, reinterpret_cast<PetscObject*>(&container)));
  if (container == nullptr) {
    T* made = nullptr;
    PetscCall(guarded([&] { made = new T; }));
    PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
    PetscCall(PetscContainerSetPointer(container, made));
#if PETSC_VERSION_GE(3, 23, 0)
    PetscCall(PetscContainerSetCtxDestroy(container, [](void** kept) -> PetscErrorCode {
      delete static_cast<T*>(*kept);
      *kept = nullptr;
      return kSuccess;
    }));
#else
    PetscCall(PetscContainerSetUserDestroy(container, [](void* kept) -> PetscErrorCode {
      delete static_cast<T*>(kept);
      return kSuccess;
    }));
#endif
    PetscCall(PetscObjectCompose(object, kCompanion, reinterpret_cast<PetscObject>(container)));
    PetscCall(PetscObjectDereference(reinterpret_cast<PetscObject>(container)));
  }
  void* kept = nullptr;
  PetscCall(PetscContainerGetPointer(container, &kept));
  *companion = static_cast<T*>(kept);
  PetscFunctionReturn(kSuccess);
}

// PETSc's count of changes to the matrix.
PetscErrorCode get_state(Mat matrix, PetscObjectState* state);

// Whether [Ax, …, A^p x] can be asked for.
PetscErrorCode check_powers(Mat matrix, PetscInt p, Vec x, Vec y[]);

// As Strata counts them: no more than memory has room for.
int clamped_power(PetscInt p);
// The p vectors in `all`, one after another, into vectors of PETSc's.
PetscErrorCode copy_powers(std::span<const PetscScalar> all, PetscInt p, Vec y[]);

// Of -log_view: planning, and having plans follow new values.
PetscErrorCode register_plan_event();
PetscLogEvent plan_event();
// Runs plan(), which may throw, as such an event of two objects.
template <class First, class Second, class Plan>
PetscErrorCode logged_plan(First first, Second second, const Plan& plan) {
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(plan_event(), first, second, 0, 0));
  PetscCall(guarded(plan));
  PetscCall(PetscLogEventEnd(plan_event(), first, second, 0, 0));
  PetscFunctionReturn(kSuccess);
}

// Runs use(the rank's elements of x), which may throw.
template <class Use>
PetscErrorCode with_elements(Vec x, PetscInt rows, const Use& use) {
  PetscFunctionBegin;
  const PetscScalar* elements = nullptr;
  PetscCall(VecGetArrayRead(x, &elements));
  const PetscErrorCode error =
      guarded([&] { use(std::span(elements, static_cast<std::size_t>(rows))); });
  PetscCall(VecRestoreArrayRead(x, &elements));
  PetscCall(error);
  PetscFunctionReturn(kSuccess);
}

// `text` line by line: that of the first rank, or of all in turn.
PetscErrorCode print_lines(PetscViewer viewer, const std::string& text, bool of_all = false);
// Whether the viewer is one for which a matrix describes itself in words.
PetscErrorCode wants_words(PetscViewer viewer, bool* words, bool* in_detail);

}  // namespace strata::petsc
