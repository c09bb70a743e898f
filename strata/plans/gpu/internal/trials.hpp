// Short timings behind a plan's decisions on a GPU, on vectors of their own, scaled so that no
// power overflows.
#pragma once

#include <vector>

#include "strata/base/types.hpp"
#include "strata/device/stream.hpp"
#include "strata/formats/csr.hpp"
#include "strata/plans/gpu/internal/methods.hpp"
#include "strata/plans/gpu/internal/prepared.hpp"
#include "strata/plans/plan_options.hpp"

namespace strata::gpu::detail {

template <Value V>
class Trials {
 public:
  // All must outlive the trials.
  Trials(const Csr<V, std::int32_t>& matrix, const PowerOptions& options, Stream& stream);

  // A method and the order of the rows that it runs in.
  struct Runner {
    const Method<V>* method;
    const Rows* rows;
  };

  // Of all powers, with the copies between the caller's order and that of the rows where a plan
  // makes them: the fastest of a few samples, each of so many runs that the clock is good for them.
  // One sample is enough if that took longer than `beaten`. 0 if there is nothing to run. Throws
  // DeviceOutOfMemory.
  double seconds_of(const Method<V>& method, const Rows& rows, double beaten);
  // The same of several in turn, with more samples. Their workspaces are on the device together.
  std::vector<double> seconds_in_turn(const std::vector<Runner>& runners);

  // On the device, for vectors in this order.
  Offset bytes(const Rows& rows) const;

 private:
  bool copies(const Rows& rows) const;
  Offset elements_for(const Rows& rows) const;  // 0 if there is nothing to run
  void load_vectors(const std::vector<Runner>& runners);
  bool make_vectors(Offset elements);
  void run(const Method<V>& method, const Rows& rows, MethodWorkspace<V>& workspace);

  const Csr<V, std::int32_t>& matrix_;
  const PowerOptions& options_;
  std::vector<StepCoefficients<V>> steps_;  // scaled
  std::vector<DeviceArray<V>> arrays_;      // y_0 … y_p, or as many as fit, which take turns
  DeviceArray<V> callers_;                  // a vector in the caller's order
  Stream& stream_;
};

}  // namespace strata::gpu::detail
