#include "strata/plans/internal/product_proposals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/statistics.hpp"
#include "strata/model/product_model.hpp"
#include "strata/order/rcm.hpp"
#include "strata/plans/internal/arrangements.hpp"
#include "strata/plans/internal/explanation.hpp"
#include "strata/plans/internal/format_choice.hpp"
#include "strata/plans/internal/given_order.hpp"
#include "strata/plans/internal/part_timer.hpp"
#include "strata/plans/internal/product_memory.hpp"
#include "strata/plans/internal/storage.hpp"
#include "strata/plans/internal/structure.hpp"
#include "strata/plans/internal/sweep_proposals.hpp"
#include "strata/plans/plan_formats.hpp"
#include "strata/tune/internal/search.hpp"

namespace strata::detail {

namespace {

// Of the products in other formats so many are stored and timed at most, if they are predicted to
// take at most so many times as long as the best one.
constexpr int kMostProducts = 5;
constexpr double kProductMayWin = 1.5;
// The same for plain powers, against the best powers that were timed: so many are stored.
constexpr int kMostPlainPowers = 1;
constexpr double kPlainPowersMayWin = 1.05;
// BCSR is ranked if its blocks have no more zeros than this, and DIA if it saves this much.
constexpr double kMostFill = 1.15;
constexpr double kFewerBytes = 0.85;

template <Value V, Index I>
class ProductProposer {
 public:
  explicit ProductProposer(ProcessorState<V, I>& state) : state_(state) {}

  bool asked() {
    if (state_.request.only.empty()) return false;
    state_.prepared.asked_for_product = true;
    state_.settled = true;
    if (state_.request.only.size() == 1) {
      propose_spec({.spec = state_.request.only.front()});
      return true;
    }
    rank_products_of(state_.request.only);
    propose_contenders();
    if (state_.proposals.empty()) throw InvalidArgument(state_.ranked.front().refusal);
    return true;
  }

  bool stored_choice() {
    if (!state_.searches_products() ||
        !store_decides(state_.matrix, state_.options, state_.pattern())) {
      return false;
    }
    state_.settled = true;
    const auto choice =
        memory().recall(state_.prepared.record.remarks,
                        [&](const ProductSpec& spec) { propose_spec({.spec = spec}); });
    state_.settled = choice.has_value();
    if (state_.settled) state_.proposals.back().candidate.predicted_seconds = choice->seconds;
    return state_.settled;
  }

  void ranked() {
    if (!state_.searches_products() || state_.matrix.nnz() == 0) return;
    rank_products_of({});
    propose_contenders();
  }

  void plain_powers() {
    const double to_beat = state_.fastest().candidate.measured_seconds;
    if (recall_product()) return;
    std::vector<ProductSpec> specs = products_faster_than(to_beat);
    if (specs.empty()) return;
    specs.emplace_back(FormatSpec(Format::csr));  // by which others are judged
    rank_products_of(specs);
    std::erase_if(state_.ranked, [](const SearchedProduct& product) {
      return stored_of(product.spec) || !product.refusal.empty();
    });
    if (state_.ranked.empty()) return;
    state_.prepared.record.remarks.push_back(fmt::format(
        "of {} products that sweeps do not run in, ranked on a sample of rows, {} is the best: {} "
        "powers should take {}",
        state_.ranked.size(), label_of(state_.ranked.front().spec), state_.options.power,
        time_text(state_.ranked.front().predicted.seconds() * state_.options.power)));
    int proposed = 0;
    for (SearchedProduct& product : state_.ranked) {
      const double seconds = product.predicted.seconds() * state_.options.power;
      if (seconds > kPlainPowersMayWin * to_beat || proposed == kMostPlainPowers) break;
      // CSR need not be stored to be timed.
      const bool stores = product.spec.format.format() != Format::csr;
      proposed += propose_or_refuse(product) && stores;
    }
  }

  void rcm_order() {
    const CacheShape cache = core_cache();
    if (!state_.searches_products() || !may_reorder_products(state_.matrix, state_.options) ||
        cache.bytes == 0 || state_.matrix.cols() * state_.row_bytes() <= cache.bytes ||
        !state_.scattered()) {
      return;
    }
    const Permutation<I> rcm = reverse_cuthill_mckee(state_.pattern());
    const PaddedOrder<I> order(state_.matrix.rows(),
                               {rcm.old_of_new().begin(), rcm.old_of_new().end()});
    const ElementSizes sizes{.value = sizeof(V), .index = sizeof(I)};
    const double before = predicted_alpha(state_.pattern(), cache, sizes);
    const double after = predicted_alpha(reordered(state_.matrix, order).pattern(), cache, sizes);
    state_.prepared.record.remarks.push_back(fmt::format(
        "{:.2f} elements of x per entry come from beyond the cache of a core, by the model; with "
        "rows in the order of reverse Cuthill-McKee {:.2f}",
        before, after));
    const double saved = (before - after) * static_cast<double>(state_.matrix.nnz()) *
                         static_cast<double>(state_.row_bytes());
    const double copied =
        copy_bytes(state_.options, true, static_cast<double>(state_.matrix.rows()),
                   static_cast<double>(state_.row_bytes()), sizeof(I));
    if (saved <= copied) return;
    const SampledFormat storage = choose_storage(state_.matrix, order, state_.options);
    for (const SharedArrangement<V, I>& arrangement :
         arrange_all<V, I>(state_, {{RowOrder::Kind::rcm}, order},
                           choose_formats(state_, storage, order, false))) {
      propose_plain(state_, arrangement);
    }
  }

  void finish() {
    PlanRecord& record = state_.prepared.record;
    compare_with_csr(record);
    for (const SearchedProduct& product : state_.ranked) {
      if (!product.refusal.empty() || state_.is_proposed(product.spec)) continue;
      record.candidates.push_back(product_candidate(product, product.predicted_bytes));
    }
    if (!state_.settled && state_.searches_products()) {
      memory().remember(record, product_flops<V>(state_.matrix.nnz(), state_.options.vectors));
    }
  }

 private:
  ProductMemory memory() const {
    return {state_.request.memory,
            {.matrix = state_.prepared.pattern,
             .machine = machine_key(*state_.profile),
             .precision = precision_of<V>(),
             .threads = thread_count(),
             .vectors = state_.options.vectors,
             .encoded_eighths = encoded_eighths(state_.matrix)}};
  }

  // Beside those that sweeps run in, those that a few rows speak for, if their powers could take
  // less time by what they read and compute at least.
  std::vector<ProductSpec> products_faster_than(double seconds) {
    MatrixStatistics known;
    if (looks_symmetric(state_.matrix)) known.value_symmetry = Symmetry::symmetric;
    auto specs = parse_product_list("all", known, KernelTarget::processor);
    const bool irregular =
        state_.fastest().candidate.format.format == Format::csr || has_long_rows(state_.pattern());
    const bool scattered = state_.scattered();
    const auto speaks_for = [&](const ProductSpec& spec) {
      switch (spec.format.format()) {
        case Format::bcsr:
          return sampled_fill(state_.pattern(), spec.format.parameter("block_rows").value_or(1)) <=
                 kMostFill;
        case Format::dia: return diagonals_save();
        case Format::symmetric_csr: return true;  // is among them where it looks like that
        case Format::blocked_coo: return scattered;
        case Format::coo:
        case Format::csr:
        case Format::hyb:
        case Format::jds: return irregular;
        default: return false;  // never as fast as slices
      }
    };
    std::erase_if(specs, [&](const ProductSpec& spec) {
      return stored_of(spec) || !speaks_for(spec) ||
             least_seconds(spec) * state_.options.power >= seconds;
    });
    return specs;
  }

  bool diagonals_save() const {
    const auto bytes = static_cast<double>(diagonals_seen(state_.pattern()) * state_.matrix.rows() *
                                           Offset{sizeof(V)});
    return bytes < kFewerBytes * static_cast<double>(state_.fastest().candidate.format_bytes);
  }

  // Of a product that does nothing but read the values or, of a symmetric half, values and columns,
  // for which it computes more than CSR does.
  double least_seconds(const ProductSpec& spec) const {
    const bool half = spec.format.format() == Format::symmetric_csr;
    const double entry = half ? 0.5 * (sizeof(V) + sizeof(I)) : sizeof(V);
    const SweepCosts costs = costs_of_product(entry * static_cast<double>(state_.matrix.nnz()));
    const double least = predict_with_overlap(costs, state_.prepared.places.rates).seconds;
    if (!half) return least;
    return std::max(least, share_of_csr_kernel(Format::symmetric_csr) * state_.csr_kernel_seconds);
  }

  bool recall_product() {
    if (!ProductMemory::has_any(state_.request.memory)) return false;
    const auto propose = [&](const ProductSpec& spec) {
      if (!state_.is_proposed(spec)) propose_spec({.spec = spec});
    };
    return memory().recall(state_.prepared.record.remarks, propose).has_value();
  }

  // That a core has for itself, as it would be with 8 ways.
  CacheShape core_cache() const {
    constexpr Offset kWays = 8;
    const CacheShape shape{.ways = kWays};
    const Offset sets = state_.profile->private_cache_bytes(state_.prepared.threads) /
                        state_.prepared.threads / (kWays * shape.line_bytes);
    return {.bytes = sets * kWays * shape.line_bytes, .ways = kWays};
  }

  void rank_products_of(const std::vector<ProductSpec>& only) {
    const PartTimer timer(state_.prepared.record, PlanningPart::Kind::formats);
    const ThreadCountScope team(state_.prepared.threads);
    state_.ranked = rank_products(state_.matrix, *state_.profile,
                                  {.timed = state_.options.autotune ? kMostProducts : 1,
                                   .vectors = state_.options.vectors,
                                   .only = only,
                                   .sampled = state_.options.autotune});
  }

  void propose_contenders() {
    const double limit = kProductMayWin * state_.ranked.front().predicted.seconds();
    const ProductSpec csr{FormatSpec(Format::csr)};
    for (SearchedProduct& product : state_.ranked) {
      const bool may_win = product.predicted.seconds() <= limit || product.spec == csr;
      if (!product.contender || !may_win || state_.is_proposed(product.spec)) continue;
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

  // What a sweep would run it in; nothing if none does.
  static std::optional<StoredFormat> stored_of(const ProductSpec& spec) {
    const FormatSpec& format = spec.format;
    if (!spec.kernel.empty() || !plans_run_in(format.format(), KernelTarget::processor)) {
      return {};
    }
    const StoredFormat stored{format.format(), format.parameter("slice_height").value_or(1),
                              static_cast<StoredValues>(format.parameter("values").value_or(0))};
    if (FormatSpec(stored) != format) return {};
    return stored;
  }

  // In a format that sweeps run in, or as a product. CSR as a product need not be copied.
  void propose_spec(const SearchedProduct& product) {
    const std::optional<StoredFormat> stored = stored_of(product.spec);
    if (stored && is_sliced(stored->format)) {
      propose_plain(
          state_,
          arrange<V, I>(state_, {{}, PaddedOrder<I>::identity(state_.matrix.rows())}, *stored));
    } else {
      propose_product(product);
    }
  }

  void propose_product(const SearchedProduct& product) {
    auto arrangement = std::make_shared<Arrangement<V, I>>();
    arrangement->order = PaddedOrder<I>::identity(state_.matrix.rows());
    arrangement->stored = {product.spec.format.format(), 1};
    const double started = now();
    {
      const PartTimer timer(state_.prepared.record, PlanningPart::Kind::storing,
                            subject_of(product_candidate(product, 0)));
      arrangement->product = cpu::store_product(state_.matrix, product.spec);
    }
    arrangement->conversion_seconds = now() - started;
    arrangement->kernel_seconds = product.predicted.kernel_seconds;
    ProcessorProposal<V, I> proposal;
    proposal.candidate =
        product_candidate(product, static_cast<double>(arrangement->product->bytes()));
    proposal.arrangement = std::move(arrangement);
    state_.proposals.push_back(std::move(proposal));
  }

  PowerCandidate product_candidate(const SearchedProduct& product, double bytes) const {
    PowerCandidate candidate;
    candidate.format = {product.spec.format.format(), 1};
    candidate.product = product.spec;
    candidate.format_bytes = static_cast<Offset>(bytes);
    SweepCosts costs;
    for (int k = 0; k < state_.options.power; ++k) costs = costs + costs_of_product(bytes);
    const Rates rates = limited_by_kernel(state_.prepared.places.rates, costs,
                                          product.predicted.kernel_seconds * state_.options.power);
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
      return static_cast<double>(rows) * static_cast<double>(state_.row_bytes());
    };
    const double moved =
        matrix_bytes + of_rows(state_.matrix.cols()) + 2 * of_rows(state_.matrix.rows());
    const double kept =
        matrix_bytes + of_rows(state_.matrix.cols()) + of_rows(state_.matrix.rows());
    SweepCosts costs;
    if (kept <= static_cast<double>(state_.prepared.places.private_bytes)) {
      costs.cache_bytes = moved;
    } else if (kept <= static_cast<double>(state_.prepared.places.shared_bytes)) {
      costs.shared_bytes = moved;
    } else {
      costs.memory_bytes = moved;
    }
    costs.synchronisations = 1;
    return costs;
  }

  ProcessorState<V, I>& state_;
};

}  // namespace

template <Value V, Index I>
bool propose_asked_products(ProcessorState<V, I>& state) {
  return ProductProposer<V, I>(state).asked();
}

template <Value V, Index I>
bool propose_stored_choice(ProcessorState<V, I>& state) {
  return ProductProposer<V, I>(state).stored_choice();
}

template <Value V, Index I>
void propose_ranked_products(ProcessorState<V, I>& state) {
  ProductProposer<V, I>(state).ranked();
}

template <Value V, Index I>
void propose_plain_powers(ProcessorState<V, I>& state) {
  ProductProposer<V, I>(state).plain_powers();
}

template <Value V, Index I>
void propose_rcm(ProcessorState<V, I>& state) {
  ProductProposer<V, I>(state).rcm_order();
}

template <Value V, Index I>
void finish_products(ProcessorState<V, I>& state) {
  ProductProposer<V, I>(state).finish();
}

#define STRATA_INSTANTIATE(V, I)                                \
  template bool propose_asked_products(ProcessorState<V, I>&);  \
  template bool propose_stored_choice(ProcessorState<V, I>&);   \
  template void propose_ranked_products(ProcessorState<V, I>&); \
  template void propose_plain_powers(ProcessorState<V, I>&);    \
  template void propose_rcm(ProcessorState<V, I>&);             \
  template void finish_products(ProcessorState<V, I>&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
