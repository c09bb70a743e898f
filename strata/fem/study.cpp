#include "strata/fem/study.hpp"

#include <cmath>
#include <utility>

#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "strata/solvers/cg.hpp"
#include "strata/solvers/linear_solver.hpp"
#include "strata/solvers/processor_space.hpp"
#include "strata/solvers/timed_operator.hpp"

namespace strata::fem {

namespace {

using solvers::RunningClock;

FemSolution solve_assembled(const FemSystem& system, Format format, std::span<double> u,
                            const FemOptions& options) {
  FemSolution solution;
  const RunningClock clock;
  solvers::LinearSolver<double, Unknown> solver(
      system.matrix,
      {.method = solvers::Method::cg,
       .product = {.format = format, .threads = options.threads, .profile = options.profile}});
  solution.setup_seconds = clock.seconds();
  solution.variant = format_text(solver.plan().choice());
  solution.matrix_bytes = solver.plan().choice().format_bytes;
  solution.result = solver.solve(system.load, u, options.solve);
  return solution;
}

FemSolution solve_local(const FemSystem& system, bool symmetric, std::span<double> u,
                        const FemOptions& options) {
  using Space = solvers::ProcessorSpace<double>;
  const ThreadCountScope scope(options.threads);
  FemSolution solution;
  const RunningClock setup;
  const LocalMatrices local(system.mesh, system.problem.diffusivity, {.symmetric = symmetric});
  solution.setup_seconds = setup.seconds();
  solution.variant = symmetric ? "half of each local matrix" : "local matrices";
  solution.matrix_bytes = local.bytes();
  const RunningClock clock;
  Space space(system.mesh.unknowns(), options.threads);
  double products = 0;
  const solvers::Operator<Space> a = solvers::timed<Space>(
      [&](std::span<const double> x, std::span<double> y) { local.multiply(x, y); }, products);
  solution.result = conjugate_gradients<Space>(space, a, {}, {system.load}, u, options.solve);
  solution.result.times = {.total = clock.seconds(), .products = products};
  return solution;
}

}  // namespace

std::string_view name_of(MatrixForm form) {
  switch (form) {
    case MatrixForm::csr: return "csr";
    case MatrixForm::ell: return "ell";
    case MatrixForm::packed_sell: return "packed-sell";
    case MatrixForm::lma: return "lma";
    case MatrixForm::lma_symmetric: return "lma-symmetric";
  }
  return "";
}

bool is_local(MatrixForm form) {
  return form == MatrixForm::lma || form == MatrixForm::lma_symmetric;
}

Format format_of(MatrixForm form) {
  switch (form) {
    case MatrixForm::csr: return Format::csr;
    case MatrixForm::ell: return Format::ell;
    case MatrixForm::packed_sell: return Format::packed_sell;
    default: throw InvalidArgument("local matrices have no format");
  }
}

FemSystem::FemSystem(const QuadMesh& of_mesh, Diffusion of_problem)
    : mesh(of_mesh),
      problem(std::move(of_problem)),
      matrix(assembled(LocalMatrices(mesh, problem.diffusivity))),
      load(load_vector(mesh, problem.source)) {}

FemSolution solve(const FemSystem& system, MatrixForm form, std::span<double> u,
                  const FemOptions& options) {
  FemSolution solution = is_local(form)
                             ? solve_local(system, form == MatrixForm::lma_symmetric, u, options)
                             : solve_assembled(system, format_of(form), u, options);
  solution.residual = residual_of(system, u);
  if (solution.result.products > 0) {
    solution.seconds_per_product =
        solution.result.times.products / static_cast<double>(solution.result.products);
  }
  return solution;
}

double residual_of(const FemSystem& system, std::span<const double> u) {
  std::vector<double> left = system.load;
  reference::spmv(system.matrix, -1.0, u, 1.0, left);
  double square = 0, whole = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    square += left[i] * left[i];
    whole += system.load[i] * system.load[i];
  }
  return std::sqrt(square / whole);
}

Convergence convergence_of(
    int degree, Offset elements,
    const std::function<void(const FemSystem& system, std::span<double> u)>& solve_system) {
  const auto error = [&](Offset count) {
    const FemSystem system({.nx = count, .ny = count, .degree = degree});
    std::vector<double> u(system.load.size(), 0.0);
    solve_system(system, u);
    return l2_error(system.mesh, u, system.problem.solution);
  };
  Convergence convergence{.coarse_error = error(elements), .fine_error = error(2 * elements)};
  convergence.order = std::log2(convergence.coarse_error / convergence.fine_error);
  return convergence;
}

}  // namespace strata::fem
