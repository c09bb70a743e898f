// Three powers of a matrix on a GPU, planned once and applied twice. Runs without a GPU too: it
// then says why there is none.
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include "strata/device/array.hpp"
#include "strata/device/device.hpp"
#include "strata/gen/generate.hpp"
#include "strata/plans/gpu/power_plan.hpp"

int main() {
  namespace gpu = strata::gpu;
  if (gpu::device_count() == 0) {
    std::puts(gpu::why_no_device().c_str());
    return 0;
  }
  const auto matrix = strata::generate<double, std::int32_t>("stencil7:64x64x128");
  gpu::Stream stream;
  const auto plan = gpu::plan_powers(matrix, {.power = 3}, stream);

  const std::vector<double> ones(plan.vector_rows(), 1.0);
  const auto x = gpu::to_device(std::span<const double>(ones), stream);
  gpu::DeviceArray<double> powers(3 * x.size());
  auto workspace = plan.make_workspace(stream);
  plan.apply(x.span(), powers.span(), workspace, stream);  // Ax, A²x, A³x, one after another
  stream.synchronize();
  plan.require_ended(workspace, stream);

  gpu::DeviceArray<double> last(x.size());
  auto small_workspace = plan.make_workspace_for_last(stream);
  plan.apply_last(x.span(), last.span(), small_workspace, stream);  // A³x alone
  stream.synchronize();
  plan.require_ended(small_workspace, stream);

  const double of_all = gpu::to_host(powers.span(), stream)[2 * x.size()];
  const double alone = gpu::to_host(last.span(), stream)[0];
  std::printf("%s\n(A^3 x)[0] = %g, both ways %s\n", plan.explain().c_str(), alone,
              alone == of_all ? "the same" : "different");
  return alone == of_all ? 0 : 1;
}
