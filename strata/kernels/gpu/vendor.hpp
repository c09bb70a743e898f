// Whose GPU it is: the rules of papers differ by it.
#pragma once

namespace strata::gpu {

enum class GpuVendor { nvidia, amd };

}  // namespace strata::gpu
