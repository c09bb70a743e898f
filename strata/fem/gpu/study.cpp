#include "strata/fem/gpu/study.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "strata/base/error.hpp"
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

template <class Real>
using Space = DeviceSpace<Real>;

// From and to vectors in the order of the product, which is timed by itself afterwards.
template <class Real>
void run_cg(FemSolution& solution, Space<Real>& space,
            const solvers::Operator<Space<Real>>& product, DeviceSpan<const Real> load,
            DeviceSpan<Real> x, const fem::FemOptions& options) {
  Stream& stream = space.stream();
  DeviceArray<Real> guess(x.size());
  copy(DeviceSpan<const Real>(x), guess.span(), stream);
  std::vector<double> seconds;
  for (int k = 0; k < options.repetitions; ++k) {
    copy(std::as_const(guess).span(), x, stream);
    stream.synchronize();
    const RunningClock clock;
    solution.result =
        solvers::conjugate_gradients<Space<Real>>(space, product, {}, load, x, options.solve);
    stream.synchronize();
    seconds.push_back(clock.seconds());
  }
  solution.timing = summarise(seconds);
  solution.result.times.total = seconds.back();
  auto y = space.make_vector();
  solution.seconds_per_product =
      time_runs([&] { product(x, y); },
                {.min_seconds = 0.02, .min_repetitions = kDeviceRepetitions},
                device_stopwatch(stream))
          .median;
  solution.result.times.products =
      solution.seconds_per_product * static_cast<double>(solution.result.products);
}

template <class Real>
FemSolution solve_assembled(const FemSystem& system, Format format, DeviceSpan<const Real> load,
                            DeviceSpan<Real> u, const fem::FemOptions& options, Stream& stream) {
  FemSolution solution;
  const auto matrix = converted<Real, fem::Unknown>(system.matrix);
  const RunningClock clock;
  const auto plan =
      plan_product(matrix, {.vector_order = VectorOrder::plan, .format = format}, stream);
  auto workspace = plan.make_workspace(stream);
  solution.setup_seconds = clock.seconds();
  solution.variant = format_text(plan.choice());
  solution.matrix_bytes = plan.choice().format_bytes;
  Space<Real> space(plan.x_rows(), stream);
  auto ordered = space.make_vector(), x = space.make_vector();
  plan.to_plan_order(load, ordered.span(), stream);
  plan.to_plan_order(DeviceSpan<const Real>(u), x.span(), stream);
  run_cg<Real>(
      solution, space,
      [&](DeviceSpan<const Real> from, DeviceSpan<Real> to) {
        plan.apply(from, to, workspace, stream);
      },
      ordered, x, options);
  plan.to_caller_order(std::as_const(x).span(), u, stream);
  return solution;
}

template <class Real>
FemSolution solve_local(const FemSystem& system, bool symmetric, DeviceSpan<const Real> load,
                        DeviceSpan<Real> u, const fem::FemOptions& options, Stream& stream) {
  FemSolution solution;
  const RunningClock clock;
  const fem::LocalMatrices<Real> local(system.mesh, system.problem.diffusivity,
                                       {.symmetric = symmetric, .block = 0});
  const DeviceLocalMatrices<Real> device(local, stream);
  solution.setup_seconds = clock.seconds();
  solution.variant = symmetric ? "half of each local matrix" : "local matrices";
  solution.matrix_bytes = local.bytes();
  Space<Real> space(device.rows(), stream);
  run_cg<Real>(
      solution, space,
      [&](DeviceSpan<const Real> from, DeviceSpan<Real> to) { device.multiply(from, to, stream); },
      load, u, options);
  return solution;
}

template <class Real>
FemSolution solve_in(const FemSystem& system, MatrixForm form, std::span<double> u,
                     const fem::FemOptions& options, Stream& stream) {
  const std::vector<Real> given(system.load.begin(), system.load.end());
  std::vector<Real> inside(u.begin(), u.end());
  const auto load = to_device(std::span<const Real>(given), stream);
  auto x = to_device(std::span<const Real>(inside), stream);
  FemSolution solution =
      is_local(form)
          ? solve_local<Real>(system, form == MatrixForm::lma_symmetric, load.span(), x.span(),
                              options, stream)
          : solve_assembled<Real>(system, format_of(form), load.span(), x.span(), options, stream);
  copy(std::as_const(x).span(), std::span<Real>(inside), stream);
  stream.synchronize();
  std::copy(inside.begin(), inside.end(), u.begin());
  return solution;
}

}  // namespace

FemSolution solve(const FemSystem& system, MatrixForm form, std::span<double> u,
                  const fem::FemOptions& options, Stream& stream) {
  if (options.repetitions < 1) throw InvalidArgument("a system that is solved no time");
  FemSolution solution = options.single_precision
                             ? solve_in<float>(system, form, u, options, stream)
                             : solve_in<double>(system, form, u, options, stream);
  solution.residual = residual_of(system, u);
  return solution;
}

}  // namespace strata::gpu
