// DevicePowers: a plan for powers on a GPU, as solvers use it.
//
//   DevicePowers<double> powers(matrix, {.power = 8}, stream);
//   DeviceSpace<double> space(powers.plan().vector_rows(), stream);
#pragma once

#include <utility>

#include "strata/plans/gpu/power_plan.hpp"
#include "strata/solvers/gpu/device_space.hpp"
#include "strata/solvers/powers.hpp"

namespace strata::gpu {

// Vectors are in the order of the plan, whatever the options say. The stream must outlive the
// object; a method that has ended says by require_ended() whether its sweeps have.
template <Value V>
class DevicePowers final : public solvers::Powers<DeviceSpace<V>> {
 public:
  template <Index I>
  DevicePowers(const Csr<V, I>& matrix, PowerOptions options, Stream& stream)
      : stream_(&stream),
        plan_(plan_powers(matrix, in_plan_order(std::move(options)), stream)),
        workspace_(plan_.make_workspace_for_sum(stream)) {}

  int power() const override { return plan_.power(); }
  void set_basis(const Basis& basis) override { plan_.set_basis(basis); }
  void multiply(DeviceSpan<const V> x, DeviceSpan<V> y) override {
    plan_.multiply(x, y, workspace_, *stream_);
  }
  void apply_first(int count, DeviceSpan<const V> x, DeviceSpan<V> powers) override {
    plan_.apply_first(count, x, powers, workspace_, *stream_);
  }
  void apply_sum(DeviceSpan<const V> x, std::span<const V> coefficients,
                 DeviceSpan<V> sum) override {
    plan_.apply_sum(x, coefficients, sum, workspace_, *stream_);
  }
  void apply_last(DeviceSpan<const V> x, DeviceSpan<V> last) {
    plan_.apply_last(x, last, workspace_, *stream_);
  }

  const PowerPlan<V>& plan() const { return plan_; }
  template <Index I>
  void update_values(const Csr<V, I>& matrix) {
    plan_.update_values(matrix, *stream_);
  }
  // Waits for the stream.
  void require_ended() {
    stream_->synchronize();
    plan_.require_ended(workspace_, *stream_);
  }

 private:
  static PowerOptions in_plan_order(PowerOptions options) {
    options.vector_order = VectorOrder::plan;
    return options;
  }

  Stream* stream_;
  PowerPlan<V> plan_;
  typename PowerPlan<V>::Workspace workspace_;
};

}  // namespace strata::gpu
