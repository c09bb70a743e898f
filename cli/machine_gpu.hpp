// What `strata machine` says about a GPU.
#pragma once

#include <string>

#include "cli/gpu.hpp"
#include "cli/json.hpp"

namespace strata::cli {

std::string gpu_text(const KnownGpu& known, bool with_remark);
Json gpu_json(const KnownGpu& known);

}  // namespace strata::cli
