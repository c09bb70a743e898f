// Which machine a result comes from, as the operating system tells it; nothing is measured.
#pragma once

#include "strata/measure/json.hpp"

namespace strata::cli {

// The "machine" object of every result: processor, cores, caches, memory, system, compiler. What
// cannot be found out is left out.
Json machine_profile();

}  // namespace strata::cli
