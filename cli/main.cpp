// The strata command: finds the command asked for, runs it, and turns what goes wrong into one line
// on standard error and an exit status.

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "cli/parts/command_line.hpp"
#include "cli/parts/commands.hpp"
#include "cli/parts/exit_status.hpp"
#include "cli/parts/interruption.hpp"
#include "cli/parts/ranks.hpp"
#include "strata/base/cgroup.hpp"
#include "strata/base/internal/sanitizers.hpp"

namespace strata::cli {

namespace {

void add_commands(CommandLine& line) {
  add_info(line);
  add_gen(line);
  add_convert(line);
  add_machine(line);
  add_mpk(line);
  add_explain(line);
  add_model(line);
  add_solve(line);
  add_hpcg(line);
  add_fem(line);
  add_eig(line);
  add_expm(line);
  add_spmv(line);
  add_tune(line);
  add_bench(line);
  add_compare(line);
  add_report(line);
}

#ifndef STRATA_ADDRESS_SANITIZER  // which reserves far more than the machine has
// Limits this process to the memory of the machine, or of its container if that is less. Linux
// promises more than it has and kills the process that uses it; with a limit, too large a matrix is
// an exception and an error message.
void limit_memory() {
  rlim_t bytes =
      static_cast<rlim_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
  if (const Offset of_container = cgroup_limits().memory_bytes; of_container > 0) {
    bytes = std::min(bytes, static_cast<rlim_t>(of_container));
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = std::min(limit.rlim_max, std::min(limit.rlim_cur, bytes));
  setrlimit(RLIMIT_DATA, &limit);
}
#endif

}  // namespace

}  // namespace strata::cli

int main(int argc, char** argv) {
  using namespace strata::cli;
  // Writing to a closed pipe or beyond a limit is an error like any other, not a reason to die.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
#ifndef STRATA_ADDRESS_SANITIZER
  limit_memory();
#endif
  watch_for_interruption();
  CommandLine line;
  add_commands(line);
  ExitStatus status = ExitStatus::done;
  std::string message;
  try {
    join_ranks({argv, argv + argc});
    line.parse(argc, argv)();
  } catch (const Interrupted& interrupted) {
    // Other ranks are told by the signal, not by this one.
    say_interrupted();
    let_the_speaker_save();
    if (rank_count() > 1) _exit(static_cast<int>(interrupted.status()));
    return static_cast<int>(interrupted.status());
  } catch (...) {
    const Failure failure = failure_from(std::current_exception(), line.command_name());
    status = failure.status();
    message = failure.what();
  }
  return leave_ranks(status, message);
}
