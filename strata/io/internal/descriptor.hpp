// Names like /dev/stdout and /dev/fd/3: what this process has open already.
#pragma once

#include <filesystem>
#include <optional>

namespace strata::detail {

inline constexpr int kMostLinks =
    40;  // symbolic links behind one another: as many as Linux follows

// The descriptor of this process that the path names, through links too. Opening such a name would
// start at the beginning of a file that others have written half of, and fails for sockets.
std::optional<int> own_descriptor(const std::filesystem::path& path);

// A duplicate that closes on exec; −1, with errno, if there is no such descriptor.
int duplicate(int descriptor);

}  // namespace strata::detail
