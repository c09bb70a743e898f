#include "strata/plans/gpu/internal/proposals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/device/error.hpp"
#include "strata/order/levels.hpp"
#include "strata/plans/gpu/internal/prediction.hpp"
#include "strata/plans/internal/blocks.hpp"
#include "strata/plans/internal/layout.hpp"

namespace strata::gpu::detail {

namespace {

using I = std::int32_t;

// Powers per sweep that are tried: a tile is held for all of them, so more cost room.
constexpr int kLargestBlock = 4;
// The size of tiles, about, for which a slice's height is chosen.
constexpr Offset kTileBytes = 28 * 1024;
// Entries of a row per thread, up to which it asks for all of them at once in any kernel.
constexpr Offset kShortRow = 9;
constexpr Offset kWarp = 32;
// Levels are looked for if waves over the given rows promise less than this.
constexpr double kGoodSpeedUp = 1.2;
// Levels are put together up to so many bytes, before they are cut for the cache.
constexpr Offset kLayoutBytes = Offset{1} << 20;
// The largest part of a group for the cache that one of these may be.
constexpr Offset kLayoutShare = 4;

template <Value V>
class Search {
 public:
  Search(const Csr<V, I>& matrix, const GpuPowerOptions& options, const GpuProfile& profile,
         Stream& stream)
      : matrix_(matrix),
        options_(options),
        profile_(profile),
        device_(device_properties(current_device())),
        stream_(stream) {}

  Proposals<V> run() {
    consider_given_rows();
    if (worth_searching()) consider_levels();
    return std::move(found_);
  }

 private:
  using SharedRows = std::shared_ptr<const Rows>;
  using SharedForm = std::shared_ptr<StoredForm<V>>;

  bool chooses() const { return options_.strategy == PowerStrategy::automatic; }
  bool may_block() const { return options_.power > 1 && matrix_.nnz() > 0; }
  bool may_sweep() const {
    return may_block() && (chooses() || options_.strategy == PowerStrategy::wavefront) &&
           (options_.format == PowerFormat::automatic ||
            options_.format == PowerFormat::packed_sell);
  }
  bool must_level() const { return may_block() && is_by_levels(options_.strategy); }

  PowersToPredict powers() const {
    return {options_.power, static_cast<double>(sizeof(V)) * options_.vectors,
            static_cast<double>(matrix_.nnz())};
  }

  strata::PowerOptions host_options() const {
    strata::PowerOptions host;
    host.format = options_.format;
    host.slice_height = options_.slice_height;
    return host;
  }

  SharedRows make_rows(std::string name, PaddedOrder<I> order) {
    auto rows = std::make_shared<Rows>();
    rows->name = std::move(name);
    rows->on_device = DeviceOrder(order, stream_);
    rows->order = std::move(order);
    return rows;
  }

  // The smallest format for the rows. Also slices of a row per thread, which run faster than their
  // bytes say; and, where any will do, CSR: rows of any lengths run at full speed in it.
  std::vector<StorageChoice> formats_for(StorageChoice best) const {
    std::vector<StorageChoice> formats{best};
    if (is_sliced(best.format) && options_.slice_height == 0 && best.slice_height != kWarp) {
      formats.push_back({best.format, kWarp});
    }
    if (options_.format == PowerFormat::automatic && best.format != PowerFormat::csr) {
      best.format = PowerFormat::csr;
      formats.push_back(best);
    }
    return formats;
  }

  void consider_given_rows() {
    const SharedRows given = make_rows("given", PaddedOrder<I>::identity(matrix_.rows()));
    const auto formats =
        formats_for(strata::detail::choose_storage(matrix_, given->order, host_options()));
    std::vector<SharedForm> forms;
    for (const StorageChoice& storage : formats) {
      forms.push_back(std::make_shared<StoredForm<V>>(matrix_, storage));
      propose_plain(given, forms.back());
    }
    if (may_sweep()) propose_sweeps(given, matrix_);
    if (!may_block() || !chooses()) return;
    const PatternView<I> pattern = matrix_.pattern();
    const Offset dependency_distance = dependency_distance_in_entries(pattern);
    const auto alignment = narrow<I>(formats.front().alignment(), "the slice height");
    propose_levels(given, forms.front(), [&](Offset entries) {
      return LevelCut(pattern, cut_rows<I>(pattern.row_offsets, {0, pattern.rows},
                                           std::max(entries, dependency_distance), alignment));
    });
  }

  bool worth_searching() const {
    if (!may_sweep()) return must_level();
    double plain = std::numeric_limits<double>::infinity();
    double sweeps = std::numeric_limits<double>::infinity();
    for (const Proposal<V>& proposal : found_.proposals) {
      if (is_by_levels(proposal.candidate.strategy)) continue;
      double& best = proposal.plain() ? plain : sweeps;
      best = std::min(best, proposal.candidate.predicted_seconds);
    }
    return plain / sweeps < kGoodSpeedUp;
  }

  void consider_levels() {
    const LevelStructure<I> structure = find_levels(matrix_.pattern(), {});
    found_.levels = structure.levels();
    found_.largest_level_rows = structure.max_rows();
    if (!must_level() && structure.levels() < 2 * options_.power) return;
    const Offset layout_bytes =
        must_level()
            ? std::clamp<Offset>(group_bytes(block_sizes().front()) / kLayoutShare, 1, kLayoutBytes)
            : kLayoutBytes;
    auto layout = strata::detail::choose_layout(matrix_, structure, host_options(), layout_bytes);
    SharedRows rows;
    try {
      rows = make_rows(layout.name, std::move(layout.groups.order));
    } catch (const DeviceOutOfMemory& error) {
      found_.remarks.push_back(fmt::format(
          "levels were not considered, for their order does not fit: {}", error.what()));
      return;
    }
    found_.in_levels = std::make_shared<const Csr<V, I>>(reordered(matrix_, rows->order));
    const Csr<V, I>& in_levels = *found_.in_levels;
    if (may_sweep()) propose_sweeps(rows, in_levels);
    if (!chooses() && !must_level()) return;
    for (const StorageChoice& storage : formats_for(layout.storage)) {
      const auto form = std::make_shared<StoredForm<V>>(in_levels, storage);
      if (chooses()) propose_plain(rows, form);
      propose_levels(rows, form, [&](Offset entries) {
        const PatternView<I> pattern = in_levels.pattern();
        return LevelCut(pattern, merged_groups(pattern, layout.groups.group_offsets, entries));
      });
    }
  }

  void propose_plain(const SharedRows& rows, const SharedForm& form) {
    Proposal<V> proposal{{}, rows, form->storage(), form, {}, nullptr};
    PowerCandidate& candidate = proposal.candidate;
    candidate.strategy = PowerStrategy::spmv;
    candidate.order = rows->name;
    candidate.format = form->storage().name();
    candidate.format_bytes = form->bytes();
    predict_plain(candidate, powers(), rows->order.padded_rows(), profile_);
    found_.proposals.push_back(std::move(proposal));
  }

  std::vector<int> block_sizes() const {
    return strata::detail::block_sizes(options_.power, options_.block);
  }

  Offset group_bytes(int block) const {
    const Offset l2 = profile_.device == device_ ? l2_bytes_of(profile_) : device_.l2_bytes;
    const Offset cache = options_.cache_bytes > 0 ? options_.cache_bytes : l2;
    return level_group_bytes({.bytes = std::max<Offset>(cache, 1)}, block);
  }

  // cut(entries) puts rows into groups of about so many. Proposed are all blocks of what was asked
  // for, or the most promising one of each strategy.
  template <class Cut>
  void propose_levels(const SharedRows& rows, const SharedForm& form, const Cut& cut) {
    const double entry_bytes =
        static_cast<double>(form->bytes()) / static_cast<double>(matrix_.nnz());
    std::vector<Proposal<V>> by_levels;
    for (const int block : block_sizes()) {
      const double entries = static_cast<double>(group_bytes(block)) / entry_bytes;
      const auto groups =
          std::make_shared<LevelCut>(cut(std::max<Offset>(static_cast<Offset>(entries), 1)));
      if (chooses() && groups->groups() < 2 * block) continue;  // too few for a wave
      for (const PowerStrategy strategy : {PowerStrategy::levels, PowerStrategy::graph}) {
        if (!chooses() && strategy != options_.strategy) continue;
        Proposal<V> proposal{{}, rows, form->storage(), form, {}, groups};
        proposal.candidate.strategy = strategy;
        proposal.candidate.block = block;
        predict_by_levels(proposal, *form, entry_bytes);
        by_levels.push_back(std::move(proposal));
      }
    }
    if (chooses()) {
      const auto strategy = [](const Proposal<V>& p) { return p.candidate.strategy; };
      std::ranges::stable_sort(by_levels, {}, [&](const Proposal<V>& p) {
        return std::pair(strategy(p), p.candidate.predicted_seconds);
      });
      const auto rest = std::ranges::unique(by_levels, {}, strategy);
      by_levels.erase(rest.begin(), rest.end());
    }
    std::ranges::move(by_levels, std::back_inserter(found_.proposals));
  }

  void predict_by_levels(Proposal<V>& proposal, const StoredForm<V>& form,
                         double entry_bytes) const {
    PowerCandidate& candidate = proposal.candidate;
    const LevelCut& cut = *proposal.cut;
    candidate.order = proposal.rows->name;
    candidate.format = proposal.storage.name();
    candidate.format_bytes = form.bytes();
    candidate.window_bytes = static_cast<Offset>(
        entry_bytes * static_cast<double>(cut.largest_entries()) *
        static_cast<double>(std::min<Offset>(candidate.block + 1, cut.groups())));
    predict_levels(candidate, powers(),
                   {static_cast<double>(proposal.rows->order.padded_rows()), cut.groups(),
                    candidate.strategy == PowerStrategy::graph},
                   profile_);
  }

  // Heights whose slices are small beside a tile, the tallest: threads then need no shuffles.
  Offset height_for(const Csr<V, I>& in_order, Offset tile_bytes) const {
    if (options_.slice_height > 0) return options_.slice_height;
    const Offset row =
        in_order.nnz() * Offset{sizeof(V) + 2} / std::max<Offset>(in_order.rows(), 1);
    Offset height = 32;
    while (height > 8 && row * height > tile_bytes * 2 / 5) height /= 2;
    return height;
  }

  // Whether a thread has more entries of a row than it asks for at a time where rows are short.
  bool has_long_rows(Offset height) const {
    return matrix_.nnz() * height / kWarp > kShortRow * matrix_.rows();
  }

  // The one kernel that is made for the device and its rows, with each home of the window.
  std::vector<SweepShape> shapes_for(int block, Offset height) const {
    std::vector<SweepShape> shapes = sweep_shapes<V>(device_, block, options_.vectors, height);
    const bool specialised = std::ranges::any_of(shapes, &SweepShape::specialised);
    std::erase_if(shapes, [&](const SweepShape& shape) {
      return shape.specialised != specialised ||
             (shape.placement == WindowPlacement::shared_memory &&
              shape.many_gathers != has_long_rows(height));
    });
    return shapes;
  }

  void propose_sweeps(const SharedRows& rows, const Csr<V, I>& in_order) {
    const Offset height = height_for(in_order, kTileBytes);
    std::shared_ptr<const PackedSell<V, I>> in_slices;
    std::vector<std::shared_ptr<TiledForm<V>>> forms;
    for (int block = 2; block <= std::min(options_.power, kLargestBlock); ++block) {
      if (options_.block > 0 && block != std::min(options_.block, options_.power)) continue;
      for (const SweepShape& shape : shapes_for(block, height)) {
        auto same = std::ranges::find_if(forms, [&](const std::shared_ptr<TiledForm<V>>& form) {
          return form->tile_bytes() == shape.tile_bytes && form->tiles().workers == shape.workers;
        });
        if (same == forms.end()) {
          if (!in_slices) in_slices = packed(in_order, height);
          same = forms.insert(forms.end(), std::make_shared<TiledForm<V>>(
                                               in_slices, shape.tile_bytes, shape.workers));
        }
        propose_sweep(rows, *same, shape);
      }
    }
  }

  void propose_sweep(const SharedRows& rows, const std::shared_ptr<TiledForm<V>>& form,
                     const SweepShape& shape) {
    const SweepTiles& tiles = form->tiles();
    SweepLayout layout;
    try {
      layout = lay_out_sweep(tiles, shape);
    } catch (const InvalidArgument&) {
      return;  // this window is smaller than the reach of the powers
    }
    Proposal<V> proposal{{},   rows,  {PowerFormat::packed_sell, tiles.slice_height},
                         form, shape, nullptr};
    PowerCandidate& candidate = proposal.candidate;
    candidate.strategy = PowerStrategy::wavefront;
    candidate.order = rows->name;
    candidate.format = fmt::format("{}, {}", proposal.storage.name(), name_of(shape.placement));
    candidate.block = shape.power;
    candidate.format_bytes = tiles.record_bytes;
    candidate.window_bytes =
        layout.window_tiles * tiles.record_bytes / std::max<Offset>(tiles.tiles, 1);
    predict_sweeps(
        candidate, powers(),
        {.placement = shape.placement,
         .rows = static_cast<double>(tiles.rows),
         .tiles = static_cast<double>(tiles.tiles),
         .workers = static_cast<double>(shape.workers),
         .held_tiles = static_cast<double>(layout.window_tiles),
         .dependency_distance =
             shape.specialised ? static_cast<double>(tiles.dependency_distance[shape.power]) : 0},
        profile_);
    found_.proposals.push_back(std::move(proposal));
  }

  const Csr<V, I>& matrix_;
  const GpuPowerOptions& options_;
  const GpuProfile& profile_;
  const DeviceProperties device_;
  Stream& stream_;
  Proposals<V> found_;
};

}  // namespace

template <Value V>
Proposals<V> find_proposals(const Csr<V, I>& matrix, const GpuPowerOptions& options,
                            const GpuProfile& profile, Stream& stream) {
  return Search<V>(matrix, options, profile, stream).run();
}

template <Value V>
const void* Proposal<V>::form_address() const {
  return std::visit([](const auto& held) -> const void* { return held.get(); }, form);
}

template <Value V>
Offset Proposal<V>::device_bytes() const {
  return std::visit([](const auto& held) { return held->device_bytes(); }, form);
}

template <Value V>
Method<V> make_method(const Proposal<V>& proposal, const GpuPowerOptions& options, Stream& stream) {
  if (const auto* tiled = std::get_if<std::shared_ptr<TiledForm<V>>>(&proposal.form)) {
    return PersistentSweep<V>((*tiled)->on_device(stream), proposal.shape);
  }
  SharedMatrix<V> matrix =
      std::get<std::shared_ptr<StoredForm<V>>>(proposal.form)->on_device(stream);
  if (proposal.cut == nullptr) return matrix;
  return LevelPowers<V>(std::move(matrix), proposal.cut->tiling(),
                        {options.power, proposal.candidate.block, options.vectors,
                         proposal.candidate.strategy == PowerStrategy::graph});
}

#define STRATA_INSTANTIATE(V, unused)                                            \
  template struct Proposal<V>;                                                   \
  template Proposals<V> find_proposals(const Csr<V, I>&, const GpuPowerOptions&, \
                                       const GpuProfile&, Stream&);              \
  template Method<V> make_method(const Proposal<V>&, const GpuPowerOptions&, Stream&)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu::detail
