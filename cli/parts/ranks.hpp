// The processes that mpirun or srun started together: rank 0 speaks, the others compute with it,
// and all end with the same status.
//
// Whether there are others is read from the launcher's environment, so that a command that was
// started alone never waits for MPI to start. What needs MPI itself is in cli/distributed.
#pragma once

#include <string>
#include <vector>

#include "cli/parts/exit_status.hpp"

namespace strata::cli {

struct Launched {
  int ranks = 1;
  int rank = 0;
};

// What launchers of Open MPI, MPICH, Intel MPI, MVAPICH, Cray and Slurm say; one rank if nobody
// says anything. In a job of Slurm's a process that srun did not start is alone.
Launched launched();

int rank_count();
// Whether this process writes results, progress and errors.
bool speaks();

// Starts MPI if a launcher started several ranks. Call once, after watch_for_interruption. Throws
// Unavailable if this build has no MPI, and InvalidArgument on all ranks if their words differ.
void join_ranks(const std::vector<std::string>& words);

// Writes the message of a failure, on one rank, and returns the status to end with: the same on all
// ranks. A rank whose error the others do not share waits for them a little, and then ends them
// all.
int leave_ranks(ExitStatus status, const std::string& message);

// After an interruption: a rank that does not speak gives the one that does the time to save what
// it has.
void let_the_speaker_save();

}  // namespace strata::cli
