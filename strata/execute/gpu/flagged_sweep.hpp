// FlaggedSweep: a matrix on a Hopper GPU that is read once for all powers of a sweep, in which
// values are their own flags (internal/flagged_block.hpp explains it).
//
//   const auto form = find_flagged_form(matrix);                  // none: rows are too long
//   const FlaggedStream<double> tiles(matrix, *form, workers);    // one per multiprocessor
//   const auto on_device = std::make_shared<const FlaggedTiles<double>>(tiles, workers, stream);
//   const FlaggedSweep<double> sweep(on_device, {.power = 3, .warps = 4});
//   auto workspace = sweep.make_workspace(stream);
//   sweep.run(steps, workspace, stream);              // any number of times, in stream order
//   stream.synchronize();
//   sweep.require_ended(workspace, stream);
#pragma once

#include <memory>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/device/array.hpp"
#include "strata/device/device.hpp"
#include "strata/device/stream.hpp"
#include "strata/execute/gpu/flagged_arguments.hpp"
#include "strata/execute/gpu/flagged_stream.hpp"
#include "strata/execute/gpu/persistent_sweep.hpp"

namespace strata::gpu {

struct FlaggedShape {
  int power = 2;  // of one sweep, at most kMaxSweepPower
  int warps = 4;  // of each power

  bool operator==(const FlaggedShape&) const = default;
};

// Whether the device can run such sweeps, of values of type V.
template <Value V>
bool can_run_flagged(const DeviceProperties& device);

// Shapes worth trying for sweeps of so many powers.
std::vector<FlaggedShape> flagged_shapes(int power);

// The ring that a sweep of some shape has room for on the current device. Throws InvalidArgument if
// the window is too small for the dependency distance of the powers, or warps are too many.
FlaggedRing lay_out_flagged(const FlaggedSizes& tiles, const FlaggedShape& shape, int workers);

// A stream of tiles in device memory. Sweeps of other shapes can share it.
template <Value V>
struct FlaggedTiles : FlaggedSizes {
  int workers = 1;
  DeviceArray<std::byte> records;
  DeviceArray<FlaggedPlace> places;
  DeviceArray<std::uint64_t> presence;

  FlaggedTiles(const FlaggedStream<V>& matrix, int worker_count, Stream& stream);
  Offset bytes() const { return records.bytes() + places.bytes() + presence.bytes(); }
};

template <Value V>
class FlaggedSweep {
 public:
  // What one run at a time needs; it fits any sweep with as many workers.
  class Workspace {
   public:
    Offset bytes() const { return counts.bytes() + control.bytes(); }

   private:
    friend class FlaggedSweep;
    DeviceArray<std::uint32_t> counts;  // of the workers, and one that counts workers
    DeviceArray<SweepControl> control;
  };

  FlaggedSweep() = default;
  // Throws InvalidArgument as lay_out_flagged does.
  FlaggedSweep(std::shared_ptr<const FlaggedTiles<V>> tiles, const FlaggedShape& shape);

  const FlaggedShape& shape() const { return shape_; }
  const FlaggedForm& form() const { return tiles().form; }
  int workers() const { return tiles().workers; }
  // On the device.
  Offset bytes() const { return tiles_ ? tiles_->bytes() : 0; }

  Workspace make_workspace(Stream& stream) const;

  // In the order of the stream; can be captured into a graph. One vector; y_0 … y_p and y_−1 share
  // no memory. A run with a workspace must have ended before the next with the same one begins.
  // Throws InvalidArgument for vectors that are the same, and for a workspace of other workers.
  void run(const SweepSteps<V>& steps, Workspace& workspace, Stream& stream) const;

  // As PersistentSweep's.
  void require_ended(Workspace& workspace, Stream& stream) const;

 private:
  const FlaggedTiles<V>& tiles() const;
  int tiles_ahead(int power) const;
  FlaggedArguments<DeviceValue<V>> arguments(const SweepSteps<V>& steps,
                                             Workspace& workspace) const;

  FlaggedShape shape_;
  std::shared_ptr<const FlaggedTiles<V>> tiles_;
  FlaggedRing ring_;
};

}  // namespace strata::gpu
