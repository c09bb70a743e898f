// The wavefront sweep on any GPU, its window in the L2 cache. One persistent kernel whose blocks
// are all resident; a block is a worker (schedule/worker_sweep.hpp). It goes through its tiles in
// steps: step n does power 1 of its tile n, power 2 of tile n − lag, power 3 of tile n − 2·lag, …
//
// The lag is so long that a step needs only what other blocks do in earlier steps. So the block
// that is furthest behind can always go on, and none waits forever as long as all blocks are
// resident.
//
// Memory order, from the thread that writes an element of y_{k−1} to the one that reads it:
//   store of the element; sync_block
//   threads of the block's first warp: fence; relaxed store of the signal
//   threads of the reader's first warp: relaxed load of the signal; fence
//   sync_block; plain load
#pragma once

#include <cstdint>

#include "strata/execute/gpu/sweep_arguments.hpp"
#include "strata/execute/gpu/tile_slice.hpp"

namespace strata::gpu {

// One thread waits until a worker has done so many tiles at power k. False after a watchdog
// timeout: then it need not wait for anything any more.
template <class Thread, class T>
STRATA_DEVICE bool wait_for(Thread& thread, const SweepArguments<T>& sweep, int k,
                            const RecordNeed& need) {
  const std::uint32_t* signals = signals_for(thread, sweep, k, thread.block()) + need.mailbox;
  Waiting waiting;
  for (int poll = 1; static_cast<std::int32_t>(thread.load_flag(signals)) < need.tiles; ++poll) {
    thread.pause();
    if (poll % kPollsPerClockRead != 0) continue;
    waiting = wait_longer(thread, sweep.control, waiting, sweep.timeout_ns);
    if (waiting.given_up) return false;
  }
  return true;
}

template <class Thread, class T>
STRATA_DEVICE void wait_for_inputs(Thread& thread, const SweepArguments<T>& sweep,
                                   const TileRecord& tile, int k, bool& in_time) {
  if (thread.warp() == 0) {
    for (int n = thread.lane(); in_time && n < tile.needs; n += Thread::warp_size) {
      in_time = wait_for(thread, sweep, k - 1, tile.need_list()[n]);
    }
    thread.fence();
  }
  thread.sync_block();
}

// For encoded values, shared memory has room for the near table.
template <bool encoded, int height, int vectors, int ahead, class Thread, class T>
STRATA_DEVICE void sweep(Thread& thread, const SweepArguments<T>& sweep, int lag) {
  T* near_table = nullptr;
  if constexpr (encoded) {
    near_table = thread.template shared<T>();
    load_near_table(thread, sweep, near_table);
    thread.sync_block();
  }
  const int tiles = tiles_of(thread, sweep);
  bool in_time = true;
  for (int n = 0; n < tiles + (sweep.power - 1) * lag; ++n) {
    for (int k = 1; k <= sweep.power; ++k) {
      const int i = n - (k - 1) * lag;
      if (i < 0) break;
      if (i >= tiles) continue;
      const std::byte* record = sweep.records + place_of(thread, sweep, i).begin * kRecordUnit;
      const auto& tile = *reinterpret_cast<const TileRecord*>(record);
      if (k > 1) wait_for_inputs(thread, sweep, tile, k, in_time);
      stress(thread, sweep, i, k);
      const StepArguments<T> step = step_of(sweep, k);
      for (int s = thread.warp(); s < tile.slices; s += thread.warps()) {
        tile_slice<encoded, FromCache, height, vectors, ahead>(thread, sweep, tile, s, record,
                                                               near_table, step, k);
      }
      thread.sync_block();
      if (k < sweep.power && thread.warp() == 0) {
        thread.fence();
        signal_readers(thread, sweep, tile, k, i + 1);
      }
    }
  }
  clear_signals(thread, sweep);
}

}  // namespace strata::gpu
