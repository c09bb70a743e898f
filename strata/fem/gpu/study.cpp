#include "strata/fem/gpu/study.hpp"

#include <utility>

#include "strata/device/array.hpp"
#include "strata/device/timing.hpp"
#include "strata/fem/gpu/device_local_matrices.hpp"
#include "strata/solvers/cg.hpp"
#include "strata/solvers/gpu/device_space.hpp"
#include "strata/solvers/gpu/linear_solver.hpp"
#include "strata/solvers/timed_operator.hpp"

namespace strata::gpu {

using fem::FemSolution;
using fem::FemSystem;
using fem::MatrixForm;
using solvers::RunningClock;

namespace {

FemSolution solve_assembled(const FemSystem& system, Format format, std::span<double> u,
                            const solvers::SolveOptions& options, Stream& stream) {
  FemSolution solution;
  const RunningClock clock;
  LinearSolver<double> solver(
      system.matrix, {.method = solvers::Method::cg, .product = {.format = format}}, stream);
  solution.setup_seconds = clock.seconds();
  solution.variant = format_text(solver.plan().choice());
  solution.matrix_bytes = solver.plan().choice().format_bytes;
  solution.result = solver.solve(std::span<const double>(system.load), u, options);
  solution.seconds_per_product = solver.product_seconds();
  return solution;
}

FemSolution solve_local(const FemSystem& system, bool symmetric, std::span<double> u,
                        const solvers::SolveOptions& options, Stream& stream) {
  using Space = DeviceSpace<double>;
  FemSolution solution;
  const RunningClock setup;
  const fem::LocalMatrices local(system.mesh, system.problem.diffusivity,
                                 {.symmetric = symmetric, .block = 0});
  const DeviceLocalMatrices device(local, stream);
  solution.setup_seconds = setup.seconds();
  solution.variant = symmetric ? "half of each local matrix" : "local matrices";
  solution.matrix_bytes = local.bytes();

  const auto load = to_device(std::span<const double>(system.load), stream);
  auto x = to_device(std::span<const double>(u), stream);
  const RunningClock clock;
  Space space(device.rows(), stream);
  const solvers::Operator<Space> a = [&](DeviceSpan<const double> from, DeviceSpan<double> to) {
    device.multiply(from, to, stream);
  };
  solution.result =
      solvers::conjugate_gradients<Space>(space, a, {}, load.span(), x.span(), options);
  stream.synchronize();
  solution.result.times.total = clock.seconds();
  copy(std::as_const(x).span(), u, stream);
  stream.synchronize();

  auto y = space.make_vector();
  solution.seconds_per_product =
      time_runs([&] { device.multiply(std::as_const(x).span(), y, stream); },
                {.min_seconds = 0.02, .min_repetitions = kDeviceRepetitions},
                device_stopwatch(stream))
          .median;
  return solution;
}

}  // namespace

FemSolution solve(const FemSystem& system, MatrixForm form, std::span<double> u,
                  const solvers::SolveOptions& options, Stream& stream) {
  FemSolution solution =
      is_local(form) ? solve_local(system, form == MatrixForm::lma_symmetric, u, options, stream)
                     : solve_assembled(system, format_of(form), u, options, stream);
  solution.residual = residual_of(system, u);
  solution.result.times.products =
      solution.seconds_per_product * static_cast<double>(solution.result.products);
  return solution;
}

}  // namespace strata::gpu
