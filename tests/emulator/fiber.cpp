#include "tests/emulator/fiber.hpp"

#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "strata/base/internal/sanitizers.hpp"

#ifdef STRATA_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

namespace strata::emulator {

namespace {

using Stack = boost::context::stack_context;
using StackSource = boost::context::protected_fixedsize_stack;

// Of address space; a kernel touches two or three pages of it.
#ifdef STRATA_ADDRESS_SANITIZER
constexpr std::size_t kStackBytes = std::size_t{256} << 10;
#else
constexpr std::size_t kStackBytes = std::size_t{64} << 10;
#endif

const void* bottom_of(const Stack& stack) {
  return static_cast<const std::byte*>(stack.sp) - stack.size;
}

// AddressSanitizer wants to know whose stack the thread is on. Who leaves for good has no `frames`
// to come back to.
void leave_for([[maybe_unused]] const void* bottom, [[maybe_unused]] std::size_t size,
               [[maybe_unused]] void** frames) {
#ifdef STRATA_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(frames, bottom, size);
#endif
}

void arrive_from([[maybe_unused]] void* frames, [[maybe_unused]] const void** bottom,
                 [[maybe_unused]] std::size_t* size) {
#ifdef STRATA_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(frames, bottom, size);
#endif
}

}  // namespace

// Runs one body after another.
class Fiber::Worker {
 public:
  Worker()
      : stack_(StackSource(kStackBytes).allocate()),
        here_(std::allocator_arg, boost::context::preallocated(stack_.sp, stack_.size, stack_),
              StackSource(kStackBytes),
              [this](boost::context::fiber&& caller) { return run(std::move(caller)); }) {}
  // Between two bodies: with none to run, it ends.
  ~Worker() { resume(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void set_body(std::function<void()> body) { body_ = std::move(body); }

  void resume() {
    void* callers_frames = nullptr;
    leave_for(bottom_of(stack_), stack_.size, &callers_frames);
    here_ = std::move(here_).resume();
    arrive_from(callers_frames, nullptr, nullptr);
  }

  void suspend() {
    leave_for(callers_stack_, callers_size_, &own_frames_);
    caller_ = std::move(caller_).resume();
    arrive();
  }

 private:
  boost::context::fiber run(boost::context::fiber&& caller) {
    caller_ = std::move(caller);
    arrive();
    while (body_) {
      std::exchange(body_, nullptr)();
      suspend();
    }
    leave_for(callers_stack_, callers_size_, nullptr);
    return std::move(caller_);
  }

  void arrive() { arrive_from(own_frames_, &callers_stack_, &callers_size_); }

  std::function<void()> body_;
  Stack stack_;
  boost::context::fiber here_;
  boost::context::fiber caller_;
  const void* callers_stack_ = nullptr;
  std::size_t callers_size_ = 0;
  void* own_frames_ = nullptr;
};

class Fiber::Pool {
 public:
  std::unique_ptr<Worker> take() {
    if (idle_.empty()) return std::make_unique<Worker>();
    std::unique_ptr<Worker> worker = std::move(idle_.back());
    idle_.pop_back();
    return worker;
  }
  void give_back(std::unique_ptr<Worker> worker) { idle_.push_back(std::move(worker)); }

 private:
  std::vector<std::unique_ptr<Worker>> idle_;
};

Fiber::Pool& Fiber::pool() {
  static thread_local Pool pool;
  return pool;
}

Fiber::Fiber(std::function<void()> body) : worker_(pool().take()) {
  worker_->set_body(std::move(body));
}

Fiber::~Fiber() {
  pool().give_back(std::move(worker_));
}

void Fiber::resume() {
  worker_->resume();
}

void Fiber::suspend() {
  worker_->suspend();
}

}  // namespace strata::emulator
