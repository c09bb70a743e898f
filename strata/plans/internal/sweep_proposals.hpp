// Ways to run the powers of a matrix that is arranged, with what they should cost: plain products,
// and sweeps over groups of its rows.
#pragma once

#include <span>

#include "strata/base/types.hpp"
#include "strata/plans/candidate.hpp"
#include "strata/plans/internal/processor_state.hpp"

namespace strata::detail {

// From so many threads on it pays to find out who waits for whom, and waits are short.
inline constexpr int kManyThreads = 5;

// How large groups of rows for one power should be, so that a window of them fits the cache.
template <Value V, Index I>
Offset group_bytes(const ProcessorState<V, I>& state);

// How many pieces a sweep is timed in at most: a few of them tell as much as all.
inline constexpr int kTrialPieces = 8;

template <Value V, Index I>
void propose_plain(ProcessorState<V, I>& state, const SharedArrangement<V, I>& arrangement);

// Sweeps over rows as they are: in groups of some rows, and in bands of planes.
template <Value V, Index I>
void propose_in_given_order(ProcessorState<V, I>& state, const SharedArrangement<V, I>& arrangement,
                            std::span<const I> planes);

// Sweeps over groups of rows that may be too large for the cache.
template <Value V, Index I>
void propose_banded(ProcessorState<V, I>& state, const RowOrder& order,
                    const SharedArrangement<V, I>& arrangement, std::span<const I> groups);

}  // namespace strata::detail
