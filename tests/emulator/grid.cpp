#include "tests/emulator/grid.hpp"

#include <fmt/format.h>

namespace strata::emulator {

namespace {

// Unwinds the threads of a launch that has failed.
struct Cancelled {};

// Shared memory holds anything before it is written.
constexpr std::byte kGarbage{0xcd};
constexpr int kMaxSlowness = 6;
// Where all are slow, one has to go on.
constexpr int kDraws = 16;

std::string_view name_of(Exchange kind) {
  switch (kind) {
    case Exchange::sync_warp: return "is at sync_warp";
    case Exchange::shuffle: return "shuffles";
    case Exchange::vote: break;
  }
  return "votes";
}

}  // namespace

Grid::Grid(int warp_size, int blocks, int block_size, std::size_t shared_bytes,
           const LaunchOptions& options)
    : warp_size_(warp_size), block_size_(block_size), options_(options), random_(options.seed) {
  if (blocks < 1 || block_size < 1 || block_size % warp_size != 0) {
    throw InvalidArgument(fmt::format("{} blocks of {} threads are no grid for warps of {}", blocks,
                                      block_size, warp_size));
  }
  blocks_.assign(blocks, {{block_size}, Array<std::byte>(shared_bytes, kGarbage)});
  warps_.assign(static_cast<std::size_t>(blocks) * block_size / warp_size, {{warp_size}});
  if (options.order == Order::uneven) {
    for (Warp& warp : warps_) {
      warp.slowness = static_cast<int>(random_.below(drawn_++, kMaxSlowness + 1));
    }
  }
}

void Grid::run(FunctionRef<void(int)> body) {
  live_ = blocks() * block_size_;
  for (int thread = 0; thread < live_; ++thread) {
    threads_.emplace_back([this, thread, &body] { run_thread(thread, body); });
    ready_.push_back(thread);
  }
  while (live_ > 0 && !failure_) resume(take_next());
  cancelled_ = true;
  for (int thread = 0; thread < static_cast<int>(threads_.size()); ++thread) {
    if (threads_[thread].state != State::exited) resume(thread);
  }
  if (failure_) std::rethrow_exception(failure_);
}

void Grid::resume(int thread) {
  running_ = thread;
  threads_[thread].fiber.resume();
}

void Grid::run_thread(int thread, FunctionRef<void(int)> body) {
  try {
    if (!cancelled_) {
      body(thread);
      leave(thread);
    }
  } catch (const Cancelled&) {
  } catch (...) {
    failure_ = std::current_exception();
  }
  set_state(thread, State::exited);
  --live_;
}

int Grid::take_next() {
  std::swap(ready_[pick()], ready_.front());
  const int next = ready_.front();
  ready_.pop_front();
  return next;
}

std::size_t Grid::pick() {
  if (options_.order == Order::round_robin) return 0;
  std::size_t place = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    place = random_.below(drawn_++, ready_.size());
    const int slowness = warp_of(ready_[place]).slowness;
    if (slowness == 0 || random_.below(drawn_++, std::uint64_t{1} << slowness) == 0) break;
  }
  return place;
}

void Grid::yield(int thread) {
  ready_.push_back(thread);
  suspend(thread);
}

void Grid::perhaps_yield(int thread) {
  if (options_.order != Order::round_robin && random_.below(drawn_++, 2) == 0) yield(thread);
}

void Grid::suspend(int thread) {
  threads_[thread].fiber.suspend();
  if (cancelled_) throw Cancelled();
}

void Grid::set_state(int thread, State state) {
  for (Census* census : {&warp_of(thread).census, &blocks_[block_of(thread)].census}) {
    --(*census)[static_cast<std::size_t>(threads_[thread].state)];
    ++(*census)[static_cast<std::size_t>(state)];
  }
  threads_[thread].state = state;
}

void Grid::release(int first, int count) {
  for (int thread = first; thread < first + count; ++thread) {
    set_state(thread, State::ready);
    ready_.push_back(thread);
  }
}

void Grid::sync_block(int thread) {
  const int first = block_of(thread) * block_size_;
  const int first_of_warp = thread / warp_size_ * warp_size_;
  require_none(State::exited, first, block_size_, thread, "waits for its block");
  require_none(State::exchanging, first_of_warp, warp_size_, thread, "waits for its block");
  set_state(thread, State::at_block_barrier);
  const Census& census = blocks_[block_of(thread)].census;
  if (census[static_cast<std::size_t>(State::at_block_barrier)] == block_size_) {
    release(first, block_size_);
  }
  suspend(thread);
}

const Grid::Words& Grid::exchange(int thread, Exchange kind, std::uint64_t word) {
  Warp& warp = warp_of(thread);
  const int first = thread / warp_size_ * warp_size_;
  require_none(State::exited, first, warp_size_, thread, emulator::name_of(kind));
  require_none(State::at_block_barrier, first, warp_size_, thread, emulator::name_of(kind));
  if (warp.kind != kind) {
    require_none(State::exchanging, first, warp_size_, thread, emulator::name_of(kind));
  }
  warp.kind = kind;
  Words& words = warp.words[warp.current];
  words[thread - first] = word;
  set_state(thread, State::exchanging);
  if (warp.census[static_cast<std::size_t>(State::exchanging)] == warp_size_) {
    warp.current = 1 - warp.current;
    release(first, warp_size_);
  }
  suspend(thread);
  return words;
}

void Grid::leave(int thread) {
  const int first = block_of(thread) * block_size_;
  const int first_of_warp = thread / warp_size_ * warp_size_;
  require_none(State::exchanging, first_of_warp, warp_size_, thread, "exits");
  require_none(State::at_block_barrier, first, block_size_, thread, "exits");
  note_event();
}

std::uint32_t Grid::load_flag(int thread, const std::uint32_t* flag) {
  poll(thread);
  const std::uint32_t value = *flag;
  perhaps_yield(thread);
  return value;
}

void Grid::store_flag(int thread, std::uint32_t* flag, std::uint32_t value) {
  perhaps_yield(thread);
  if (*flag != value) note_event();
  *flag = value;
  perhaps_yield(thread);
}

std::uint32_t Grid::add_flag(int thread, std::uint32_t* flag, std::uint32_t value) {
  perhaps_yield(thread);
  if (value != 0) note_event();
  const std::uint32_t old = *flag;
  *flag += value;
  perhaps_yield(thread);
  return old;
}

void Grid::note_event() {
  ++events_;
  polls_ = 0;
  pollers_ = 0;
}

void Grid::poll(int thread) {
  if (std::exchange(threads_[thread].polled_after, events_) != events_) ++pollers_;
  if (++polls_ > options_.timeout * pollers_) {
    throw EmulationError(
        fmt::format("{} polls a flag that no thread changes any more; {} threads are left",
                    name_of(thread), live_));
  }
  yield(thread);
}

void Grid::require_none(State state, int first, int count, int thread,
                        std::string_view what) const {
  const Census& census = count == block_size_ ? blocks_[first / block_size_].census
                                              : warps_[first / warp_size_].census;
  if (census[static_cast<std::size_t>(state)] == 0) return;
  int other = first;
  while (threads_[other].state != state) ++other;
  std::string_view others = "has exited";
  if (state == State::at_block_barrier) others = "waits for its block";
  if (state == State::exchanging) others = emulator::name_of(warps_[other / warp_size_].kind);
  throw EmulationError(
      fmt::format("{} {}, but {} {}", name_of(thread), what, name_of(other), others));
}

std::string Grid::name_of(int thread) const {
  const int index = thread % block_size_;
  return fmt::format("block {}, warp {}, thread {}", block_of(thread), index / warp_size_, index);
}

}  // namespace strata::emulator
