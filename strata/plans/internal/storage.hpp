// Which format rows are stored in, decided by the bytes that a sample of them needs.
#pragma once

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/format.hpp"
#include "strata/order/padded_order.hpp"
#include "strata/plans/plan_options.hpp"

namespace strata::detail {

struct SampledFormat {
  StoredFormat stored;
  double bytes_per_entry = 0;  // of the sample, padding included
};

// The best of what the options allow for rows in this order.
template <Value V, Index I>
SampledFormat choose_storage(const Csr<V, I>& matrix, const PaddedOrder<I>& order,
                             const PowerOptions& options);

}  // namespace strata::detail
