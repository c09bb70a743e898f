// Launches of the kernels of local_product.hpp.
#pragma once

#include "strata/device/stream.hpp"
#include "strata/fem/gpu/local_product.hpp"

namespace strata::gpu::detail {

// T is double or float.
template <class T>
void launch_local_product(int degree, bool symmetric, const LocalProductArguments<T>& arguments,
                          Stream& stream);

}  // namespace strata::gpu::detail
