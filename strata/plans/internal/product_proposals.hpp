// Plain products in all formats, those that sweeps do not run in among them: what the caller asks
// for, what an earlier search has found, or the best of a ranking.
#pragma once

#include "strata/base/types.hpp"
#include "strata/plans/internal/processor_state.hpp"

namespace strata::detail {

// What the caller asks for, and nothing else. Whether anything is.
template <Value V, Index I>
bool propose_asked_products(ProcessorState<V, I>& state);

// The fastest of an earlier search. Whether there is one.
template <Value V, Index I>
bool propose_stored_choice(ProcessorState<V, I>& state);

// Products in all formats beside what powers run in as well: the best by rank, and CSR, which all
// are compared with.
template <Value V, Index I>
void propose_ranked_products(ProcessorState<V, I>& state);

// Plain powers by what sweeps do not run in, rows as they are given: the best by rank that might be
// faster than what was timed or, where the tuning store knows it, the fastest product. With these,
// a plan for powers has whatever a plan for products would take.
template <Value V, Index I>
void propose_plain_powers(ProcessorState<V, I>& state);

// Reverse Cuthill–McKee, if it keeps enough of x in the cache of a core: the bytes that then need
// not come from beyond it against those of bringing vectors into that order.
template <Value V, Index I>
void propose_rcm(ProcessorState<V, I>& state);

// Of a product plan: what its choice leaves to say and to keep.
template <Value V, Index I>
void finish_products(ProcessorState<V, I>& state);

}  // namespace strata::detail
