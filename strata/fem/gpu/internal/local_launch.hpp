// Launches of the kernels of local_product.hpp.
#pragma once

#include "strata/device/stream.hpp"
#include "strata/fem/gpu/local_product.hpp"

namespace strata::gpu::detail {

void launch_local_product(int degree, bool symmetric,
                          const LocalProductArguments<double>& arguments, Stream& stream);

}  // namespace strata::gpu::detail
