// DeviceWave: a matrix on a GPU that is read once for all powers of a sweep (schedule/wave.hpp).
//
//   WaveShape shape = …                                  // wave_shape() proposes one
//   const auto tiles = cut_slices(matrix, shape.tile_bytes);
//   const Wave wave(inputs_of(matrix, tiles), shape.workers);
//   DeviceWave<double> on_device(TileStream<double>(matrix, tiles, wave), wave, shape, stream);
//   auto workspace = on_device.make_workspace(stream);
//   on_device.run(steps, workspace, stream);             // any number of times, in stream order
//   stream.synchronize();
//   on_device.require_ended(workspace, stream);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/device/array.hpp"
#include "strata/device/device.hpp"
#include "strata/device/stream.hpp"
#include "strata/execute/gpu/tile_stream.hpp"
#include "strata/execute/gpu/wave_arguments.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"

namespace strata::gpu {

// How a wave is spread over a device.
struct WaveShape {
  WindowHome home = WindowHome::l2;
  int power = 2;  // of one sweep, at most kMaxWavePower
  int workers = 1;
  int threads = 256;      // per worker
  int vectors = 1;        // side by side
  Offset tile_bytes = 0;  // of values and codes

  // In shared memory: each power has `teams` of `team_warps` warps; tiles go round among the teams,
  // the slices of a tile among the warps of a team.
  int teams = 1;
  int team_warps = 1;
  bool many_gathers = true;  // a thread asks for 27 elements of x at a time instead of 9
  int ahead_in_l2 = 4;       // tiles per worker that are in L2 before there is room for them

  bool operator==(const WaveShape&) const = default;
};

// Shapes worth trying on the device for sweeps of so many powers: tiles of the sizes that rings of
// shared memory and the L2 cache ask for. Empty where no wave can run.
std::vector<WaveShape> wave_shapes(const DeviceProperties& device, int power, int vectors,
                                   Offset slice_height, Offset value_bytes);

// What a sweep computes: y_k = α_k (A − θ_k I) y_{k−1} + β_k y_{k−2}, k = 1 … p.
template <Value V>
struct WaveSteps {
  std::vector<V*> vectors;    // y_0 … y_p in device memory, each of rows × vectors elements
  const V* before = nullptr;  // y_−1, where β_1 is not 0
  std::vector<StepCoefficients<V>> steps;  // p of them
  std::uint32_t disturbance = 0;           // for tests, see WaveArguments
};

template <Value V>
class DeviceWave {
 public:
  // What one run at a time needs: how far everybody is.
  class Workspace {
   private:
    friend class DeviceWave;
    DeviceArray<std::uint32_t> news;
    DeviceArray<WaveControl> control;
  };

  DeviceWave() = default;
  // Throws InvalidArgument if the shape is not for this matrix: another number of workers, a
  // window that is too small for the reach of the powers, tiles too large for shared memory.
  DeviceWave(const TileStream<V>& matrix, const Wave& wave, const WaveShape& shape, Stream& stream);

  const WaveShape& shape() const { return shape_; }
  // Of matrix data that a sweep reads.
  Offset bytes() const { return records_.bytes(); }
  // How many tiles all workers hold at a time, and how many they must at least.
  Offset window_tiles() const { return window_tiles_; }
  Offset reach() const { return reach_; }

  Workspace make_workspace(Stream& stream) const;

  // In the order of the stream; can be captured into a graph. A run with a workspace must have
  // ended before the next with the same one begins, as it has in one stream.
  void run(const WaveSteps<V>& steps, Workspace& workspace, Stream& stream) const;

  // After the stream was synchronised: throws DeviceError if a run did not end by itself, because
  // its blocks waited in vain for more than ten seconds. The workspace is then as new.
  void require_ended(Workspace& workspace, Stream& stream) const;

 private:
  WaveArguments<DeviceValue<V>> arguments(const WaveSteps<V>& steps, Workspace& workspace) const;

  WaveShape shape_;
  std::int32_t rows_ = 0;
  std::int32_t tiles_ = 0;
  std::int32_t slice_height_ = 32;
  std::uint32_t largest_record_ = 0;
  int slots_ = 0;  // of the ring in shared memory
  int lag_ = 0;    // in L2
  Offset window_tiles_ = 0;
  Offset reach_ = 0;
  DeviceArray<std::byte> records_;
  DeviceArray<RecordPlace> places_;
  DeviceArray<std::uint64_t> presence_;
};

}  // namespace strata::gpu
