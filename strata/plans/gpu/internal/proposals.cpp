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

constexpr Offset kWarp = 32;
// Levels are searched for if sweeps over the given rows promise less than this.
constexpr double kGoodSpeedUp = 1.2;
// So many levels there should be, or as many as two sweeps have powers.
constexpr Offset kFewestLevels = 6;
// Encoded values that take more than this share of the bytes are not worth another candidate.
constexpr double kMostEncodedBytes = 0.98;
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
Proposals<V>::Proposals(const Csr<V, I>& matrix, const Reach& reach, const PowerOptions& options,
                        const strata::detail::ProductRequest& request, Prepared<V>& prepared,
                        Stream& stream)
    : matrix_(matrix),
      reach_(reach),
      options_(options),
      request_(request),
      prepared_(prepared),
      device_(device_properties(current_device())),
      stream_(stream) {
  const PartTimer timer(prepared_.record, PlanningPart::Kind::pattern);
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
  const SampledFormat storage = [&] {
    const PartTimer timer(prepared_.record, PlanningPart::Kind::formats);
    return strata::detail::choose_storage(matrix_, given->order, options_);
  }();
  entry_bytes_ = storage.bytes_per_entry;
  const bool levels = blocks() && chooses();
  if (may_sweep()) propose_sweeps(given, conversions, reach_.ahead);
  const auto forms = forms_for(conversions, formats_for(storage, given->order));
  for (const SharedForm& form : forms) propose_plain(given, form);
  if (!levels) return;
  const auto alignment = narrow<I>(forms.front()->stored().alignment(), "the slice height");
  propose_by_levels(given, forms.front(), [&](Offset entries) {
    return LevelCut(pattern(), cut_rows<I>(pattern().row_offsets, {0, pattern().rows},
                                           std::max(entries, reach_.distance()), alignment));
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
    const auto reach = [&] {
      const PartTimer timer(prepared_.record, PlanningPart::Kind::pattern);
      return reach_of(in_levels_->pattern(), in_levels_->row_offsets());
    }();
    propose_sweeps(rows, conversions, reach.ahead);
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
bool Proposals<V>::values_repeat() const {
  if (!values_repeat_) values_repeat_ = !hardly_repeat(matrix_.values());
  return *values_repeat_;
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
  // Of matrices with a few long rows it takes longer than all that is asked of it here.
  std::optional<Csr<V, I>> made;
  const auto sample = [&]() -> const Csr<V, I>& {
    if (!made) made = strata::detail::sample_of(matrix_, order);
    return *made;
  };
  std::vector<SampledFormat> stored;
  const bool packed = best.stored.format == Format::packed_sell;
  if (options_.values && packed) {
    stored.push_back({{Format::packed_sell, best.stored.slice_height, *options_.values}});
  } else {
    const std::array levels{options_.values.value_or(StoredValues::all)};
    if (values_repeat()) {
      stored = strata::detail::encoded_storage(sample(), best, options_, levels);
    }
    stored.push_back(best);
  }
  std::vector<SampledFormat> formats = stored;
  for (const auto& [low, bytes] : stored) {
    const bool other_height =
        is_sliced(low.format) && options_.slice_height == 0 && low.slice_height != kWarp;
    if (!other_height) continue;
    const StoredFormat tall{low.format, kWarp, low.values};
    formats.push_back({tall, footprint(sample(), FormatSpec(tall)).bytes_per_entry()});
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

#define STRATA_INSTANTIATE(V, unused) template class Proposals<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu::detail
