// Which formats have kernels where, found out from the kernels themselves: declaring one in
// cpu/team_product.hpp or in gpu/device_matrix_of.hpp is all it takes. Every format has a
// reference kernel.
#pragma once

#include "strata/formats/format.hpp"
#include "strata/formats/format_spec.hpp"

namespace strata {

enum class KernelTarget { processor, gpu, reference };

bool has_kernel(Format format, KernelTarget target);
// The same with these parameters: on GPUs slices of SELL have a power of two of rows, and those of
// packed SELL 8 or more.
bool has_kernel(const FormatSpec& spec, KernelTarget target);

}  // namespace strata
