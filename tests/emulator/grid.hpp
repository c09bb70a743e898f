// Grid: the blocks, warps and threads of one emulated launch, and which of them runs next. Threads
// are fibers on the calling thread, all of them resident at once, so that a launch is repeatable
// and blocks may wait for each other.
//
// A thread yields at every barrier, exchange with its warp, poll of a flag and pause. Memory is
// sequentially consistent: a missing fence goes unnoticed. What cannot end well on a GPU is an
// EmulationError that names the threads:
//
// - A warp exchanges values, but one of its threads has exited, waits for its block, or exchanges
//   something else.
// - A block waits, but one of its threads has exited.
// - Threads poll flags again and again, and none changes one.
//
// The first two are found as soon as they happen, so that threads which only wait for each other
// always include one that can go on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "strata/base/array.hpp"
#include "strata/base/error.hpp"
#include "strata/base/function_ref.hpp"
#include "strata/base/random.hpp"
#include "tests/emulator/fiber.hpp"

namespace strata::emulator {

class EmulationError : public Error {
 public:
  using Error::Error;
};

// Which thread runs next when several can.
enum class Order {
  round_robin,
  random,  // also yields at half of the writes to flags and of the fences
  uneven,  // the same, with warps of which some are up to 64 times slower than others
};

struct LaunchOptions {
  Order order = Order::round_robin;
  std::uint64_t seed = 0;        // of the random orders
  std::int64_t timeout = 10000;  // polls of flags that do not change, per thread that polls
};

// What the threads of a warp do together.
enum class Exchange : std::uint8_t { sync_warp, shuffle, vote };

class Grid {
 public:
  static constexpr int kMaxWarp = 64;
  using Words = std::array<std::uint64_t, kMaxWarp>;

  Grid(int warp_size, int blocks, int block_size, std::size_t shared_bytes,
       const LaunchOptions& options);

  // Runs body(thread) for every thread, numbered through all blocks. Throws what the first of them
  // throws.
  void run(FunctionRef<void(int thread)> body);

  int blocks() const { return static_cast<int>(blocks_.size()); }
  int block_size() const { return block_size_; }
  int block_of(int thread) const { return thread / block_size_; }
  // The thread that runs now.
  int running() const { return running_; }

  // What threads call.
  void sync_block(int thread);
  // The words of all lanes of the warp, valid until the thread's next exchange.
  const Words& exchange(int thread, Exchange kind, std::uint64_t word);
  std::byte* shared(int block) { return blocks_[block].shared.data(); }
  std::uint32_t load_flag(int thread, const std::uint32_t* flag);
  void store_flag(int thread, std::uint32_t* flag, std::uint32_t value);
  // Returns the old value.
  std::uint32_t add_flag(int thread, std::uint32_t* flag, std::uint32_t value);
  void fence(int thread) { perhaps_yield(thread); }
  void pause(int thread) { poll(thread); }
  // A clock that advances whenever a thread reads it.
  std::uint64_t nanoseconds() { return clock_ += 1000; }

 private:
  enum class State : std::uint8_t { ready, exchanging, at_block_barrier, exited };
  using Census = std::array<int, 4>;  // how many threads are in each state

  struct Thread {
    explicit Thread(std::function<void()> body) : fiber(std::move(body)) {}

    State state = State::ready;
    std::int64_t polled_after = -1;  // how many events
    Fiber fiber;
  };

  struct Warp {
    Census census{};
    int slowness = 0;  // it runs at one of 2^slowness opportunities
    Exchange kind{};
    // A thread that has not yet read what was exchanged last keeps the others from the exchange
    // after the next.
    std::array<Words, 2> words{};
    int current = 0;
  };

  struct Block {
    Census census{};
    Array<std::byte> shared;
  };

  Warp& warp_of(int thread) { return warps_[thread / warp_size_]; }
  void resume(int thread);
  void run_thread(int thread, FunctionRef<void(int thread)> body);
  int take_next();
  std::size_t pick();
  void yield(int thread);
  void perhaps_yield(int thread);
  void suspend(int thread);
  void set_state(int thread, State state);
  void release(int first, int count);
  void poll(int thread);
  void note_event();
  void leave(int thread);
  // Throws that `thread`, which does `what`, will never be joined by one of `count` threads from
  // `first` on that is in the state.
  void require_none(State state, int first, int count, int thread, std::string_view what) const;
  std::string name_of(int thread) const;

  int warp_size_;
  int block_size_;
  LaunchOptions options_;
  Random random_;
  std::uint64_t drawn_ = 0;
  std::vector<Block> blocks_;
  std::vector<Warp> warps_;
  std::deque<Thread> threads_;
  std::deque<int> ready_;
  int live_ = 0;
  int running_ = 0;
  // Polls of flags since the last event: a flag that changed, or a thread that exited.
  std::int64_t events_ = 0;
  std::int64_t polls_ = 0;
  std::int64_t pollers_ = 0;
  std::uint64_t clock_ = 0;
  bool cancelled_ = false;
  std::exception_ptr failure_;
};

}  // namespace strata::emulator
