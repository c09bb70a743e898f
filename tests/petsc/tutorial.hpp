// PETSc's tutorials, from wherever their sources are.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/petsc/launch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace strata::test {

// Empty if there are sources and a compiler for them.
inline std::string why_no_tutorials() {
  if (!std::filesystem::exists(std::filesystem::path(STRATA_PETSC_EXAMPLES) / "ksp")) {
    return "no sources of PETSc's tutorials (Debian package libpetsc3.18-dev-examples)";
  }
  if (std::string(STRATA_PETSC_COMPILER).find("NOTFOUND") != std::string::npos) {
    return "no compiler for C";
  }
  return "";
}

// The program, compiled into the folder as it is.
inline std::string compile_tutorial(const std::string& source,
                                    const std::filesystem::path& folder) {
  std::string program = (folder / "tutorial").string();
  const Launched compiled = launch(
      std::string(STRATA_PETSC_COMPILER) + " -o " + program + " " +
      (std::filesystem::path(STRATA_PETSC_EXAMPLES) / source).string() + " " + STRATA_PETSC_FLAGS);
  EXPECT_EQ(compiled.status, 0) << compiled.out;
  return program;
}

}  // namespace strata::test
