#include "cli/parts/this_program.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "cli/parts/build_info.hpp"
#include "cli/parts/commit.hpp"
#include "strata/base/error.hpp"
#include "strata/base/version.hpp"
#include "strata/measure/json.hpp"

namespace strata::cli {

std::filesystem::path running_program() {
  return "/proc/self/exe";
}

std::filesystem::path installed_program() {
  std::error_code error;
  std::filesystem::path path = std::filesystem::read_symlink(running_program(), error);
  if (error) throw FileError(running_program().string(), error.message());
  return path;
}

campaign::BuildIdentity build_identity() {
  const char* const given = std::getenv("STRATA_COMMIT");
  const Json build{{"compiler", kCompiler}, {"flags", kCompilerFlags}, {"type", kBuildType}};
  return {.version = kVersion,
          .commit = given != nullptr && *given != '\0' ? given : kCommit,
          .build = text_of(build)};
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "here";
  return name.data();
}

}  // namespace strata::cli
