// ProgressCounter: how far a thread has come, for others to wait for.
//
// A thread that waits polls for a while, because the counter mostly advances within microseconds;
// then it yields its processor to others, because the thread that it waits for may be among them;
// then it sleeps. Publishing costs no system call while no thread sleeps.
#pragma once

#include <atomic>
#include <cstdint>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"

namespace strata {

// How long a thread polls before it sleeps.
struct Polling {
  int pauses = 300;  // of the processor, which stays with the thread
  int yields = 20;   // of the processor to other threads

  // Where every thread has a processor to itself: up to a millisecond. One that sleeps takes longer
  // to wake up than most waits last, and keeps others waiting meanwhile, who then sleep too. On 16
  // virtual processors six powers of a 27-point stencil took 23 to 30 ms with the short polling, of
  // which threads waited for 4 to 15, and 19 to 21 ms with this one, of which they waited for 3.
  static constexpr Polling patient() { return {.pauses = 20000}; }
};

// One per cache line, so that waiting for one thread does not slow down another.
class alignas(kCacheLine) ProgressCounter {
 public:
  // Before the threads start: so many tasks were done by others.
  void reset(Offset done = 0) { done_.store(done, std::memory_order_relaxed); }

  // So many tasks are done. What was written before is visible to those that waited for it.
  void publish(Offset done) {
    done_.store(done, std::memory_order_seq_cst);
    wake_sleepers();
  }

  // Returns how many tasks are done: `needed` at least, or fewer if `failed` is set.
  Offset wait_for(Offset needed, const std::atomic<bool>& failed, const Polling& polling = {});

  // After `failed` has been set, with sequential consistency, so that no thread sleeps on.
  void wake_sleepers() {
    if (sleepers_.load(std::memory_order_seq_cst) != 0) wake();
  }

 private:
  void wake();

  std::atomic<Offset> done_{0};
  // Why no thread sleeps for ever. A sleeper counts itself (1), reads the number of wake-ups (2)
  // and reads the progress (3) before it sleeps until the number of wake-ups is another than at
  // (2). A publisher stores the progress (a), reads the number of sleepers (b) and, if there are
  // any, raises the number of wake-ups (c) and wakes all that sleep on it. (1), (3), (a) and (b)
  // are sequentially consistent: if (b) does not see (1), it comes before it, so that (3) comes
  // after (a) and sees the progress. If (b) does see it, (c) follows: either (2) reads the number
  // before (c), and the sleeper does not fall asleep or is woken; or (2) reads what (c) released,
  // and then (3) sees the progress. The same holds with `failed` in place of the progress.
  std::atomic<std::uint32_t> sleepers_{0};
  std::atomic<std::uint32_t> wake_ups_{0};  // of 32 bits, on which a system can wait
};

}  // namespace strata
