// The matrices of a campaign: specifications and paths as they are, the files of a glob, the
// matrices of a class of a suite file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "strata/campaign/internal/object_reader.hpp"
#include "strata/campaign/internal/template_text.hpp"

namespace strata::campaign::detail {

// Paths of globs and suites start from `folder`, and so do those of the result. Throws
// InvalidCampaign, and FileError for a suite that cannot be read.
std::vector<TemplateText> read_matrices(const ValueReader& list,
                                        const std::filesystem::path& folder);

}  // namespace strata::campaign::detail
