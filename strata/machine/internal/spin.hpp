// Threads that wait for each other without sleeping, because waking up costs more than what is
// being timed. Waiting threads let others run now and then: there may be more threads than cores.
#pragma once

#include <atomic>
#include <thread>

#include "strata/base/array.hpp"

namespace strata::detail {

template <class Done>
void spin_until(Done&& done) {
  constexpr int kSpins = 1000;
  for (int spins = 0; !done(); ++spins) {
    if (spins == kSpins) {
      std::this_thread::yield();
      spins = 0;
    }
  }
}

// What the threads wrote before wait() is visible to all of them after it.
class SpinBarrier {
 public:
  // Until the whole team, of as many threads as there really are, waits here.
  void wait(int team) {
    const int round = round_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == team) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
    } else {
      spin_until([&] { return round_.load(std::memory_order_acquire) != round; });
    }
  }

 private:
  alignas(kCacheLine) std::atomic<int> arrived_{0};
  alignas(kCacheLine) std::atomic<int> round_{0};
};

}  // namespace strata::detail
