// Which format rows are stored in, decided by the bytes that a sample of them needs. The pattern
// decides alone, as if values were stored as they are: then new values change nothing of it. How
// far packed SELL encodes the values is decided afterwards.
#pragma once

#include <span>
#include <vector>

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

// Some rows in this order, as they are.
template <Value V, Index I>
Csr<V, I> sample_of(const Csr<V, I>& matrix, const PaddedOrder<I>& order);

// Whole slices in the middle of a sample, at least 64 rows of it, with up to so many entries.
template <Value V, Index I>
Csr<V, I> middle_of(const Csr<V, I>& sample, Offset entries);

// The best of what the options allow for rows in this order, with full values.
template <Value V, Index I>
SampledFormat choose_storage(const Csr<V, I>& matrix, const PaddedOrder<I>& order,
                             const PowerOptions& options);

// Whatever stores all values in full and may be faster by its kernel, with its bytes: tall slices,
// which mostly are the fastest, first.
template <Value V, Index I>
std::vector<SampledFormat> full_storage(const Csr<V, I>& sample);

// Packed SELL with encoded values where that takes fewer bytes than `best`, for each of the levels,
// which increase, that saves something over those before it.
template <Value V, Index I>
std::vector<SampledFormat> encoded_storage(const Csr<V, I>& sample, const SampledFormat& best,
                                           const PowerOptions& options,
                                           std::span<const StoredValues> levels);

}  // namespace strata::detail
