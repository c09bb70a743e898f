#include "strata/plans/internal/processor_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/machine/cached_profile.hpp"
#include "strata/plans/internal/given_order.hpp"

namespace strata::detail {

namespace {

// Matrices with fewer bytes per thread than this are faster on fewer threads.
constexpr Offset kSmallestShareBytes = 32 * 1024;

std::string text_of(const ProcessorBudget& processors) {
  const bool by_quota = processors.quota > 0 && processors.quota < processors.usable;
  return by_quota
             ? fmt::format("the time of {:.3g} processors", processors.quota)
             : fmt::format("{} processor{}", processors.usable, processors.usable == 1 ? "" : "s");
}

}  // namespace

template <Value V, Index I>
ProcessorState<V, I>::ProcessorState(const Csr<V, I>& asked_matrix, const Reach& reach,
                                     const PowerOptions& asked_options,
                                     const ProductRequest& asked_request, Prepared<V, I>& result)
    : matrix(asked_matrix),
      options(asked_options),
      request(asked_request),
      prepared(result),
      trials(asked_matrix, asked_options),
      given_lag_(reach.distance()) {
  choose_threads();
  find_profile();
}

template <Value V, Index I>
void ProcessorState<V, I>::choose_threads() {
  const Offset shares = matrix.nnz() * Offset{sizeof(V) + sizeof(I)} / kSmallestShareBytes;
  prepared.threads = static_cast<int>(std::clamp<Offset>(shares, 1, thread_count()));
  const ProcessorBudget processors =
      options.processors.usable > 0 ? options.processors : processor_budget();
  affords_sweeps = processors.affords(prepared.threads);
  if (may_block(options) && !affords_sweeps) {
    prepared.record.remarks.push_back(fmt::format(
        "{} threads share {}, which slows down wavefront sweeps, where they wait for each other",
        prepared.threads, text_of(processors)));
  }
}

template <Value V, Index I>
void ProcessorState<V, I>::find_profile() {
  profile = options.profile;
  if (profile == nullptr) {
    const CachedProfile& cached = cached_machine_profile();
    profile = &cached.profile;
    if (!cached.remark.empty()) prepared.record.remarks.push_back(cached.remark);
  }
  prepared.places = places_of(*profile, prepared.threads, options);
}

template <Value V, Index I>
double ProcessorState<V, I>::rate_of(double bytes) const {
  const Places& places = prepared.places;
  return bytes <= static_cast<double>(places.private_bytes)  ? places.rates.cache
         : bytes <= static_cast<double>(places.shared_bytes) ? places.rates.shared
                                                             : places.rates.memory;
}

template <Value V, Index I>
bool ProcessorState<V, I>::scattered() const {
  if (!scattered_) scattered_ = reads_scattered(pattern());
  return *scattered_;
}

template <Value V, Index I>
bool ProcessorState<V, I>::searches_first() const {
  constexpr double kLittle = 0.25;
  if (settled || !blocks() || must_block(options) || matrix.rows() != matrix.cols()) return false;
  if (matrix.rows() * row_bytes() * prepared.threads <= prepared.places.private_bytes) return false;
  const double read = static_cast<double>(matrix.nnz()) * (sizeof(V) + sizeof(I)) * options.power;
  const double copied = copy_bytes(options, true, static_cast<double>(matrix.rows()),
                                   static_cast<double>(row_bytes()), sizeof(I));
  return copied <= kLittle * read && scattered();
}

template <Value V, Index I>
bool ProcessorState<V, I>::may_sweep_as_given(double bytes_per_entry) const {
  if (must_block(options)) return true;
  const double lag = static_cast<double>(given_lag_) * bytes_per_entry * (options.power - 1);
  return lag <= static_cast<double>(prepared.places.shared_bytes);
}

template <Value V, Index I>
bool ProcessorState<V, I>::is_proposed(const StoredFormat& stored) const {
  return std::ranges::any_of(proposals, [&](const Proposal& proposal) {
    return proposal.candidate.plain() && !proposal.reordered() &&
           proposal.candidate.format == stored;
  });
}

template <Value V, Index I>
bool ProcessorState<V, I>::is_proposed(const ProductSpec& spec) const {
  return std::ranges::any_of(proposals, [&](const Proposal& proposal) {
    return !proposal.reordered() && proposal.candidate.spec() == spec;
  });
}

template <Value V, Index I>
ProcessorProposal<V, I>& ProcessorState<V, I>::fastest() {
  return *std::ranges::min_element(proposals, {}, [](const Proposal& proposal) {
    const double seconds = proposal.candidate.measured_seconds;
    return seconds > 0 ? seconds : std::numeric_limits<double>::infinity();
  });
}

#define STRATA_INSTANTIATE(V, I) template struct ProcessorState<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
