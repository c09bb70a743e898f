// Which formats rows in some order are stored in, by the bytes and the kernels of a sample of them.
#pragma once

#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/format.hpp"
#include "strata/order/padded_order.hpp"
#include "strata/plans/internal/processor_state.hpp"
#include "strata/plans/internal/storage.hpp"

namespace strata::detail {

// Formats of the same rows: those with full values first.
struct FormatChoice {
  std::vector<StoredFormat> formats;
  double least_seconds = 0;       // per power, with full values, by a sample; 0: not known
  bool for_sweeps_alone = false;  // the last of two with full values; the first is for products
};

// What rows in this order are stored in: the best formats with full values and, where that may be
// faster, with encoded ones. Without timing, bytes decide, and what is cheap to decode is taken at
// once. `best`: by its bytes; `swept`: whether sweeps will be proposed.
template <Value V, Index I>
FormatChoice choose_formats(ProcessorState<V, I>& state, const SampledFormat& best,
                            const PaddedOrder<I>& order, bool swept);

}  // namespace strata::detail
