// What a GPU can run of a matrix, what that should cost, and how to time it: the backend of
// plans/internal/planning.hpp for a device.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>
#include <variant>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/device/error.hpp"
#include "strata/machine/gpu/device_profile.hpp"
#include "strata/plans/gpu/internal/level_cut.hpp"
#include "strata/plans/gpu/internal/prediction.hpp"
#include "strata/plans/gpu/internal/prepared.hpp"
#include "strata/plans/gpu/internal/trials.hpp"
#include "strata/plans/internal/explanation.hpp"
#include "strata/plans/internal/given_order.hpp"
#include "strata/plans/internal/layout.hpp"
#include "strata/plans/internal/planning.hpp"

namespace strata::gpu::detail {

using strata::detail::SampledFormat;

namespace {

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
// Levels are put together up to so many bytes, before they are cut for the cache.
constexpr Offset kLayoutBytes = Offset{1} << 20;
// The largest part of a group for the cache that one of these may be.
constexpr Offset kLayoutShare = 4;
// How many sweeps over rows in one order are timed, the most promising first; and of levels, if
// they are asked for.
constexpr std::size_t kTimed = 4;
// How much more device memory planning may take than a plan.
constexpr double kMemoryFactor = 2.5;
// Plain products win unless another way is this much faster.
constexpr double kSimplerWins = 1.02;

constexpr bool is_by_levels(PowerStrategy strategy) {
  return strategy == PowerStrategy::levels || strategy == PowerStrategy::graph;
}

template <Value V>
class GpuPlanner {
 public:
  using SharedRows = std::shared_ptr<const Rows>;
  using SharedForm = std::shared_ptr<StoredForm<V>>;

  struct Proposal {
    PowerCandidate candidate;
    SharedRows rows;
    std::variant<SharedForm, std::shared_ptr<TiledForm<V>>> form;
    SweepShape shape;               // of wavefront sweeps
    std::shared_ptr<LevelCut> cut;  // of levels

    bool reordered() const { return !rows->order.is_identity(); }
    // Proposals of one form run on the same matrix on the device.
    const void* form_address() const {
      return std::visit([](const auto& held) -> const void* { return held.get(); }, form);
    }
    Offset device_bytes() const {
      return std::visit([](const auto& held) { return held->device_bytes(); }, form);
    }
  };

  GpuPlanner(const Csr<V, I>& matrix, const PowerOptions& options, Prepared<V>& prepared,
             Stream& stream)
      : matrix_(matrix),
        options_(options),
        prepared_(prepared),
        device_(device_properties(current_device())),
        stream_(stream) {
    find_profile();
  }

  PatternView<I> pattern() const { return matrix_.pattern(); }
  std::vector<Proposal>& proposals() { return proposals_; }
  static strata::detail::Handicaps handicaps() { return {.blocked = kSimplerWins}; }
  static bool affords_sweeps() { return true; }

  void propose_given_order() {
    const SharedRows given = make_rows({}, PaddedOrder<I>::identity(matrix_.rows()));
    const SampledFormat storage = strata::detail::choose_storage(matrix_, given->order, options_);
    entry_bytes_ = storage.bytes_per_entry;
    const auto formats = formats_for(storage.stored);
    std::vector<SharedForm> forms;
    for (const StoredFormat& stored : formats) {
      forms.push_back(std::make_shared<StoredForm<V>>(matrix_, stored));
      propose_plain(given, forms.back());
    }
    if (may_sweep()) propose_sweeps(given, matrix_);
    if (!blocks() || !chooses()) return;
    const Offset distance =
        strata::detail::dependency_distance<I>(pattern(), pattern().row_offsets);
    const auto alignment = narrow<I>(formats.front().alignment(), "the slice height");
    propose_by_levels(given, forms.front(), [&](Offset entries) {
      return LevelCut(pattern(), cut_rows<I>(pattern().row_offsets, {0, pattern().rows},
                                             std::max(entries, distance), alignment));
    });
  }

  bool worth_searching() const {
    if (strata::detail::may_reorder_products(matrix_, options_)) {
      return strata::detail::reads_scattered(pattern());
    }
    if (!may_sweep()) return must_level();
    double plain = std::numeric_limits<double>::infinity();
    double sweeps = std::numeric_limits<double>::infinity();
    for (const Proposal& proposal : proposals_) {
      if (is_by_levels(proposal.candidate.strategy)) continue;
      double& best = proposal.candidate.plain() ? plain : sweeps;
      best = std::min(best, proposal.candidate.predicted_seconds);
    }
    return plain / sweeps < kGoodSpeedUp;
  }

  bool promising(const LevelStructure<I>& structure) const {
    return structure.levels() >= std::max<Offset>(kFewestLevels, 2 * options_.power);
  }

  void propose_levels(const LevelStructure<I>& structure) {
    const bool for_the_cache = must_level() || (blocks() && chooses());
    const Offset layout_bytes =
        for_the_cache
            ? std::clamp<Offset>(group_bytes(block_sizes().front()) / kLayoutShare, 1, kLayoutBytes)
            : kLayoutBytes;
    auto layout =
        strata::detail::choose_layout(matrix_, structure, options_, layout_bytes, entry_bytes_);
    SharedRows rows;
    try {
      rows = make_rows(layout.order, std::move(layout.groups.order));
    } catch (const DeviceOutOfMemory& error) {
      remark(fmt::format("levels were not considered, for their order does not fit: {}",
                         error.what()));
      return;
    }
    in_levels_ = std::make_unique<const Csr<V, I>>(reordered(matrix_, rows->order));
    if (may_sweep()) propose_sweeps(rows, *in_levels_);
    if (!chooses() && !must_level()) return;
    for (const StoredFormat& stored : formats_for(layout.storage.stored)) {
      const auto form = std::make_shared<StoredForm<V>>(*in_levels_, stored);
      if (chooses()) propose_plain(rows, form);
      propose_by_levels(rows, form, [&](Offset entries) {
        const PatternView<I> in_order = in_levels_->pattern();
        return LevelCut(in_order, merged_groups(in_order, layout.groups.group_offsets, entries));
      });
    }
  }

  // Plain products and the most promising sweeps. Levels if they were asked for, or if their
  // prediction, which is seldom reached, beats all that was timed.
  void autotune() {
    std::ranges::stable_sort(proposals_, {}, [](const Proposal& proposal) {
      return proposal.candidate.predicted_seconds;
    });
    Trials<V> trials(matrix_, options_, stream_);
    find_budget(trials);
    std::map<const Rows*, std::size_t> timed;
    std::vector<Proposal*> favourites;
    for (Proposal& proposal : proposals_) {
      const PowerCandidate& candidate = proposal.candidate;
      if (chooses() && is_by_levels(candidate.strategy)) continue;
      if (!candidate.plain() && timed[proposal.rows.get()]++ >= kTimed) continue;
      favourites.push_back(&proposal);
    }
    time_by_forms(favourites, trials);
    for (Proposal& proposal : proposals_) {
      const PowerCandidate& candidate = proposal.candidate;
      if (candidate.measured_seconds == 0 && is_by_levels(candidate.strategy) && chooses() &&
          (fastest_.proposal == nullptr ||
           candidate.predicted_seconds < fastest_.proposal->candidate.seconds())) {
        time(proposal, trials);
      }
    }
  }

  // Makes the method of the first proposal that fits that of the plan. Throws DeviceOutOfMemory if
  // none does.
  std::ptrdiff_t take(const std::vector<Proposal*>& ranked) {
    for (std::size_t next = 0;; ++next) {
      const Proposal& proposal = *ranked[next];
      // The matrix of the fastest is of use if it is that of this one, and in the way otherwise.
      if (fastest_.proposal != nullptr &&
          fastest_.proposal->form_address() != proposal.form_address()) {
        fastest_ = {};
      }
      try {
        prepared_.method = make_method(proposal);
        prepared_.rows = proposal.rows;
        prepared_.stored = proposal.candidate.format;
        fastest_ = {};
        return static_cast<std::ptrdiff_t>(next);
      } catch (const DeviceOutOfMemory& error) {
        if (next + 1 == ranked.size()) throw;
        remark(does_not_fit(proposal, error));
      }
    }
  }

 private:
  void find_profile() {
    prepared_.device = device_.name;
    if (options_.gpu_profile == nullptr) {
      const auto& cached = cached_gpu_profile(current_device());
      prepared_.profile = cached.profile;
      if (!cached.remark.empty()) remark(cached.remark);
      return;
    }
    prepared_.profile = *options_.gpu_profile;
    if (prepared_.profile.device.name != prepared_.device) {
      remark(fmt::format("predicted with the profile of another device, {}",
                         prepared_.profile.device.name));
    }
  }

  void remark(std::string text) { prepared_.record.remarks.push_back(std::move(text)); }

  bool chooses() const { return options_.strategy == PowerStrategy::automatic; }
  bool blocks() const { return strata::detail::may_block(options_) && matrix_.nnz() > 0; }
  bool may_sweep() const {
    return blocks() && (chooses() || options_.strategy == PowerStrategy::wavefront) &&
           (options_.format == Format::automatic || options_.format == Format::packed_sell);
  }
  bool must_level() const { return blocks() && is_by_levels(options_.strategy); }

  PowersToPredict powers_in(const Rows& rows) const {
    const double row_bytes = static_cast<double>(sizeof(V)) * options_.vectors;
    return {.power = options_.power,
            .row_bytes = row_bytes,
            .entries = static_cast<double>(matrix_.nnz()),
            .rows = static_cast<double>(rows.order.padded_rows()),
            .copy_bytes = strata::detail::copy_bytes(options_, !rows.order.is_identity(),
                                                     static_cast<double>(rows.order.rows()),
                                                     row_bytes, sizeof(I))};
  }

  SharedRows make_rows(const RowOrder& kind, PaddedOrder<I> order) {
    auto rows = std::make_shared<Rows>();
    rows->kind = kind;
    rows->on_device = DeviceOrder(order, stream_);
    rows->order = std::move(order);
    return rows;
  }

  // The smallest format for the rows. Also slices of a row per thread, which run faster than their
  // bytes say; and, where any will do, CSR: rows of any lengths run at full speed in it.
  std::vector<StoredFormat> formats_for(const StoredFormat& best) const {
    std::vector<StoredFormat> formats{best};
    if (is_sliced(best.format) && options_.slice_height == 0 && best.slice_height != kWarp) {
      formats.push_back({best.format, kWarp});
    }
    if (options_.format == Format::automatic && best.format != Format::csr) {
      formats.push_back({Format::csr, 1});
    }
    return formats;
  }

  std::vector<int> block_sizes() const {
    return strata::detail::block_sizes(options_.power, options_.block);
  }

  // What windows in the L2 cache may fill.
  Offset window_budget() const {
    const Offset l2 =
        prepared_.profile.device == device_ ? l2_bytes_of(prepared_.profile) : device_.l2_bytes;
    return strata::detail::window_budget(options_, l2, kGpuCacheShare);
  }
  Offset group_bytes(int block) const {
    return strata::detail::level_group_bytes(window_budget(), block);
  }

  // A candidate of rows in a form.
  static PowerCandidate candidate_of(PowerStrategy strategy, const Rows& rows,
                                     const StoredForm<V>& form) {
    PowerCandidate candidate;
    candidate.strategy = strategy;
    candidate.order = rows.kind;
    candidate.format = form.stored();
    candidate.format_bytes = form.bytes();
    return candidate;
  }

  void propose_plain(const SharedRows& rows, const SharedForm& form) {
    PowerCandidate candidate = candidate_of(PowerStrategy::spmv, *rows, *form);
    predict_plain(candidate, powers_in(*rows), prepared_.profile);
    proposals_.push_back({candidate, rows, form, {}, nullptr});
  }

  // cut(entries) puts rows into groups of about so many. Proposed are all blocks of what was asked
  // for, or the most promising one of each strategy.
  template <class Cut>
  void propose_by_levels(const SharedRows& rows, const SharedForm& form, const Cut& cut) {
    const double entry_bytes =
        static_cast<double>(form->bytes()) / static_cast<double>(matrix_.nnz());
    std::vector<Proposal> by_levels;
    for (const int block : block_sizes()) {
      const double entries = static_cast<double>(group_bytes(block)) / entry_bytes;
      const auto groups =
          std::make_shared<LevelCut>(cut(std::max<Offset>(static_cast<Offset>(entries), 1)));
      if (chooses() && groups->groups() < 2 * block) continue;  // too few for a window
      for (const PowerStrategy strategy : {PowerStrategy::levels, PowerStrategy::graph}) {
        if (!chooses() && strategy != options_.strategy) continue;
        PowerCandidate candidate = candidate_of(strategy, *rows, *form);
        candidate.placement = WindowPlacement::l2;
        candidate.block = block;
        candidate.window_bytes =
            static_cast<Offset>(entry_bytes * static_cast<double>(groups->largest_entries()) *
                                static_cast<double>(std::min<Offset>(block + 1, groups->groups())));
        predict_levels(candidate, powers_in(*rows),
                       {groups->groups(), strategy == PowerStrategy::graph}, prepared_.profile);
        by_levels.push_back({candidate, rows, form, {}, groups});
      }
    }
    if (chooses()) {
      const auto strategy = [](const Proposal& p) { return p.candidate.strategy; };
      std::ranges::stable_sort(by_levels, {}, [&](const Proposal& p) {
        return std::pair(strategy(p), p.candidate.predicted_seconds);
      });
      const auto rest = std::ranges::unique(by_levels, {}, strategy);
      by_levels.erase(rest.begin(), rest.end());
    }
    std::ranges::move(by_levels, std::back_inserter(proposals_));
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
      return;  // this window is smaller than the dependency distance of the powers
    }
    PowerCandidate candidate;
    candidate.strategy = PowerStrategy::wavefront;
    candidate.order = rows->kind;
    candidate.format = {Format::packed_sell, tiles.slice_height};
    candidate.placement = shape.placement;
    candidate.block = shape.power;
    candidate.format_bytes = tiles.record_bytes;
    candidate.window_bytes =
        layout.window_tiles * tiles.record_bytes / std::max<Offset>(tiles.tiles, 1);
    // Windows in shared memory are as large as it is; in the L2 cache they heed what was asked for.
    const bool limited = options_.cache_bytes > 0 && shape.placement == WindowPlacement::l2;
    if (limited && candidate.window_bytes > window_budget()) return;
    const auto distance = static_cast<double>(tiles.dependency_distance[shape.power]);
    predict_sweeps(candidate, powers_in(*rows),
                   {.tiles = static_cast<double>(tiles.tiles),
                    .workers = static_cast<double>(shape.workers),
                    .held_tiles = static_cast<double>(layout.window_tiles),
                    .dependency_distance = shape.specialised ? distance : 0},
                   prepared_.profile);
    proposals_.push_back({candidate, rows, form, shape, nullptr});
  }

  // Uploads the form, unless somebody holds it, and makes the method ready to run. Throws
  // DeviceOutOfMemory.
  Method<V> make_method(const Proposal& proposal) {
    if (const auto* tiled = std::get_if<std::shared_ptr<TiledForm<V>>>(&proposal.form)) {
      return PersistentSweep<V>((*tiled)->on_device(stream_), proposal.shape);
    }
    SharedMatrix<V> matrix = std::get<SharedForm>(proposal.form)->on_device(stream_);
    if (proposal.cut == nullptr) return matrix;
    return LevelPowers<V>(std::move(matrix), proposal.cut->tiling(),
                          {options_.power, proposal.candidate.block, options_.vectors,
                           proposal.candidate.strategy == PowerStrategy::graph});
  }

  // Planning takes at most kMemoryFactor times what its most compact result needs.
  void find_budget(const Trials<V>& trials) {
    budget_ = std::numeric_limits<Offset>::max();
    for (const Proposal& proposal : proposals_) {
      const auto needed =
          static_cast<double>(proposal.device_bytes() + trials.bytes(*proposal.rows));
      budget_ = std::min(budget_, static_cast<Offset>(kMemoryFactor * needed));
    }
  }

  // Those that run on the same matrix one after another, so that it is uploaded once.
  void time_by_forms(const std::vector<Proposal*>& favourites, Trials<V>& trials) {
    std::vector<const void*> forms;
    for (const Proposal* proposal : favourites) {
      if (std::ranges::find(forms, proposal->form_address()) == forms.end()) {
        forms.push_back(proposal->form_address());
      }
    }
    for (const void* form : forms) {
      Method<V> held;  // keeps the matrix on the device
      for (Proposal* proposal : favourites) {
        if (proposal->form_address() == form) held = time(*proposal, trials);
      }
    }
  }

  // The method that was timed; none if it does not fit. Besides the matrix of this one there is
  // that of the fastest so far on the device, or none if both are too much.
  Method<V> time(Proposal& proposal, Trials<V>& trials) {
    const Offset needed = proposal.device_bytes() + trials.bytes(*proposal.rows);
    if (needed > budget_) {
      remark(fmt::format("{} in {} would take {:.1f} GB on the device and was not tried",
                         name_of(proposal.candidate.strategy), format_text(proposal.candidate),
                         static_cast<double>(needed) * 1e-9));
      return {};
    }
    const bool same_form = fastest_.proposal != nullptr &&
                           fastest_.proposal->form_address() == proposal.form_address();
    if (!same_form && fastest_.bytes() + needed > budget_) fastest_.method = {};
    try {
      return time_on_device(proposal, trials);
    } catch (const DeviceOutOfMemory&) {
      fastest_.method = {};
    }
    try {
      return time_on_device(proposal, trials);
    } catch (const DeviceOutOfMemory& error) {
      remark(does_not_fit(proposal, error));
      return {};
    }
  }

  Method<V> time_on_device(Proposal& proposal, Trials<V>& trials) {
    Method<V> method = make_method(proposal);
    proposal.candidate.measured_seconds = trials.seconds_of(method, *proposal.rows);
    if (fastest_.proposal == nullptr || rank(proposal) < rank(*fastest_.proposal)) {
      fastest_ = {&proposal, method};
    }
    return method;
  }

  auto rank(const Proposal& proposal) const {
    return strata::detail::rank_of(proposal, options_, true, handicaps());
  }

  static std::string does_not_fit(const Proposal& proposal, const DeviceOutOfMemory& error) {
    return fmt::format("{} in {} does not fit on the device: {}",
                       name_of(proposal.candidate.strategy), format_text(proposal.candidate),
                       error.what());
  }

  // The fastest of those that were timed. Its method may have had to make room.
  struct Fastest {
    const Proposal* proposal = nullptr;
    Method<V> method;

    Offset bytes() const { return is_empty(method) ? 0 : bytes_of<V>(method); }
  };
  static bool is_empty(const Method<V>& method) {
    const auto* matrix = std::get_if<SharedMatrix<V>>(&method);
    return matrix != nullptr && *matrix == nullptr;
  }

  const Csr<V, I>& matrix_;
  const PowerOptions& options_;
  Prepared<V>& prepared_;
  const DeviceProperties device_;
  Stream& stream_;
  std::vector<Proposal> proposals_;
  std::unique_ptr<const Csr<V, I>> in_levels_;  // the matrix that cuts refer to
  double entry_bytes_ = 0;                      // of the rows as given
  Offset budget_ = 0;                           // of device memory
  Fastest fastest_;
};

template <Value V, Index J>
Csr<V, I> with_short_indices(const Csr<V, J>& matrix) {
  Array<I> columns(matrix.columns().size());
  std::ranges::transform(matrix.columns(), columns.begin(),
                         [](J column) { return static_cast<I>(column); });
  return Csr<V, I>(narrow<I>(matrix.rows(), "the number of rows on a GPU"),
                   narrow<I>(matrix.cols(), "the number of columns on a GPU"),
                   Array<Offset>(matrix.row_offsets().begin(), matrix.row_offsets().end()),
                   std::move(columns), Array<V>(matrix.values().begin(), matrix.values().end()));
}

// Calls body with a matrix of 32-bit indices.
template <Value V, Index J, class Body>
auto with_device_indices(const Csr<V, J>& matrix, const Body& body) {
  if constexpr (std::same_as<J, I>) {
    return body(matrix);
  } else {
    return body(with_short_indices(matrix));
  }
}

}  // namespace

template <Value V>
template <Index J>
void Prepared<V>::assign_values(const Csr<V, J>& matrix, Stream& stream) {
  if (fingerprint_of(matrix.pattern()) != pattern) {
    throw InvalidArgument("new values come with a matrix of another pattern");
  }
  with_device_indices(matrix, [&](const Csr<V, I>& same) {
    const PaddedOrder<I>& order = rows->order;
    method =
        method_like(method, stored, order.is_identity() ? same : reordered(same, order), stream);
  });
}

template <Value V>
std::string Prepared<V>::explain(const std::string& task) const {
  strata::detail::Subject subject;
  subject.task = task;
  subject.power = options.power;
  subject.rows = rows->order.rows();
  subject.entries = nnz;
  subject.vectors = options.vectors;
  subject.device = fmt::format("on {}", device);
  subject.machine = fmt::format(
      "It reads {:.0f} GB/s from memory and {:.0f} GB/s from {} of L2; a signal takes {} from one "
      "multiprocessor to another.",
      profile.memory_bandwidth() * 1e-9, profile.l2_bandwidth() * 1e-9,
      strata::detail::bytes_text(static_cast<double>(profile.l2_bytes())),
      strata::detail::time_text(profile.handoff_seconds));
  return strata::detail::explain(record, subject);
}

template <Value V, Index J>
std::unique_ptr<Prepared<V>> prepare(const Csr<V, J>& matrix, const PowerOptions& options,
                                     Stream& stream) {
  auto prepared = std::make_unique<Prepared<V>>();
  prepared->options = options;
  prepared->nnz = matrix.nnz();
  prepared->pattern = fingerprint_of(matrix.pattern());
  for (int k = 1; k <= options.power; ++k) {
    prepared->coefficients.push_back(options.basis.template step<V>(k));
  }
  with_device_indices(matrix, [&](const Csr<V, I>& same) {
    prepared->cols = same.cols();
    GpuPlanner<V> planner(same, options, *prepared, stream);
    strata::detail::choose(planner, options, prepared->record);
  });
  return prepared;
}

#define STRATA_INSTANTIATE_VALUE(V, unused) template struct Prepared<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_VALUE, );
#define STRATA_INSTANTIATE(V, J)                                       \
  template void Prepared<V>::assign_values(const Csr<V, J>&, Stream&); \
  template std::unique_ptr<Prepared<V>> prepare(const Csr<V, J>&, const PowerOptions&, Stream&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::gpu::detail
