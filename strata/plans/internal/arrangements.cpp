#include "strata/plans/internal/arrangements.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "strata/base/instantiate.hpp"
#include "strata/model/product_model.hpp"
#include "strata/plans/internal/part_timer.hpp"

namespace strata::detail {

namespace {

// Sweeps with full values are not considered if decoding is faster than this, by a sample.
constexpr double kSurelyFaster = 0.9;
// Encoded values that turn out to take more of the bytes than this are not worth another candidate.
constexpr double kMostEncodedBytes = 0.98;

// For the record of what planning took.
template <Value V, Index I>
std::string subject_of(const Arrangement<V, I>& arrangement) {
  PowerCandidate candidate;
  candidate.format = arrangement.stored;
  candidate.order = arrangement.row_order;
  return detail::subject_of(candidate);
}

bool is_encoded(const StoredFormat& stored) {
  return stored.format == Format::packed_sell && stored.values != StoredValues::full;
}

// Of a product, as its kernel and its bytes have it.
template <Value V, Index I>
double product_seconds(const ProcessorState<V, I>& state, const Arrangement<V, I>& arrangement) {
  const auto bytes =
      static_cast<double>(arrangement.matrix.bytes() + 3 * state.matrix.rows() * state.row_bytes());
  return PredictedTime{arrangement.kernel_seconds, bytes / state.rate_of(bytes)}.seconds();
}

// Timed or, for encoded values, assumed: decoding is no faster than reading full values from the
// private cache.
template <Value V, Index I>
double kernel_seconds(ProcessorState<V, I>& state, const StoredMatrix<V, I>& stored,
                      const PaddedOrder<I>& order) {
  const Prepared<V, I>& prepared = state.prepared;
  if (state.options.autotune && !state.settled) {
    const PatternView<I> pattern = state.pattern();
    const auto entries_of = [&](RowRange<I> positions) {
      Offset entries = 0;
      for (I position = positions.begin; position < positions.end; ++position) {
        const I row = order.row_at(position);
        if (row != PaddedOrder<I>::kEmpty) entries += pattern.row_length(row);
      }
      return entries;
    };
    const I cols = order.is_identity() ? pattern.cols : order.padded_rows();
    return state.trials.entry_seconds(stored, cols, entries_of) *
           static_cast<double>(stored.nnz()) / prepared.threads;
  }
  const std::optional<ValueStorage> values = stored.value_storage();
  return values && values->encoded()
             ? static_cast<double>(values->full_bytes) / prepared.places.rates.cache
             : 0.0;
}

}  // namespace

template <Value V, Index I>
SharedArrangement<V, I> arrange(ProcessorState<V, I>& state, const OrderedRows<V, I>& rows,
                                const StoredFormat& stored) {
  auto arrangement = std::make_shared<Arrangement<V, I>>();
  arrangement->row_order = rows.row_order;
  arrangement->order = rows.order;
  arrangement->stored = stored;
  // With encoded values little is left to read, and plain products mostly win: those are faster
  // where slices may lead to any group.
  const bool for_sweeps = stored.values == StoredValues::full || must_block(state.options);
  if (for_sweeps) arrangement->groups.assign(rows.groups.begin(), rows.groups.end());
  const double started = now();
  {
    const PartTimer timer(state.prepared.record, PlanningPart::Kind::storing,
                          subject_of(*arrangement));
    arrangement->matrix =
        StoredMatrix<V, I>(state.matrix, arrangement->order, stored, arrangement->groups);
  }
  arrangement->conversion_seconds = now() - started;
  const PartTimer timer(state.prepared.record, PlanningPart::Kind::timing);
  arrangement->kernel_seconds = kernel_seconds(state, arrangement->matrix, arrangement->order);
  return arrangement;
}

template <Value V, Index I>
void release(Arrangement<V, I>& arrangement) {
  arrangement.matrix = {};
  arrangement.product = nullptr;
}

template <Value V, Index I>
void restore(const ProcessorState<V, I>& state, Arrangement<V, I>& arrangement) {
  const PartTimer timer(state.prepared.record, PlanningPart::Kind::storing,
                        subject_of(arrangement));
  arrangement.matrix =
      StoredMatrix<V, I>(state.matrix, arrangement.order, arrangement.stored, arrangement.groups);
}

template <Value V, Index I>
std::vector<SharedArrangement<V, I>> arrange_all(ProcessorState<V, I>& state,
                                                 const OrderedRows<V, I>& rows,
                                                 const FormatChoice& choice) {
  const StoredFormat& last = choice.formats.back();
  SharedArrangement<V, I> encoded;
  if (!must_block(state.options) && choice.least_seconds > 0 && is_encoded(last)) {
    encoded = arrange(state, rows, last);
    if (product_seconds(state, *encoded) < kSurelyFaster * choice.least_seconds) return {encoded};
  }
  std::vector<SharedArrangement<V, I>> arrangements;
  for (const StoredFormat& stored : choice.formats) {
    SharedArrangement<V, I> made =
        encoded && stored == last ? encoded : arrange(state, rows, stored);
    const auto bytes = static_cast<double>(made->matrix.bytes());
    const bool saves = std::ranges::none_of(arrangements, [&](const auto& other) {
      return bytes > kMostEncodedBytes * static_cast<double>(other->matrix.bytes());
    });
    if (!is_encoded(stored) || saves) arrangements.push_back(std::move(made));
  }
  return arrangements;
}

template <Value V, Index I>
bool worth_sweeping(const Arrangement<V, I>& arrangement,
                    std::span<const SharedArrangement<V, I>> arrangements) {
  return std::ranges::none_of(arrangements, [&](const auto& other) {
    return other->matrix.bytes() < arrangement.matrix.bytes() &&
           other->kernel_seconds < kSurelyFaster * arrangement.kernel_seconds;
  });
}

#define STRATA_INSTANTIATE(V, I)                                                            \
  template SharedArrangement<V, I> arrange(ProcessorState<V, I>&, const OrderedRows<V, I>&, \
                                           const StoredFormat&);                            \
  template void release(Arrangement<V, I>&);                                                \
  template void restore(const ProcessorState<V, I>&, Arrangement<V, I>&);                   \
  template std::vector<SharedArrangement<V, I>> arrange_all(                                \
      ProcessorState<V, I>&, const OrderedRows<V, I>&, const FormatChoice&);                \
  template bool worth_sweeping(const Arrangement<V, I>&, std::span<const SharedArrangement<V, I>>)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
