#include "tests/petsc/launch.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace strata::test {

namespace {

void prepare_environment() {
  // Open MPI on a machine that a user, or a container's root, has to itself. What PETSc keeps per
  // thread is not ours to test: a rank has one.
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                           "OMPI_MCA_rmaps_base_oversubscribe", "OMPI_MCA_mpi_yield_when_idle",
                           "OMP_NUM_THREADS", "OMPI_MCA_ess_singleton_isolated"}) {
    setenv(name, "1", 1);
  }
  // Nothing is measured and nothing outside the tests' folders read or written.
  setenv("STRATA_PROFILE", "off", 1);
}

}  // namespace

Launched launch(const std::string& command) {
  prepare_environment();
  Launched launched;
  std::FILE* pipe = popen(("exec 2>&1; " + command).c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("no shell to run " + command);
  char buffer[4096];
  while (const std::size_t count = std::fread(buffer, 1, sizeof(buffer), pipe)) {
    launched.out.append(buffer, count);
  }
  const int status = pclose(pipe);
  launched.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return launched;
}

Launched launch_on(int ranks, const std::string& program) {
  if (ranks == 1) return launch(program);
  return launch(fmt::format("'{}' {} {} {}", STRATA_MPIEXEC, STRATA_MPIEXEC_RANKS, ranks, program));
}

bool can_launch_on(int ranks) {
  return ranks == 1 || std::string_view(STRATA_MPIEXEC).find("NOTFOUND") == std::string_view::npos;
}

std::string loading_plug_in() {
  return fmt::format(" -dll_append '{}' ", STRATA_PLUG_IN);
}

}  // namespace strata::test
