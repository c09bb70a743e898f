// Profiles without a measurement: what the system reports, and round figures for the rest. They
// have the proportions of current servers (a cache reads several times as fast as memory, a few
// threads saturate memory), not the speeds of this machine: plans made with them are sound, their
// predicted seconds are not to be believed.
#pragma once

#include "strata/machine/gpu/profile.hpp"
#include "strata/machine/profile.hpp"

namespace strata {

// Of this machine, with up to `threads` threads (0: as many as run at once): reported_profile()
// and, for each thread, 40, 30 and 15 GB/s from the caches of the first, second and third level and
// 12 GB/s from memory, of which all threads together have 4 GB/s per core, at least 20 GB/s. Where
// no caches are reported, each core is taken to have 32 KiB and 1 MiB.
MachineProfile default_profile(int threads = 0);

namespace gpu {
// 15 GB/s from memory per multiprocessor, two and a half times that from three quarters of the L2.
GpuProfile default_profile(const DeviceProperties& device);
}  // namespace gpu

}  // namespace strata
