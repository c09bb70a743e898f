// Plans of powers on the GPU of this machine, compared with the reference.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "strata/plans/gpu/power_plan.hpp"
#include "tests/machine/gpu/support.hpp"
#include "tests/plans/support.hpp"
#include "tests/support/gpu.hpp"

namespace strata::gpu {

class GpuPowerPlanTest : public test::GpuTest {
 protected:
  void SetUp() override {
    test::GpuTest::SetUp();
    if (!IsSkipped()) stream_.emplace();
  }

  // Predicts with an imaginary profile of this device, and times nothing.
  PowerOptions quick_options() {
    profile_ = test::imaginary_gpu();
    profile_.device = device_properties(current_device());
    PowerOptions options;
    options.autotune = false;
    options.gpu_profile = &profile_;
    return options;
  }

  // What the plan gives for x in the caller's order, or, in its own, for ones.
  template <Value V>
  std::vector<V> powers_of(const PowerPlan<V>& plan, const std::vector<V>& x) {
    const std::vector<V> poison(x.size() * plan.power(),
                                V(std::numeric_limits<float>::quiet_NaN()));
    auto on_device = to_device(std::span<const V>(x), stream());
    auto powers = to_device(std::span<const V>(poison), stream());
    auto workspace = plan.make_workspace(stream());
    plan.apply(std::as_const(on_device).span(), powers.span(), workspace, stream());
    stream().synchronize();
    plan.require_ended(workspace, stream());
    const Array<V> found = to_host(powers.span(), stream());
    return {found.begin(), found.end()};
  }

  template <Value V>
  std::vector<V> last_of(const PowerPlan<V>& plan, const std::vector<V>& x) {
    auto on_device = to_device(std::span<const V>(x), stream());
    DeviceArray<V> last(on_device.size());
    auto workspace = plan.make_workspace_for_last(stream());
    plan.apply_last(std::as_const(on_device).span(), last.span(), workspace, stream());
    stream().synchronize();
    plan.require_ended(workspace, stream());
    const Array<V> found = to_host(last.span(), stream());
    return {found.begin(), found.end()};
  }

  template <Value V, Index J>
  void expect_powers(const Csr<V, J>& matrix, const PowerOptions& options) {
    expect_powers(plan_powers(matrix, options, stream()), matrix, options);
  }
  template <Value V, Index J>
  void expect_powers(const PowerPlan<V>& plan, const Csr<V, J>& matrix,
                     const PowerOptions& options) {
    const auto x =
        test::random_vector<V>(static_cast<std::size_t>(matrix.rows()) * options.vectors, 11);
    const auto expected =
        test::expected_powers(matrix, options.basis, options.power, x, options.vectors);
    SCOPED_TRACE(plan.explain());
    const std::vector<V> found = powers_of(plan, x);
    test::expect_close(found, expected, options.power, test::longest_row(matrix));
    const std::vector<V> last = last_of(plan, x);
    EXPECT_TRUE(std::ranges::equal(last, std::span<const V>(found).last(x.size())));
  }

  Stream& stream() { return *stream_; }

  GpuProfile profile_;

 private:
  std::optional<Stream> stream_;  // none without a GPU
};

// The same pattern with other values.
template <Value V, Index J>
Csr<V, J> scaled(const Csr<V, J>& matrix, V factor) {
  Array<V> values(matrix.values().begin(), matrix.values().end());
  for (V& value : values) value *= factor;
  const auto offsets = matrix.row_offsets();
  const auto columns = matrix.columns();
  return {matrix.rows(),
          matrix.cols(),
          {offsets.begin(), offsets.end()},
          {columns.begin(), columns.end()},
          std::move(values)};
}

}  // namespace strata::gpu
