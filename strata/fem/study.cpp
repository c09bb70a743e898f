#include "strata/fem/study.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "strata/plans/product_plan.hpp"
#include "strata/solvers/cg.hpp"
#include "strata/solvers/processor_space.hpp"
#include "strata/solvers/timed_operator.hpp"

namespace strata::fem {

namespace {

using solvers::RunningClock;

template <class Real>
using Space = solvers::ProcessorSpace<Real>;

// From and to vectors in the order of the product.
template <class Real>
void run_cg(FemSolution& solution, Space<Real>& space,
            const solvers::Operator<Space<Real>>& product, std::span<const Real> load,
            std::span<Real> u, const FemOptions& options) {
  const std::vector<Real> guess(u.begin(), u.end());
  std::vector<double> seconds;
  double products = 0;
  for (int k = 0; k < options.repetitions; ++k) {
    std::copy(guess.begin(), guess.end(), u.begin());
    products = 0;
    const RunningClock clock;
    solution.result = solvers::conjugate_gradients<Space<Real>>(
        space, solvers::timed<Space<Real>>(product, products), {}, load, u, options.solve);
    seconds.push_back(clock.seconds());
  }
  solution.timing = summarise(seconds);
  solution.result.times = {.total = seconds.back(), .products = products};
  if (solution.result.products > 0) {
    solution.seconds_per_product = products / static_cast<double>(solution.result.products);
  }
}

template <class Real>
FemSolution solve_assembled(const FemSystem& system, Format format, std::span<const Real> load,
                            std::span<Real> u, const FemOptions& options) {
  FemSolution solution;
  const auto matrix = converted<Real, Unknown>(system.matrix);
  const RunningClock clock;
  const auto plan = plan_product(matrix, {.vector_order = VectorOrder::plan,
                                          .format = format,
                                          .threads = options.threads,
                                          .profile = options.profile});
  auto workspace = plan.make_workspace();
  solution.setup_seconds = clock.seconds();
  solution.variant = format_text(plan.choice());
  solution.matrix_bytes = plan.choice().format_bytes;
  Space<Real> space(plan.x_rows(), plan.threads());
  auto ordered = space.make_vector(), x = space.make_vector();
  plan.to_plan_order(load, ordered);
  plan.to_plan_order(u, x);
  run_cg<Real>(
      solution, space,
      [&](std::span<const Real> from, std::span<Real> to) { plan.apply(from, to, workspace); },
      ordered, x, options);
  plan.to_caller_order(x, u);
  return solution;
}

template <class Real>
FemSolution solve_local(const FemSystem& system, bool symmetric, std::span<const Real> load,
                        std::span<Real> u, const FemOptions& options) {
  const ThreadCountScope scope(options.threads);
  FemSolution solution;
  const RunningClock clock;
  const LocalMatrices<Real> local(system.mesh, system.problem.diffusivity,
                                  {.symmetric = symmetric});
  solution.setup_seconds = clock.seconds();
  solution.variant = symmetric ? "half of each local matrix" : "local matrices";
  solution.matrix_bytes = local.bytes();
  Space<Real> space(system.mesh.unknowns(), options.threads);
  run_cg<Real>(
      solution, space, [&](std::span<const Real> x, std::span<Real> y) { local.multiply(x, y); },
      load, u, options);
  return solution;
}

template <class Real>
FemSolution solve_in(const FemSystem& system, MatrixForm form, std::span<double> u,
                     const FemOptions& options) {
  const std::vector<Real> load(system.load.begin(), system.load.end());
  std::vector<Real> inside(u.begin(), u.end());
  FemSolution solution =
      is_local(form)
          ? solve_local<Real>(system, form == MatrixForm::lma_symmetric, load, inside, options)
          : solve_assembled<Real>(system, format_of(form), load, inside, options);
  std::copy(inside.begin(), inside.end(), u.begin());
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
  if (options.repetitions < 1) throw InvalidArgument("a system that is solved no time");
  FemSolution solution = options.single_precision ? solve_in<float>(system, form, u, options)
                                                  : solve_in<double>(system, form, u, options);
  solution.residual = residual_of(system, u);
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
