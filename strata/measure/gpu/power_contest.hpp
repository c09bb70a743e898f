// The power benchmark on a GPU: plans of the GPU and repeated products of its vendor's library.
// Matrices and vectors stay on it; they are timed by its own clock.
#pragma once

#include "strata/machine/gpu/profile.hpp"
#include "strata/measure/gpu/peer.hpp"
#include "strata/measure/power_contest.hpp"

namespace strata::gpu {

// Who takes part.
template <Value V, Index I>
struct PowerField {
  bool plans = true;  // Strata's own
  // The fastest product of the vendor's library, repeated: pass make_peers<V, I> of peers.hpp.
  // Empty: without.
  MakePeers<V, I> peers = {};
};

// On the GPU of the profile, which the calling thread uses from then on. The clock and the least
// number of repetitions in the options are replaced by those of GPUs. The vendor's result says why
// if it was not timed; if nothing else runs, that is thrown.
template <Value V, Index I>
void hold_power_contest(const Csr<V, I>& matrix, const PowerSweep& sweep,
                        const PowerField<V, I>& field, const GpuProfile& profile,
                        const ContestOptions& options, const PowerResultsDone& done);

}  // namespace strata::gpu
