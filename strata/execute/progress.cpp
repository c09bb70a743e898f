#include "strata/execute/progress.hpp"

#include <thread>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace strata {

namespace {

// Hints to the core that this is a polling loop.
void pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

}  // namespace

Offset ProgressCounter::wait_for(Offset needed, const std::atomic<bool>& failed,
                                 const Polling& polling) {
  const auto over = [&](Offset done) {
    return done >= needed || failed.load(std::memory_order_relaxed);
  };
  Offset done = done_.load(std::memory_order_acquire);
  for (int round = 0; round < polling.pauses + polling.yields; ++round) {
    if (over(done)) return done;
    round < polling.pauses ? pause() : std::this_thread::yield();
    done = done_.load(std::memory_order_acquire);
  }
  while (!over(done)) {
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    const std::uint32_t wake_ups = wake_ups_.load(std::memory_order_acquire);
    done = done_.load(std::memory_order_seq_cst);
    if (done < needed && !failed.load(std::memory_order_seq_cst)) {
      wake_ups_.wait(wake_ups, std::memory_order_relaxed);
      done = done_.load(std::memory_order_acquire);
    }
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }
  return done;
}

void ProgressCounter::wake() {
  wake_ups_.fetch_add(1, std::memory_order_release);
  wake_ups_.notify_all();
}

}  // namespace strata
