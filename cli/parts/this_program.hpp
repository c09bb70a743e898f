// The program that is running: where it is, and what it was built from.
#pragma once

#include <filesystem>
#include <string>

#include "strata/campaign/record.hpp"

namespace strata::cli {

// A name by which this process and those that it starts find the program, even if somebody builds
// it again in the meantime.
std::filesystem::path running_program();
// Its path, for other processes. Throws FileError if the system does not tell.
std::filesystem::path installed_program();

// STRATA_COMMIT replaces the commit that the build has found.
campaign::BuildIdentity build_identity();

// The name of this machine; "here" if it has none.
std::string host_name();

}  // namespace strata::cli
