// Ctrl-C. SIGINT and SIGTERM end the command with status 5, no partial file and valid JSON of what
// is done.
//
// A thread of its own waits for the signal. Work that polls (`check_interruption`) is ended by an
// exception and cleans up behind itself; work that does not poll, as a generator in the middle of
// its loops, is ended by that thread after a timeout.
#pragma once

#include <functional>

#include "cli/parts/exit_status.hpp"

namespace strata::cli {

// Call before any other thread exists: all of them must inherit the blocked signals.
void watch_for_interruption();

class Interrupted : public Failure {
 public:
  Interrupted();
};

// Whether the signal has come: for work that is to end by itself and return what it has.
bool is_interrupted();
// Throws Interrupted if it has.
void check_interruption();

// Says so on standard error, once for all ranks. Of several ranks nothing is said after SIGTERM:
// with that a launcher ends the others when one has failed, whose message is the error, or when it
// is interrupted itself, which it says.
void say_interrupted();

// What the waiting thread does before it ends the process: save the results so far.
void on_interruption(std::function<void()> save);

// While one exists, the waiting thread leaves the end to check_interruption: for work that leaves
// temporary files behind when it is cut off, and polls often.
class CleanUpFirst {
 public:
  CleanUpFirst();
  ~CleanUpFirst();
  CleanUpFirst(const CleanUpFirst&) = delete;
  CleanUpFirst& operator=(const CleanUpFirst&) = delete;
};

// Either the command or the waiting thread writes the last words. The command calls this before it
// does, and does not come back when the other one was faster.
void claim_the_end();

}  // namespace strata::cli
