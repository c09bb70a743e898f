#include "strata/plans/gpu/internal/autotuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <ranges>
#include <tuple>
#include <utility>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/device/error.hpp"
#include "strata/machine/default_profile.hpp"
#include "strata/plans/gpu/internal/prediction.hpp"
#include "strata/plans/gpu/internal/product_candidates.hpp"

namespace strata::gpu::detail {

using strata::detail::PartTimer;

namespace {

// How many sweeps over rows in one order are timed, the most promising first; and of levels in
// every share of the cache, if they are asked for. Sweeps in which values are flags run on one
// matrix: how many warps they have makes no difference to that.
constexpr std::size_t kTimed = 4;
constexpr std::size_t kTimedFlagged = 6;
// How much more device memory planning may take than a plan.
constexpr double kMemoryFactor = 2.5;
// Plain products are predicted by their bytes and the bandwidth that was measured: none is so many
// times as fast, not even if some of it stays in the cache.
constexpr double kOptimism = 1.5;
constexpr double kMuchMore = 1.25;
// Whatever takes so many times as long as the fastest so far is not timed any further.
constexpr double kBeaten = 1.1;
// Products that take at most so many times as long as the fastest are timed in turn, so many at
// most. That they are on the device together may take so many bytes, whatever the matrix has.
constexpr double kClose = 1.1;
constexpr std::size_t kFinalists = 4;
constexpr Offset kProductBudget = Offset{256} << 20;

template <Value V>
std::string does_not_fit(const Proposal<V>& proposal, const DeviceOutOfMemory& error) {
  return fmt::format("{} in {} does not fit on the device: {}",
                     name_of(proposal.candidate.strategy), format_text(proposal.candidate),
                     error.what());
}

template <Value V>
std::optional<ValueStorage> values_in(const Proposal<V>& proposal) {
  return std::visit([](const auto& form) -> std::optional<ValueStorage> { return form->values(); },
                    proposal.form);
}

bool has_encoded_values(const PowerCandidate& candidate) {
  return candidate.format.format == Format::packed_sell &&
         candidate.format.values != StoredValues::full;
}

template <Value V>
bool is_empty(const Method<V>& method) {
  const auto* matrix = std::get_if<SharedMatrix<V>>(&method);
  return matrix != nullptr && *matrix == nullptr;
}

// Whether predictions go by the speed of this device.
template <Value V>
bool is_measured(const Prepared<V>& prepared) {
  const GpuProfile& profile = prepared.profile;
  return profile.device.name == prepared.device &&
         profile.memory_bandwidth() != default_profile(profile.device).memory_bandwidth();
}

// Of products whose bytes were an estimate until they were on the device.
template <Value V>
void count_bytes(Proposal<V>& proposal) {
  Offset& bytes = proposal.candidate.format_bytes;
  if (const auto* product = std::get_if<std::shared_ptr<ProductForm<V>>>(&proposal.form)) {
    bytes = (*product)->bytes();
  } else if (const auto* stored = std::get_if<std::shared_ptr<StoredForm<V>>>(&proposal.form)) {
    bytes = (*stored)->bytes();
  }
}

}  // namespace

template <Value V>
Autotuner<V>::Autotuner(const Csr<V, std::int32_t>& matrix, const PowerOptions& options,
                        Prepared<V>& prepared, Stream& stream)
    : matrix_(matrix),
      options_(options),
      prepared_(prepared),
      stream_(stream),
      knows_bandwidth_(is_measured(prepared)) {}

template <Value V>
Offset Autotuner<V>::Fastest::bytes() const {
  return is_empty<V>(method) ? 0 : bytes_of<V>(method);
}

template <Value V>
void Autotuner<V>::time_favourites(ProposalList<V>& proposals) {
  std::ranges::stable_sort(proposals, {}, [](const Proposal<V>& proposal) {
    return proposal.candidate.predicted_seconds;
  });
  trials_.emplace(matrix_, options_, stream_);
  find_budget(proposals);
  time_by_forms(favourites(proposals));
}

template <Value V>
void Autotuner<V>::time_others(ProposalList<V>& proposals) {
  if (chooses()) {
    if (options_.power == 1) hold_final(proposals);
    for (Proposal<V>& proposal : proposals) {
      const PowerCandidate& candidate = proposal.candidate;
      if (candidate.measured_seconds == 0 && is_by_levels(candidate.strategy) &&
          (fastest_.proposal == nullptr ||
           candidate.predicted_seconds < fastest_.proposal->candidate.seconds())) {
        time(proposal);
      }
    }
  }
  trials_.reset();
  if (hopeless_.empty()) return;
  prepared_.remark(fmt::format(
      "not timed, for plain products would have to read faster than memory allows to win: {}",
      fmt::join(hopeless_, "; ")));
}

// From proposals in the order of their predictions.
template <Value V>
std::vector<Proposal<V>*> Autotuner<V>::favourites(ProposalList<V>& proposals) const {
  std::map<std::tuple<const Rows*, double, bool>, std::size_t> timed;
  std::vector<Proposal<V>*> chosen;
  for (Proposal<V>& proposal : proposals) {
    const PowerCandidate& candidate = proposal.candidate;
    if (chooses() && is_by_levels(candidate.strategy)) continue;
    const std::tuple kind{static_cast<const Rows*>(proposal.rows.get()), candidate.cache_share,
                          candidate.flagged};
    const std::size_t most = candidate.flagged ? kTimedFlagged : kTimed;
    if (!candidate.plain() && timed[kind]++ >= most) continue;
    chosen.push_back(&proposal);
  }
  return chosen;
}

template <Value V>
std::ptrdiff_t Autotuner<V>::take(const std::vector<Proposal<V>*>& ranked) {
  for (std::size_t next = 0;; ++next) {
    Proposal<V>& proposal = *ranked[next];
    // The matrix of the fastest is of use if it is that of this one, and in the way otherwise.
    if (fastest_.proposal != nullptr &&
        fastest_.proposal->form_address() != proposal.form_address()) {
      fastest_ = {};
    }
    try {
      prepared_.method = make_method(proposal);
      count_bytes(proposal);
      prepared_.rows = proposal.rows;
      prepared_.stored = proposal.candidate.format;
      prepared_.record.values = values_in(proposal);
      fastest_ = {};
      return static_cast<std::ptrdiff_t>(next);
    } catch (const DeviceOutOfMemory& error) {
      if (next + 1 == ranked.size()) throw;
      prepared_.remark(does_not_fit(proposal, error));
    } catch (const InvalidArgument&) {
      // A format that has refused the matrix, of several that were asked for.
      if (!proposal.if_it_may_win || next + 1 == ranked.size()) throw;
    }
  }
}

// Uploads the form, unless somebody holds it, and makes the method ready to run. Throws
// DeviceOutOfMemory.
template <Value V>
Method<V> Autotuner<V>::make_method(const Proposal<V>& proposal) {
  const PartTimer timer(prepared_.record, PlanningPart::Kind::storing,
                        strata::detail::subject_of(proposal.candidate));
  if (const auto* tiled = std::get_if<std::shared_ptr<TiledForm<V>>>(&proposal.form)) {
    return PersistentSweep<V>((*tiled)->on_device(stream_), proposal.shape);
  }
  if (const auto* flagged = std::get_if<std::shared_ptr<FlaggedTilesForm<V>>>(&proposal.form)) {
    return FlaggedSweep<V>((*flagged)->on_device(stream_), proposal.flagged);
  }
  if (const auto* product = std::get_if<std::shared_ptr<ProductForm<V>>>(&proposal.form)) {
    return (*product)->on_device(stream_);
  }
  SharedMatrix<V> matrix =
      std::get<std::shared_ptr<StoredForm<V>>>(proposal.form)->on_device(stream_);
  if (proposal.cut == nullptr) return matrix;
  return LevelPowers<V>(std::move(matrix), proposal.cut->tiling(),
                        {options_.power, proposal.candidate.block, options_.vectors,
                         proposal.candidate.strategy == PowerStrategy::graph});
}

// Planning takes at most kMemoryFactor times what its most compact result needs, with full values
// if it may have them: encoded ones can take so little that there is no room to compare them.
template <Value V>
void Autotuner<V>::find_budget(const ProposalList<V>& proposals) {
  const bool all_encoded = std::ranges::all_of(proposals, [](const Proposal<V>& proposal) {
    return has_encoded_values(proposal.candidate);
  });
  budget_ = std::numeric_limits<Offset>::max();
  for (const Proposal<V>& proposal : proposals) {
    if (has_encoded_values(proposal.candidate) && !all_encoded) continue;
    const auto needed =
        static_cast<double>(proposal.device_bytes() + trials_->bytes(*proposal.rows));
    budget_ = std::min(budget_, static_cast<Offset>(kMemoryFactor * needed));
  }
  if (options_.power == 1) budget_ = std::max(budget_, kProductBudget);
}

// The least that plain products can take: they read all that does not stay in the cache from one to
// the next, and no faster than what was measured: the best come to 0.94 of that.
template <Value V>
double Autotuner<V>::least_seconds(const PowerCandidate& candidate) const {
  const double least = candidate.predicted_seconds / kOptimism;
  if (!knows_bandwidth_ || candidate.memory_bytes == 0) return least;
  const double kept = static_cast<double>(l2_bytes_of(prepared_.profile)) * options_.power;
  return std::max(least,
                  candidate.predicted_seconds * (1 - std::min(kept / candidate.memory_bytes, 1.0)));
}

// Whether it reads so many more bytes than plain products that run about as fast as memory lets
// them.
template <Value V>
bool Autotuner<V>::reads_much_more(const PowerCandidate& candidate) const {
  return knows_bandwidth_ && matrix_.nnz() >= kFewEntries && candidate.memory_bytes > 0 &&
         plain_seconds_ < kOptimism * plain_predicted_ &&
         candidate.predicted_seconds > kMuchMore * plain_predicted_;
}

// There are many formats, and storing many entries takes long: some have to promise more, also by
// the bytes of the fastest, for where memory is not the limit it is so for none.
template <Value V>
bool Autotuner<V>::is_hopeless_product(const Proposal<V>& proposal) const {
  const double predicted = proposal.candidate.predicted_seconds;
  if (proposal.if_it_may_win && matrix_.nnz() >= kFewEntries && plain_seconds_ > 0) {
    return predicted > plain_seconds_ ||
           predicted > kOptimism * fastest_.proposal->candidate.predicted_seconds;
  }
  const double least = least_seconds(proposal.candidate);
  if (plain_seconds_ > 0 && (least > plain_seconds_ || reads_much_more(proposal.candidate))) {
    return true;
  }
  // Against sweeps. Where p is chosen, one product at a time is always a choice.
  return knows_bandwidth_ && chooses() && options_.products == 0 &&
         least > kHandicaps.blocked * fastest_.proposal->candidate.measured_seconds;
}

// Whether it would have to run faster than it can to be the fastest. Predictions of sweeps are too
// short, or so long that these lose all the same.
template <Value V>
bool Autotuner<V>::is_hopeless(const Proposal<V>& proposal) const {
  if (fastest_.proposal == nullptr) return false;
  if (proposal.candidate.plain()) return is_hopeless_product(proposal);
  return knows_bandwidth_ && proposal.candidate.strategy == PowerStrategy::wavefront &&
         options_.products == 0 &&
         proposal.candidate.predicted_seconds >
             kBeaten * fastest_.proposal->candidate.measured_seconds;
}

// Those that run on the same matrix one after another, so that it is uploaded once.
template <Value V>
void Autotuner<V>::time_by_forms(const std::vector<Proposal<V>*>& timed) {
  std::vector<const void*> forms;
  for (const Proposal<V>* proposal : timed) {
    if (std::ranges::find(forms, proposal->form_address()) == forms.end()) {
      forms.push_back(proposal->form_address());
    }
  }
  for (const void* form : forms) {
    Method<V> held;  // keeps the matrix on the device
    for (Proposal<V>* proposal : timed) {
      if (proposal->form_address() != form) continue;
      if (Method<V> made = time(*proposal); !is_empty(made)) held = std::move(made);
    }
  }
}

// The method that was timed; none if it does not fit. Besides the matrix of this one there is
// that of the fastest so far on the device, or none if both are too much.
template <Value V>
Method<V> Autotuner<V>::time(Proposal<V>& proposal) {
  if (is_hopeless(proposal)) {
    if (proposal.candidate.plain() && !proposal.if_it_may_win) {
      hopeless_.push_back(strata::detail::subject_of(proposal.candidate));
    }
    return {};
  }
  const Offset needed = proposal.device_bytes() + trials_->bytes(*proposal.rows);
  if (needed > budget_) {
    prepared_.remark(fmt::format("{} in {} would take {:.1f} GB on the device and was not tried",
                                 name_of(proposal.candidate.strategy),
                                 format_text(proposal.candidate),
                                 static_cast<double>(needed) * 1e-9));
    return {};
  }
  const bool same_form =
      fastest_.proposal != nullptr && fastest_.proposal->form_address() == proposal.form_address();
  if (!same_form && fastest_.bytes() + needed > budget_) fastest_.method = {};
  try {
    return time_on_device(proposal);
  } catch (const DeviceOutOfMemory&) {
    fastest_.method = {};
  } catch (const InvalidArgument&) {
    if (!proposal.if_it_may_win) throw;
    return {};  // the format refuses the matrix
  }
  try {
    return time_on_device(proposal);
  } catch (const DeviceOutOfMemory& error) {
    prepared_.remark(does_not_fit(proposal, error));
    return {};
  }
}

// Short products that are about as fast need more than a timing each to tell which one is the
// fastest. Those that fit on the device together take part. They are stored once more, which takes
// too long for many entries, and products with these take long enough for one timing.
template <Value V>
void Autotuner<V>::hold_final(ProposalList<V>& proposals) {
  if (fastest_.proposal == nullptr || matrix_.nnz() >= kFewEntries) return;
  const double limit = kClose * fastest_.proposal->candidate.measured_seconds;
  std::vector<Proposal<V>*> close;
  for (Proposal<V>& proposal : proposals) {
    const double seconds = proposal.candidate.measured_seconds;
    if (seconds > 0 && seconds <= limit) close.push_back(&proposal);
  }
  std::ranges::stable_sort(
      close, {}, [](const Proposal<V>* proposal) { return proposal->candidate.measured_seconds; });
  if (close.size() > kFinalists) close.resize(kFinalists);
  Offset bytes = 0;
  std::vector<Method<V>> methods;
  std::vector<typename Trials<V>::Runner> runners;
  methods.reserve(close.size());
  try {
    for (Proposal<V>* proposal : close) {
      const Offset vectors = trials_->bytes(*proposal->rows);
      bytes += proposal->device_bytes();
      if (bytes + vectors > budget_) break;
      methods.push_back(make_method(*proposal));
      runners.push_back({&methods.back(), proposal->rows.get()});
    }
    if (runners.size() < 2) return;
    const PartTimer timer(prepared_.record, PlanningPart::Kind::timing, "the fastest in turn");
    const std::vector<double> seconds = trials_->seconds_in_turn(runners);
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      close[i]->candidate.measured_seconds = seconds[i];
    }
  } catch (const DeviceOutOfMemory&) {
    return;  // what was measured before holds
  }
  fastest_ = {};
  for (std::size_t i = 0; i < methods.size(); ++i) {
    if (is_fastest(*close[i])) fastest_ = {close[i], methods[i]};
  }
}

template <Value V>
Method<V> Autotuner<V>::time_on_device(Proposal<V>& proposal) {
  Method<V> method = make_method(proposal);
  const double beaten = fastest_.proposal == nullptr
                            ? std::numeric_limits<double>::infinity()
                            : kBeaten * fastest_.proposal->candidate.seconds();
  {
    const PartTimer timer(prepared_.record, PlanningPart::Kind::timing,
                          strata::detail::subject_of(proposal.candidate));
    proposal.candidate.measured_seconds = trials_->seconds_of(method, *proposal.rows, beaten);
  }
  count_bytes(proposal);
  if (proposal.candidate.plain()) {
    const double seconds = proposal.candidate.measured_seconds;
    if (plain_seconds_ == 0 || seconds < plain_seconds_) {
      plain_seconds_ = seconds;
      plain_predicted_ = proposal.candidate.predicted_seconds;
    }
  }
  if (is_fastest(proposal)) fastest_ = {&proposal, method};
  return method;
}

template <Value V>
bool Autotuner<V>::is_fastest(const Proposal<V>& proposal) const {
  const auto rank = [&](const Proposal<V>& one) {
    return strata::detail::rank_of(one, options_, true, kHandicaps);
  };
  return fastest_.proposal == nullptr || rank(proposal) < rank(*fastest_.proposal);
}

#define STRATA_INSTANTIATE(V, unused) template class Autotuner<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu::detail
