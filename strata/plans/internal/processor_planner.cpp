// What a processor can run of a matrix, what that should cost, and how to time it: the backend of
// planning.hpp for CPU threads.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/statistics.hpp"
#include "strata/kernels/cpu/cheap_values.hpp"
#include "strata/machine/cached_profile.hpp"
#include "strata/model/product_model.hpp"
#include "strata/order/rcm.hpp"
#include "strata/plans/internal/explanation.hpp"
#include "strata/plans/internal/given_order.hpp"
#include "strata/plans/internal/layout.hpp"
#include "strata/plans/internal/planning.hpp"
#include "strata/plans/internal/prepared.hpp"
#include "strata/plans/internal/product_memory.hpp"
#include "strata/plans/internal/trials.hpp"
#include "strata/plans/plan_formats.hpp"
#include "strata/schedule/reuse.hpp"
#include "strata/schedule/schedule.hpp"
#include "strata/tune/product_search.hpp"

namespace strata::detail {

namespace {

constexpr Offset kNoLimit = std::numeric_limits<Offset>::max();
// A thread's part of a task should take much longer than the wait for another thread.
constexpr Offset kSmallestPartBytes = 16 * 1024;
// Matrices with fewer bytes per thread than this are faster on fewer threads.
constexpr Offset kSmallestShareBytes = 32 * 1024;
// So many groups of each power share the cache: fine steps keep the window near its lower bound.
constexpr Offset kGroupsPerPower = 3;
// A window is what has to stay in the cache so that no more than this is loaded.
constexpr double kAlmostOnce = 1.1;
// Levels are searched for only if blocking could gain this much, by the model, over what is known.
constexpr double kWorthSearching = 1.15;
// What a kernel can make of the bandwidth of the private cache when x is close at hand.
constexpr double kKernelShare = 0.35;
// Groups too large for the cache are cut into so many tiles: so finely a band's border can move.
constexpr Offset kTilesPerGroup = 48;
constexpr int kMostBands = 32;
// The fewest levels that a sweep can use, and the largest share of the matrix that three of them
// may hold.
constexpr Offset kFewestLevels = 6;
constexpr double kLargestLevelShare = 0.5;
// From so many threads on it pays to find out who waits for whom.
constexpr int kManyThreads = 5;
// A sweep is timed if it is predicted to take at most so many times as long as the best one.
constexpr double kClose = 1.2;
// Values are encoded for all rows if that may be faster than to store them in full, by a sample;
// sweeps with full values are not considered if decoding is faster than this, by another one.
constexpr double kMayWin = 1.05;
constexpr double kSurelyFaster = 0.9;
// Encoded values that turn out to take more of the bytes than this are not worth another candidate.
constexpr double kMostEncodedBytes = 0.98;
// Rows are stored in another format than that with the fewest bytes if their kernels make that
// faster by this much, on a sample.
constexpr double kFasterFormat = 0.97;
// Of the products in other formats so many are stored and timed at most, if they are predicted to
// take at most so many times as long as the best one.
constexpr int kMostProducts = 5;
constexpr double kProductMayWin = 1.5;
// The same for plain powers, against the best powers that were timed.
constexpr int kMostPlainPowers = 2;
constexpr double kPlainPowersMayWin = 1.05;
// What is simpler wins if it takes at most this much longer: plain products before sweeps, the
// given order before levels, formats that sweeps run in before others.
constexpr double kSimplerWins = 1.04;

template <Value V, Index I>
class ProcessorPlanner {
 public:
  using SharedArrangement = std::shared_ptr<Arrangement<V, I>>;

  struct Proposal {
    PowerCandidate candidate;
    SharedArrangement arrangement;
    std::vector<Sweep<I>> sweeps;
    std::optional<Sweep<I>> one_product;  // of plain products, tells as much as all of them

    bool reordered() const { return !arrangement->order.is_identity(); }
    const Sweep<I>& trial_sweep() const { return one_product ? *one_product : sweeps.front(); }
  };

  ProcessorPlanner(const Csr<V, I>& matrix, const PowerOptions& options,
                   const ProductRequest& request, Prepared<V, I>& prepared)
      : matrix_(matrix),
        options_(options),
        request_(request),
        prepared_(prepared),
        trials_(matrix, options) {
    choose_threads();
    find_profile();
  }

  PatternView<I> pattern() const { return matrix_.pattern(); }
  std::vector<Proposal>& proposals() { return proposals_; }
  static Handicaps handicaps() {
    return {.blocked = kSimplerWins, .reordered = kSimplerWins, .whole = kSimplerWins};
  }
  bool affords_sweeps() const { return affords_sweeps_; }

  void propose_given_order() {
    if (propose_asked_products() || propose_stored_choice()) return;
    propose_rows_as_given();
    propose_ranked_products();
    propose_rcm();
  }

  // By the model: what a sweep would take that loads the matrix once and finds it in the private
  // cache ever after, against the best so far.
  bool worth_searching() const {
    if (settled_) return false;
    if (may_reorder_products(matrix_, options_)) return reads_scattered(pattern());
    if (searches_plain_powers() && options_.strategy == PowerStrategy::automatic &&
        !stays_in_cache_ && reads_scattered(pattern())) {
      return true;
    }
    if (!blocks()) return false;
    if (options_.strategy == PowerStrategy::levels) return true;
    const Proposal& best = *std::ranges::min_element(
        proposals_, {}, [](const Proposal& proposal) { return proposal.candidate.seconds(); });
    const auto bytes = static_cast<double>(best.candidate.format_bytes);
    const auto vectors = static_cast<double>(matrix_.rows()) * static_cast<double>(row_bytes()) *
                         (1.0 + 2.0 * options_.power);
    const SweepCosts once{.memory_bytes = bytes + vectors,
                          .cache_bytes = bytes * (options_.power - 1)};
    // Another order may make the kernel's accesses to x faster, up to a share of the cache's speed,
    // but not the decoding of values.
    const Rates& rates = prepared_.places.rates;
    double kernel_seconds = best.arrangement->kernel_seconds * options_.power;
    if (!is_encoded(*best.arrangement)) {
      kernel_seconds = std::min(
          kernel_seconds, (once.memory_bytes + once.cache_bytes) / (kKernelShare * rates.cache));
    }
    const double ideal =
        predict_without_overlap(once, limited_by_kernel(rates, once, kernel_seconds)).seconds;
    return best.candidate.predicted_seconds > kWorthSearching * ideal;
  }

  bool promising(const LevelStructure<I>& structure) const {
    const auto widest = static_cast<double>(widest_window(pattern(), structure, Offset{3}));
    const auto all = static_cast<double>(matrix_.nnz() + matrix_.rows());
    return structure.levels() >= kFewestLevels && widest <= kLargestLevelShare * all;
  }

  void propose_levels(const LevelStructure<I>& structure) {
    const auto [order, groups, storage] =
        choose_layout(matrix_, structure, options_, group_bytes(), entry_bytes_);
    const bool same_rows = groups.order.is_identity();
    const FormatChoice choice = formats_for(storage, groups.order);
    const StoredFormat& first = choice.formats.front();
    // Packed SELL depends on the groups; the other formats are the same for any.
    const bool as_stored = same_rows && choice.formats.size() == 1 && first == given_->stored &&
                           first.format != Format::packed_sell;
    const auto arranged = [&](const Csr<V, I>& in_order) {
      return arrange_all(order, groups.order, choice, in_order, groups.group_offsets);
    };
    const std::vector<SharedArrangement> arrangements =
        as_stored   ? std::vector<SharedArrangement>{given_}
        : same_rows ? arranged(matrix_)
                    : arranged(reordered(matrix_, groups.order));
    for (const SharedArrangement& arrangement : arrangements) {
      const bool as_given = same_rows && is_proposed(arrangement->stored);
      if (!must_block(options_) && !as_given) propose_plain(arrangement);
      if (!blocks() || !worth_sweeping(*arrangement, arrangements)) continue;
      propose_banded(order, arrangement, groups.group_offsets);
    }
  }

  void autotune() {
    std::vector<Proposal*> running = favourites();
    if (running.size() > 1 || searches_plain_powers()) time_all(std::move(running));
    if (!searches_plain_powers()) return;
    const std::size_t before = proposals_.size();
    propose_plain_powers();
    if (proposals_.size() == before) return;
    running = {&fastest()};
    for (std::size_t i = before; i < proposals_.size(); ++i) running.push_back(&proposals_[i]);
    time_all(std::move(running));
  }

  std::ptrdiff_t take(const std::vector<Proposal*>& ranked) {
    Proposal& best = *ranked.front();
    if (best.candidate.measured_seconds == 0) find_neighbours(best);
    prepared_.arrangement = best.arrangement;
    prepared_.sweeps = std::move(best.sweeps);
    if (best.candidate.product && best.candidate.product->format.format() == Format::csr) {
      // So far it refers to the caller's matrix.
      prepared_.arrangement->product = store_own_product(matrix_, *best.candidate.product);
    }
    prepared_.record.values = prepared_.arrangement->matrix.value_storage();
    if (prepared_.record.values) {
      prepared_.record.values->seconds = prepared_.arrangement->conversion_seconds;
    }
    return 0;
  }

  // What the choice of products leaves to say and to keep.
  void finish() {
    PlanRecord& record = prepared_.record;
    if (options_.power > 1) return;
    compare_with_csr(record);
    for (const SearchedProduct& product : ranked_) {
      if (!product.refusal.empty() || is_proposed(product.spec)) continue;
      record.candidates.push_back(product_candidate(product, product.predicted_bytes));
    }
    if (!settled_ && searches_products()) {
      memory().remember(record, product_flops<V>(matrix_.nnz(), options_.vectors));
    }
  }

 private:
  void propose_rows_as_given() {
    auto identity = PaddedOrder<I>::identity(matrix_.rows());
    const SampledFormat storage = choose_storage(matrix_, identity, options_);
    entry_bytes_ = storage.bytes_per_entry;
    // Where levels are demanded, rows as they are given only tell how large entries are.
    const bool by_levels = must_block(options_) && options_.strategy == PowerStrategy::levels;
    const FormatChoice choice =
        by_levels ? FormatChoice{{storage.stored}} : formats_for(storage, identity);
    const bool by_planes = blocks() && options_.strategy != PowerStrategy::levels;
    const Offset alignment =
        std::ranges::max_element(choice.formats, {}, &StoredFormat::alignment)->alignment();
    const Array<I> planes = by_planes ? find_planes(pattern(), {.alignment = alignment,
                                                                .smallest = kTilesPerGroup / 4,
                                                                .fewest = kFewestLevels})
                                      : Array<I>();
    const auto arrangements = arrange_all({}, identity, choice, matrix_, planes);
    given_ = arrangements.front();
    stays_in_cache_ = stays_in_cache(*given_);
    if (!must_block(options_) || !blocks()) {
      for (const SharedArrangement& arrangement : arrangements) propose_plain(arrangement);
    }
    if (!blocks() || options_.strategy == PowerStrategy::levels) return;
    for (const SharedArrangement& arrangement : arrangements) {
      if (worth_sweeping(*arrangement, arrangements)) propose_in_given_order(arrangement, planes);
    }
  }

  // What the caller asks for, and nothing else.
  bool propose_asked_products() {
    if (request_.only.empty()) return false;
    prepared_.asked_for_product = true;
    settled_ = true;
    if (request_.only.size() == 1) {
      propose_spec({.spec = request_.only.front()});
      return true;
    }
    rank_products_of(request_.only);
    propose_contenders();
    if (proposals_.empty()) throw InvalidArgument(ranked_.front().refusal);
    return true;
  }

  // Whether any format will do, and time may be spent on it.
  bool any_format() const {
    return options_.autotune && options_.format == Format::automatic &&
           options_.slice_height == 0 && !options_.values && request_.searches;
  }
  bool searches_products() const { return options_.power == 1 && any_format(); }
  // The same for powers, of which plain products are allowed.
  bool searches_plain_powers() const {
    return options_.power > 1 && any_format() && !must_block(options_) && !settled_ &&
           matrix_.nnz() > 0;
  }

  ProductMemory memory() const {
    return {request_.memory,
            {.matrix = prepared_.pattern,
             .machine = machine_key(*profile_),
             .precision = precision_of<V>(),
             .threads = thread_count(),
             .vectors = options_.vectors,
             .encoded_eighths = encoded_eighths(matrix_)}};
  }

  // The fastest of an earlier search.
  bool propose_stored_choice() {
    if (!searches_products() || !store_decides(matrix_, options_, pattern())) return false;
    settled_ = true;
    const auto choice = memory().recall(
        prepared_.record.remarks, [&](const ProductSpec& spec) { propose_spec({.spec = spec}); });
    settled_ = choice.has_value();
    if (settled_) proposals_.back().candidate.predicted_seconds = choice->seconds;
    return settled_;
  }

  // Products in all formats beside what powers run in as well: the best by rank, and CSR, which
  // all are compared with.
  void propose_ranked_products() {
    if (!searches_products() || matrix_.nnz() == 0) return;
    rank_products_of({});
    propose_contenders();
  }

  // Plain powers by what sweeps do not run in, rows as they are given: the best by rank that might
  // be faster than what was timed or, where the tuning store knows it, the fastest product. With
  // these, a plan for powers has whatever a plan for products would take.
  void propose_plain_powers() {
    const double to_beat = fastest().candidate.measured_seconds;
    std::vector<ProductSpec> specs = products_faster_than(to_beat);
    if (specs.empty() || recall_product()) return;
    specs.emplace_back(FormatSpec(Format::csr));  // by which others are judged
    rank_products_of(specs);
    std::erase_if(ranked_, [](const SearchedProduct& product) {
      return stored_of(product.spec) || !product.refusal.empty();
    });
    if (ranked_.empty()) return;
    prepared_.record.remarks.push_back(fmt::format(
        "of {} products that sweeps do not run in, ranked on a sample of rows, {} is the best: {} "
        "powers should take {}",
        ranked_.size(), label_of(ranked_.front().spec), options_.power,
        time_text(ranked_.front().predicted.seconds() * options_.power)));
    int proposed = 0;
    for (SearchedProduct& product : ranked_) {
      const double seconds = product.predicted.seconds() * options_.power;
      if (seconds > kPlainPowersMayWin * to_beat || proposed == kMostPlainPowers) break;
      proposed += propose_or_refuse(product);
    }
  }

  // Beside those that sweeps run in, all whose powers could take less time if they did nothing but
  // read the values or, of a symmetric half, values and columns.
  std::vector<ProductSpec> products_faster_than(double seconds) const {
    auto specs = parse_product_list("all", statistics_of(matrix_), KernelTarget::processor);
    std::erase_if(specs, [&](const ProductSpec& spec) {
      const bool half = spec.format.format() == Format::symmetric_csr;
      const double entry = half ? 0.5 * (sizeof(V) + sizeof(I)) : sizeof(V);
      const SweepCosts costs = costs_of_product(entry * static_cast<double>(matrix_.nnz()));
      const double least = predict_with_overlap(costs, prepared_.places.rates).seconds;
      return stored_of(spec) || least * options_.power >= seconds;
    });
    return specs;
  }

  bool recall_product() {
    const auto propose = [&](const ProductSpec& spec) {
      if (!is_proposed(spec)) propose_spec({.spec = spec});
    };
    return memory().recall(prepared_.record.remarks, propose).has_value();
  }

  // Reverse Cuthill–McKee, if it keeps enough of x in the cache of a core: the bytes that then need
  // not come from beyond it against those of bringing vectors into that order.
  void propose_rcm() {
    const CacheShape cache = core_cache();
    if (!searches_products() || !may_reorder_products(matrix_, options_) || cache.bytes == 0 ||
        matrix_.cols() * row_bytes() <= cache.bytes || !reads_scattered(pattern())) {
      return;
    }
    const Permutation<I> rcm = reverse_cuthill_mckee(pattern());
    const PaddedOrder<I> order(matrix_.rows(), {rcm.old_of_new().begin(), rcm.old_of_new().end()});
    const Csr<V, I> in_order = reordered(matrix_, order);
    const ElementSizes sizes{.value = sizeof(V), .index = sizeof(I)};
    const double before = predicted_alpha(pattern(), cache, sizes);
    const double after = predicted_alpha(in_order.pattern(), cache, sizes);
    prepared_.record.remarks.push_back(fmt::format(
        "{:.2f} elements of x per entry come from beyond the cache of a core, by the model; with "
        "rows in the order of reverse Cuthill-McKee {:.2f}",
        before, after));
    const double saved =
        (before - after) * static_cast<double>(matrix_.nnz()) * static_cast<double>(row_bytes());
    const double copied = copy_bytes(options_, true, static_cast<double>(matrix_.rows()),
                                     static_cast<double>(row_bytes()), sizeof(I));
    if (saved <= copied) return;
    const SampledFormat storage = choose_storage(matrix_, order, options_);
    for (const SharedArrangement& arrangement :
         arrange_all({RowOrder::Kind::rcm}, order, formats_for(storage, order), in_order, {})) {
      propose_plain(arrangement);
    }
  }

  // That a core has for itself, as it would be with 8 ways.
  CacheShape core_cache() const {
    constexpr Offset kWays = 8;
    const CacheShape shape{.ways = kWays};
    const Offset sets = profile_->private_cache_bytes(prepared_.threads) / prepared_.threads /
                        (kWays * shape.line_bytes);
    return {.bytes = sets * kWays * shape.line_bytes, .ways = kWays};
  }

  void rank_products_of(const std::vector<ProductSpec>& only) {
    const ThreadCountScope team(prepared_.threads);
    ranked_ = rank_products(matrix_, *profile_,
                            {.timed = options_.autotune ? kMostProducts : 1,
                             .vectors = options_.vectors,
                             .only = only,
                             .sampled = options_.autotune});
  }

  void propose_contenders() {
    const double limit = kProductMayWin * ranked_.front().predicted.seconds();
    const ProductSpec csr{FormatSpec(Format::csr)};
    for (SearchedProduct& product : ranked_) {
      const bool may_win = product.predicted.seconds() <= limit || product.spec == csr;
      if (!product.contender || !may_win || is_proposed(product.spec)) continue;
      propose_or_refuse(product);
    }
  }

  // Whether the product takes all rows: only some had been asked.
  bool propose_or_refuse(SearchedProduct& product) {
    try {
      propose_spec(product);
      return true;
    } catch (const Error& refusal) {
      product.refusal = refusal.what();
      return false;
    }
  }

  bool is_proposed(const ProductSpec& spec) const {
    return std::ranges::any_of(proposals_, [&](const Proposal& proposal) {
      return !proposal.reordered() && proposal.candidate.spec() == spec;
    });
  }

  // What a sweep would run it in; nothing if none does.
  static std::optional<StoredFormat> stored_of(const ProductSpec& spec) {
    const FormatSpec& format = spec.format;
    if (!spec.kernel.empty() || !plans_run_in(format.format(), KernelTarget::processor)) return {};
    const StoredFormat stored{format.format(), format.parameter("slice_height").value_or(1),
                              static_cast<StoredValues>(format.parameter("values").value_or(0))};
    if (FormatSpec(stored) != format) return {};
    return stored;
  }

  // In a format that sweeps run in, or as a product. CSR as a product need not be copied.
  void propose_spec(const SearchedProduct& product) {
    const std::optional<StoredFormat> stored = stored_of(product.spec);
    if (stored && is_sliced(stored->format)) {
      propose_plain(arrange({}, PaddedOrder<I>::identity(matrix_.rows()), *stored, matrix_, {}));
    } else {
      propose_product(product);
    }
  }

  void propose_product(const SearchedProduct& product) {
    auto arrangement = std::make_shared<Arrangement<V, I>>();
    arrangement->order = PaddedOrder<I>::identity(matrix_.rows());
    arrangement->stored = {product.spec.format.format(), 1};
    const double started = now();
    arrangement->product = cpu::store_product(matrix_, product.spec);
    arrangement->conversion_seconds = now() - started;
    arrangement->kernel_seconds = product.predicted.kernel_seconds;
    Proposal proposal;
    proposal.candidate =
        product_candidate(product, static_cast<double>(arrangement->product->bytes()));
    proposal.arrangement = std::move(arrangement);
    proposals_.push_back(std::move(proposal));
  }

  PowerCandidate product_candidate(const SearchedProduct& product, double bytes) const {
    PowerCandidate candidate;
    candidate.format = {product.spec.format.format(), 1};
    candidate.product = product.spec;
    candidate.format_bytes = static_cast<Offset>(bytes);
    SweepCosts costs;
    for (int k = 0; k < options_.power; ++k) costs = costs + costs_of_product(bytes);
    const Rates rates = limited_by_kernel(prepared_.places.rates, costs,
                                          product.predicted.kernel_seconds * options_.power);
    const Prediction prediction = predict_without_overlap(costs, rates);
    candidate.memory_bytes = costs.memory_bytes;
    candidate.predicted_seconds = prediction.seconds;
    candidate.predicted_overlapped_seconds = predict_with_overlap(costs, rates).seconds;
    candidate.bound = prediction.bound;
    return candidate;
  }

  // x is read and y written once, from wherever all of it fits.
  SweepCosts costs_of_product(double matrix_bytes) const {
    const auto of_rows = [&](Offset rows) {
      return static_cast<double>(rows) * static_cast<double>(row_bytes());
    };
    const double moved = matrix_bytes + of_rows(matrix_.cols()) + 2 * of_rows(matrix_.rows());
    const double kept = matrix_bytes + of_rows(matrix_.cols()) + of_rows(matrix_.rows());
    SweepCosts costs;
    if (kept <= static_cast<double>(prepared_.places.private_bytes)) {
      costs.cache_bytes = moved;
    } else if (kept <= static_cast<double>(prepared_.places.shared_bytes)) {
      costs.shared_bytes = moved;
    } else {
      costs.memory_bytes = moved;
    }
    costs.synchronisations = 1;
    return costs;
  }

  void choose_threads() {
    const Offset shares = matrix_.nnz() * Offset{sizeof(V) + sizeof(I)} / kSmallestShareBytes;
    prepared_.threads = static_cast<int>(std::clamp<Offset>(shares, 1, thread_count()));
    const ProcessorBudget processors =
        options_.processors.usable > 0 ? options_.processors : processor_budget();
    affords_sweeps_ = processors.affords(prepared_.threads);
    if (may_block(options_) && !affords_sweeps_) {
      prepared_.record.remarks.push_back(fmt::format(
          "{} threads share {}, which slows down wavefront sweeps, where they wait for each other",
          prepared_.threads, text_of(processors)));
    }
  }

  static std::string text_of(const ProcessorBudget& processors) {
    const bool by_quota = processors.quota > 0 && processors.quota < processors.usable;
    return by_quota ? fmt::format("the time of {:.3g} processors", processors.quota)
                    : fmt::format("{} processor{}", processors.usable,
                                  processors.usable == 1 ? "" : "s");
  }

  void find_profile() {
    profile_ = options_.profile;
    if (profile_ == nullptr) {
      const CachedProfile& cached = cached_machine_profile();
      profile_ = &cached.profile;
      if (!cached.remark.empty()) prepared_.record.remarks.push_back(cached.remark);
    }
    prepared_.places = places_of(*profile_, prepared_.threads, options_);
  }

  // Whether anything but plain products is proposed.
  bool blocks() const {
    if (!may_block(options_) || matrix_.nnz() == 0) return false;
    return must_block(options_) || (affords_sweeps_ && !stays_in_cache_);
  }
  Offset row_bytes() const { return Offset{sizeof(V)} * options_.vectors; }
  // y_0 … y_p
  Offset vector_bytes() const { return matrix_.rows() * row_bytes() * (options_.power + 1); }

  Offset group_bytes() const {
    const Offset smallest = kSmallestPartBytes * prepared_.threads;
    const Offset window = prepared_.places.private_bytes;
    if (options_.strategy == PowerStrategy::levels) {
      const int block =
          options_.block > 0 ? std::min(options_.block, options_.power) : options_.power;
      return std::max(smallest, level_group_bytes(window, block));
    }
    return std::max(smallest, window / (kGroupsPerPower * options_.power));
  }

  bool stays_in_cache(const Arrangement<V, I>& arrangement) const {
    return arrangement.matrix.bytes() + vector_bytes() <= prepared_.places.private_bytes;
  }
  static bool is_encoded(const Arrangement<V, I>& arrangement) {
    const std::optional<ValueStorage> values = arrangement.matrix.value_storage();
    return values && values->encoded();
  }
  // As plain products of rows as they are given.
  bool is_proposed(const StoredFormat& stored) const {
    return std::ranges::any_of(proposals_, [&](const Proposal& proposal) {
      return proposal.candidate.plain() && !proposal.reordered() &&
             proposal.candidate.format == stored;
    });
  }

  // Formats of the same rows: those with full values first.
  struct FormatChoice {
    std::vector<StoredFormat> formats;
    double least_seconds = 0;  // of a product with full values, by a sample; 0: not known
  };

  // What rows in this order are stored in: the best formats with full values and, where that may be
  // faster, with encoded ones. Without timing, bytes decide, and what is cheap to decode is taken
  // at once.
  FormatChoice formats_for(const SampledFormat& best, const PaddedOrder<I>& order) {
    const bool packed = best.stored.format == Format::packed_sell;
    if (options_.values && packed) {
      return {{{Format::packed_sell, best.stored.slice_height, *options_.values}}};
    }
    const StoredValues last =
        options_.autotune ? StoredValues::all : cpu::cheap_values(cpu::level());
    std::vector<StoredValues> levels;
    for (const StoredValues values :
         {StoredValues::constants, StoredValues::few, StoredValues::all}) {
      if (options_.values ? values == *options_.values : values <= last) levels.push_back(values);
    }
    const Csr<V, I> sample = sample_of(matrix_, order);
    const auto encoded = encoded_storage(sample, best, options_, levels);
    if (!options_.autotune) return {{encoded.empty() ? best.stored : encoded.back().stored}};
    const std::vector<SampledFormat> full = full_formats(sample, best);
    std::vector<SampledFormat> all = full;
    all.insert(all.end(), encoded.begin(), encoded.end());
    const std::vector<EntryCosts> costs = entry_costs(sample, all);
    FormatChoice choice{fastest_of(full, costs)};
    if (encoded.empty()) return choice;
    // Encoding all rows takes long: that is worth it for the fastest alone, if it may win.
    const auto first = costs.begin() + std::ssize(full);
    const auto fastest = std::ranges::min_element(first, costs.end(), {}, &EntryCosts::plain);
    if (fastest->plain() < kMayWin * costs.front().likely()) {
      choice.formats.push_back(encoded[static_cast<std::size_t>(fastest - first)].stored);
      choice.least_seconds =
          std::ranges::min_element(costs.begin(), first, {}, &EntryCosts::plain)->plain() *
          static_cast<double>(matrix_.nnz());
    }
    return choice;
  }

  // Of a product, per entry.
  struct EntryCosts {
    double matrix_seconds = 0;  // to read it from where it is
    double vector_seconds = 0;
    double kernel_seconds = 0;  // with all data at hand

    // At least, and as reading and computing hinder each other.
    double plain() const { return std::max(matrix_seconds + vector_seconds, kernel_seconds); }
    double likely() const {
      return PredictedTime{kernel_seconds, matrix_seconds + vector_seconds}.seconds();
    }
    // Where the matrix is read once for so many.
    double swept(int power) const {
      return std::max(matrix_seconds / power + vector_seconds, kernel_seconds);
    }
  };

  // The best by its bytes first, then what may be faster than that.
  std::vector<SampledFormat> full_formats(const Csr<V, I>& sample,
                                          const SampledFormat& best) const {
    std::vector<SampledFormat> formats{best};
    if (options_.format != Format::automatic || options_.slice_height != 0 || options_.values) {
      return formats;
    }
    for (const SampledFormat& other : full_storage(sample)) {
      if (other.stored != best.stored) formats.push_back(other);
    }
    return formats;
  }

  // For plain products and, if that is another one, for sweeps: the first format, unless those
  // after it are faster.
  std::vector<StoredFormat> fastest_of(std::span<const SampledFormat> formats,
                                       std::span<const EntryCosts> costs) const {
    std::size_t plain = 0;
    std::size_t swept = 0;
    const int power = options_.power;
    for (std::size_t i = 1; i < formats.size(); ++i) {
      if (costs[i].plain() < kFasterFormat * costs[plain].plain()) plain = i;
      if (costs[i].swept(power) < kFasterFormat * costs[swept].swept(power)) swept = i;
    }
    if (!blocks() || swept == plain) return {formats[plain].stored};
    return {formats[plain].stored, formats[swept].stored};
  }

  // Bytes per second from where so many fit.
  double rate_of(double bytes) const {
    const Places& places = prepared_.places;
    return bytes <= static_cast<double>(places.private_bytes)  ? places.rates.cache
           : bytes <= static_cast<double>(places.shared_bytes) ? places.rates.shared
                                                               : places.rates.memory;
  }

  // Kernels are timed in turn, round by round: who is disturbed in one is not in all.
  std::vector<EntryCosts> entry_costs(const Csr<V, I>& sample,
                                      const std::vector<SampledFormat>& formats) {
    constexpr int kRounds = 3;
    if (formats.size() < 2 || matrix_.nnz() == 0) return std::vector<EntryCosts>(formats.size());
    const auto entries = static_cast<double>(matrix_.nnz());
    const auto row_vectors = static_cast<double>(3 * matrix_.rows() * row_bytes());
    std::vector<StoredMatrix<V, I>> stored;
    std::vector<EntryCosts> costs;
    for (const SampledFormat& format : formats) {
      const double bytes = format.bytes_per_entry * entries + static_cast<double>(vector_bytes());
      const double rate = rate_of(bytes);
      stored.emplace_back(sample, format.stored);
      costs.push_back({.matrix_seconds = format.bytes_per_entry / rate,
                       .vector_seconds = row_vectors / entries / rate});
    }
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < formats.size(); ++i) {
        const double seconds =
            trials_.entry_seconds(stored[i], sample.pattern()) / prepared_.threads;
        double& kernel = costs[i].kernel_seconds;
        kernel = round == 0 ? seconds : std::min(kernel, seconds);
      }
    }
    return costs;
  }

  static bool is_encoded(const StoredFormat& stored) {
    return stored.format == Format::packed_sell && stored.values != StoredValues::full;
  }

  // Where a product is surely faster with encoded values, those alone: full ones take most of the
  // memory and of the time to store them. Else without the encoded ones that save too little after
  // all.
  std::vector<SharedArrangement> arrange_all(const RowOrder& row_order, const PaddedOrder<I>& order,
                                             const FormatChoice& choice, const Csr<V, I>& in_order,
                                             std::span<const I> groups) {
    SharedArrangement encoded;
    if (!blocks() && choice.least_seconds > 0 && is_encoded(choice.formats.back())) {
      encoded = arrange(row_order, order, choice.formats.back(), in_order, groups);
      if (product_seconds(*encoded) < kSurelyFaster * choice.least_seconds) return {encoded};
    }
    std::vector<SharedArrangement> arrangements;
    for (const StoredFormat& stored : choice.formats) {
      SharedArrangement made = encoded && stored == choice.formats.back()
                                   ? encoded
                                   : arrange(row_order, order, stored, in_order, groups);
      const auto bytes = static_cast<double>(made->matrix.bytes());
      const bool saves = std::ranges::none_of(arrangements, [&](const SharedArrangement& other) {
        return bytes > kMostEncodedBytes * static_cast<double>(other->matrix.bytes());
      });
      if (!is_encoded(stored) || saves) arrangements.push_back(std::move(made));
    }
    return arrangements;
  }

  // Of a product, as its kernel and its bytes have it.
  double product_seconds(const Arrangement<V, I>& arrangement) const {
    const auto bytes =
        static_cast<double>(arrangement.matrix.bytes() + 3 * matrix_.rows() * row_bytes());
    return PredictedTime{arrangement.kernel_seconds, bytes / rate_of(bytes)}.seconds();
  }

  // Whether sweeps of this one could win: others of the same rows take fewer bytes, and may take
  // less time for each as well.
  static bool worth_sweeping(const Arrangement<V, I>& arrangement,
                             std::span<const SharedArrangement> arrangements) {
    return std::ranges::none_of(arrangements, [&](const SharedArrangement& other) {
      return other->matrix.bytes() < arrangement.matrix.bytes() &&
             other->kernel_seconds < kSurelyFaster * arrangement.kernel_seconds;
    });
  }

  // `groups`: of rows that sweeps will take together, if that is known.
  SharedArrangement arrange(const RowOrder& row_order, PaddedOrder<I> order,
                            const StoredFormat& stored, const Csr<V, I>& in_order,
                            std::span<const I> groups) {
    auto arrangement = std::make_shared<Arrangement<V, I>>();
    arrangement->row_order = row_order;
    arrangement->order = std::move(order);
    arrangement->stored = stored;
    // With encoded values little is left to read, and plain products mostly win: those are faster
    // where slices may lead to any group.
    const bool for_sweeps = stored.values == StoredValues::full || must_block(options_);
    const double started = now();
    arrangement->matrix =
        StoredMatrix<V, I>(in_order, stored, for_sweeps ? groups : std::span<const I>());
    arrangement->conversion_seconds = now() - started;
    arrangement->kernel_seconds = kernel_seconds(arrangement->matrix, in_order);
    return arrangement;
  }

  // Timed or, for encoded values, assumed: decoding is no faster than reading full values from the
  // private cache.
  double kernel_seconds(const StoredMatrix<V, I>& stored, const Csr<V, I>& in_order) {
    if (options_.autotune && !settled_) {
      return trials_.entry_seconds(stored, in_order.pattern()) * static_cast<double>(stored.nnz()) /
             prepared_.threads;
    }
    const std::optional<ValueStorage> values = stored.value_storage();
    return values && values->encoded()
               ? static_cast<double>(values->full_bytes) / prepared_.places.rates.cache
               : 0.0;
  }

  // Sweeps over rows as they are: in groups of some rows, and in bands of planes.
  void propose_in_given_order(const SharedArrangement& arrangement, std::span<const I> planes) {
    const StoredMatrix<V, I>& stored = arrangement->matrix;
    if (!must_block(options_) && stays_in_cache(*arrangement)) return;
    // Not worth cutting into tiles if the lag of one power behind the other fills the cache.
    const Offset lag =
        dependency_distance<I>(pattern(), stored.bytes_before()) * (options_.power - 1);
    if (lag > prepared_.places.shared_bytes && !must_block(options_)) return;
    const auto tiling = make_tiling<I>(stored.loaded_columns(), stored.bytes_before(),
                                       {groups_of(*arrangement), kNoLimit, stored.row_alignment()});
    propose_sweeps(arrangement->row_order, arrangement, tiling, false);
    if (!planes.empty() && smallest_window() > prepared_.places.private_bytes) {
      propose_banded({RowOrder::Kind::planes}, arrangement, planes);
    }
  }

  // Groups of rows for one power. Where values take next to nothing, the vectors fill the cache and
  // decoding takes the time: groups are then as large as full values would make them.
  Array<I> groups_of(const Arrangement<V, I>& arrangement) const {
    const StoredMatrix<V, I>& stored = arrangement.matrix;
    const RowRange<I> all{0, stored.rows()};
    if (!is_encoded(arrangement)) {
      return cut_rows<I>(stored.bytes_before(), all, group_bytes(), stored.row_alignment());
    }
    const double entries = static_cast<double>(group_bytes()) / std::max(entry_bytes_, 1.0);
    return cut_rows<I>(pattern().row_offsets, all,
                       std::max<Offset>(static_cast<Offset>(entries), 1), stored.row_alignment());
  }

  // The fewest bytes that a sweep so far has to keep in the cache.
  Offset smallest_window() const {
    Offset window = kNoLimit;
    for (const Proposal& proposal : proposals_) {
      const PowerCandidate& candidate = proposal.candidate;
      if (!candidate.plain() && candidate.block == options_.power) {
        window = std::min(window, candidate.window_bytes);
      }
    }
    return window;
  }

  // Sweeps over groups of rows that may be too large for the cache.
  void propose_banded(const RowOrder& order, const SharedArrangement& arrangement,
                      std::span<const I> groups) {
    const StoredMatrix<V, I>& stored = arrangement->matrix;
    const auto before = stored.bytes_before();
    Offset largest = 0;
    for (std::size_t group = 1; group < groups.size(); ++group) {
      largest = std::max(largest, before[groups[group]] - before[groups[group - 1]]);
    }
    const bool banded = options_.strategy != PowerStrategy::levels &&
                        largest * options_.power > prepared_.places.private_bytes;
    const Offset tile_bytes = banded ? std::max<Offset>(largest / kTilesPerGroup, 1) : kNoLimit;
    const auto tiling = make_tiling<I>(stored.loaded_columns(), before,
                                       {groups, tile_bytes, stored.row_alignment()});
    propose_sweeps(order, arrangement, tiling, banded);
  }

  void propose_plain(const SharedArrangement& arrangement) {
    const auto tiling = single_tile(arrangement->matrix);
    add(arrangement->row_order, arrangement, tiling, PowerStrategy::spmv, 1, {},
        std::vector<Schedule>{plain_schedule(tiling, options_.products > 0 ? 1 : options_.power)});
    proposals_.back().one_product.emplace(tiling, plain_schedule(tiling, 1),
                                          arrangement->matrix.bytes_before(), prepared_.threads,
                                          arrangement->matrix.row_alignment());
  }

  static Tiling<I> single_tile(const StoredMatrix<V, I>& stored) {
    Tiling<I> tiling;
    tiling.row_offsets.push_back(stored.rows());
    tiling.input_offsets.push_back(1);
    tiling.inputs.push_back(0);
    tiling.bytes.push_back(stored.bytes());
    tiling.group_offsets.push_back(1);
    return tiling;
  }

  // For each block size the sweep with slack, or without, or in bands: whatever fits first.
  void propose_sweeps(const RowOrder& order, const SharedArrangement& arrangement,
                      const Tiling<I>& tiling, bool banded) {
    const bool with_slack = options_.strategy != PowerStrategy::levels;
    const Offset cache = prepared_.places.private_bytes;
    for (const int block : block_sizes(options_)) {
      Offset window = kNoLimit;
      if (with_slack) window = propose_sweep(order, arrangement, tiling, block, {.slack = 1});
      if (window > cache) {
        window = propose_sweep(order, arrangement, tiling, block, {.slack = 0});
      }
      if (!banded || window <= cache) continue;
      const Offset parts = ceil_div<Offset>(window, std::max<Offset>(cache, 1));
      for (const Offset bands : {parts, 2 * parts}) {
        if (bands <= kMostBands) {
          propose_sweep(order, arrangement, tiling, block,
                        {.slack = 0, .bands = static_cast<int>(bands)});
        }
      }
    }
  }

  Offset propose_sweep(const RowOrder& order, const SharedArrangement& arrangement,
                       const Tiling<I>& tiling, int block, const WavefrontOptions& wavefront) {
    std::vector<Schedule> schedules;
    for (const int size : judged_sweeps(options_, block)) {
      schedules.push_back(wavefront_schedule(tiling, size, wavefront));
    }
    const auto strategy = options_.strategy == PowerStrategy::levels ? PowerStrategy::levels
                                                                     : PowerStrategy::wavefront;
    return add(order, arrangement, tiling, strategy, block, wavefront, std::move(schedules));
  }

  // Predicts; returns the window.
  Offset add(const RowOrder& order, const SharedArrangement& arrangement, const Tiling<I>& tiling,
             PowerStrategy strategy, int block, const WavefrontOptions& wavefront,
             std::vector<Schedule> schedules) {
    const StoredMatrix<V, I>& stored = arrangement->matrix;
    Proposal proposal;
    PowerCandidate& candidate = proposal.candidate;
    candidate.strategy = strategy;
    candidate.order = order;
    candidate.format = arrangement->stored;
    candidate.placement = candidate.plain() ? WindowPlacement::none : WindowPlacement::cache;
    candidate.block = block;
    candidate.bands = wavefront.bands;
    candidate.slack = wavefront.slack;
    const std::optional<ValueStorage> values = stored.value_storage();
    candidate.format_bytes = values ? values->footprint.bytes() : stored.bytes();
    predict(candidate, tiling, schedules, *arrangement);
    proposal.arrangement = arrangement;
    for (Schedule& schedule : schedules) {
      proposal.sweeps.emplace_back(tiling, std::move(schedule), stored.bytes_before(),
                                   prepared_.threads, stored.row_alignment());
    }
    proposals_.push_back(std::move(proposal));
    return proposals_.back().candidate.window_bytes;
  }

  void predict(PowerCandidate& candidate, const Tiling<I>& tiling,
               std::span<const Schedule> schedules, const Arrangement<V, I>& arrangement) const {
    const Places& places = prepared_.places;
    SweepCosts costs;
    int powers = 0;
    for (const Schedule& schedule : schedules) {
      powers += schedule.power;
      const ReuseProfile profile(tiling, schedule, row_bytes() * (schedule.power + 1));
      // Borders of bands are loaded twice whatever the cache: they are not part of the window.
      const double unavoidable =
          candidate.bands == 1
              ? kAlmostOnce
              : kAlmostOnce * static_cast<double>(profile.bytes_loaded(places.private_bytes)) /
                    static_cast<double>(std::max<Offset>(profile.bytes_once(), 1));
      candidate.window_bytes = std::max(candidate.window_bytes, profile.window_bytes(unavoidable));
      costs = costs + costs_of(profile, places, arrangement.matrix.rows(), row_bytes(), schedule);
    }
    const Rates rates = limited_by_kernel(places.rates, costs, arrangement.kernel_seconds * powers);
    const Prediction prediction = predict_without_overlap(costs, rates);
    const PaddedOrder<I>& order = arrangement.order;
    const double copies =
        copy_bytes(options_, !order.is_identity(), static_cast<double>(order.rows()),
                   static_cast<double>(row_bytes()), sizeof(I)) /
        places.rates.memory * (powers + 1) / (options_.power + 1);
    const double share = static_cast<double>(options_.power) / powers;  // other than 1 to choose p
    candidate.memory_bytes = costs.memory_bytes * share;
    candidate.predicted_seconds = (prediction.seconds + copies) * share;
    candidate.predicted_overlapped_seconds =
        (predict_with_overlap(costs, rates).seconds + copies) * share;
    candidate.bound = prediction.bound;
  }

  void find_neighbours(Proposal& proposal) const {
    if (prepared_.threads < kManyThreads || proposal.candidate.plain()) return;
    const LoadedColumns<I> loaded = proposal.arrangement->matrix.loaded_columns();
    for (Sweep<I>& sweep : proposal.sweeps) sweep.find_neighbours(loaded);
  }

  void time_all(std::vector<Proposal*> running) {
    for (Proposal* proposal : running) {
      if (proposal->candidate.measured_seconds == 0) find_neighbours(*proposal);
    }
    const ThreadCountScope team(prepared_.threads);
    time_in_turn(std::move(running), {}, [&](const Proposal& proposal) {
      if (proposal.arrangement->product) {
        return trials_.application_seconds(*proposal.arrangement->product);
      }
      return trials_.application_seconds(*proposal.arrangement, proposal.trial_sweep(),
                                         prepared_.threads);
    });
  }

  // Of those that were timed.
  Proposal& fastest() {
    return *std::ranges::min_element(proposals_, {}, [](const Proposal& proposal) {
      const double seconds = proposal.candidate.measured_seconds;
      return seconds > 0 ? seconds : std::numeric_limits<double>::infinity();
    });
  }

  // What is timed: plain products in each order, the best sweep by the model, and the best ones in
  // another order or for another cache if they come close.
  std::vector<Proposal*> favourites() {
    std::vector<Proposal*> by_time;
    for (Proposal& proposal : proposals_) by_time.push_back(&proposal);
    std::ranges::stable_sort(by_time, {}, [](const Proposal* proposal) {
      return proposal->candidate.predicted_seconds;
    });
    if (options_.products > 0) return favourites_by_power(by_time);
    std::vector<Proposal*> chosen;
    std::vector<std::tuple<RowOrder, StoredFormat, bool>> kinds;  // of sweeps chosen so far
    double best_sweep = 0;
    for (Proposal* proposal : by_time) {
      const PowerCandidate& candidate = proposal->candidate;
      if (candidate.plain()) {
        chosen.push_back(proposal);
        continue;
      }
      if (best_sweep == 0) best_sweep = candidate.predicted_seconds;
      const std::tuple kind{candidate.order, candidate.format,
                            candidate.bound == Bound::shared_cache};
      if (candidate.predicted_seconds > kClose * best_sweep ||
          std::ranges::count(kinds, kind) != 0) {
        continue;
      }
      kinds.push_back(kind);
      chosen.push_back(proposal);
    }
    return chosen;
  }

  const Csr<V, I>& matrix_;
  const PowerOptions& options_;
  const ProductRequest& request_;
  Prepared<V, I>& prepared_;
  const MachineProfile* profile_ = nullptr;
  std::vector<Proposal> proposals_;
  std::vector<SearchedProduct> ranked_;  // products in all formats, where they were searched
  bool settled_ = false;                 // the caller or the tuning store left nothing to search
  SharedArrangement given_;              // the first that was proposed
  double entry_bytes_ = 0;               // of the rows as given
  bool affords_sweeps_ = true;           // every thread has a processor of its own
  bool stays_in_cache_ = false;          // in the private one: nothing to gain
  Trials<V, I> trials_;
};

}  // namespace

template <Value V, Index I>
std::unique_ptr<const cpu::StoredProduct<V>> store_own_product(const Csr<V, I>& matrix,
                                                               const ProductSpec& spec) {
  if (spec.format.format() != Format::csr) return cpu::store_product(matrix, spec);
  return cpu::store_product(std::make_shared<const Csr<V, I>>(copied_by_threads(matrix)), spec);
}

template <Value V, Index I>
void Prepared<V, I>::assign_product(const Csr<V, I>& matrix) {
  PowerCandidate& choice = record.candidates.front();
  std::unique_ptr<const cpu::StoredProduct<V>> made;
  try {
    made = store_own_product(matrix, *choice.product);
  } catch (const InvalidMatrix& refusal) {
    // Symmetric CSR is chosen for values that may lose their symmetry. CSR takes any and needs no
    // scratch memory that workspaces might lack.
    if (asked_for_product) throw;
    ProductSpec csr{FormatSpec(Format::csr)};
    made = store_own_product(matrix, csr);
    // Nothing after this can fail.
    record.remarks.push_back(fmt::format("new values do not fit {}, products are in CSR since: {}",
                                         label_of(*choice.product), refusal.what()));
    choice.format = {Format::csr, 1};
    choice.product = std::move(csr);
    choice.measured_seconds = csr_seconds(record);
  }
  arrangement->product = std::move(made);
  choice.format_bytes = arrangement->product->bytes();
}

template <Value V, Index I>
void Prepared<V, I>::assign_values(const Csr<V, I>& matrix) {
  if (fingerprint_of(matrix.pattern()) != pattern) {
    throw InvalidArgument("new values come with a matrix of another pattern");
  }
  if (arrangement->product) {
    assign_product(matrix);
    return;
  }
  const double started = now();
  if (arrangement->order.is_identity()) {
    arrangement->matrix.assign_values(matrix);
  } else {
    arrangement->matrix.assign_values(reordered(matrix, arrangement->order));
  }
  record.take_over(arrangement->matrix.value_storage(), now() - started);
}

template <Value V, Index I>
std::string Prepared<V, I>::explain(const std::string& task) const {
  const Rates& rates = places.rates;
  Subject subject;
  subject.task = task;
  subject.power = options.power;
  subject.rows = arrangement->order.rows();
  subject.entries = pattern.entries;
  subject.vectors = options.vectors;
  subject.device = fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
  subject.machine = fmt::format(
      "The threads read {:.1f} GB/s from memory, {:.1f} GB/s from a shared cache and {:.1f} GB/s "
      "from private caches, of which windows may fill {} and {}.",
      rates.memory * 1e-9, rates.shared * 1e-9, rates.cache * 1e-9,
      bytes_text(static_cast<double>(places.shared_bytes)),
      bytes_text(static_cast<double>(places.private_bytes)));
  return detail::explain(record, subject);
}

template <Value V, Index I>
std::unique_ptr<Prepared<V, I>> prepare(const Csr<V, I>& matrix, const PowerOptions& options,
                                        const ProductRequest& request) {
  const ThreadCountScope team(options.threads);
  const AffinityScope affinity(options.affinity);
  auto prepared = std::make_unique<Prepared<V, I>>();
  prepared->options = options;
  prepared->cols = matrix.cols();
  prepared->pattern = fingerprint_of(matrix.pattern());
  prepared->set_basis(options.basis);
  ProcessorPlanner<V, I> planner(matrix, options, request, *prepared);
  choose(planner, options, prepared->record);
  planner.finish();
  if (!prepared->arrangement->product) {
    prepared->limits = RowLimits<I>(request.last_powers, prepared->arrangement->order,
                                    prepared->arrangement->matrix.row_alignment());
  }
  return prepared;
}

#define STRATA_INSTANTIATE(V, I)                                                          \
  template struct Prepared<V, I>;                                                         \
  template std::unique_ptr<Prepared<V, I>> prepare(const Csr<V, I>&, const PowerOptions&, \
                                                   const ProductRequest&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
