#include "strata/petsc/solver.hpp"

#include <petsc/private/kspimpl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "strata/base/checked.hpp"
#include "strata/distributed/linear_solver.hpp"
#include "strata/petsc/distributed.hpp"
#include "strata/petsc/errors.hpp"
#include "strata/petsc/local_products.hpp"
#include "strata/petsc/operations.hpp"
#include "strata/petsc/settings.hpp"
#include "strata/solvers/linear_solver.hpp"

namespace strata::petsc {

namespace {

using Solver = solvers::LinearSolver<PetscScalar, PetscInt>;

// The same on several ranks.
struct RankedSolver {
  explicit RankedSolver(MPI_Comm original) : ranks(original) {}

  distributed::Communicator ranks;
  std::unique_ptr<distributed::LinearSolver<PetscScalar>> solver = {};
};

struct Method {
  solvers::LinearSolverOptions options = {};
  // One of them, if any.
  std::unique_ptr<Solver> solver = {};
  std::unique_ptr<RankedSolver> ranked = {};
  // Of the matrix that it was made for.
  PetscObjectId matrix = 0;
  ParallelStates states = {};

  bool made_for(PetscObjectId id) const {
    return matrix == id && (solver != nullptr || ranked != nullptr);
  }
  void forget() {
    solver.reset();
    ranked.reset();
  }
  solvers::SolveResult solve(std::span<const PetscScalar> b, std::span<PetscScalar> x,
                             const solvers::SolveOptions& solve_options) {
    return solver != nullptr ? solver->solve(b, x, solve_options)
                             : ranked->solver->solve(b, x, solve_options);
  }
  std::string explain() const {
    if (solver != nullptr) return solver->explain();
    return ranked != nullptr ? ranked->solver->explain() : std::string();
  }
};

Method& method_of(KSP ksp) {
  return *static_cast<Method*>(ksp->data);
}

PetscErrorCode is_derived(Mat matrix, MatType from, PetscBool* derived) {
  return PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(matrix), from, derived);
}

PetscErrorCode set_up(KSP ksp) {
  PetscFunctionBegin;
  PetscBool aij = PETSC_FALSE;
  PetscBool none = PETSC_FALSE;
  Mat matrix = nullptr;
  PC preconditioner = nullptr;
  MatType type = nullptr;
  const MPI_Comm all = PetscObjectComm(reinterpret_cast<PetscObject>(ksp));
  const char* name = reinterpret_cast<PetscObject>(ksp)->type_name;
  PetscCall(KSPGetOperators(ksp, &matrix, nullptr));
  PetscCall(MatGetType(matrix, &type));
  PetscCall(is_derived(matrix, MATSEQAIJ, &aij));
  if (aij == PETSC_FALSE) PetscCall(is_derived(matrix, MATMPIAIJ, &aij));
  PetscCheck(aij == PETSC_TRUE, all, PETSC_ERR_SUP,
             "%s needs a matrix of type strata or aij, not %s", name, type);
  PetscCall(KSPGetPC(ksp, &preconditioner));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(preconditioner), PCNONE, &none));
  PetscCheck(none == PETSC_TRUE, all, PETSC_ERR_SUP,
             "%s has no preconditioner: -pc_type none is needed", name);
  PetscFunctionReturn(kSuccess);
}

// Makes the solver, or has it follow the values of the matrix.
PetscErrorCode prepare_sequential(Method& method, Mat matrix, PetscObjectId id) {
  PetscFunctionBegin;
  ParallelStates states;
  PetscCall(get_state(matrix, &states.whole));
  if (method.made_for(id) && method.states == states) PetscFunctionReturn(kSuccess);
  Settings settings;
  AijArrays arrays;
  PetscCall(read_settings(matrix, &settings));
  PetscCall(get_arrays(matrix, &arrays));
  PetscCall(guarded([&] {
    const Matrix present = matrix_over(arrays);
    if (method.made_for(id)) {
      try {
        method.solver->update_values(present);
        return;
      } catch (const InvalidArgument&) {
        // Another pattern.
      }
    }
    method.forget();
    method.options.product = settings.for_solvers();
    method.solver = std::make_unique<Solver>(present, method.options);
  }));
  method.matrix = id;
  method.states = states;
  PetscFunctionReturn(kSuccess);
}

PetscErrorCode prepare_parallel(Method& method, Mat matrix, PetscObjectId id) {
  PetscFunctionBegin;
  ParallelArrays arrays;
  PetscCall(get_parallel_arrays(matrix, &arrays));
  bool made = !method.made_for(id) || method.states != arrays.states;
  PetscCall(on_any_rank(matrix, made, &made));
  if (!made) PetscFunctionReturn(kSuccess);
  Settings settings;
  const MPI_Comm ranks = PetscObjectComm(reinterpret_cast<PetscObject>(matrix));
  PetscCall(read_settings(matrix, &settings));
  PetscCall(guarded([&] {
    method.forget();
    method.options.product = settings.for_solvers();
    auto ranked = std::make_unique<RankedSolver>(ranks);
    ranked->solver = std::make_unique<distributed::LinearSolver<PetscScalar>>(
        ranked->ranks, distributed_matrix(ranked->ranks, arrays), method.options);
    method.ranked = std::move(ranked);
  }));
  method.matrix = id;
  method.states = arrays.states;
  PetscFunctionReturn(kSuccess);
}

PetscErrorCode prepare(Method& method, Mat matrix) {
  PetscFunctionBegin;
  PetscObjectId id = 0;
  PetscBool sequential = PETSC_FALSE;
  PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(matrix), &id));
  PetscCall(is_derived(matrix, MATSEQAIJ, &sequential));
  PetscCall((sequential == PETSC_TRUE ? prepare_sequential : prepare_parallel)(method, matrix, id));
  PetscFunctionReturn(kSuccess);
}

// ‖b − Ax‖
PetscErrorCode residual_norm(Mat matrix, Vec b, Vec x, PetscReal* norm) {
  PetscFunctionBegin;
  Vec residual = nullptr;
  PetscCall(VecDuplicate(b, &residual));
  PetscCall(MatMult(matrix, x, residual));
  PetscCall(VecAYPX(residual, -1.0, b));
  PetscCall(VecNorm(residual, NORM_2, norm));
  PetscCall(VecDestroy(&residual));
  PetscFunctionReturn(kSuccess);
}

// Tells PETSc of an iteration and asks it whether to go on.
PetscErrorCode report(KSP ksp, PetscInt iteration, PetscReal norm) {
  PetscFunctionBegin;
  ksp->its = iteration;
  ksp->rnorm = norm;
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, iteration, norm));
  PetscCall((*ksp->converged)(ksp, iteration, norm, &ksp->reason, ksp->cnvP));
  PetscFunctionReturn(kSuccess);
}

KSPConvergedReason reason_of(solvers::SolveStatus status, bool by_absolute_tolerance) {
  switch (status) {
    case solvers::SolveStatus::converged:
      return by_absolute_tolerance ? KSP_CONVERGED_ATOL : KSP_CONVERGED_RTOL;
    case solvers::SolveStatus::most_iterations: return KSP_DIVERGED_ITS;
    case solvers::SolveStatus::not_definite: return KSP_DIVERGED_INDEFINITE_MAT;
    case solvers::SolveStatus::not_finite: return KSP_DIVERGED_NANORINF;
    default: return KSP_DIVERGED_BREAKDOWN;
  }
}

PetscErrorCode solve(KSP ksp) {
  PetscFunctionBegin;
  Method& method = method_of(ksp);
  Mat matrix = nullptr;
  Vec b = nullptr;
  Vec x = nullptr;
  PetscReal norm_of_b = 0;
  PetscReal first_norm = 0;
  PetscReal relative = 0;
  PetscReal absolute = 0;
  PetscInt most = 0;
  PetscCall(KSPGetOperators(ksp, &matrix, nullptr));
  PetscCall(KSPGetRhs(ksp, &b));
  PetscCall(KSPGetSolution(ksp, &x));
  PetscCall(KSPGetTolerances(ksp, &relative, &absolute, nullptr, &most));
  PetscCall(VecNorm(b, NORM_2, &norm_of_b));
  if (ksp->guess_zero == PETSC_TRUE) {
    PetscCall(VecSet(x, 0.0));
    first_norm = norm_of_b;
  } else {
    PetscCall(residual_norm(matrix, b, x, &first_norm));
  }
  ksp->reason = KSP_CONVERGED_ITERATING;
  PetscCall(report(ksp, 0, first_norm));
  if (ksp->reason != KSP_CONVERGED_ITERATING) PetscFunctionReturn(kSuccess);
  if (norm_of_b == 0) {  // whatever the first guess was
    PetscCall(VecSet(x, 0.0));
    ksp->rnorm = 0;
    ksp->reason = KSP_CONVERGED_ATOL;
    PetscFunctionReturn(kSuccess);
  }
  PetscCall(prepare(method, matrix));

  PetscInt rows = 0;
  PetscCall(VecGetLocalSize(b, &rows));
  const auto size = static_cast<std::size_t>(rows);
  const PetscScalar* b_elements = nullptr;
  PetscScalar* x_elements = nullptr;
  PetscErrorCode in_report = kSuccess;
  solvers::SolveResult result;
  PetscCall(VecGetArrayRead(b, &b_elements));
  PetscCall(VecGetArray(x, &x_elements));
  const PetscErrorCode error = guarded([&] {
    solvers::SolveOptions options;
    options.tolerance = std::max(relative, absolute / norm_of_b);
    options.most_iterations = static_cast<int>(std::min<PetscInt>(most, 1 << 30));
    options.progress = [&](const solvers::Iteration& iteration) {
      in_report = report(ksp, iteration.number, iteration.residual * norm_of_b);
      // What the recurrence has reached, the method checks itself; other reasons of the user's end
      // it here.
      const bool reached = ksp->reason > 0 && iteration.residual <= options.tolerance;
      const bool goes_on = in_report == kSuccess && (ksp->reason == KSP_CONVERGED_ITERATING ||
                                                     reached || ksp->reason == KSP_DIVERGED_ITS);
      if (goes_on) ksp->reason = KSP_CONVERGED_ITERATING;
      return goes_on;
    };
    result = method.solve({b_elements, size}, {x_elements, size}, options);
  });
  PetscCall(VecRestoreArrayRead(b, &b_elements));
  PetscCall(VecRestoreArray(x, &x_elements));
  PetscCall(in_report);
  PetscCall(error);
  ksp->its = result.iterations;
  ksp->rnorm = result.residual * norm_of_b;
  if (ksp->reason == KSP_CONVERGED_ITERATING) {
    ksp->reason = reason_of(result.status, absolute > relative * norm_of_b);
    PetscCall(PetscInfo(ksp, "%s\n", result.message.c_str()));
  }
  PetscFunctionReturn(kSuccess);
}

template <class Items>
PetscErrorCode set_from_options(KSP ksp, Items PetscOptionsObject) {
  PetscFunctionBegin;
  solvers::LinearSolverOptions& options = method_of(ksp).options;
  PetscInt powers = options.powers;
  PetscInt restart = options.restart;
  std::array<const char*, std::size(solvers::kKrylovBases)> names{};
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = name_of(solvers::kKrylovBases[i]).data();
  }
  auto basis = static_cast<PetscInt>(options.basis);
  PetscBool changed[3] = {};
  PetscOptionsHeadBegin(PetscOptionsObject, "Solvers of Strata");
  PetscCall(PetscOptionsInt("-ksp_strata_powers", "Iterations at a time", "docs/petsc.md", powers,
                            &powers, &changed[0]));
  PetscCall(PetscOptionsInt("-ksp_strata_restart", "Iterations of a cycle of GMRES",
                            "docs/petsc.md", restart, &restart, &changed[1]));
  PetscCall(PetscOptionsEList("-ksp_strata_basis", "Basis of the Krylov space", "docs/petsc.md",
                              names.data(), static_cast<PetscInt>(names.size()),
                              names[static_cast<std::size_t>(basis)], &basis, &changed[2]));
  PetscOptionsHeadEnd();
  PetscCall(guarded([&] {
    options.powers = narrow<int>(powers, "-ksp_strata_powers");
    options.restart = narrow<int>(restart, "-ksp_strata_restart");
    options.basis = solvers::kKrylovBases[basis];
    if (changed[0] || changed[1] || changed[2]) method_of(ksp).forget();
  }));
  PetscFunctionReturn(kSuccess);
}

PetscErrorCode view(KSP ksp, PetscViewer viewer) {
  PetscFunctionBegin;
  const solvers::LinearSolverOptions& options = method_of(ksp).options;
  bool words = false;
  bool in_detail = false;
  PetscBool ascii = PETSC_FALSE;
  PetscCall(
      PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  if (ascii == PETSC_TRUE) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %d iterations at a time, basis %s\n",
                                     options.powers, name_of(options.basis).data()));
    PetscCall(wants_words(viewer, &words, &in_detail));
    if (in_detail) {
      std::string text;
      PetscCall(guarded([&] { text = method_of(ksp).explain(); }));
      PetscCall(print_lines(viewer, text));
    }
  }
  PetscFunctionReturn(kSuccess);
}

PetscErrorCode reset(KSP ksp) {
  PetscFunctionBegin;
  method_of(ksp).forget();
  PetscFunctionReturn(kSuccess);
}

PetscErrorCode destroy(KSP ksp) {
  PetscFunctionBegin;
  delete static_cast<Method*>(ksp->data);
  ksp->data = nullptr;
  PetscFunctionReturn(kSuccess);
}

PetscErrorCode create(KSP ksp, solvers::Method method) {
  PetscFunctionBegin;
  PetscCall(guarded([&] { ksp->data = new Method{.options = {.method = method}}; }));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_RIGHT, 2));
  ksp->ops->setup = set_up;
  ksp->ops->solve = solve;
  ksp->ops->setfromoptions = set_from_options;
  ksp->ops->view = view;
  ksp->ops->reset = reset;
  ksp->ops->destroy = destroy;
  ksp->ops->buildsolution = KSPBuildSolutionDefault;
  ksp->ops->buildresidual = KSPBuildResidualDefault;
  PetscFunctionReturn(kSuccess);
}

}  // namespace

PetscErrorCode create_cacg(KSP ksp) {
  return create(ksp, solvers::Method::ca_cg);
}
PetscErrorCode create_cagmres(KSP ksp) {
  return create(ksp, solvers::Method::ca_gmres);
}

}  // namespace strata::petsc
