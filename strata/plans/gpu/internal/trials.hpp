// Short timings behind a plan's decisions on a GPU.
#pragma once

#include "strata/base/types.hpp"
#include "strata/device/stream.hpp"
#include "strata/formats/csr.hpp"
#include "strata/plans/gpu/internal/methods.hpp"

namespace strata::gpu::detail {

template <Value V>
class Trials {
 public:
  // The stream must outlive the trials.
  Trials(const Csr<V, std::int32_t>& matrix, int power, int vectors, Stream& stream);

  // Of all powers in vectors of so many positions: the median of a few runs. 0 if there is nothing
  // to run. Throws DeviceOutOfMemory.
  double seconds_of(const Method<V>& method, std::int32_t padded_rows);

  // On the device, for vectors of so many positions.
  Offset bytes(std::int32_t padded_rows) const;

 private:
  void make_vectors(Offset elements);

  std::vector<StepCoefficients<V>> steps_;  // scaled so that no power overflows
  int vectors_;
  std::vector<DeviceArray<V>> arrays_;  // y_0 … y_p, or as many as fit, which take turns
  Stream& stream_;
};

}  // namespace strata::gpu::detail
