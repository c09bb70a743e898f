// PersistentSweep: a matrix on a GPU that is read once for all powers of a sweep
// (schedule/worker_sweep.hpp).
//
//   SweepShape shape = …                              // sweep_shapes() proposes some
//   const auto tiles = cut_slices(matrix, shape.tile_bytes);
//   const WorkerSweep work(inputs_of(matrix, tiles), shape.workers);
//   const TileStream<double> tile_stream(matrix, tiles, work);
//   const auto on_device = std::make_shared<const DeviceTiles<double>>(tile_stream, work, stream);
//   const PersistentSweep<double> sweep(on_device, shape);
//   auto workspace = sweep.make_workspace(stream);
//   sweep.run(steps, workspace, stream);             // any number of times, in stream order
//   stream.synchronize();
//   sweep.require_ended(workspace, stream);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/device/array.hpp"
#include "strata/device/device.hpp"
#include "strata/device/stream.hpp"
#include "strata/execute/gpu/powers_sum.hpp"
#include "strata/execute/gpu/ring.hpp"
#include "strata/execute/gpu/sweep_arguments.hpp"
#include "strata/execute/gpu/tile_stream.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"

namespace strata::gpu {

// How a sweep is spread over a device.
struct SweepShape {
  WindowPlacement placement = WindowPlacement::l2;
  bool specialised = false;  // the kernel of Hopper GPUs, with warps for every job; one vector
  int power = 2;             // of one sweep, at most kMaxSweepPower
  int workers = 1;
  int threads = 256;        // per worker
  int vectors = 1;          // interleaved
  Offset tile_bytes = 0;    // of column codes and of values as if they were stored in full
  Offset window_bytes = 0;  // specialised: what the tiles of all workers should fit; 0: no limit

  // Specialised: each power has `teams` of `team_warps` warps; tiles go round among the teams, the
  // slices of a tile among the warps of a team.
  int teams = 1;
  int team_warps = 1;
  bool many_gathers = false;  // for rows of which a thread has more than a few entries

  bool operator==(const SweepShape&) const = default;
};

// Shapes worth trying on the device for sweeps of so many powers: tiles of sizes that suit rings in
// shared memory and in the L2 cache. Empty where no sweep can run.
template <Value V>
std::vector<SweepShape> sweep_shapes(const DeviceProperties& device, int power, int vectors,
                                     Offset slice_height);

// What a shape has to fit: sizes of a stream of tiles and the needs between workers. It holds no
// device memory.
struct SweepTiles : TileStreamSizes {
  int workers = 1;
  int mailboxes = 4;
  std::array<Offset, kMaxSweepPower + 1> dependency_distance{};  // by power

  SweepTiles(const TileStreamSizes& sizes, const WorkerSweep& sweep);
};

// How a sweep of some shape runs over tiles.
struct SweepLayout {
  hopper::Ring ring;        // of the specialised kernel
  int lag = 0;              // of the other
  Offset window_tiles = 0;  // that all workers hold at a time
};
// Throws InvalidArgument if the shape is not for these tiles: another number of workers, a window
// that is too small for the dependency distance of the powers, tiles too large for the shared
// memory that a block of the current device can have.
SweepLayout lay_out_sweep(const SweepTiles& tiles, const SweepShape& shape);

// A stream of tiles in device memory. Sweeps of other powers and teams can share it.
template <Value V>
struct DeviceTiles : SweepTiles {
  DeviceArray<std::byte> records;
  DeviceArray<RecordPlace> places;
  DeviceArray<std::uint64_t> presence;
  DeviceArray<V> table;

  DeviceTiles(const TileStream<V>& matrix, const WorkerSweep& sweep, Stream& stream);
  Offset bytes() const {
    return records.bytes() + places.bytes() + presence.bytes() + table.bytes();
  }
};

// The watchdog timeout: blocks that have waited this long for each other, in nanoseconds, give up.
inline constexpr std::uint64_t kWatchdogTimeout = 10'000'000'000;

// What a sweep computes: y_k = α_k (A − θ_k I) y_{k−1} + β_k y_{k−2}, k = 1 … p.
template <Value V>
struct SweepSteps {
  std::vector<V*> vectors;    // y_0 … y_p in device memory, each of rows × vectors elements
  const V* before = nullptr;  // y_−1, where β_1 is not 0
  std::vector<StepCoefficients<V>> steps;  // p of them
  PowersSum<V> sum = {};                   // that powers are added to
  std::uint32_t stress_seed = 0;           // for tests, see SweepArguments
  std::uint64_t timeout_ns = kWatchdogTimeout;
};

template <Value V>
class PersistentSweep {
 public:
  // What one run at a time needs: the progress of all workers. It fits sweeps of as many workers
  // and powers over any tiles, and so outlasts new values on the same pattern.
  class Workspace {
   public:
    Offset bytes() const { return signals.bytes() + control.bytes(); }

   private:
    friend class PersistentSweep;
    DeviceArray<std::uint32_t> signals;
    DeviceArray<SweepControl> control;
  };

  PersistentSweep() = default;
  // Throws InvalidArgument as lay_out_sweep does.
  PersistentSweep(std::shared_ptr<const DeviceTiles<V>> tiles, const SweepShape& shape);

  const SweepShape& shape() const { return shape_; }
  // On the device.
  Offset bytes() const { return tiles_ ? tiles_->bytes() : 0; }

  Workspace make_workspace(Stream& stream) const;

  // In the order of the stream; can be captured into a graph. A run with a workspace must have
  // ended before the next with the same one begins, as it has in one stream. Throws InvalidArgument
  // for a workspace that was made for sweeps of other workers or powers, or never made.
  void run(const SweepSteps<V>& steps, Workspace& workspace, Stream& stream) const;

  // After the stream was synchronised: throws DeviceError if the watchdog stopped a run, because
  // its blocks waited for each other for more than ten seconds. Later runs in the stream have
  // stopped as well. The workspace is then cleared in place: graphs that use it can be launched
  // again.
  void require_ended(Workspace& workspace, Stream& stream) const;

 private:
  SweepArguments<DeviceValue<V>> arguments(const SweepSteps<V>& steps, Workspace& workspace) const;
  const DeviceTiles<V>& tiles() const;
  Offset signal_elements() const;

  SweepShape shape_;
  std::shared_ptr<const DeviceTiles<V>> tiles_;
  SweepLayout layout_;
};

}  // namespace strata::gpu
