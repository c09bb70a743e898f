#include "strata/plans/gpu/internal/proposals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <utility>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/device/error.hpp"
#include "strata/formats/registry.hpp"
#include "strata/formats/value_table.hpp"
#include "strata/order/spreading.hpp"
#include "strata/plans/gpu/internal/product_candidates.hpp"
#include "strata/plans/internal/given_order.hpp"
#include "strata/plans/internal/layout.hpp"
#include "strata/plans/internal/planning.hpp"

namespace strata::gpu::detail {

namespace {

using strata::detail::PartTimer;
using strata::detail::Reach;
using strata::detail::reach_of;
using strata::detail::SampledFormat;
using I = std::int32_t;

// Powers per sweep that are tried: a tile is held for all of them, so more cost room.
constexpr int kLargestBlock = 4;
// The size of tiles, about, for which a slice's height is chosen.
constexpr Offset kTileBytes = 28 * 1024;
// Entries of a row per thread, up to which it asks for all of them at once in any kernel.
constexpr Offset kShortRow = 9;
constexpr Offset kWarp = 32;
// Levels are searched for if sweeps over the given rows promise less than this.
constexpr double kGoodSpeedUp = 1.2;
// So many levels there should be, or as many as two sweeps have powers.
constexpr Offset kFewestLevels = 6;
// Encoded values that take more than this share of the bytes are not worth another candidate.
constexpr double kMostEncodedBytes = 0.98;
// Of windows of sweeps, in caches: so many times the L2 cache, and nothing can be gained.
constexpr Offset kLargestWindow = 2;
// Levels are put together up to so many bytes, before they are cut for the cache.
constexpr Offset kLayoutBytes = Offset{1} << 20;
// The largest part of a group for the cache that one of these may be.
constexpr Offset kLayoutShare = 4;

// A candidate of rows in a form.
template <Value V>
PowerCandidate candidate_of(PowerStrategy strategy, const Rows& rows, const StoredForm<V>& form) {
  PowerCandidate candidate;
  candidate.strategy = strategy;
  candidate.order = rows.kind;
  candidate.format = form.stored();
  candidate.format_bytes = form.bytes();
  return candidate;
}

}  // namespace

template <Value V>
Proposals<V>::Proposals(const Csr<V, I>& matrix, const PowerOptions& options,
                        const strata::detail::ProductRequest& request, Prepared<V>& prepared,
                        Stream& stream)
    : matrix_(matrix),
      options_(options),
      request_(request),
      prepared_(prepared),
      device_(device_properties(current_device())),
      stream_(stream) {
  no_window_ = chooses() && blocks() && larger_than_cache() && spreads_fast(pattern());
  prepared_.record.spreads_fast = no_window_;
}

template <Value V>
void Proposals<V>::propose_given_order() {
  given_ = make_rows({}, PaddedOrder<I>::identity(matrix_.rows()));
  conversions_ = std::make_shared<Conversions<V>>(matrix_);
  if (propose_asked_products() || propose_stored_choice()) return;
  propose_rows_as_given();
  propose_more_products();
}

// What the caller asks for, and nothing else.
template <Value V>
bool Proposals<V>::propose_asked_products() {
  if (request_.only.empty()) return false;
  prepared_.asked_for_product = true;
  settled_ = true;
  for (const ProductSpec& spec : request_.only) {
    propose_product(spec, footprint(matrix_, spec.format).bytes());
  }
  return true;
}

// Whether any format will do, and time may be spent on it.
template <Value V>
bool Proposals<V>::searches_products() const {
  return request_.searches && options_.autotune && options_.format == Format::automatic &&
         options_.slice_height == 0 && !options_.values;
}

template <Value V>
strata::detail::ProductMemory Proposals<V>::memory() const {
  return {request_.memory,
          {.matrix = prepared_.pattern,
           .machine = machine_key(prepared_.profile),
           .precision = precision_of<V>(),
           .vectors = options_.vectors,
           .encoded_eighths = encoded_eighths(matrix_)}};
}

// The fastest of an earlier search. It is put on the device at once, where it may not fit.
template <Value V>
bool Proposals<V>::propose_stored_choice() {
  if (!searches_products() || !strata::detail::store_decides(matrix_, options_, pattern())) {
    return false;
  }
  const auto choice = memory().recall(prepared_.record.remarks, [&](const ProductSpec& spec) {
    propose_product(spec, footprint(matrix_, spec.format).bytes());
    Proposal<V>& proposal = all_.back();
    try {
      held_ = std::visit(
          [&](const auto& form) -> std::shared_ptr<const void> { return form->on_device(stream_); },
          proposal.form);
    } catch (const Error&) {
      all_.pop_back();
      throw;
    }
  });
  settled_ = choice.has_value();
  if (settled_) all_.back().candidate.predicted_seconds = choice->seconds;
  return settled_;
}

// Products in other formats and with other kernels than plans of powers run in.
template <Value V>
void Proposals<V>::propose_more_products() {
  if (!request_.searches || !options_.autotune || options_.slice_height != 0 || options_.values ||
      matrix_.nnz() == 0) {
    return;
  }
  for (const auto& [spec, bytes] : product_candidates(matrix_, options_)) {
    if (!is_proposed(spec)) propose_product(spec, bytes);
  }
}

template <Value V>
bool Proposals<V>::is_proposed(const ProductSpec& spec) const {
  return std::ranges::any_of(all_, [&](const Proposal<V>& proposal) {
    return !proposal.reordered() && proposal.candidate.spec() == spec;
  });
}

// In a format that powers run in as well, or as a product.
template <Value V>
void Proposals<V>::propose_product(const ProductSpec& spec, Offset bytes) {
  if (const auto stored = stored_format_of(spec)) {
    propose_plain(given_, std::make_shared<StoredForm<V>>(conversions_, *stored, bytes), true);
    return;
  }
  Proposal<V> proposal;
  PowerCandidate& candidate = proposal.candidate;
  candidate.format = {spec.format.format(), 1};
  candidate.product = spec;
  candidate.format_bytes = bytes;
  predict_plain(candidate, powers_in(*given_), prepared_.profile);
  proposal.rows = given_;
  proposal.form = std::make_shared<ProductForm<V>>(conversions_, spec, bytes);
  proposal.if_it_may_win = true;
  all_.push_back(std::move(proposal));
}

template <Value V>
void Proposals<V>::finish() {
  if (!request_.searches) return;
  strata::detail::compare_with_csr(prepared_.record);
  if (!settled_ && searches_products()) {
    memory().remember(prepared_.record,
                      strata::detail::product_flops<V>(matrix_.nnz(), options_.vectors));
  }
}

template <Value V>
void Proposals<V>::propose_rows_as_given() {
  const SharedRows& given = given_;
  const SharedConversions& conversions = conversions_;
  const SampledFormat storage = strata::detail::choose_storage(matrix_, given->order, options_);
  entry_bytes_ = storage.bytes_per_entry;
  const bool levels = blocks() && chooses();
  const Reach reach = may_sweep() || levels ? reach_of(pattern(), pattern().row_offsets) : Reach{};
  if (may_sweep()) propose_sweeps(given, conversions, reach.ahead);
  const auto forms = forms_for(conversions, formats_for(storage, given->order));
  for (const SharedForm& form : forms) propose_plain(given, form);
  if (!levels) return;
  const auto alignment = narrow<I>(forms.front()->stored().alignment(), "the slice height");
  propose_by_levels(given, forms.front(), [&](Offset entries) {
    return LevelCut(pattern(), cut_rows<I>(pattern().row_offsets, {0, pattern().rows},
                                           std::max(entries, reach.distance()), alignment));
  });
}

template <Value V>
bool Proposals<V>::worth_searching() const {
  if (settled_) return false;
  if (strata::detail::may_reorder_products(matrix_, options_)) {
    return strata::detail::reads_scattered(pattern()) && !spreads_fast(pattern());
  }
  if (!may_sweep()) return must_level();
  double plain = std::numeric_limits<double>::infinity();
  double sweeps = std::numeric_limits<double>::infinity();
  for (const Proposal<V>& proposal : all_) {
    if (is_by_levels(proposal.candidate.strategy)) continue;
    double& best = proposal.candidate.plain() ? plain : sweeps;
    best = std::min(best, proposal.candidate.predicted_seconds);
  }
  return plain / sweeps < kGoodSpeedUp;
}

template <Value V>
bool Proposals<V>::promising(const LevelStructure<I>& structure) const {
  return structure.levels() >= std::max<Offset>(kFewestLevels, 2 * options_.power);
}

template <Value V>
void Proposals<V>::propose_levels(const LevelStructure<I>& structure) {
  const bool for_the_cache = must_level() || (blocks() && chooses());
  const Offset layout_bytes =
      for_the_cache ? std::clamp<Offset>(
                          group_bytes(cache_shares().front(), block_sizes().front()) / kLayoutShare,
                          1, kLayoutBytes)
                    : kLayoutBytes;
  auto layout = [&] {
    const PartTimer timer(prepared_.record, PlanningPart::Kind::order);
    return strata::detail::choose_layout(matrix_, structure, options_, layout_bytes, entry_bytes_);
  }();
  const std::vector<SampledFormat> formats = formats_for(layout.storage, layout.groups.order);
  SharedRows rows;
  try {
    rows = make_rows(layout.order, std::move(layout.groups.order));
  } catch (const DeviceOutOfMemory& error) {
    prepared_.remark(
        fmt::format("levels were not considered, for their order does not fit: {}", error.what()));
    return;
  }
  {
    const PartTimer timer(prepared_.record, PlanningPart::Kind::reordering);
    in_levels_ = std::make_unique<const Csr<V, I>>(reordered(matrix_, rows->order));
  }
  const auto conversions = std::make_shared<Conversions<V>>(*in_levels_);
  if (may_sweep()) {
    const PatternView<I> in_order = in_levels_->pattern();
    propose_sweeps(rows, conversions, reach_of(in_order, in_order.row_offsets).ahead);
  }
  if (!chooses() && !must_level()) return;
  for (const SharedForm& form : forms_for(conversions, formats)) {
    if (chooses()) propose_plain(rows, form);
    propose_by_levels(rows, form, [&](Offset entries) {
      const PatternView<I> in_order = in_levels_->pattern();
      return LevelCut(in_order, merged_groups(in_order, layout.groups.group_offsets, entries));
    });
  }
}

template <Value V>
bool Proposals<V>::blocks() const {
  return strata::detail::may_block(options_) && matrix_.nnz() > 0 && !no_window_;
}

template <Value V>
bool Proposals<V>::larger_than_cache() const {
  return matrix_.nnz() * Offset{sizeof(V)} > prepared_.profile.l2_bytes();
}

template <Value V>
bool Proposals<V>::may_sweep() const {
  return blocks() && (chooses() || options_.strategy == PowerStrategy::wavefront) &&
         (options_.format == Format::automatic || options_.format == Format::packed_sell);
}

template <Value V>
std::shared_ptr<const Rows> Proposals<V>::make_rows(const RowOrder& kind, PaddedOrder<I> order) {
  auto rows = std::make_shared<Rows>();
  rows->kind = kind;
  rows->on_device = DeviceOrder(order, stream_);
  rows->order = std::move(order);
  return rows;
}

// The smallest format for the rows, with encoded values first, where that saves bytes, and with
// full ones. Also slices of a row per thread, which run faster than their bytes say; and, where any
// will do, CSR: rows of any lengths run at full speed in it.
template <Value V>
std::vector<SampledFormat> Proposals<V>::formats_for(const SampledFormat& best,
                                                     const PaddedOrder<I>& order) const {
  const PartTimer timer(prepared_.record, PlanningPart::Kind::formats);
  const Csr<V, I> sample = strata::detail::sample_of(matrix_, order);
  std::vector<SampledFormat> stored;
  const bool packed = best.stored.format == Format::packed_sell;
  if (options_.values && packed) {
    stored.push_back({{Format::packed_sell, best.stored.slice_height, *options_.values}});
  } else {
    const std::array levels{options_.values.value_or(StoredValues::all)};
    if (!hardly_repeat(matrix_.values())) {
      stored = strata::detail::encoded_storage(sample, best, options_, levels);
    }
    stored.push_back(best);
  }
  std::vector<SampledFormat> formats = stored;
  for (const auto& [low, bytes] : stored) {
    const bool other_height =
        is_sliced(low.format) && options_.slice_height == 0 && low.slice_height != kWarp;
    if (!other_height) continue;
    const StoredFormat tall{low.format, kWarp, low.values};
    formats.push_back({tall, footprint(sample, FormatSpec(tall)).bytes_per_entry()});
  }
  if (options_.format == Format::automatic && best.stored.format != Format::csr) {
    formats.push_back({{Format::csr, 1}});
  }
  return formats;
}

// In slices of full values many entries take about the bytes of the sample: counting all of them
// would take as long as a plan that is made of other forms in the end.
template <Value V>
auto Proposals<V>::form_of(const SharedConversions& conversions, const SampledFormat& format) const
    -> SharedForm {
  const StoredFormat& stored = format.stored;
  const bool sampled = stored.format == Format::packed_sell &&
                       stored.values == StoredValues::full && format.bytes_per_entry > 0 &&
                       matrix_.nnz() >= kFewEntries && conversions->held(stored) == nullptr;
  if (!sampled) return std::make_shared<StoredForm<V>>(conversions, stored);
  return std::make_shared<StoredForm<V>>(
      conversions, stored,
      static_cast<Offset>(format.bytes_per_entry * static_cast<double>(matrix_.nnz())));
}

// Without encoded values that save next to nothing after all: full ones come after them.
template <Value V>
auto Proposals<V>::forms_for(const SharedConversions& conversions,
                             const std::vector<SampledFormat>& formats) const
    -> std::vector<SharedForm> {
  const PartTimer timer(prepared_.record, PlanningPart::Kind::formats);
  std::vector<SharedForm> forms;
  for (const SampledFormat& format : formats) {
    const StoredFormat& stored = format.stored;
    SharedForm form = form_of(conversions, format);
    std::erase_if(forms, [&](const SharedForm& other) {
      return stored.format == Format::packed_sell && stored.values == StoredValues::full &&
             other->stored().format == Format::packed_sell &&
             other->stored().slice_height == stored.slice_height &&
             static_cast<double>(other->bytes()) >
                 kMostEncodedBytes * static_cast<double>(form->bytes());
    });
    forms.push_back(std::move(form));
  }
  return forms;
}

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

template <Value V>
std::vector<int> Proposals<V>::block_sizes() const {
  return strata::detail::block_sizes(options_.power, options_.block);
}

// Of the L2 cache that windows may fill, the smallest first. Larger ones than that of the cache are
// a matter of timing: by their prediction they lose.
template <Value V>
std::vector<double> Proposals<V>::cache_shares() const {
  if (options_.cache_share > 0) return {options_.cache_share};
  std::vector<double> shares{kGpuCacheShare};
  if (must_level() && options_.autotune) {
    shares.insert(shares.end(), std::begin(kLargerGpuCacheShares), std::end(kLargerGpuCacheShares));
  }
  return shares;
}

template <Value V>
Offset Proposals<V>::window_budget(double share) const {
  const Offset l2 =
      prepared_.profile.device == device_ ? l2_bytes_of(prepared_.profile) : device_.l2_bytes;
  return strata::detail::window_budget(options_, l2, share);
}

template <Value V>
Offset Proposals<V>::group_bytes(double share, int block) const {
  return strata::detail::level_group_bytes(window_budget(share), block);
}

template <Value V>
double Proposals<V>::entry_bytes_of(const StoredForm<V>& form) const {
  return static_cast<double>(form.bytes()) / static_cast<double>(matrix_.nnz());
}

template <Value V>
PowersToPredict Proposals<V>::powers_in(const Rows& rows) const {
  const double row_bytes = static_cast<double>(sizeof(V)) * options_.vectors;
  return {.power = options_.power,
          .row_bytes = row_bytes,
          .entries = static_cast<double>(matrix_.nnz()),
          .rows = static_cast<double>(rows.order.padded_rows()),
          .copy_bytes = strata::detail::copy_bytes(options_, !rows.order.is_identity(),
                                                   static_cast<double>(rows.order.rows()),
                                                   row_bytes, sizeof(I))};
}

template <Value V>
void Proposals<V>::propose_plain(const SharedRows& rows, const SharedForm& form,
                                 bool if_it_may_win) {
  PowerCandidate candidate = candidate_of(PowerStrategy::spmv, *rows, *form);
  predict_plain(candidate, powers_in(*rows), prepared_.profile);
  all_.push_back({candidate, rows, form, {}, nullptr, if_it_may_win});
}

// cut(entries) puts rows into groups of about so many. Proposed are all blocks and shares of what
// was asked for, or the most promising block of each strategy.
template <Value V>
template <class Cut>
void Proposals<V>::propose_by_levels(const SharedRows& rows, const SharedForm& form,
                                     const Cut& cut) {
  std::vector<Proposal<V>> by_levels;
  for (const int block : block_sizes()) {
    std::shared_ptr<LevelCut> smaller;
    for (const double share : cache_shares()) {
      const double entries = static_cast<double>(group_bytes(share, block)) / entry_bytes_of(*form);
      const auto groups =
          std::make_shared<LevelCut>(cut(std::max<Offset>(static_cast<Offset>(entries), 1)));
      if (chooses() && groups->groups() < 2 * block) continue;  // too few for a window
      if (smaller && std::ranges::equal(smaller->group_rows(), groups->group_rows())) continue;
      smaller = groups;
      for (const PowerStrategy strategy : {PowerStrategy::levels, PowerStrategy::graph}) {
        if (!chooses() && strategy != options_.strategy) continue;
        by_levels.push_back(by_cut(strategy, {block, share}, rows, form, groups));
      }
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
  std::ranges::move(by_levels, std::back_inserter(all_));
}

template <Value V>
Proposal<V> Proposals<V>::by_cut(PowerStrategy strategy, const WindowShape& window,
                                 const SharedRows& rows, const SharedForm& form,
                                 const std::shared_ptr<LevelCut>& cut) const {
  PowerCandidate candidate = candidate_of(strategy, *rows, *form);
  candidate.placement = WindowPlacement::l2;
  candidate.block = window.block;
  candidate.cache_share = window.share;
  candidate.window_bytes =
      static_cast<Offset>(entry_bytes_of(*form) * static_cast<double>(cut->largest_entries()) *
                          static_cast<double>(std::min<Offset>(window.block + 1, cut->groups())));
  predict_levels(candidate, powers_in(*rows), {cut->groups(), strategy == PowerStrategy::graph},
                 prepared_.profile);
  return {candidate, rows, form, {}, cut};
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
  if (hardly_repeat(matrix_.values())) return {full};
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
  Postponed sweeps{rows, conversions, [&] {
                     const PartTimer timer(prepared_.record, PlanningPart::Kind::formats);
                     return sweep_formats(in_order, rows->order);
                   }()};
  // Even a sweep of two powers needs a window with room for the farthest row that one reads ahead.
  // Windows that are much larger than the cache are read from memory again and again.
  const bool encoded = sweeps.formats.front().values != StoredValues::full;
  const Offset entry_bytes = encoded ? 1 : Offset{sizeof(V)};
  const Offset window = kLargestWindow * l2_bytes_of(prepared_.profile) / entry_bytes;
  if (chooses() && farthest > window) return;
  // Full values alone: where they can be encoded, products are faster than sweeps of full ones.
  const Offset on_chip = device_.shared_bytes_per_block * device_.multiprocessors;
  if (sweeps.formats.size() == 1 && farthest <= on_chip / Offset{sizeof(V)}) {
    sweeps.flagged = propose_flagged(rows, in_order);
  }
  if (sweeps.flagged && options_.autotune) {
    postponed_.push_back(std::move(sweeps));
  } else {
    propose_signal_sweeps(sweeps);
  }
}

template <Value V>
void Proposals<V>::propose_more_sweeps() {
  for (const Postponed& sweeps : std::exchange(postponed_, {})) propose_signal_sweeps(sweeps);
}

template <Value V>
double Proposals<V>::predicted_more_sweeps() const {
  double least = std::numeric_limits<double>::infinity();
  for (const Postponed& sweeps : postponed_) {
    for (const int block : sweep_powers()) {
      for (const SweepShape& shape : shapes_for(block, sweeps.formats.front().slice_height)) {
        least = std::min(least, predicted_sweep(sweeps, shape));
      }
    }
  }
  return least;
}

// Without their tiles: as many as values alone would fill, which need each other as far apart as
// those that were proposed.
template <Value V>
double Proposals<V>::predicted_sweep(const Postponed& sweeps, const SweepShape& shape) const {
  const FlaggedSizes& known = sweeps.flagged->tiles();
  const auto tile_bytes = static_cast<double>(shape.tile_bytes);
  const auto workers = static_cast<double>(shape.workers);
  const double distance_bytes = static_cast<double>(known.dependency_distance[shape.power]) *
                                static_cast<double>(known.record_bytes) / known.tiles;
  const bool on_chip = shape.placement == WindowPlacement::shared_memory;
  // In L2 windows are as large as they have to be.
  const double window_bytes = on_chip
                                  ? static_cast<double>(device_.shared_bytes_per_block) * workers
                                  : std::max(static_cast<double>(shape.window_bytes),
                                             distance_bytes + workers * tile_bytes);
  PowerCandidate candidate;
  candidate.placement = shape.placement;
  candidate.block = shape.power;
  candidate.format_bytes = matrix_.nnz() * Offset{sizeof(V)};
  predict_sweeps(candidate, powers_in(*sweeps.rows),
                 {.tiles = static_cast<double>(candidate.format_bytes) / tile_bytes,
                  .workers = workers,
                  .held_tiles = window_bytes / tile_bytes,
                  .dependency_distance = shape.specialised ? distance_bytes / tile_bytes : 0},
                 prepared_.profile);
  return candidate.predicted_seconds;
}

template <Value V>
void Proposals<V>::propose_signal_sweeps(const Postponed& sweeps) {
  const auto& [rows, conversions, formats, flagged] = sweeps;
  for (const StoredFormat& stored : formats) {
    const auto slices = [&] {
      const PartTimer timer(prepared_.record, PlanningPart::Kind::tiles,
                            fmt::format("{}, rows {}", text_of(stored), text_of(rows->kind)));
      return conversions->packed(stored, false);
    }();
    // The whole matrix may have more distinct values than the sample.
    const bool same_as_next = stored != formats.back() && slices->matrix.has_full_values();
    if (!same_as_next) propose_sweeps(rows, slices, stored.values);
  }
}

template <Value V>
void Proposals<V>::propose_sweeps(const SharedRows& rows, const SharedSlices<V>& slices,
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
      propose_sweep(rows, *same, shape, values);
    }
  }
}

template <Value V>
void Proposals<V>::propose_sweep(const SharedRows& rows, const std::shared_ptr<TiledForm<V>>& form,
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

// The tiles, or none if no sweep of them is possible.
template <Value V>
auto Proposals<V>::propose_flagged(const SharedRows& rows, const Csr<V, I>& in_order)
    -> SharedTiles {
  const bool full = !options_.values || *options_.values == StoredValues::full;
  if (options_.vectors != 1 || options_.format != Format::automatic || !full ||
      options_.slice_height != 0 || !can_run_flagged<V>(device_)) {
    return nullptr;
  }
  const PartTimer timer(prepared_.record, PlanningPart::Kind::tiles,
                        fmt::format("values as flags, rows {}", text_of(rows->kind)));
  const std::optional<FlaggedForm> form = find_flagged_form(in_order);
  if (!form) return nullptr;
  SharedTiles tiles;
  try {
    tiles = std::make_shared<FlaggedTilesForm<V>>(in_order, *form,
                                                  flagged_workers(*form, device_.multiprocessors));
  } catch (const InvalidArgument&) {
    return nullptr;  // the sample had no rows of those that do not fit
  }
  const std::size_t before = all_.size();
  for (const int block : sweep_powers()) {
    for (const FlaggedShape& shape : flagged_shapes(block)) {
      propose_flagged(rows, tiles, shape);
    }
  }
  return all_.size() > before ? tiles : nullptr;
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

#define STRATA_INSTANTIATE(V, unused) template class Proposals<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu::detail
