#include "strata/execute/gpu/device_wave.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/device/error.hpp"
#include "strata/execute/gpu/internal/wave_launch.hpp"

namespace strata::gpu {

namespace {

constexpr std::uint64_t kPatience = 10'000'000'000;  // nanoseconds
// Records have lists besides the values and codes that tiles are measured by.
constexpr Offset kListBytes = 1024;
// Slots start on a line of 128 bytes, as copies like it.
constexpr std::uint32_t kSlotAlignment = 128;
// Tiles that shared memory should hold at a time, so that a tile more or less makes no difference.
constexpr Offset kSlotsWanted = 8;
constexpr int kBlocksPerMultiprocessor = 4;

// As many slots as there is room for.
hopper::Ring ring_of(const WaveShape& shape, std::uint32_t largest_record, Offset shared_bytes) {
  hopper::Ring ring{shape.teams, shape.team_warps, shape.teams,
                    divide_up(largest_record, kSlotAlignment) * kSlotAlignment, 0};
  // The loader looks at the places of 32 tiles at a time.
  while (ring.slots + shape.teams < 32) {
    hopper::Ring larger = ring;
    larger.slots += shape.teams;
    if (larger.shared_bytes(shape.power, shape.workers) > shared_bytes) break;
    ring = larger;
  }
  return ring;
}

void require_shape(const WaveShape& shape, const Wave& wave, Offset slice_height) {
  if (shape.power < 1 || shape.power > kMaxWavePower) {
    throw InvalidArgument(
        fmt::format("a sweep has 1 to {} powers, not {}", kMaxWavePower, shape.power));
  }
  if (shape.vectors < 1 || shape.vectors > kMaxVectors) {
    throw InvalidArgument(
        fmt::format("a wave is for 1 to {} vectors, not {}", kMaxVectors, shape.vectors));
  }
  if (!detail::is_wave_height(slice_height)) {
    throw InvalidArgument(
        fmt::format("waves run over slices of 8, 16 or 32 rows, not {}", slice_height));
  }
  if (shape.workers != wave.workers()) {
    throw InvalidArgument(
        fmt::format("a shape for {} workers and a wave of {}", shape.workers, wave.workers()));
  }
}

}  // namespace

std::vector<WaveShape> wave_shapes(const DeviceProperties& device, int power, int vectors,
                                   Offset slice_height, Offset value_bytes) {
  std::vector<WaveShape> shapes;
  if (!device.cooperative_launch || !detail::is_wave_height(slice_height)) return shapes;
  const bool hopper = detail::has_hopper_wave() && device.api == Api::cuda &&
                      device.capability_major == 9 && vectors == 1;
  if (hopper) {
    for (const bool many : {true, false}) {
      WaveShape shape;
      shape.home = WindowHome::shared_memory;
      shape.power = power;
      shape.workers = device.multiprocessors;
      shape.many_gathers = many;
      shape.tile_bytes = device.shared_bytes_per_block / kSlotsWanted - kListBytes;
      const int warps = (detail::most_hopper_warps(many) - 2 * power + 1) / power;
      if (warps < 1) continue;
      shape.teams = warps >= 8 ? 2 : 1;
      shape.team_warps = std::min(warps / shape.teams, 8);
      shape.threads = hopper::Ring{shape.teams, shape.team_warps}.warps(power) * device.warp;
      shapes.push_back(shape);
    }
  }
  WaveShape shape;
  shape.power = power;
  shape.vectors = vectors;
  shape.threads = detail::kWaveThreads;
  shape.workers = device.multiprocessors * kBlocksPerMultiprocessor;
  // A slice per warp at least; and two rounds of tiles, the least a sweep of two powers holds, in
  // a third of the cache.
  shape.tile_bytes =
      std::max<Offset>(device.l2_bytes / 3 / shape.workers / 2, slice_height * value_bytes * 8);
  shapes.push_back(shape);
  return shapes;
}

template <Value V>
DeviceWave<V>::DeviceWave(const TileStream<V>& matrix, const Wave& wave, const WaveShape& shape,
                          Stream& stream)
    : shape_(shape),
      rows_(matrix.rows),
      tiles_(wave.tiles()),
      slice_height_(matrix.slice_height),
      largest_record_(matrix.largest_record),
      reach_(wave.reach(shape.power)) {
  require_shape(shape, wave, slice_height_);
  if (shape.home == WindowHome::shared_memory) {
    if (shape.vectors != 1) throw InvalidArgument("a window in shared memory is for one vector");
    const Offset room = device_properties(current_device()).shared_bytes_per_block;
    const hopper::Ring ring = ring_of(shape, largest_record_, room);
    slots_ = ring.slots;
    if (ring.shared_bytes(shape.power, shape.workers) > room) {
      throw InvalidArgument(
          fmt::format("{} tiles of up to {} bytes need more than the {} bytes of "
                      "shared memory that a block can have",
                      slots_, largest_record_, room));
    }
    window_tiles_ = Offset{slots_} * shape.workers;
    if (window_tiles_ <= reach_) {
      throw InvalidArgument(
          fmt::format("shared memory holds {} tiles; power {} of a tile needs {} beyond it",
                      window_tiles_, shape.power, reach_));
    }
  } else {
    lag_ = divide_up(wave.reach(2), shape.workers) + 1;
    window_tiles_ = Offset{lag_} * (shape.power - 1) * shape.workers;
  }
  records_ = to_device(std::span<const std::byte>(matrix.records), stream);
  places_ = to_device(std::span<const RecordPlace>(matrix.places), stream);
  presence_ = to_device(std::span<const std::uint64_t>(matrix.presence), stream);
}

template <Value V>
typename DeviceWave<V>::Workspace DeviceWave<V>::make_workspace(Stream& stream) const {
  Workspace workspace;
  workspace.news =
      DeviceArray<std::uint32_t>(Offset{shape_.power} * shape_.workers * shape_.workers);
  workspace.control = DeviceArray<WaveControl>(1);
  fill_zero(workspace.news.span(), stream);
  fill_zero(workspace.control.span(), stream);
  stream.synchronize();
  return workspace;
}

template <Value V>
WaveArguments<DeviceValue<V>> DeviceWave<V>::arguments(const WaveSteps<V>& steps,
                                                       Workspace& workspace) const {
  using T = DeviceValue<V>;
  const auto power = static_cast<int>(steps.steps.size());
  if (power < 1 || power > shape_.power || std::ssize(steps.vectors) != power + 1) {
    throw InvalidArgument(fmt::format("a wave of {} powers was given {} steps and {} vectors",
                                      shape_.power, power, steps.vectors.size()));
  }
  WaveArguments<T> wave;
  wave.records = records_.data();
  wave.places = places_.data();
  wave.tiles = tiles_;
  wave.rows = {presence_.empty() ? nullptr : presence_.data(), nullptr, rows_};
  wave.news = workspace.news.data();
  wave.control = workspace.control.data();
  wave.patience_ns = kPatience;
  wave.disturbance = steps.disturbance;
  wave.power = power;
  wave.count = shape_.vectors;
  wave.before = reinterpret_cast<const T*>(steps.before);
  for (int k = 0; k <= power; ++k) wave.vectors[k] = reinterpret_cast<T*>(steps.vectors[k]);
  for (int k = 0; k < power; ++k) {
    wave.alpha[k] = device_value(steps.steps[k].alpha);
    wave.shift[k] = device_value(steps.steps[k].shift);
    wave.beta[k] = device_value(steps.steps[k].beta);
  }
  return wave;
}

template <Value V>
void DeviceWave<V>::run(const WaveSteps<V>& steps, Workspace& workspace, Stream& stream) const {
  const WaveArguments<DeviceValue<V>> wave = arguments(steps, workspace);
  if (tiles_ == 0) return;
  if (shape_.home == WindowHome::l2) {
    detail::launch_wave<V>(wave, slice_height_, shape_.workers, lag_, stream);
    return;
  }
  const hopper::Ring ring{shape_.teams, shape_.team_warps, slots_,
                          divide_up(largest_record_, kSlotAlignment) * kSlotAlignment,
                          std::min(shape_.ahead_in_l2, 31 - slots_)};
  detail::launch_hopper_wave<V>(wave, slice_height_, shape_.workers, shape_.many_gathers, ring,
                                stream);
}

template <Value V>
void DeviceWave<V>::require_ended(Workspace& workspace, Stream& stream) const {
  const Array<WaveControl> control = to_host(workspace.control.span(), stream);
  if (control[0].stuck == 0) return;
  workspace = make_workspace(stream);
  throw DeviceError("a wave of powers",
                    "its blocks waited for each other for more than ten seconds");
}

#define STRATA_INSTANTIATE(V, unused) template class DeviceWave<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu
