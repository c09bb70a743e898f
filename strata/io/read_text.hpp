// Reading a file that is not too large to hold as a whole.
#pragma once

#include <filesystem>
#include <string>

namespace strata {

// The bytes of the file; those of a gzip file as they were before. Throws FileError.
std::string read_text(const std::filesystem::path& path);

}  // namespace strata
