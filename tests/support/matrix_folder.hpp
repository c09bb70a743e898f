// The folder of real matrices (CMake: STRATA_MATRICES), which may not be there.
#pragma once

#include <filesystem>

namespace strata::test {

std::filesystem::path matrix_folder();

}  // namespace strata::test
