// The decisions behind plan_powers on a GPU: which order, format, strategy, window and block.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/device/array.hpp"
#include "strata/execute/gpu/device_wave.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"
#include "strata/kernels/gpu/device_order.hpp"
#include "strata/order/padded_order.hpp"
#include "strata/plans/gpu/power_plan.hpp"
#include "strata/plans/internal/storage.hpp"

namespace strata::gpu::detail {

using strata::detail::StorageChoice;

// Rows in some order.
struct Rows {
  std::string name;  // "given", or how the levels were laid out
  PaddedOrder<std::int32_t> order;
  DeviceOrder on_device;
};

// Plain products, or a wave per block of powers.
template <Value V>
using Method = std::variant<DeviceCsr<V>, DeviceSell<V>, DevicePackedSell<V>, DeviceWave<V>>;

// Everything that apply needs.
template <Value V>
struct PreparedPowers {
  GpuPowerOptions options;
  std::vector<StepCoefficients<V>> coefficients;  // of y_1 … y_p
  std::shared_ptr<const Rows> rows;
  StorageChoice storage;
  Method<V> method;

  // What explain() tells.
  std::vector<PowerCandidate> candidates;  // the choice first
  GpuFacts facts;
  std::string remark;  // about the facts
  Offset nnz = 0;
  Offset levels = 0;
  Offset largest_level_rows = 0;
  double setup_seconds = 0;
  double plain_seconds = 0;  // of p plain products in the given order

  const DeviceWave<V>* wave() const { return std::get_if<DeviceWave<V>>(&method); }
  bool direct() const {  // vectors are used where they are
    return options.vector_order == VectorOrder::plan || rows->order.is_identity();
  }
};

// Puts all powers into the stream; vector(k) is where y_k is, k = 0 … p. `workspace` belongs to the
// wave, where there is one.
template <Value V, class VectorAt>
void run_powers(const Method<V>& method, std::span<const StepCoefficients<V>> coefficients,
                Offset elements, int count, const VectorAt& vector,
                typename DeviceWave<V>::Workspace* workspace, Stream& stream) {
  const auto power = static_cast<int>(coefficients.size());
  if (const auto* wave = std::get_if<DeviceWave<V>>(&method)) {
    for (int first = 0; first < power; first += wave->shape().power) {
      const int block = std::min(wave->shape().power, power - first);
      WaveSteps<V> steps;
      for (int k = 0; k <= block; ++k) steps.vectors.push_back(vector(first + k));
      if (first > 0) steps.before = vector(first - 1);
      steps.steps.assign(coefficients.begin() + first, coefficients.begin() + first + block);
      wave->run(steps, *workspace, stream);
    }
    return;
  }
  std::visit(
      [&](const auto& matrix) {
        if constexpr (requires { matrix.all_rows(); }) {
          for (int k = 1; k <= power; ++k) {
            const V* previous = k >= 2 ? vector(k - 2) : nullptr;
            step(matrix, coefficients[k - 1],
                 {{vector(k - 1), elements},
                  {previous, previous != nullptr ? elements : 0},
                  {vector(k), elements},
                  count},
                 matrix.all_rows(), stream);
          }
        }
      },
      method);
}

template <Value V>
PreparedPowers<V> prepare_powers(const Csr<V, std::int32_t>& matrix, const GpuPowerOptions& options,
                                 Stream& stream);

// The same method for other values, from the matrix in the plan's order.
template <Value V>
Method<V> method_like(const Method<V>& method, const StorageChoice& storage,
                      const Csr<V, std::int32_t>& in_order, Stream& stream);

}  // namespace strata::gpu::detail
