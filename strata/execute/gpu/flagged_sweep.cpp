#include "strata/execute/gpu/flagged_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/device/error.hpp"
#include "strata/device/upload.hpp"
#include "strata/execute/gpu/internal/flagged_launch.hpp"

namespace strata::gpu {

namespace {

// Tiles are cleared some rounds of the ring before their turn: counts of other workers are looked
// at every few microseconds, in which a ring goes round about once. But what is cleared should be
// in the L2 cache still when it is written: more than so many bytes are slower.
constexpr int kMostRoundsAhead = 4;
constexpr Offset kBytesAhead = Offset{7} << 20;
// Slots start on a line of 128 bytes, where copies are fastest.
constexpr Offset kSlotAlignment = 128;
// Buffers for x of blocks, if few tiles are blocks.
constexpr int kFewBuffers = 2;

}  // namespace

template <Value V>
bool can_run_flagged(const DeviceProperties& device) {
  return device.api == Api::cuda && device.capability_major == 9 && device.cooperative_launch &&
         detail::has_flagged_sweep<V>();
}

std::vector<FlaggedShape> flagged_shapes(int power) {
  // A warp that waits for x has nothing else to do, so more of them do more, until they wait for
  // tiles instead.
  const int most = (detail::kFlaggedWarps - 2) / power;
  std::vector<FlaggedShape> shapes;
  for (const int warps : {4, 3, 2, 5, 7}) {
    const FlaggedShape shape{power, std::min(warps, most)};
    const bool known = std::ranges::find(shapes, shape) != shapes.end();
    if (shape.warps > 0 && !known) shapes.push_back(shape);
  }
  return shapes;
}

FlaggedRing lay_out_flagged(const FlaggedSizes& tiles, const FlaggedShape& shape, int workers) {
  if (shape.power < 1 || shape.power > kMaxSweepPower) {
    throw InvalidArgument(
        fmt::format("a sweep has 1 to {} powers, not {}", kMaxSweepPower, shape.power));
  }
  FlaggedRing ring;
  ring.warps = shape.warps;
  ring.lanes = tiles.form.lanes;
  if (shape.warps < 1 || ring.all_warps(shape.power) > detail::kFlaggedWarps) {
    throw InvalidArgument(fmt::format("a sweep of {} powers cannot have {} warps for each",
                                      shape.power, shape.warps));
  }
  const bool mostly_lines = 2 * tiles.line_rows > tiles.rows;
  ring.buffers = tiles.most_sectors == 0 ? 0
                 : mostly_lines          ? kFewBuffers
                                         : shape.power * shape.warps;
  ring.buffer_bytes = static_cast<std::uint32_t>(tiles.most_sectors * kSectorBytes);
  ring.slot_bytes = narrow<std::uint32_t>(
      ceil_div<Offset>(tiles.largest_tile, kSlotAlignment) * kSlotAlignment, "a tile of a sweep");
  const Offset room = device_properties(current_device()).shared_bytes_per_block;
  FlaggedRing empty = ring;
  empty.slots = 0;
  const Offset slots =
      (room - empty.shared_bytes()) / (Offset{ring.slot_bytes} + 16) / shape.warps * shape.warps;
  const Offset distance = tiles.dependency_distance[shape.power];
  if (slots < shape.warps || slots * workers <= distance) {
    throw InvalidArgument(
        fmt::format("{} tiles are held at a time; power {} of a tile needs {} beyond it",
                    std::max<Offset>(slots, 0) * workers, shape.power, distance));
  }
  ring.slots = static_cast<int>(slots);
  // A buffer number is taken modulo their number.
  ring.buffers = std::max(ring.buffers, 1);
  return ring;
}

template <Value V>
FlaggedTiles<V>::FlaggedTiles(const FlaggedStream<V>& matrix, int worker_count, Stream& stream)
    : FlaggedSizes(matrix),
      workers(worker_count),
      records(matrix.record_bytes),
      places(to_device(matrix.places(), stream)) {
  Array<std::uint64_t> present(static_cast<std::size_t>(matrix.presence_words()));
  upload_pieces({.count = matrix.tiles,
                 .begin_of = [&](Offset tile) { return matrix.begin_of(tile); },
                 .write = [&](Offset first, Offset end,
                              std::byte* to) { matrix.write(first, end, to, present); }},
                records.span(), stream);
  presence = to_device(std::span<const std::uint64_t>(present), stream);
}

template <Value V>
FlaggedSweep<V>::FlaggedSweep(std::shared_ptr<const FlaggedTiles<V>> tiles,
                              const FlaggedShape& shape)
    : shape_(shape),
      tiles_(std::move(tiles)),
      ring_(lay_out_flagged(*tiles_, shape, tiles_->workers)) {}

template <Value V>
const FlaggedTiles<V>& FlaggedSweep<V>::tiles() const {
  if (!tiles_) {
    throw InvalidArgument("the wavefront sweep is empty: it was moved from or never made");
  }
  return *tiles_;
}

template <Value V>
typename FlaggedSweep<V>::Workspace FlaggedSweep<V>::make_workspace(Stream& stream) const {
  Workspace workspace;
  workspace.counts = DeviceArray<std::uint32_t>(tiles().workers + 1);
  workspace.control = DeviceArray<SweepControl>(1);
  fill_zero(workspace.counts.span(), stream);
  fill_zero(workspace.control.span(), stream);
  stream.synchronize();
  return workspace;
}

template <Value V>
FlaggedArguments<DeviceValue<V>> FlaggedSweep<V>::arguments(const SweepSteps<V>& steps,
                                                            Workspace& workspace) const {
  using T = DeviceValue<V>;
  const auto power = static_cast<int>(steps.steps.size());
  if (power < 1 || power > shape_.power || std::ssize(steps.vectors) != power + 1) {
    throw InvalidArgument(
        fmt::format("a wavefront sweep of {} powers was given {} steps and {} vectors",
                    shape_.power, power, steps.vectors.size()));
  }
  if (workspace.counts.size() != tiles().workers + 1 || workspace.control.size() != 1) {
    throw InvalidArgument("the workspace was made for another wavefront sweep, or never made");
  }
  std::vector<const V*> all(steps.vectors.begin(), steps.vectors.end());
  if (steps.before != nullptr) all.push_back(steps.before);
  if (steps.sum.target != nullptr) all.push_back(steps.sum.target);
  std::ranges::sort(all);
  if (std::ranges::adjacent_find(all) != all.end()) {
    throw InvalidArgument("powers whose values are their own flags need a vector each");
  }
  FlaggedArguments<T> sweep;
  sweep.records = tiles_->records.data();
  sweep.places = tiles_->places.data();
  sweep.tiles = tiles_->tiles;
  sweep.rows = tiles_->rows;
  sweep.stride = tiles_->form.stride;
  sweep.presence = tiles_->presence.empty() ? nullptr : tiles_->presence.data();
  sweep.aligned = std::ranges::all_of(steps.vectors, [](const V* vector) {
    return reinterpret_cast<std::uintptr_t>(vector) % kChunkBytes == 0;
  });
  sweep.cleared = workspace.counts.data();
  sweep.ended = workspace.counts.data() + tiles_->workers;
  sweep.ahead = tiles_ahead(power) +
                static_cast<int>(ceil_div<Offset>(tiles_->dependency_distance[2], tiles_->workers));
  sweep.control = workspace.control.data();
  sweep.timeout_ns = steps.timeout_ns;
  sweep.stress_seed = steps.stress_seed;
  sweep.power = power;
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
  return sweep;
}

// How many tiles of each worker are cleared before their turn, beside those that others wait for.
template <Value V>
int FlaggedSweep<V>::tiles_ahead(int power) const {
  const Offset bytes = Offset{tiles_->rows} * Offset{sizeof(V)} * std::max(power - 1, 1);
  const Offset rounds = ceil_div<Offset>(tiles_->tiles, tiles_->workers);
  const Offset tiles = kBytesAhead * rounds / std::max<Offset>(bytes, 1);
  return static_cast<int>(
      std::clamp<Offset>(tiles, ring_.slots, Offset{kMostRoundsAhead} * ring_.slots));
}

template <Value V>
void FlaggedSweep<V>::run(const SweepSteps<V>& steps, Workspace& workspace, Stream& stream) const {
  const FlaggedArguments<DeviceValue<V>> sweep = arguments(steps, workspace);
  if (tiles_->tiles == 0) return;
  detail::launch_flagged_sweep<V>(sweep, tiles_->form, tiles_->workers, ring_, stream);
}

template <Value V>
void FlaggedSweep<V>::require_ended(Workspace& workspace, Stream& stream) const {
  const Array<SweepControl> control = to_host(workspace.control.span(), stream);
  if (control.empty() || control[0].stuck == 0) return;
  fill_zero(workspace.counts.span(), stream);
  fill_zero(workspace.control.span(), stream);
  stream.synchronize();
  throw DeviceError("a wavefront sweep",
                    "its blocks waited for each other longer than the watchdog timeout");
}

#define STRATA_INSTANTIATE(V, unused)                        \
  template bool can_run_flagged<V>(const DeviceProperties&); \
  template struct FlaggedTiles<V>;                           \
  template class FlaggedSweep<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu
