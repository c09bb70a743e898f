#include "tests/emulator/fiber.hpp"

#include <boost/context/preallocated.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "strata/base/internal/sanitizers.hpp"

#ifdef STRATA_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace strata::emulator {

namespace {

using Stack = boost::context::stack_context;

// Of address space; a kernel touches two or three pages of it.
#ifdef STRATA_ADDRESS_SANITIZER
constexpr std::size_t kStackBytes = std::size_t{256} << 10;
#else
constexpr std::size_t kStackBytes = std::size_t{64} << 10;
#endif

const void* bottom_of(const Stack& stack) {
  return static_cast<const std::byte*>(stack.sp) - stack.size;
}

// A fiber's last frames never return, so that what they poisoned stays so for the next one.
void forget_frames([[maybe_unused]] const Stack& stack) {
#ifdef STRATA_ADDRESS_SANITIZER
  ASAN_UNPOISON_MEMORY_REGION(bottom_of(stack), stack.size);
#endif
}

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

class StackPool {
 public:
  StackPool() = default;
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  ~StackPool() {
    for (Stack& stack : unused_) source_.deallocate(stack);
  }

  Stack take() {
    if (unused_.empty()) return source_.allocate();
    const Stack stack = unused_.back();
    unused_.pop_back();
    return stack;
  }
  void give_back(const Stack& stack) {
    forget_frames(stack);
    unused_.push_back(stack);
  }

 private:
  boost::context::protected_fixedsize_stack source_{kStackBytes};
  std::vector<Stack> unused_;
};

thread_local StackPool stack_pool;

// How Boost gives a stack back when its fiber has ended.
struct PooledStack {
  void deallocate(Stack& stack) { stack_pool.give_back(stack); }
};

}  // namespace

Fiber::Fiber(std::function<void()> body)
    : body_(std::move(body)),
      stack_(stack_pool.take()),
      here_(std::allocator_arg, boost::context::preallocated(stack_.sp, stack_.size, stack_),
            PooledStack(),
            [this](boost::context::fiber&& caller) { return run(std::move(caller)); }) {}

void Fiber::resume() {
  void* callers_frames = nullptr;
  leave_for(bottom_of(stack_), stack_.size, &callers_frames);
  here_ = std::move(here_).resume();
  arrive_from(callers_frames, nullptr, nullptr);
}

void Fiber::suspend() {
  leave_for(callers_stack_, callers_size_, &own_frames_);
  caller_ = std::move(caller_).resume();
  arrive();
}

void Fiber::arrive() {
  arrive_from(own_frames_, &callers_stack_, &callers_size_);
}

boost::context::fiber Fiber::run(boost::context::fiber&& caller) {
  caller_ = std::move(caller);
  arrive();
  body_();
  leave_for(callers_stack_, callers_size_, nullptr);
  return std::move(caller_);
}

}  // namespace strata::emulator
