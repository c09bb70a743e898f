#include "strata/fem/gpu/study.hpp"

#include <utility>

#include "strata/device/array.hpp"
#include "strata/device/timing.hpp"
#include "strata/fem/gpu/device_local_matrices.hpp"
#include "strata/plans/gpu/product_plan.hpp"
#include "strata/solvers/cg.hpp"
#include "strata/solvers/gpu/device_space.hpp"
#include "strata/solvers/timed_operator.hpp"

namespace strata::gpu {

using fem::FemSolution;
using fem::FemSystem;
using fem::MatrixForm;
using solvers::RunningClock;

namespace {

using Space = DeviceSpace<double>;

// From and to vectors in the order of the product, which is timed by itself afterwards.
void run_cg(FemSolution& solution, Space& space, const solvers::Operator<Space>& product,
            DeviceSpan<const double> load, DeviceSpan<double> x,
            const solvers::SolveOptions& options) {
  Stream& stream = space.stream();
  stream.synchronize();
  const RunningClock clock;
  solution.result = solvers::conjugate_gradients<Space>(space, product, {}, load, x, options);
  stream.synchronize();
  solution.result.times.total = clock.seconds();
  auto y = space.make_vector();
  solution.seconds_per_product =
      time_runs([&] { product(x, y); },
                {.min_seconds = 0.02, .min_repetitions = kDeviceRepetitions},
                device_stopwatch(stream))
          .median;
  solution.result.times.products =
      solution.seconds_per_product * static_cast<double>(solution.result.products);
}

FemSolution solve_assembled(const FemSystem& system, Format format, std::span<double> u,
                            const solvers::SolveOptions& options, Stream& stream) {
  FemSolution solution;
  const RunningClock clock;
  const auto plan =
      plan_product(system.matrix, {.vector_order = VectorOrder::plan, .format = format}, stream);
  auto workspace = plan.make_workspace(stream);
  solution.setup_seconds = clock.seconds();
  solution.variant = format_text(plan.choice());
  solution.matrix_bytes = plan.choice().format_bytes;
  Space space(plan.x_rows(), stream);
  auto load = space.make_vector(), x = space.make_vector();
  const DeviceArray<double> given = to_device(std::span<const double>(system.load), stream);
  DeviceArray<double> solved = to_device(std::span<const double>(u), stream);
  plan.to_plan_order(given.span(), load.span(), stream);
  plan.to_plan_order(std::as_const(solved).span(), x.span(), stream);
  run_cg(
      solution, space,
      [&](DeviceSpan<const double> from, DeviceSpan<double> to) {
        plan.apply(from, to, workspace, stream);
      },
      load, x, options);
  plan.to_caller_order(std::as_const(x).span(), solved.span(), stream);
  copy(std::as_const(solved).span(), u, stream);
  stream.synchronize();
  return solution;
}

FemSolution solve_local(const FemSystem& system, bool symmetric, std::span<double> u,
                        const solvers::SolveOptions& options, Stream& stream) {
  FemSolution solution;
  const RunningClock clock;
  const fem::LocalMatrices local(system.mesh, system.problem.diffusivity,
                                 {.symmetric = symmetric, .block = 0});
  const DeviceLocalMatrices device(local, stream);
  solution.setup_seconds = clock.seconds();
  solution.variant = symmetric ? "half of each local matrix" : "local matrices";
  solution.matrix_bytes = local.bytes();
  Space space(device.rows(), stream);
  const auto load = to_device(std::span<const double>(system.load), stream);
  auto x = to_device(std::span<const double>(u), stream);
  run_cg(
      solution, space,
      [&](DeviceSpan<const double> from, DeviceSpan<double> to) {
        device.multiply(from, to, stream);
      },
      load.span(), x.span(), options);
  copy(std::as_const(x).span(), u, stream);
  stream.synchronize();
  return solution;
}

}  // namespace

FemSolution solve(const FemSystem& system, MatrixForm form, std::span<double> u,
                  const solvers::SolveOptions& options, Stream& stream) {
  FemSolution solution =
      is_local(form) ? solve_local(system, form == MatrixForm::lma_symmetric, u, options, stream)
                     : solve_assembled(system, format_of(form), u, options, stream);
  solution.residual = residual_of(system, u);
  return solution;
}

}  // namespace strata::gpu
