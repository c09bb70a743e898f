// The account that arrays on devices keep of their bytes.
#pragma once

#include "strata/base/types.hpp"

namespace strata::gpu::detail {

// False, and nothing is taken, if a limit forbids it.
bool take_memory(Offset bytes);
void give_back_memory(Offset bytes) noexcept;

}  // namespace strata::gpu::detail
