#include "strata/kernels/gpu/device_hyb.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/kernels/gpu/internal/step_launch.hpp"

namespace strata::gpu {

template <Value V>
void step(const DeviceHyb<V>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<DeviceVectors<V>>& vectors, RowRange<std::int32_t> rows, Stream& stream,
          Reuse reuse) {
  require_all_rows(matrix.ell().shape(), rows, "HYB");
  require_scratch(vectors.scratch.size(), matrix.scratch_elements(vectors.count));
  step(matrix.ell(), coefficients, vectors, rows, stream, reuse);
  if (matrix.rest().nnz() > 0) {
    add_product(matrix.rest(), coefficients.alpha, vectors, stream, reuse);
  }
}

#define STRATA_INSTANTIATE(V, unused)                                        \
  template void step(const DeviceHyb<V>&, const Given<StepCoefficients<V>>&, \
                     const Given<DeviceVectors<V>>&, RowRange<std::int32_t>, Stream&, Reuse)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu
