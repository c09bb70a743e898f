// Fiber: a function on a stack of its own, which runs until it suspends itself and goes on when it
// is resumed. Stacks end at a page that faults, and with what runs on them they are kept for the
// next fiber: an emulated launch needs thousands, and mapping them again, and what AddressSanitizer
// keeps of each, would take most of its time.
#pragma once

#include <functional>
#include <memory>

namespace strata::emulator {

class Fiber {
 public:
  // `body` may not throw, and has to be done before the fiber goes.
  explicit Fiber(std::function<void()> body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs the body until it suspends itself or ends.
  void resume();
  // Called by the body: goes back to where resume() was called.
  void suspend();

 private:
  class Worker;
  class Pool;
  static Pool& pool();

  std::unique_ptr<Worker> worker_;
};

}  // namespace strata::emulator
