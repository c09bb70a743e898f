// Products that a plan on a GPU compares with those in the formats of powers, and what they should
// read.
#pragma once

#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/kernels/product_spec.hpp"
#include "strata/plans/plan_options.hpp"

namespace strata::gpu::detail {

// Below so many entries a product takes as long as its launches and the latency of memory let it,
// whatever its bytes are: on an H200, 2 million entries in CSR are read in 5 µs.
inline constexpr Offset kFewEntries = 2'000'000;

struct ProductEstimate {
  ProductSpec spec;
  Offset bytes = 0;  // that a product reads, about
};

// In the format of the options, or in all. Without what would be mostly padding, and CSR with the
// kernel that it takes by itself. Counted on a sample of rows where there are many entries.
template <Value V>
std::vector<ProductEstimate> product_candidates(const Csr<V, std::int32_t>& matrix,
                                                const PowerOptions& options);

}  // namespace strata::gpu::detail
