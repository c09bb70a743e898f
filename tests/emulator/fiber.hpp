// Fiber: a function on a stack of its own, which runs until it suspends itself and goes on when it
// is resumed. Stacks end at a page that faults and are kept for the next fiber: an emulated launch
// needs thousands, and mapping them again would take most of its time.
#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/stack_context.hpp>
#include <cstddef>
#include <functional>

namespace strata::emulator {

class Fiber {
 public:
  // `body` may not throw, and has to be done before the fiber goes.
  explicit Fiber(std::function<void()> body);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs the body until it suspends itself or ends.
  void resume();
  // Called by the body: goes back to where resume() was called.
  void suspend();

 private:
  boost::context::fiber run(boost::context::fiber&& caller);
  void arrive();

  std::function<void()> body_;
  boost::context::stack_context stack_;
  boost::context::fiber here_;
  boost::context::fiber caller_;
  // AddressSanitizer wants to know whose stack the thread is on.
  const void* callers_stack_ = nullptr;
  std::size_t callers_size_ = 0;
  void* own_frames_ = nullptr;
};

}  // namespace strata::emulator
