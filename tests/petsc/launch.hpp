// Runs programs under mpirun.
#pragma once

#include <string>

namespace strata::test {

struct Launched {
  int status = -1;  // the exit status
  std::string out;  // and errors
};

// A command line of the shell; programs of MPI in it may have more ranks than there are cores.
Launched launch(const std::string& command);

// `program` with its arguments on so many ranks; on one without mpirun.
Launched launch_on(int ranks, const std::string& program);

// Whether there is an mpirun for several ranks.
bool can_launch_on(int ranks);

// -dll_append and the plug-in.
std::string loading_plug_in();

}  // namespace strata::test
