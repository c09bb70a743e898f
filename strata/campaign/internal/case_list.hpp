// The cases of a campaign file: matrices × commands × lists of values.
#pragma once

#include <filesystem>
#include <vector>

#include "strata/campaign/internal/object_reader.hpp"

namespace strata::campaign::detail {

// Every case once, in the order of the file: runs, then matrices, then parameters, then ranks,
// then options, the last of which changes fastest. Throws as read_campaign does.
std::vector<Case> read_cases(const ValueReader& file, const std::filesystem::path& folder,
                             const std::vector<KnownCommand>& commands);

}  // namespace strata::campaign::detail
