// The HPCG benchmark on a GPU: the phases and counts of hpcg/benchmark.hpp, with the coloured
// solver on the device and the reference on the host.
#pragma once

#include "strata/device/stream.hpp"
#include "strata/hpcg/benchmark.hpp"
#include "strata/machine/gpu/profile.hpp"

namespace strata::gpu {

// The parts of an iteration are timed by themselves, after the sets; threads of the result are 0.
// Throws what hpcg::run and plans on GPUs throw, DeviceOutOfMemory among it.
hpcg::Result run_hpcg(const hpcg::Options& options, const GpuProfile& profile, Stream& stream);

}  // namespace strata::gpu
