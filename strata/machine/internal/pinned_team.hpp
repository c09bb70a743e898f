// PinnedTeam: while one exists, each thread of a team that fills the machine stays on a processor
// of its own. On a busy machine a scheduler may otherwise put several on one processor for seconds,
// and what is measured is the scheduler.
#pragma once

#include <sched.h>

#include <cstddef>
#include <vector>

#include "strata/base/parallel.hpp"
#include "strata/base/processors.hpp"

namespace strata::detail {

// The processors that each thread of a team may run on. What the system does not report is empty.
inline std::vector<cpu_set_t> masks_of_team(int threads) {
  cpu_set_t none;
  CPU_ZERO(&none);
  std::vector<cpu_set_t> masks(static_cast<std::size_t>(threads), none);
  run_on_threads(threads, [&](int thread, int) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof(mask), &mask) == 0) masks[thread] = mask;
  });
  return masks;
}

// Whether threads of the team are bound to some of the processors that the process has.
inline bool is_bound(const std::vector<cpu_set_t>& masks, int processors) {
  for (const cpu_set_t& mask : masks) {
    const int own = CPU_COUNT(&mask);
    if (own > 0 && own < processors) return true;
  }
  return false;
}

class PinnedTeam {
 public:
  // Does nothing unless there is exactly one thread per processor that this process may run on:
  // the system decides which processors share a core. Threads that are bound already stay where
  // they are.
  explicit PinnedTeam(int threads) : threads_(threads), masks_(masks_of_team(threads)) {
    pinned_ = CPU_COUNT(&masks_.front()) == threads && usable_processors() == threads &&
              !is_bound(masks_, threads);
    if (pinned_) run_on_threads(threads_, [&](int thread, int) { stay_on(nth_allowed(thread)); });
  }
  // Every thread may again run where it could before.
  ~PinnedTeam() {
    if (pinned_) run_on_threads(threads_, [&](int thread, int) { stay_on(masks_[thread]); });
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
      if (CPU_ISSET(processor, &masks_.front()) && n-- == 0) CPU_SET(processor, &one);
    }
    return one;
  }

  int threads_;
  std::vector<cpu_set_t> masks_;  // of each thread
  bool pinned_ = false;
};

}  // namespace strata::detail
