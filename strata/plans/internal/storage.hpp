// Which format rows are stored in, decided by the bytes that a sample of them needs.
#pragma once

#include <string>

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/order/padded_order.hpp"
#include "strata/plans/power_options.hpp"

namespace strata::detail {

struct StorageChoice {
  PowerFormat format = PowerFormat::packed_sell;
  Offset slice_height = 1;     // of the sliced formats
  double bytes_per_entry = 0;  // of the sample

  // Rows come in multiples of this.
  Offset alignment() const { return is_sliced(format) ? slice_height : 1; }
  // "packed-sell C=32"
  std::string name() const;
};

// The best of what the options allow for rows in this order.
template <Value V, Index I>
StorageChoice choose_storage(const Csr<V, I>& matrix, const PaddedOrder<I>& order,
                             const PowerOptions& options);

}  // namespace strata::detail
