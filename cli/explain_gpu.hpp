// What a plan for powers on a GPU says about itself.
#pragma once

#include <string>

#include "cli/candidate.hpp"
#include "cli/matrix_source.hpp"
#include "strata/machine/gpu/profile.hpp"

namespace strata::cli {

// Plans on the GPU of the facts, which the calling thread uses from then on. Adds a result per
// candidate to the document and returns the prose.
std::string explain_on_gpu(const AnyMatrix& matrix, PowerStrategy strategy,
                           const gpu::GpuProfile& profile, const CandidateContext& context,
                           ResultDocument& document);

}  // namespace strata::cli
