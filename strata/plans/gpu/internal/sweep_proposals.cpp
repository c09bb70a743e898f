// The part of Proposals about wavefront sweeps.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/formats/registry.hpp"
#include "strata/plans/gpu/internal/proposals.hpp"
#include "strata/plans/internal/planning.hpp"

namespace strata::gpu::detail {

namespace {

using strata::detail::PartTimer;
using I = std::int32_t;

// Powers per sweep that are tried: a tile is held for all of them, so more cost room.
constexpr int kLargestBlock = 4;
// The size of tiles, about, for which a slice's height is chosen.
constexpr Offset kTileBytes = 28 * 1024;
// Entries of a row per thread, up to which it asks for all of them at once in any kernel.
constexpr Offset kShortRow = 9;
// Of windows of sweeps, in caches: so many times the L2 cache, and nothing can be gained.
constexpr Offset kLargestWindow = 2;
constexpr Offset kWarp = 32;

}  // namespace

// Of the longest sweep, each once: blocks of powers are alike, so that four by three are two by
// two.
template <Value V>
std::vector<int> Proposals<V>::sweep_powers() const {
  std::vector<int> powers;
  for (int block = 2; block <= std::min(options_.power, kLargestBlock); ++block) {
    const int longest = strata::detail::blocks_of(options_.power, block).front();
    const int asked = std::min(options_.block, options_.power);
    if (block == (options_.block > 0 ? asked : longest)) powers.push_back(block);
  }
  return powers;
}

// Heights whose slices are small beside a tile, the tallest: threads then need no shuffles.
template <Value V>
Offset Proposals<V>::height_for(const Csr<V, I>& in_order, Offset tile_bytes) const {
  if (options_.slice_height > 0) return options_.slice_height;
  const Offset row = in_order.nnz() * Offset{sizeof(V) + 2} / std::max<Offset>(in_order.rows(), 1);
  Offset height = 32;
  while (height > 8 && row * height > tile_bytes * 2 / 5) height /= 2;
  return height;
}

// Whether a thread has more entries of a row than it asks for at a time where rows are short.
template <Value V>
bool Proposals<V>::has_long_rows(Offset height) const {
  return matrix_.nnz() * height / kWarp > kShortRow * matrix_.rows();
}

// The one kernel that is made for the device and its rows, with each placement of the window.
template <Value V>
std::vector<SweepShape> Proposals<V>::shapes_for(int block, Offset height) const {
  std::vector<SweepShape> shapes = sweep_shapes<V>(device_, block, options_.vectors, height);
  const bool specialised = std::ranges::any_of(shapes, &SweepShape::specialised);
  std::erase_if(shapes, [&](const SweepShape& shape) {
    return shape.specialised != specialised || (shape.placement == WindowPlacement::shared_memory &&
                                                shape.many_gathers != has_long_rows(height));
  });
  return shapes;
}

// With values as asked for; or full ones and, where a sample of the rows says that they take fewer
// bytes, encoded ones before them.
template <Value V>
std::vector<StoredFormat> Proposals<V>::sweep_formats(const Csr<V, I>& in_order,
                                                      const PaddedOrder<I>& order) const {
  const Offset height = height_for(in_order, kTileBytes);
  if (options_.values) return {{Format::packed_sell, height, *options_.values}};
  const StoredFormat full{Format::packed_sell, height, StoredValues::full};
  if (!values_repeat()) return {full};
  const StoredFormat encoded{Format::packed_sell, height, StoredValues::all};
  const auto sample = strata::detail::sample_of(matrix_, order);
  const auto bytes = [&](const StoredFormat& stored) {
    return footprint(sample, FormatSpec(stored)).bytes();
  };
  if (bytes(encoded) < bytes(full)) return {encoded, full};
  return {full};
}

template <Value V>
void Proposals<V>::propose_sweeps(const SharedRows& rows, const SharedConversions& conversions,
                                  Offset farthest) {
  const Csr<V, I>& in_order = conversions->matrix();
  const std::vector<StoredFormat> formats = [&] {
    const PartTimer timer(prepared_.record, PlanningPart::Kind::formats);
    return sweep_formats(in_order, rows->order);
  }();
  // Even a sweep of two powers needs a window with room for the farthest row that one reads ahead.
  // Windows that are much larger than the cache are read from memory again and again.
  const bool encoded = formats.front().values != StoredValues::full;
  const Offset entry_bytes = encoded ? 1 : Offset{sizeof(V)};
  const Offset window = kLargestWindow * l2_bytes_of(prepared_.profile) / entry_bytes;
  if (chooses() && farthest > window) return;
  // Full values alone: where they can be encoded, products are faster than sweeps of full ones.
  // Making the tiles of sweeps with signals takes long, and they were faster on narrow bands alone.
  const Offset on_chip = device_.shared_bytes_per_block * device_.multiprocessors;
  if (formats.size() == 1 && farthest <= on_chip / Offset{sizeof(V)} &&
      propose_flagged(rows, in_order) &&
      (farthest > kTileBytes / Offset{sizeof(V)} || has_long_rows(kWarp))) {
    return;
  }
  for (const StoredFormat& stored : formats) {
    const auto slices = [&] {
      const PartTimer timer(prepared_.record, PlanningPart::Kind::tiles,
                            fmt::format("{}, rows {}", text_of(stored), text_of(rows->kind)));
      return conversions->packed(stored, false);
    }();
    // The whole matrix may have more distinct values than the sample.
    const bool same_as_next = stored != formats.back() && slices->matrix.has_full_values();
    if (!same_as_next) propose_signalled(rows, slices, stored.values);
  }
}

template <Value V>
void Proposals<V>::propose_signalled(const SharedRows& rows, const SharedSlices<V>& slices,
                                     StoredValues values) {
  const Offset height = slices->matrix.slice_height();
  const PartTimer timer(
      prepared_.record, PlanningPart::Kind::tiles,
      fmt::format("{}, rows {}", text_of(StoredFormat{Format::packed_sell, height, values}),
                  text_of(rows->kind)));
  std::vector<std::shared_ptr<TiledForm<V>>> forms;
  for (const int block : sweep_powers()) {
    for (const SweepShape& shape : shapes_for(block, height)) {
      auto same = std::ranges::find_if(forms, [&](const std::shared_ptr<TiledForm<V>>& form) {
        return form->tile_bytes() == shape.tile_bytes && form->tiles().workers == shape.workers;
      });
      if (same == forms.end()) {
        same = forms.insert(
            forms.end(), std::make_shared<TiledForm<V>>(slices, shape.tile_bytes, shape.workers));
      }
      propose_signalled(rows, *same, shape, values);
    }
  }
}

template <Value V>
void Proposals<V>::propose_signalled(const SharedRows& rows,
                                     const std::shared_ptr<TiledForm<V>>& form,
                                     const SweepShape& shape, StoredValues values) {
  const SweepTiles& tiles = form->tiles();
  SweepLayout layout;
  try {
    layout = lay_out_sweep(tiles, shape);
  } catch (const InvalidArgument&) {
    return;  // this window is smaller than the dependency distance of the powers
  }
  PowerCandidate candidate;
  candidate.strategy = PowerStrategy::wavefront;
  candidate.order = rows->kind;
  candidate.format = {Format::packed_sell, tiles.slice_height, values};
  candidate.placement = shape.placement;
  candidate.block = shape.power;
  candidate.format_bytes = tiles.record_bytes;
  candidate.window_bytes =
      layout.window_tiles * tiles.record_bytes / std::max<Offset>(tiles.tiles, 1);
  // Windows in shared memory are as large as it is; in the L2 cache they heed what was asked for.
  const bool limited = options_.cache_bytes > 0 && shape.placement == WindowPlacement::l2;
  if (limited && candidate.window_bytes > window_budget(kGpuCacheShare)) return;
  const auto distance = static_cast<double>(tiles.dependency_distance[shape.power]);
  predict_sweeps(candidate, powers_in(*rows),
                 {.tiles = static_cast<double>(tiles.tiles),
                  .workers = static_cast<double>(shape.workers),
                  .held_tiles = static_cast<double>(layout.window_tiles),
                  .dependency_distance = shape.specialised ? distance : 0},
                 prepared_.profile);
  all_.push_back({candidate, rows, form, shape, nullptr});
}

// Whether there are any.
template <Value V>
bool Proposals<V>::propose_flagged(const SharedRows& rows, const Csr<V, I>& in_order) {
  const bool full = !options_.values || *options_.values == StoredValues::full;
  if (options_.vectors != 1 || options_.format != Format::automatic || !full ||
      options_.slice_height != 0 || !can_run_flagged<V>(device_)) {
    return false;
  }
  const PartTimer timer(prepared_.record, PlanningPart::Kind::tiles,
                        fmt::format("values as flags, rows {}", text_of(rows->kind)));
  const std::optional<FlaggedForm> form = find_flagged_form(in_order);
  if (!form) return false;
  SharedTiles tiles;
  try {
    tiles = std::make_shared<FlaggedTilesForm<V>>(in_order, *form,
                                                  flagged_workers(*form, device_.multiprocessors));
  } catch (const InvalidArgument&) {
    return false;  // the sample had no rows of those that do not fit
  }
  const std::size_t before = all_.size();
  for (const int block : sweep_powers()) {
    for (const FlaggedShape& shape : flagged_shapes(block)) {
      propose_flagged(rows, tiles, shape);
    }
  }
  return all_.size() > before;
}

template <Value V>
void Proposals<V>::propose_flagged(const SharedRows& rows, const SharedTiles& form,
                                   const FlaggedShape& shape) {
  const FlaggedSizes& tiles = form->tiles();
  FlaggedRing ring;
  try {
    ring = lay_out_flagged(tiles, shape, form->workers());
  } catch (const InvalidArgument&) {
    return;  // this window is smaller than the dependency distance of the powers
  }
  PowerCandidate candidate;
  candidate.strategy = PowerStrategy::wavefront;
  candidate.order = rows->kind;
  candidate.format = {Format::csr, 1};
  candidate.flagged = true;
  candidate.placement = WindowPlacement::shared_memory;
  candidate.block = shape.power;
  candidate.format_bytes = tiles.record_bytes;
  candidate.window_bytes =
      Offset{ring.slots} * form->workers() * tiles.record_bytes / std::max<Offset>(tiles.tiles, 1);
  predict_flagged(
      candidate, powers_in(*rows),
      {.tiles = static_cast<double>(tiles.tiles),
       .workers = static_cast<double>(form->workers()),
       .held_tiles = static_cast<double>(ring.slots) * form->workers(),
       .dependency_distance = static_cast<double>(tiles.dependency_distance[shape.power]),
       .warps = static_cast<double>(shape.warps),
       .gather_bytes = static_cast<double>(tiles.sectors) * kSectorBytes},
      prepared_.profile);
  all_.push_back({candidate, rows, form, {}, nullptr, false, shape});
}

#define STRATA_INSTANTIATE(V, unused) \
  template void Proposals<V>::propose_sweeps(const SharedRows&, const SharedConversions&, Offset)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu::detail
