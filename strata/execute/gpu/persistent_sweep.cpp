#include "strata/execute/gpu/persistent_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/device/error.hpp"
#include "strata/execute/gpu/internal/sweep_launch.hpp"

namespace strata::gpu {

namespace {

// Records of full values have lists besides the values and codes that tiles are measured by.
constexpr Offset kListBytes = 640;
// Slots start on a line of 128 bytes, where copies are fastest.
constexpr Offset kSlotAlignment = 128;
// Tiles of that many fit into shared memory: enough that one more or less makes little difference.
// A tile of short rows has more slices than there are warps, and gains from being larger.
constexpr Offset kSlotsWanted = 8;
constexpr Offset kSlotsOfShortRows = 7;
// Tiles of encoded values are so small that shared memory holds many more than hide the latencies.
// So many rounds of tiles, beyond those that the dependency distance takes, are always enough.
constexpr Offset kRoundsAhead = 32;
// The share of the L2 cache that a window in it takes; and how many times as large tiles are as in
// shared memory.
constexpr double kWindowShare = 0.8;
constexpr Offset kTilesInL2 = 2;

// What all tiles take of a window. The elements of the vectors go along: beside full values they
// are few, but beside encoded ones they are most of it.
Offset window_bytes(const SweepTiles& tiles, int power) {
  const Offset vectors = tiles.encoded ? tiles.rows * tiles.value_bytes * (power + 1) : 0;
  return tiles.record_bytes + vectors;
}

// As many slots as there is room for, or as were requested.
hopper::Ring ring_of(const SweepShape& shape, const SweepTiles& tiles, Offset room) {
  const bool whole = shape.placement == WindowPlacement::shared_memory;
  const Offset largest = whole ? tiles.largest_record : tiles.largest_head;
  hopper::Ring ring{
      shape.teams, shape.team_warps, shape.teams,
      narrow<std::uint32_t>(ceil_div<Offset>(largest, kSlotAlignment) * kSlotAlignment,
                            "the bytes of a tile")};
  ring.table_bytes =
      static_cast<std::uint32_t>(near_table_bytes(tiles.table_values, tiles.value_bytes));
  const Offset round =
      Offset{shape.workers} * window_bytes(tiles, shape.power) / std::max(tiles.tiles, 1);
  const Offset distance = tiles.dependency_distance[shape.power];
  while (true) {
    hopper::Ring larger = ring;
    larger.slots += shape.teams;
    const bool needed = Offset{ring.slots} * shape.workers <= distance;
    const bool useful = !tiles.encoded || (larger.slots - kRoundsAhead) * shape.workers <= distance;
    const bool wanted =
        useful && (shape.window_bytes == 0 || larger.slots * round <= shape.window_bytes);
    if (larger.shared_bytes(shape.power, tiles.mailboxes) > room || !(needed || wanted)) break;
    ring = larger;
  }
  return ring;
}

Offset most_mailboxes(Offset workers) {
  return ceil_div<Offset>(workers, 4) * 4;
}

void require_shape(const SweepShape& shape, int workers, Offset slice_height) {
  if (shape.power < 1 || shape.power > kMaxSweepPower) {
    throw InvalidArgument(
        fmt::format("a sweep has 1 to {} powers, not {}", kMaxSweepPower, shape.power));
  }
  if (shape.vectors < 1 || shape.vectors > kMaxVectors) {
    throw InvalidArgument(
        fmt::format("a wavefront sweep takes 1 to {} vectors, not {}", kMaxVectors, shape.vectors));
  }
  if (!detail::is_sweep_height(slice_height)) {
    throw InvalidArgument(
        fmt::format("wavefront sweeps run over slices of 8, 16 or 32 rows, not {}", slice_height));
  }
  if (shape.workers != workers) {
    throw InvalidArgument(fmt::format("a shape for {} workers does not fit a wavefront sweep of {}",
                                      shape.workers, workers));
  }
  if (shape.specialised && shape.vectors != 1) {
    throw InvalidArgument("the wavefront sweep for Hopper GPUs takes one vector");
  }
  if (!shape.specialised && shape.placement == WindowPlacement::shared_memory) {
    throw InvalidArgument("a window in shared memory needs the wavefront sweep for Hopper GPUs");
  }
}

// For one power fewer warps than asked for may be left.
SweepShape specialised_shape(const DeviceProperties& device, int power, WindowPlacement placement,
                             bool many_gathers) {
  SweepShape shape;
  shape.placement = placement;
  shape.specialised = true;
  shape.power = power;
  shape.workers = device.multiprocessors;
  shape.many_gathers = many_gathers;
  shape.tile_bytes =
      device.shared_bytes_per_block / (many_gathers ? kSlotsWanted : kSlotsOfShortRows) -
      kListBytes;
  const int warps =
      (detail::most_hopper_warps(many_gathers) - hopper::Ring{0, 0}.warps(power)) / power;
  // Two teams, if both have as many warps as a tile of long rows has slices.
  shape.teams = many_gathers && warps >= 8 ? 2 : 1;
  shape.team_warps = warps / shape.teams;
  if (placement == WindowPlacement::l2) shape.tile_bytes *= kTilesInL2;
  shape.window_bytes = static_cast<Offset>(kWindowShare * static_cast<double>(device.l2_bytes));
  shape.threads = hopper::Ring{shape.teams, shape.team_warps}.warps(power) * device.warp;
  return shape;
}

}  // namespace

template <Value V>
std::vector<SweepShape> sweep_shapes(const DeviceProperties& device, int power, int vectors,
                                     Offset slice_height) {
  std::vector<SweepShape> shapes;
  if (!device.cooperative_launch || !detail::is_sweep_height(slice_height)) return shapes;
  if (device.api == Api::cuda && device.capability_major == 9 && vectors == 1) {
    shapes.push_back(specialised_shape(device, power, WindowPlacement::shared_memory, true));
    shapes.push_back(specialised_shape(device, power, WindowPlacement::shared_memory, false));
    shapes.push_back(specialised_shape(device, power, WindowPlacement::l2, false));
    std::erase_if(shapes, [&](const SweepShape& shape) {
      return shape.team_warps < 1 ||
             !detail::has_hopper_sweep<V>(static_cast<int>(slice_height), shape.placement,
                                          shape.many_gathers);
    });
  }
  SweepShape shape;
  shape.power = power;
  shape.vectors = vectors;
  shape.threads = detail::kSweepThreads;
  const auto height = static_cast<int>(slice_height);
  const int resident = std::min(detail::resident_sweep_blocks<V, false>(height, vectors),
                                detail::resident_sweep_blocks<V, true>(height, vectors));
  shape.workers = std::min(device.multiprocessors * detail::kSweepBlocks, resident);
  if (shape.workers < 1) return shapes;
  // A slice per warp at least; and two rounds of tiles, the least a sweep of two powers holds, in
  // a third of the cache.
  shape.tile_bytes = std::max<Offset>(device.l2_bytes / 3 / shape.workers / 2,
                                      slice_height * Offset{sizeof(V)} * 8);
  shapes.push_back(shape);
  return shapes;
}

SweepTiles::SweepTiles(const TileStreamSizes& sizes, const WorkerSweep& sweep)
    : TileStreamSizes(sizes), workers(sweep.workers()), mailboxes(sweep.mailboxes()) {
  for (int power = 1; power <= kMaxSweepPower; ++power)
    dependency_distance[power] = sweep.dependency_distance(power);
}

SweepLayout lay_out_sweep(const SweepTiles& tiles, const SweepShape& shape) {
  require_shape(shape, tiles.workers, tiles.slice_height);
  SweepLayout layout;
  if (!shape.specialised) {
    layout.lag =
        static_cast<int>(ceil_div<Offset>(tiles.dependency_distance[2], shape.workers)) + 1;
    layout.window_tiles = Offset{layout.lag} * (shape.power - 1) * shape.workers;
    return layout;
  }
  const Offset room = device_properties(current_device()).shared_bytes_per_block;
  layout.ring = ring_of(shape, tiles, room);
  if (layout.ring.shared_bytes(shape.power, tiles.mailboxes) > room) {
    throw InvalidArgument(
        fmt::format("{} slots of {} bytes need more than the {} bytes of shared memory that a "
                    "block can have",
                    layout.ring.slots, layout.ring.slot_bytes, room));
  }
  layout.window_tiles = Offset{layout.ring.slots} * shape.workers;
  if (layout.window_tiles <= tiles.dependency_distance[shape.power]) {
    throw InvalidArgument(
        fmt::format("{} tiles are held at a time; power {} of a tile needs {} beyond it",
                    layout.window_tiles, shape.power, tiles.dependency_distance[shape.power]));
  }
  return layout;
}

template <Value V>
DeviceTiles<V>::DeviceTiles(const TileStream<V>& matrix, const WorkerSweep& sweep, Stream& stream)
    : SweepTiles(matrix, sweep),
      records(to_device(std::span<const std::byte>(matrix.records), stream)),
      places(to_device(std::span<const RecordPlace>(matrix.places), stream)),
      presence(to_device(std::span<const std::uint64_t>(matrix.presence), stream)),
      table(to_device(std::span<const V>(matrix.table), stream)) {}

template <Value V>
PersistentSweep<V>::PersistentSweep(std::shared_ptr<const DeviceTiles<V>> tiles,
                                    const SweepShape& shape)
    : shape_(shape), tiles_(std::move(tiles)), layout_(lay_out_sweep(*tiles_, shape)) {}

template <Value V>
const DeviceTiles<V>& PersistentSweep<V>::tiles() const {
  if (!tiles_)
    throw InvalidArgument("the wavefront sweep is empty: it was moved from or never made");
  return *tiles_;
}

// A worker has at most one mailbox for each worker. How many it needs depends on which columns are
// read, those of holes included, and values have a say in where slices have holes.
template <Value V>
Offset PersistentSweep<V>::signal_elements() const {
  return Offset{shape_.power} * shape_.workers * most_mailboxes(tiles().workers);
}

template <Value V>
typename PersistentSweep<V>::Workspace PersistentSweep<V>::make_workspace(Stream& stream) const {
  Workspace workspace;
  workspace.signals = DeviceArray<std::uint32_t>(signal_elements());
  workspace.control = DeviceArray<SweepControl>(1);
  fill_zero(workspace.signals.span(), stream);
  fill_zero(workspace.control.span(), stream);
  stream.synchronize();
  return workspace;
}

template <Value V>
SweepArguments<DeviceValue<V>> PersistentSweep<V>::arguments(const SweepSteps<V>& steps,
                                                             Workspace& workspace) const {
  using T = DeviceValue<V>;
  const auto power = static_cast<int>(steps.steps.size());
  if (power < 1 || power > shape_.power || std::ssize(steps.vectors) != power + 1) {
    throw InvalidArgument(
        fmt::format("a wavefront sweep of {} powers was given {} steps and {} vectors",
                    shape_.power, power, steps.vectors.size()));
  }
  if (workspace.signals.size() != signal_elements() || workspace.control.size() != 1) {
    throw InvalidArgument("the workspace was made for another wavefront sweep, or never made");
  }
  SweepArguments<T> sweep;
  sweep.records = tiles_->records.data();
  sweep.places = tiles_->places.data();
  sweep.tiles = tiles_->tiles;
  sweep.rows = {tiles_->presence.empty() ? nullptr : tiles_->presence.data(), nullptr,
                tiles_->rows};
  sweep.signals = workspace.signals.data();
  sweep.mailboxes = tiles_->mailboxes;
  sweep.control = workspace.control.data();
  sweep.timeout_ns = steps.timeout_ns;
  sweep.stress_seed = steps.stress_seed;
  sweep.power = power;
  sweep.count = shape_.vectors;
  sweep.before = reinterpret_cast<const T*>(steps.before);
  for (int k = 0; k <= power; ++k) sweep.vectors[k] = reinterpret_cast<T*>(steps.vectors[k]);
  for (int k = 0; k < power; ++k) {
    sweep.alpha[k] = device_value(steps.steps[k].alpha);
    sweep.shift[k] = device_value(steps.steps[k].shift);
    sweep.beta[k] = device_value(steps.steps[k].beta);
  }
  if (steps.sum.target != nullptr) {
    sweep.sum = reinterpret_cast<T*>(steps.sum.target);
    sweep.start = device_value(steps.sum.start);
    sweep.starts = steps.sum.starts;
    for (int k = 0; k < power; ++k) sweep.weight[k] = device_value(steps.sum.coefficients[k]);
  }
  sweep.table = reinterpret_cast<const T*>(tiles_->table.data());
  sweep.table_size = narrow<std::int32_t>(tiles_->table.size(), "the number of distinct values");
  return sweep;
}

template <Value V>
void PersistentSweep<V>::run(const SweepSteps<V>& steps, Workspace& workspace,
                             Stream& stream) const {
  const SweepArguments<DeviceValue<V>> sweep = arguments(steps, workspace);
  if (tiles_->tiles == 0) return;
  const auto launch = [&]<bool encoded>(std::bool_constant<encoded>) {
    if (shape_.specialised) {
      detail::launch_hopper_sweep<V, encoded>(sweep, tiles_->slice_height, shape_.workers,
                                              shape_.placement, shape_.many_gathers, layout_.ring,
                                              stream);
    } else {
      detail::launch_sweep<V, encoded>(sweep, tiles_->slice_height, shape_.workers, layout_.lag,
                                       stream);
    }
  };
  if (tiles_->encoded) {
    launch(std::true_type());
  } else {
    launch(std::false_type());
  }
}

template <Value V>
void PersistentSweep<V>::require_ended(Workspace& workspace, Stream& stream) const {
  const Array<SweepControl> control = to_host(workspace.control.span(), stream);
  if (control.empty() || control[0].stuck == 0) return;
  fill_zero(workspace.signals.span(), stream);
  fill_zero(workspace.control.span(), stream);
  stream.synchronize();
  throw DeviceError("a wavefront sweep",
                    "its blocks waited for each other longer than the watchdog timeout");
}

#define STRATA_INSTANTIATE(V, unused)                                                          \
  template std::vector<SweepShape> sweep_shapes<V>(const DeviceProperties&, int, int, Offset); \
  template struct DeviceTiles<V>;                                                              \
  template class PersistentSweep<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu
