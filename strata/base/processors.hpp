// How many processors there are for this process: what the system, OpenMP's binding and control
// groups leave of the machine.
#pragma once

#include <filesystem>

namespace strata {

// Logical processors that threads of this process may run on; at least 1. Where OpenMP binds
// threads these are its places: a thread that is bound, such as the one that calls, sees its own
// alone.
int usable_processors();

// As many as any of the process's threads may run on, by the masks in ROOT/proc/self/task; 0 if
// that cannot be read.
int processors_of_threads(const std::filesystem::path& root = "/");

// What parallel work can be given at once.
struct ProcessorBudget {
  int usable = 0;    // logical processors
  double quota = 0;  // processors' worth of time that control groups allow; 0: no limit

  // Threads that get something out of running at once: at least 1. A part of a processor counts as
  // one.
  int affordable_threads() const;
  // Whether so many threads run all the time, none in place of another.
  bool affords(int threads) const;
};

ProcessorBudget processor_budget();

}  // namespace strata
