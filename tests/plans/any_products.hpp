// Products in every format and with every kernel of a device, which plans may take.
#pragma once

#include <vector>

#include "strata/base/error.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/statistics.hpp"
#include "strata/kernels/product_spec.hpp"

namespace strata::test {

template <Value V, Index I>
std::vector<ProductSpec> products_for(const Csr<V, I>& matrix,
                                      KernelTarget target = KernelTarget::processor) {
  return parse_product_list("all", statistics_of(matrix), target);
}

// Formats refuse matrices that would need too much padding, or that are not symmetric.
template <class Action>
bool is_taken(Action&& action) {
  try {
    action();
    return true;
  } catch (const InvalidArgument&) {
    return false;
  }
}

}  // namespace strata::test
