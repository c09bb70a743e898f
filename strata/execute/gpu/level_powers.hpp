// LevelPowers: y_1 … y_p of a matrix on a GPU by sweeps over groups of levels, one sweep per block
// of powers: p = 7 in blocks of 4 is 4 + 3. Every group has a kernel per power (level_sweep.hpp);
// the kernels are launched one by one, or recorded in a graph that is launched.
//
//   const LevelPowers<double> levels(matrix, tiling, {.power = 7, .block = 4});
//   auto workspace = levels.make_workspace();
//   levels.run(vectors, steps, workspace, stream);   // any number of times, in stream order
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/device/graph.hpp"
#include "strata/device/stream.hpp"
#include "strata/execute/gpu/level_sweep.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"

namespace strata::gpu {

// A matrix that has kernels for ranges of rows.
template <Value V>
using StoredMatrix = std::variant<DeviceCsr<V>, DeviceEll<V>, DeviceSell<V>, DevicePackedSell<V>>;

struct LevelPowersShape {
  int power = 1;          // p
  int block = 1;          // powers per sweep
  int vectors = 1;        // interleaved
  bool in_graph = false;  // kernels are recorded and launched together
};

template <Value V>
class LevelPowers {
 public:
  // What one run at a time needs, and the graph of the last one, which is launched again if nothing
  // has changed.
  class Workspace {
   public:
    Offset bytes() const { return scratch.bytes(); }

   private:
    friend class LevelPowers;
    DeviceScratch<V> scratch;
    std::optional<Graph> graph;
    std::shared_ptr<const char> recorded_by;  // whose it is
    std::vector<V*> vectors;
    std::vector<StepCoefficients<V>> steps;
  };

  LevelPowers() = default;
  // The matrix has the tiling's rows, in their order. Throws InvalidArgument unless power and block
  // are positive.
  LevelPowers(std::shared_ptr<const StoredMatrix<V>> matrix, const Tiling<std::int32_t>& tiling,
              const LevelPowersShape& shape);

  // The same for other values.
  LevelPowers with_matrix(std::shared_ptr<const StoredMatrix<V>> matrix) const;

  const LevelPowersShape& shape() const { return shape_; }
  const StoredMatrix<V>& matrix() const { return *matrix_; }
  // Of all sweeps together.
  Offset launches() const;

  Workspace make_workspace() const;

  // vectors: y_0 … y_p in device memory, each of rows × vectors elements; y_k may stand in place of
  // y_{k−2}. steps: p of them; with fewer, only the first powers are computed, one by one.
  //
  // In a graph, a run with other vectors or steps than the last with this workspace records again,
  // which takes longer than launching all kernels. While the stream is captured, kernels are
  // launched one by one: they become part of the caller's graph.
  //
  // Throws InvalidArgument for a workspace without the scratch that the matrix needs.
  void run(std::span<V* const> vectors, std::span<const StepCoefficients<V>> steps,
           Workspace& workspace, Stream& stream) const;

  // One power by itself; before: null where β is 0.
  void run_one(const StepCoefficients<V>& coefficients, const V* before, const V* x, V* out,
               Workspace& workspace, Stream& stream) const;

 private:
  void launch(std::span<V* const> vectors, std::span<const StepCoefficients<V>> steps,
              ScratchSpan<V> scratch, Stream& stream) const;
  Offset scratch_elements() const;

  LevelPowersShape shape_;
  std::shared_ptr<const StoredMatrix<V>> matrix_;
  std::vector<LevelSweep<V>> sweeps_;  // one after another
  // Copies are interchangeable. Workspaces hold on to it, so that no other has the same address.
  std::shared_ptr<const char> identity_;
};

}  // namespace strata::gpu
