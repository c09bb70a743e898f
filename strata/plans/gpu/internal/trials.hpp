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
  // to run.
  double seconds_of(const Method<V>& method, std::int32_t positions);

 private:
  std::vector<StepCoefficients<V>> steps_;  // scaled so that no power overflows
  int vectors_;
  Stream& stream_;
};

}  // namespace strata::gpu::detail
