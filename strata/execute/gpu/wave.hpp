// The wave on any GPU, its window in the L2 cache. One persistent kernel whose blocks are all
// resident; a block is a worker (schedule/wave.hpp). It goes through its tiles in steps, doing in
// step n power 1 of its tile n, power 2 of tile n − lag, power 3 of tile n − 2·lag, …
//
// The lag is so long that a step needs only what other blocks do in earlier steps. So whoever is
// furthest behind can always go on, and none waits forever as long as all blocks are resident.
//
// Memory order, from the thread that writes an element of y_{k−1} to the one that reads it:
//   store of the element; sync_block
//   threads of the block's first warp: fence; relaxed store of the news
//   threads of the reader's first warp: relaxed load of the news; fence
//   sync_block; plain load
#pragma once

#include <cstdint>

#include "strata/execute/gpu/wave_arguments.hpp"
#include "strata/kernels/gpu/packed_sell.hpp"

namespace strata::gpu {

template <class Thread, class T>
STRATA_DEVICE void wait_for_inputs(Thread& thread, const WaveArguments<T>& wave,
                                   const WaveTile& tile, int k) {
  if (thread.warp() == 0) {
    for (int n = thread.lane(); n < tile.needs; n += Thread::warp_size) {
      wait_for(thread, wave, k - 1, needs_in(wave.notices + tile.first_notice)[n]);
    }
    thread.fence();
  }
  thread.sync_block();
}

template <int height, int vectors, int ahead, class Thread, class T>
STRATA_DEVICE void multiply_tile(Thread& thread, const WaveArguments<T>& wave, const WaveTile& tile,
                                 int k) {
  const StepArguments<T> step = step_of(wave, k);
  for (int s = thread.warp(); s < tile.slices; s += thread.warps()) {
    const std::int32_t number = tile.first_slice + s;
    const SliceHeader header = wave.matrix.slices[number];
    packed_sell_slice<FromCache, height, vectors, ahead>(
        thread, wave.matrix, step, number,
        PackedSlice<T>{wave.matrix.values + header.values,
                       wave.matrix.codes + header.codes * kCodeUnit, header.width(),
                       header.encoding(), number * height});
  }
}

// After all threads of the block have done their part.
template <class Thread, class T>
STRATA_DEVICE void tell_readers(Thread& thread, const WaveArguments<T>& wave, const WaveTile& tile,
                                int k, int done) {
  if (thread.warp() != 0) return;
  const std::int32_t* readers = readers_in(wave.notices + tile.first_notice, tile.needs);
  thread.fence();
  for (int r = thread.lane(); r < tile.readers; r += Thread::warp_size) {
    thread.store_flag(news_for(thread, wave, k, readers[r]) + thread.block(),
                      static_cast<std::uint32_t>(done));
  }
}

template <int height, int vectors, int ahead, class Thread, class T>
STRATA_DEVICE void wave(Thread& thread, const WaveArguments<T>& wave, int lag) {
  const int tiles = tiles_of(thread, wave);
  for (int step = 0; step < tiles + (wave.power - 1) * lag; ++step) {
    for (int k = 1; k <= wave.power; ++k) {
      const int i = step - (k - 1) * lag;
      if (i < 0) break;
      if (i >= tiles) continue;
      const WaveTile tile = *tile_of(thread, wave, i);
      if (k > 1) wait_for_inputs(thread, wave, tile, k);
      multiply_tile<height, vectors, ahead>(thread, wave, tile, k);
      thread.sync_block();
      if (k < wave.power) tell_readers(thread, wave, tile, k, i + 1);
    }
  }
  forget_news(thread, wave);
}

}  // namespace strata::gpu
