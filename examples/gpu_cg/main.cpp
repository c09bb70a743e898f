// The same on a GPU: all vectors stay in device memory, only the scalars come back. Runs without a
// GPU too: it then says why there is none.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <utility>
#include <vector>

#include "strata/device/device.hpp"
#include "strata/gen/generate.hpp"
#include "strata/kernels/gpu/vector_operations.hpp"
#include "strata/plans/gpu/product_plan.hpp"

int main() {
  namespace gpu = strata::gpu;
  if (gpu::device_count() == 0) {
    std::puts(gpu::why_no_device().c_str());
    return 0;
  }
  const auto matrix = strata::generate<double, std::int32_t>("stencil7:40x40x40");
  gpu::Stream stream;
  const auto plan = gpu::plan_product(matrix, {}, stream);
  auto workspace = plan.make_workspace(stream);
  gpu::DotProduct<double> dot;
  const std::vector<double> ones(plan.rows(), 1.0), zeros(plan.rows(), 0.0);
  const auto b = gpu::to_device(std::span<const double>(ones), stream);
  auto x = gpu::to_device(std::span<const double>(zeros), stream);
  auto r = gpu::to_device(std::span<const double>(ones), stream);
  auto p = gpu::to_device(std::span<const double>(ones), stream);
  gpu::DeviceArray<double> q(x.size());
  const double bb = dot(b.span(), b.span(), stream);
  double rr = bb;
  int steps = 0;
  for (; std::sqrt(rr / bb) > 1e-8 && steps < 1000; ++steps) {
    plan.apply(p.span(), q.span(), workspace, stream);  // q = Ap
    const double alpha = rr / dot(p.span(), q.span(), stream);
    gpu::axpby(alpha, p.span(), 1.0, x.span(), stream);
    gpu::axpby(-alpha, q.span(), 1.0, r.span(), stream);
    const double before = std::exchange(rr, dot(r.span(), r.span(), stream));
    gpu::axpby(1.0, r.span(), rr / before, p.span(), stream);  // p = r + βp
  }
  gpu::axpby(1.0, b.span(), 0.0, r.span(), stream);
  plan.apply(-1.0, x.span(), 1.0, r.span(), workspace, stream);  // r = b − Ax
  const double residual = std::sqrt(dot(r.span(), r.span(), stream) / bb);
  std::printf("%d steps, relative residual %.1e\n", steps, residual);
  return residual < 1e-7 ? 0 : 1;
}
