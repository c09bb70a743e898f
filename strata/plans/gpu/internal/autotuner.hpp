// Autotuner: which of the proposals is the fastest on the device, by short timings within a limit
// of device memory, and the method of the one that is taken.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/device/stream.hpp"
#include "strata/formats/csr.hpp"
#include "strata/plans/gpu/internal/prepared.hpp"
#include "strata/plans/gpu/internal/proposals.hpp"
#include "strata/plans/gpu/internal/trials.hpp"
#include "strata/plans/internal/planning.hpp"

namespace strata::gpu::detail {

// Plain products win unless another way is 2 % faster.
inline constexpr strata::detail::Handicaps kHandicaps{.blocked = 1.02};

template <Value V>
class Autotuner {
 public:
  // All must outlive the tuner. Method, rows and format of what is taken go to `prepared`, and so
  // do remarks.
  Autotuner(const Csr<V, std::int32_t>& matrix, const PowerOptions& options, Prepared<V>& prepared,
            Stream& stream);

  // Times plain products, as far as their bytes let them win, and the most promising sweeps. Sorts
  // the proposals, which then have to stay where they are.
  void time_favourites(ProposalList<V>& proposals);
  // Times levels whose prediction, which is seldom reached, beats all that was timed; and the
  // fastest of one product once more, in turn. Nothing can be timed after this.
  void time_others(ProposalList<V>& proposals);

  // Makes the method of the first proposal that fits that of the plan; returns its place. Throws
  // DeviceOutOfMemory if none does.
  std::ptrdiff_t take(const std::vector<Proposal<V>*>& ranked);

 private:
  // The fastest of those that were timed. Its method may have had to make room.
  struct Fastest {
    const Proposal<V>* proposal = nullptr;
    Method<V> method;

    Offset bytes() const;
  };

  bool chooses() const { return options_.strategy == PowerStrategy::automatic; }
  std::vector<Proposal<V>*> favourites(ProposalList<V>& proposals) const;
  Method<V> make_method(const Proposal<V>& proposal);
  void find_budget(const ProposalList<V>& proposals);
  void time_by_forms(const std::vector<Proposal<V>*>& timed);
  Method<V> time(Proposal<V>& proposal);
  Method<V> time_on_device(Proposal<V>& proposal);
  void hold_final(ProposalList<V>& proposals);
  bool is_fastest(const Proposal<V>& proposal) const;
  double least_seconds(const PowerCandidate& candidate) const;
  bool reads_much_more(const PowerCandidate& candidate) const;
  bool is_hopeless(const Proposal<V>& proposal) const;
  bool is_hopeless_product(const Proposal<V>& proposal) const;

  const Csr<V, std::int32_t>& matrix_;
  const PowerOptions& options_;
  Prepared<V>& prepared_;
  Stream& stream_;
  const bool knows_bandwidth_;  // of this device, as it was measured
  std::optional<Trials<V>> trials_;
  Offset budget_ = 0;           // of device memory
  double plain_seconds_ = 0;    // of the fastest plain products so far,
  double plain_predicted_ = 0;  // and as these were predicted
  Fastest fastest_;
  std::vector<std::string> hopeless_;  // plain products that were not timed
};

}  // namespace strata::gpu::detail
