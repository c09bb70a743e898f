// What a plan is asked for about plain products: a product plan beyond a plan of one power, the
// same on every device; a plan for powers on processors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/kernels/product_spec.hpp"
#include "strata/plans/internal/checks.hpp"
#include "strata/plans/plan_options.hpp"

namespace strata::detail {

struct ProductRequest {
  bool searches = false;               // products in all formats are candidates
  std::vector<ProductSpec> only = {};  // candidates; none: whatever is fastest
  TuningMemory memory = TuningMemory::ignore;
  // Of powers: row r is needed up to power last_powers[r], and rows that it reads one power less,
  // at least; what is beyond has any value. Empty: all powers of all rows.
  std::span<const std::int32_t> last_powers = {};
};

struct AskedProduct {
  ProductRequest request;
  PowerOptions options;  // of a plan of one power
};

// Of the matrix that is planned for: that of the caller or its transpose. What powers do not run in
// is a matter of the request alone. Throws InvalidArgument for options that make no sense, and
// Unavailable for formats without kernels on the target.
template <Value V, Index I>
AskedProduct asked_product(const Csr<V, I>& matrix, const ProductOptions& options, Target target);

}  // namespace strata::detail
