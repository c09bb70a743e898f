// Writing a small file so that no reader ever sees half of it.
#pragma once

#include <filesystem>
#include <string_view>

namespace strata {

// Writes `contents` under a temporary name in the same folder and moves that into place: an old
// file is either kept or replaced whole, with its permissions, and a symbolic link stays one. What
// is no regular file (a pipe, /dev/null, /dev/stdout) is written to as it is. Throws FileError.
void replace_file(const std::filesystem::path& path, std::string_view contents);

}  // namespace strata
