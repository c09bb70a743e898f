#include "strata/plans/gpu/internal/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "strata/base/instantiate.hpp"
#include "strata/device/error.hpp"
#include "strata/machine/gpu/device_profile.hpp"
#include "strata/plans/gpu/internal/trials.hpp"
#include "strata/plans/internal/trials.hpp"

namespace strata::gpu::detail {

namespace {

using I = std::int32_t;

// How many waves over rows in one order are timed, the most promising first; and of levels, if they
// are asked for.
constexpr std::size_t kTimed = 4;
// How much more device memory planning may take than a plan.
constexpr double kMemoryFactor = 2.5;
// Plain products win unless another way is this much faster.
constexpr double kSimplerWins = 1.02;

template <Value V>
class Planner {
 public:
  Planner(const Csr<V, I>& matrix, const GpuPowerOptions& options, Stream& stream)
      : matrix_(matrix), options_(options), stream_(stream), started_(strata::detail::now()) {}

  PreparedPowers<V> plan() {
    prepared_.options = options_;
    prepared_.nnz = matrix_.nnz();
    prepared_.pattern = fingerprint_of(matrix_.pattern());
    for (int k = 1; k <= options_.power; ++k) {
      prepared_.coefficients.push_back(options_.basis.template step<V>(k));
    }
    find_profile();
    Proposals<V> found = find_proposals(matrix_, options_, prepared_.profile, stream_);
    prepared_.levels = found.levels;
    prepared_.largest_level_rows = found.largest_level_rows;
    std::ranges::move(found.remarks, std::back_inserter(prepared_.remarks));
    if (options_.autotune) time_favourites(found.proposals);
    take_best(found.proposals);
    prepared_.setup_seconds = strata::detail::now() - started_;
    return std::move(prepared_);
  }

 private:
  void find_profile() {
    const int device = current_device();
    prepared_.device = device_properties(device).name;
    if (options_.profile == nullptr) {
      const auto& known = cached_gpu_profile(device);
      prepared_.profile = known.profile;
      if (!known.remark.empty()) prepared_.remarks.push_back(known.remark);
      return;
    }
    prepared_.profile = *options_.profile;
    if (prepared_.profile.device.name != prepared_.device) {
      prepared_.remarks.push_back(
          fmt::format("predicted with facts of another device, {}", prepared_.profile.device.name));
    }
  }

  bool chooses() const { return options_.strategy == PowerStrategy::automatic; }

  // Plain products and the most promising waves. Levels if they were asked for, or if their
  // prediction, which is seldom reached, beats all that was timed.
  void time_favourites(std::vector<Proposal<V>>& proposals) {
    std::ranges::stable_sort(proposals, {}, [](const Proposal<V>& proposal) {
      return proposal.candidate.predicted_seconds;
    });
    Trials<V> trials(matrix_, options_.power, options_.vectors, stream_);
    find_budget(proposals, trials);
    std::map<const Rows*, std::size_t> timed;
    std::vector<Proposal<V>*> favourites;
    for (Proposal<V>& proposal : proposals) {
      if (chooses() && is_by_levels(proposal.candidate.strategy)) continue;
      if (!proposal.plain() && timed[proposal.rows.get()]++ >= kTimed) continue;
      favourites.push_back(&proposal);
    }
    time_by_forms(favourites, trials);
    for (Proposal<V>& proposal : proposals) {
      const PowerCandidate& candidate = proposal.candidate;
      if (candidate.measured_seconds == 0 && is_by_levels(candidate.strategy) && chooses() &&
          (fastest_.proposal == nullptr ||
           candidate.predicted_seconds < fastest_.proposal->candidate.seconds())) {
        time(proposal, trials);
      }
    }
  }

  // Planning takes at most kMemoryFactor times what its most compact result needs.
  void find_budget(const std::vector<Proposal<V>>& proposals, const Trials<V>& trials) {
    budget_ = std::numeric_limits<Offset>::max();
    for (const Proposal<V>& proposal : proposals) {
      const auto needed =
          static_cast<double>(proposal.device_bytes() + vector_bytes(proposal, trials));
      budget_ = std::min(budget_, static_cast<Offset>(kMemoryFactor * needed));
    }
  }
  static Offset vector_bytes(const Proposal<V>& proposal, const Trials<V>& trials) {
    return trials.bytes(proposal.rows->order.padded_rows());
  }

  // Those that run on the same matrix one after another, so that it is uploaded once.
  void time_by_forms(const std::vector<Proposal<V>*>& favourites, Trials<V>& trials) {
    std::vector<const void*> forms;
    for (const Proposal<V>* proposal : favourites) {
      if (std::ranges::find(forms, proposal->form_address()) == forms.end()) {
        forms.push_back(proposal->form_address());
      }
    }
    for (const void* form : forms) {
      Method<V> held;  // keeps the matrix on the device
      for (Proposal<V>* proposal : favourites) {
        if (proposal->form_address() == form) held = time(*proposal, trials);
      }
    }
  }

  // The method that was timed; none if it does not fit. Besides the matrix of this one there is
  // that of the fastest so far on the device, or none if both are too much.
  Method<V> time(Proposal<V>& proposal, Trials<V>& trials) {
    const Offset needed = proposal.device_bytes() + vector_bytes(proposal, trials);
    if (needed > budget_) {
      prepared_.remarks.push_back(
          fmt::format("{} in {} would take {:.1f} GB on the device and was not tried",
                      name_of(proposal.candidate.strategy), proposal.candidate.format,
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
      prepared_.remarks.push_back(does_not_fit(proposal, error));
      return {};
    }
  }

  Method<V> time_on_device(Proposal<V>& proposal, Trials<V>& trials) {
    Method<V> method = make_method(proposal, options_, stream_);
    proposal.candidate.measured_seconds =
        trials.seconds_of(method, proposal.rows->order.padded_rows());
    if (fastest_.proposal == nullptr || rank(proposal) < rank(*fastest_.proposal)) {
      fastest_ = {&proposal, method};
    }
    return method;
  }

  static std::string does_not_fit(const Proposal<V>& proposal, const DeviceOutOfMemory& error) {
    return fmt::format("{} in {} does not fit on the device: {}",
                       name_of(proposal.candidate.strategy), proposal.candidate.format,
                       error.what());
  }

  // What was asked for comes first. Where anything was timed, what was not is no choice.
  auto rank(const Proposal<V>& proposal) const {
    const PowerCandidate& candidate = proposal.candidate;
    const bool asked_for = chooses() || candidate.strategy == options_.strategy;
    return std::tuple(!asked_for, options_.autotune && candidate.measured_seconds == 0,
                      candidate.seconds() * (proposal.plain() ? 1 : kSimplerWins));
  }

  void take_best(std::vector<Proposal<V>>& proposals) {
    std::vector<Proposal<V>*> ranked;
    for (Proposal<V>& proposal : proposals) ranked.push_back(&proposal);
    std::ranges::stable_sort(ranked, {}, [&](const Proposal<V>* p) { return rank(*p); });
    const std::size_t best = first_that_fits(ranked);
    std::rotate(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(best),
                ranked.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    for (const Proposal<V>* proposal : ranked) {
      prepared_.candidates.push_back(proposal->candidate);
      if (proposal->rows->name == "given" && proposal->plain() &&
          (prepared_.plain_seconds == 0 ||
           proposal->candidate.seconds() < prepared_.plain_seconds)) {
        prepared_.plain_seconds = proposal->candidate.seconds();
      }
    }
    prepared_.rows = ranked.front()->rows;
    prepared_.storage = ranked.front()->storage;
  }

  // Makes its method that of the plan. Throws DeviceOutOfMemory if none fits.
  std::size_t first_that_fits(const std::vector<Proposal<V>*>& ranked) {
    for (std::size_t next = 0;; ++next) {
      // The matrix of the fastest is of use if it is that of this one, and in the way otherwise.
      if (fastest_.proposal != nullptr &&
          fastest_.proposal->form_address() != ranked[next]->form_address()) {
        fastest_ = {};
      }
      try {
        prepared_.method = make_method(*ranked[next], options_, stream_);
        fastest_ = {};
        return next;
      } catch (const DeviceOutOfMemory& error) {
        if (next + 1 == ranked.size()) throw;
        prepared_.remarks.push_back(does_not_fit(*ranked[next], error));
      }
    }
  }

  // The fastest of those that were timed. Its method may have had to make room.
  struct Fastest {
    const Proposal<V>* proposal = nullptr;
    Method<V> method;

    Offset bytes() const { return is_empty(method) ? 0 : bytes_of<V>(method); }
  };
  static bool is_empty(const Method<V>& method) {
    const auto* matrix = std::get_if<SharedMatrix<V>>(&method);
    return matrix != nullptr && *matrix == nullptr;
  }

  const Csr<V, I>& matrix_;
  const GpuPowerOptions& options_;
  Stream& stream_;
  double started_;
  Offset budget_ = 0;  // of device memory
  Fastest fastest_;
  PreparedPowers<V> prepared_;
};

}  // namespace

template <Value V>
PreparedPowers<V> prepare_powers(const Csr<V, I>& matrix, const GpuPowerOptions& options,
                                 Stream& stream) {
  return Planner<V>(matrix, options, stream).plan();
}

#define STRATA_INSTANTIATE(V, unused) \
  template PreparedPowers<V> prepare_powers(const Csr<V, I>&, const GpuPowerOptions&, Stream&)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu::detail
