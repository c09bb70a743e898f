// The arguments of the kernels of a wavefront sweep, and what the kernels share.
// schedule/worker_sweep.hpp explains the sweep, tile_stream.hpp its matrix.
#pragma once

#include <cstddef>
#include <cstdint>

#include "strata/execute/gpu/tile_record.hpp"
#include "strata/kernels/gpu/packed_sell.hpp"
#include "strata/kernels/gpu/step.hpp"
#include "strata/schedule/window.hpp"

namespace strata::gpu {

// Powers of one sweep; longer ones are split.
inline constexpr int kMaxSweepPower = 8;

// Shared by all blocks; zero before the first launch, and left zero by every launch that ends well.
struct SweepControl {
  // Not zero: a thread has waited longer than the timeout, and all blocks gave up. It stays until
  // the host has seen it: launches that are queued by then cannot rely on the signals and give up,
  // too.
  std::uint32_t stuck;
};

// A value of SweepArguments::stress_seed, for tests: the first tile is not done before a watchdog
// has fired.
inline constexpr std::uint32_t kStall = 0xFFFFFFFF;

template <class T>
struct SweepArguments {
  const std::byte* records = nullptr;
  const RecordPlace* places = nullptr;
  std::int32_t tiles = 0;
  PackedRows rows;
  // How many tiles another worker has signalled to worker r at power k is in one of r's mailboxes,
  // at ((k − 1)·workers + r)·mailboxes + number of the mailbox: every worker polls mailboxes of its
  // own, which no other worker polls and which are written only to signal it.
  std::uint32_t* signals = nullptr;
  int mailboxes = 4;  // of each worker; a multiple of 4
  SweepControl* control = nullptr;
  std::uint64_t timeout_ns = 0;   // the watchdog: how long to wait for a signal before giving up
  std::uint32_t stress_seed = 0;  // for tests: unless zero, delays warps, each seed others

  int power = 1;
  int count = 1;                        // interleaved vectors
  T* vectors[kMaxSweepPower + 1] = {};  // y_0 … y_p
  const T* before = nullptr;            // y_−1, for a basis whose first step here needs it
  T alpha[kMaxSweepPower] = {};         // of y_1 … y_p
  T shift[kMaxSweepPower] = {};
  T beta[kMaxSweepPower] = {};

  // Powers are added up, sum = sum + Σ weights · powers; where the sum starts, with start · y_0 in
  // place of the old one. None: nothing is added up.
  T* sum = nullptr;
  T weight[kMaxSweepPower] = {};
  T start{};
  bool starts = false;

  const T* table = nullptr;     // of the values that codes name
  std::int32_t table_size = 0;  // 0 without codes
};

// By all threads of a block: copies the part of the table that is used most into shared memory.
// They have to synchronise before they read it.
template <class Thread, class T>
STRATA_DEVICE void load_near_table(Thread& thread, const SweepArguments<T>& sweep, T* near_table) {
  const int near = sweep.table_size < kNearTable ? sweep.table_size : kNearTable;
  for (int i = thread.index(); i < near; i += thread.size()) near_table[i] = sweep.table[i];
}
// The bytes of that part, in whole units of 16.
constexpr std::int64_t near_table_bytes(std::int64_t table_size, std::int64_t value_bytes) {
  const std::int64_t near = table_size < kNearTable ? table_size : kNearTable;
  return (near * value_bytes + 15) / 16 * 16;
}

// The step of power k.
template <class T>
STRATA_DEVICE StepArguments<T> step_of(const SweepArguments<T>& sweep, int k) {
  StepArguments<T> step;
  step.x = sweep.vectors[k - 1];
  step.previous = k >= 2 ? sweep.vectors[k - 2] : sweep.before;
  step.out = sweep.vectors[k];
  step.alpha = sweep.alpha[k - 1];
  step.shift = sweep.shift[k - 1];
  step.beta = sweep.beta[k - 1];
  step.count = sweep.count;
  return step;
}

// Adds what steps have written to the sum, if there is one: after every second power both, so that
// the sum is read and written half as often, and after the last. All it needs is among the
// arguments of the kernel: nothing has to be kept for it in registers.
template <class T>
struct AddToSum {
  const SweepArguments<T>& sweep;
  int k;

  STRATA_DEVICE void operator()(const StepArguments<T>& step, std::int64_t i) const {
    if (sweep.sum == nullptr) return;
    const bool both = k % 2 == 0;
    if (!both && k < sweep.power) return;
    T total =
        sweep.starts && k <= 2 ? multiply_add(sweep.start, sweep.vectors[0][i], T{}) : sweep.sum[i];
    if (both) total = multiply_add(sweep.weight[k - 2], step.x[i], total);
    sweep.sum[i] = multiply_add(sweep.weight[k - 1], step.out[i], total);
  }
};

// How many tiles the block works on: block, block + blocks, …
template <class Thread, class Arguments>
STRATA_DEVICE int tiles_of(Thread& thread, const Arguments& sweep) {
  const int tiles = sweep.tiles - thread.block();
  return tiles > 0 ? (tiles - 1) / thread.blocks() + 1 : 0;
}
template <class Thread, class T>
STRATA_DEVICE RecordPlace place_of(Thread& thread, const SweepArguments<T>& sweep, int i) {
  return sweep.places[thread.block() + static_cast<std::int64_t>(i) * thread.blocks()];
}

// The signals of power k for the reader, by mailbox.
template <class Thread, class T>
STRATA_DEVICE std::uint32_t* signals_for(Thread& thread, const SweepArguments<T>& sweep, int k,
                                         int reader) {
  return sweep.signals +
         (static_cast<std::int64_t>(k - 1) * thread.blocks() + reader) * sweep.mailboxes;
}

// By all lanes of a warp that has passed a fence after the tile was done: signals its readers that
// this worker has done so many tiles at power k.
template <class Thread, class T>
STRATA_DEVICE void signal_readers(Thread& thread, const SweepArguments<T>& sweep,
                                  const TileRecord& tile, int k, int done) {
  std::uint32_t* signals = signals_for(thread, sweep, k, 0);
  for (int r = thread.lane(); r < tile.readers; r += Thread::warp_size) {
    thread.store_flag(signals + tile.reader_list()[r], static_cast<std::uint32_t>(done));
  }
}

// Delays some warps at some tiles for some microseconds. Arguments: SweepArguments or others that
// have its control and stress_seed.
template <class Thread, class Arguments>
STRATA_DEVICE void stress(Thread& thread, const Arguments& sweep, int i, int k) {
  if (sweep.stress_seed == 0) return;
  if (sweep.stress_seed == kStall) {
    const bool first = thread.block() == 0 && i == 0 && k == 1;
    while (first && thread.load_flag(&sweep.control->stuck) == 0) thread.nap(1000);
    return;
  }
  const auto place =
      static_cast<std::uint32_t>(((thread.block() * 64 + thread.warp()) * 16 + k) * 4096 + i);
  std::uint32_t mixed = (place ^ sweep.stress_seed) * 0x9E3779B1U;
  mixed = (mixed ^ mixed >> 15) * 0x85EBCA77U;
  if (mixed % 8 == 0) thread.nap(mixed >> 3 & 8191);
}

// How often a waiting thread polls before it reads the clock.
inline constexpr int kPollsPerClockRead = 1024;

// How long a thread has waited for one thing. A device that other processes use as well, or a
// debugger, may stop a kernel for any time: so many nanoseconds between two readings of the clock
// at most are counted as waiting.
inline constexpr std::uint64_t kLongestGap = 50'000'000;
struct Waiting {
  std::uint64_t last_poll = 0;  // of the clock, in nanoseconds; 0: none yet
  std::uint64_t waited = 0;     // nanoseconds
  bool given_up = false;
};

// The same after another reading of the clock. Gives up because another thread has, or after the
// timeout.
template <class Thread>
STRATA_DEVICE_RARE Waiting wait_longer(Thread& thread, SweepControl* control, Waiting waiting,
                                       std::uint64_t timeout_ns) {
  const std::uint64_t now = thread.nanoseconds();
  const std::uint64_t gap = waiting.last_poll == 0 ? 0 : now - waiting.last_poll;
  waiting.waited += gap < kLongestGap ? gap : kLongestGap;
  waiting.last_poll = now;
  waiting.given_up = thread.load_flag(&control->stuck) != 0;
  if (!waiting.given_up && waiting.waited >= timeout_ns) {
    thread.store_flag(&control->stuck, 1);
    waiting.given_up = true;
  }
  return waiting;
}

// The end of every block: all its signals have arrived, for it has waited for each of them, unless
// a watchdog fired. It leaves its mailboxes as the next launch expects them.
template <class Thread, class T>
STRATA_DEVICE void clear_signals(Thread& thread, const SweepArguments<T>& sweep) {
  thread.sync_block();
  for (int k = 1; k < sweep.power; ++k) {
    std::uint32_t* signals = signals_for(thread, sweep, k, thread.block());
    for (int box = thread.index(); box < sweep.mailboxes; box += thread.size()) {
      thread.store_flag(signals + box, 0);
    }
  }
}

}  // namespace strata::gpu
