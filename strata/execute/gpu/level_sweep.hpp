// LevelSweep: a schedule on a GPU with one kernel per task, launched one by one or recorded in a
// graph. Over groups of levels in RACE's order this is the method of Panzlaff's thesis
// (level_launches.hpp); over plain_schedule() with merged tasks it is repeated products.
//
//   const LevelSweep<double> sweep(tiling, wavefront_schedule(tiling, power));
//   sweep.run(matrix, vectors, coefficients, stream);   // any number of times, in stream order
//   const Graph graph = sweep.capture(matrix, vectors, coefficients, stream);
//   graph.launch(stream);                               // the same for less
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/device/array.hpp"
#include "strata/device/graph.hpp"
#include "strata/device/stream.hpp"
#include "strata/execute/gpu/level_launches.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"
#include "strata/schedule/schedule.hpp"
#include "strata/schedule/tiling.hpp"

namespace strata::gpu {

// Where the vectors of a sweep y_k = α_k (A − θ_k I) y_{k−1} + β_k y_{k−2}, k = 1 … p, are on the
// device. Vectors are interleaved: element v of row r is at r·count + v.
//
// Neighbours y_{k−1} and y_k share nothing; y_k may stand in place of y_{k−2}, y_1 in place of y_−1
// and y_2 in place of x among them.
template <Value V>
struct SweepVectors {
  DeviceSpan<const V> before;         // y_−1, not read where β_1 is 0
  DeviceSpan<const V> x;              // y_0
  std::vector<DeviceSpan<V>> powers;  // y_1 … y_p
  int count = 1;                      // 1 … kMaxVectors
  ScratchSpan<V> scratch;             // of the matrix, see DeviceVectors

  // All powers, one after another in one array.
  static SweepVectors all(DeviceSpan<const V> x, DeviceSpan<V> block, int power, int count = 1);
  // Only the last two, y_1, y_3, … in one vector and y_2, y_4, … in another.
  static SweepVectors last(DeviceSpan<const V> x, DeviceSpan<V> odd, DeviceSpan<V> even, int power,
                           int count = 1);
};

template <Value V>
class LevelSweep {
 public:
  LevelSweep() = default;
  LevelSweep(const Tiling<std::int32_t>& tiling, const Schedule& schedule,
             const LevelLaunchOptions& options = {});

  int power() const { return power_; }
  std::int32_t rows() const { return rows_; }
  // In the order that they run. Each is one kernel; where CSR has rows of many thousand entries,
  // one more adds up their parts.
  std::span<const LevelLaunch> launches() const { return launches_; }
  // Whether the matrix should stay in the L2 cache: unless the powers come one after the other.
  Reuse reuse() const { return reuse_; }

  // Matrix is DeviceCsr<V>, DeviceEll<V>, DeviceSell<V> or DevicePackedSell<V> of the tiling's
  // rows, in their order. One step per power. Throws InvalidArgument if shapes, vectors or steps
  // are not those of the sweep, or a task begins or ends inside a slice.
  template <class Matrix>
  void run(const Matrix& matrix, const SweepVectors<V>& vectors,
           std::span<const StepCoefficients<V>> steps, Stream& stream) const;

  // Records the same instead. The graph keeps where matrix and vectors are, and the steps' numbers.
  template <class Matrix>
  Graph capture(const Matrix& matrix, const SweepVectors<V>& vectors,
                std::span<const StepCoefficients<V>> steps, Stream& stream) const;

 private:
  int power_ = 0;
  std::int32_t rows_ = 0;
  std::vector<LevelLaunch> launches_;
  Reuse reuse_ = Reuse::none;
};

}  // namespace strata::gpu
