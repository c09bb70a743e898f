// The matrix converted into the formats that were chosen for it, and how fast its kernels are.
#pragma once

#include <span>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/format.hpp"
#include "strata/order/padded_order.hpp"
#include "strata/plans/candidate.hpp"
#include "strata/plans/internal/arrangement.hpp"
#include "strata/plans/internal/format_choice.hpp"
#include "strata/plans/internal/processor_state.hpp"

namespace strata::detail {

// An order of the rows, and where sweeps will cut them.
template <Value V, Index I>
struct OrderedRows {
  RowOrder row_order;
  PaddedOrder<I> order;
  std::span<const I> groups = {};  // that sweeps will take together, if that is known
};

template <Value V, Index I>
SharedArrangement<V, I> arrange(ProcessorState<V, I>& state, const OrderedRows<V, I>& rows,
                                const StoredFormat& stored);

// Gives the memory of the matrix back, and stores it as it was: while it is stored in another order
// or format, nobody should need the memory for both. A product is not stored again.
template <Value V, Index I>
void release(Arrangement<V, I>& arrangement);
template <Value V, Index I>
void restore(const ProcessorState<V, I>& state, Arrangement<V, I>& arrangement);

// Where a product is surely faster with encoded values, those alone: full ones take most of the
// memory and of the time to store them. Else without the encoded ones that save too little after
// all.
template <Value V, Index I>
std::vector<SharedArrangement<V, I>> arrange_all(ProcessorState<V, I>& state,
                                                 const OrderedRows<V, I>& rows,
                                                 const FormatChoice& choice);

// Whether sweeps of this one could win: others of the same rows take fewer bytes, and may take less
// time for each as well.
template <Value V, Index I>
bool worth_sweeping(const Arrangement<V, I>& arrangement,
                    std::span<const SharedArrangement<V, I>> arrangements);

template <Value V, Index I>
bool is_encoded(const Arrangement<V, I>& arrangement) {
  const std::optional<ValueStorage> values = arrangement.matrix.value_storage();
  return values && values->encoded();
}

}  // namespace strata::detail
