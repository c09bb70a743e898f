// PinnedTeam: while one exists, each thread of a team that fills the machine stays on a processor
// of its own. On a busy machine a scheduler may otherwise put several on one processor for seconds,
// and what is measured is the scheduler.
#pragma once

#include <sched.h>

#include "strata/base/parallel.hpp"

namespace strata::detail {

class PinnedTeam {
 public:
  // Does nothing unless there is exactly one thread per processor that this process may run on:
  // which processors share a core is the system's business.
  explicit PinnedTeam(int threads) : threads_(threads) {
    CPU_ZERO(&allowed_);
    pinned_ =
        sched_getaffinity(0, sizeof(allowed_), &allowed_) == 0 && CPU_COUNT(&allowed_) == threads;
    if (pinned_) run_on_threads(threads_, [&](int thread, int) { stay_on(nth_allowed(thread)); });
  }
  ~PinnedTeam() {
    if (pinned_) run_on_threads(threads_, [&](int, int) { stay_on(allowed_); });
  }
  PinnedTeam(const PinnedTeam&) = delete;
  PinnedTeam& operator=(const PinnedTeam&) = delete;

 private:
  // Of the calling thread. Where the system forbids it, the measurement goes on without.
  static void stay_on(const cpu_set_t& processors) {
    sched_setaffinity(0, sizeof(processors), &processors);
  }
  cpu_set_t nth_allowed(int n) const {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
      if (CPU_ISSET(processor, &allowed_) && n-- == 0) CPU_SET(processor, &one);
    }
    return one;
  }

  int threads_;
  bool pinned_ = false;
  cpu_set_t allowed_;
};

}  // namespace strata::detail
