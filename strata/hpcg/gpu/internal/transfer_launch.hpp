// Launches of the kernels of transfer.hpp.
#pragma once

#include "strata/device/stream.hpp"
#include "strata/hpcg/gpu/transfer.hpp"

namespace strata::gpu::detail {

void launch_gather(const GatherArguments<double>& arguments, Stream& stream);
void launch_add_at(const AddAtArguments<double>& arguments, Stream& stream);

}  // namespace strata::gpu::detail
