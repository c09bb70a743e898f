// The finite element study of Reguly and Giles (diffusion.hpp): conjugate gradients with one
// stiffness matrix in several forms, assembled in CSR, ELLPACK and packed SELL, or as local
// matrices (local_matrices.hpp).
//
//   const FemSystem system({.nx = 100, .ny = 100, .degree = 3});
//   std::vector<double> u(system.load.size());
//   const FemSolution found = solve(system, MatrixForm::lma, u);
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/bench/timing.hpp"
#include "strata/fem/diffusion.hpp"
#include "strata/fem/local_matrices.hpp"
#include "strata/formats/format.hpp"
#include "strata/machine/profile.hpp"
#include "strata/solvers/solve_result.hpp"

namespace strata::fem {

enum class MatrixForm {
  csr,
  ell,
  packed_sell,
  lma,           // local matrices, all of their values
  lma_symmetric  // half of them
};
inline constexpr MatrixForm kMatrixForms[] = {MatrixForm::csr, MatrixForm::ell,
                                              MatrixForm::packed_sell, MatrixForm::lma,
                                              MatrixForm::lma_symmetric};
std::string_view name_of(MatrixForm form);
bool is_local(MatrixForm form);
// Of those that are assembled.
Format format_of(MatrixForm form);

// A problem on a mesh, ready to be solved: K, in one form, and the load vector.
struct FemSystem {
  explicit FemSystem(const QuadMesh& mesh, Diffusion problem = manufactured_diffusion());

  QuadMesh mesh;
  Diffusion problem;
  Matrix matrix;
  std::vector<double> load;
};

struct FemSolution {
  solvers::SolveResult result;  // of the last time that it was solved
  Timing timing;                // of all times
  std::string variant;          // how products run, in words
  double setup_seconds = 0;     // plans, or local matrices
  Offset matrix_bytes = 0;      // that a product reads of the matrix
  double residual = 0;  // |load - Ku|/|load| by a reference product with the assembled matrix
  double seconds_per_product = 0;

  double iterations_per_second() const {
    return timing.median > 0 ? result.iterations / timing.median : 0;
  }
};

struct FemOptions {
  solvers::SolveOptions solve = {};
  int repetitions = 1;                      // how often it is solved, from the same guess
  bool single_precision = false;            // matrix and vectors, while it is solved
  int threads = 0;                          // 0: as many as there are
  const MachineProfile* profile = nullptr;  // for plans; none: that of this machine
};

// By conjugate gradients on processors; `u` has the first guess and gets the solution. Throws what
// plans throw.
FemSolution solve(const FemSystem& system, MatrixForm form, std::span<double> u,
                  const FemOptions& options = {});

// |load - Ku|/|load|.
double residual_of(const FemSystem& system, std::span<const double> u);

// Errors of solutions on one mesh and on one of half its size in each direction, and the order that
// they make: degree + 1 for smooth solutions.
struct Convergence {
  double coarse_error = 0;
  double fine_error = 0;
  double order = 0;
};
// On elements × elements and twice as many, by `solve_system`, which has to converge.
Convergence convergence_of(
    int degree, Offset elements,
    const std::function<void(const FemSystem& system, std::span<double> u)>& solve_system);

}  // namespace strata::fem
