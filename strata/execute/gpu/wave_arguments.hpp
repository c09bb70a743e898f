// What the kernels of a wave are given, host and device alike. A wave is explained in
// schedule/wave.hpp.
#pragma once

#include <cstdint>

#include "strata/kernels/gpu/step.hpp"
#include "strata/kernels/gpu/views.hpp"
#include "strata/schedule/wave.hpp"

namespace strata::gpu {

// Powers of one sweep; longer ones are split.
inline constexpr int kMaxWavePower = 8;

// A tile of packed SELL: consecutive slices, whose values, codes and headers are each one run of
// memory, and so are its needs and readers.
struct alignas(16) WaveTile {
  std::uint64_t values;  // the position of its first value
  std::uint32_t codes;   // of its first code block, in units of kCodeUnit
  std::int32_t first_slice;
  std::int32_t slices;
  std::uint32_t value_bytes;
  std::uint32_t code_bytes;
  std::int32_t first_notice;  // needs, then readers; multiples of 16 bytes, as bulk copies want
  std::int16_t needs;
  std::int16_t readers;
  std::uint32_t notice_bytes;
  std::int32_t unused[2];
};
static_assert(sizeof(WaveTile) == 48 && sizeof(Need) == 8);

// Shared by all blocks; zero before the first launch, and left zero by every launch that ends well.
struct WaveControl {
  std::uint32_t stuck;  // not zero: somebody has waited for too long and everybody gave up
};

template <class T>
struct WaveArguments {
  PackedSellView<T> matrix;
  const WaveTile* tiles = nullptr;
  const std::byte* notices = nullptr;  // needs and readers, see WaveTile
  // How many tiles worker w has done at power k, as worker r has been told, is at
  // ((k − 1)·workers + r)·workers + w: everybody looks at places of his own, which nobody else
  // looks at and which are written only when there is news for him.
  std::uint32_t* news = nullptr;
  WaveControl* control = nullptr;
  std::int32_t tile_count = 0;
  int power = 1;
  T* vectors[kMaxWavePower + 1] = {};  // y_0 … y_p
  const T* before = nullptr;           // y_−1, for a basis whose first step here needs it
  T alpha[kMaxWavePower] = {};         // of y_1 … y_p
  T shift[kMaxWavePower] = {};
  T beta[kMaxWavePower] = {};
  int count = 1;                  // vectors side by side
  std::uint64_t patience_ns = 0;  // how long to wait for progress before giving up
};

// The step of power k.
template <class T>
STRATA_DEVICE StepArguments<T> step_of(const WaveArguments<T>& wave, int k) {
  StepArguments<T> step;
  step.x = wave.vectors[k - 1];
  step.previous = k >= 2 ? wave.vectors[k - 2] : wave.before;
  step.out = wave.vectors[k];
  step.alpha = wave.alpha[k - 1];
  step.shift = wave.shift[k - 1];
  step.beta = wave.beta[k - 1];
  step.count = wave.count;
  return step;
}

// How many tiles the block works on: block, block + blocks, …
template <class Thread, class T>
STRATA_DEVICE int tiles_of(Thread& thread, const WaveArguments<T>& wave) {
  const int tiles = wave.tile_count - thread.block();
  return tiles > 0 ? (tiles - 1) / thread.blocks() + 1 : 0;
}
template <class Thread, class T>
STRATA_DEVICE const WaveTile* tile_of(Thread& thread, const WaveArguments<T>& wave, int i) {
  return wave.tiles + thread.block() + static_cast<std::int64_t>(i) * thread.blocks();
}
// What the reader has been told about power k, by worker.
template <class Thread, class T>
STRATA_DEVICE std::uint32_t* news_for(Thread& thread, const WaveArguments<T>& wave, int k,
                                      int reader) {
  const int workers = thread.blocks();
  return wave.news + (static_cast<std::int64_t>(k - 1) * workers + reader) * workers;
}

// Lists of a tile, beside each other.
STRATA_DEVICE const Need* needs_in(const std::byte* notices) {
  return reinterpret_cast<const Need*>(notices);
}
STRATA_DEVICE const std::int32_t* readers_in(const std::byte* notices, int needs) {
  return reinterpret_cast<const std::int32_t*>(needs_in(notices) + needs);
}

// Whether to give up: because somebody else has, or because this has lasted too long.
template <class Thread>
STRATA_DEVICE_RARE bool out_of_patience(Thread& thread, WaveControl* control,
                                        std::uint64_t waiting_since, std::uint64_t patience_ns) {
  if (thread.load_flag(&control->stuck) != 0) return true;
  if (thread.nanoseconds() - waiting_since < patience_ns) return false;
  thread.store_flag(&control->stuck, 1);
  return true;
}

// One thread waits until a worker has done `least` tiles at power k. Who reads what those tiles
// wrote must pass a fence after this.
template <class Thread, class T>
STRATA_DEVICE void wait_for(Thread& thread, const WaveArguments<T>& wave, int k, const Need& need) {
  constexpr std::uint32_t kLooksPerTime = 1024;
  const std::uint32_t* flag = news_for(thread, wave, k, thread.block()) + need.worker;
  std::uint64_t since = 0;
  for (std::uint32_t look = 1;; ++look) {
    if (static_cast<std::int32_t>(thread.load_flag(flag)) >= need.tiles) return;
    if (look % kLooksPerTime != 0) continue;
    if (since == 0) since = thread.nanoseconds();
    if (out_of_patience(thread, wave.control, since, wave.patience_ns)) return;
  }
}

// The end of every block: all news for it have come, for it has waited for each of them. It leaves
// its places as the next launch expects them.
template <class Thread, class T>
STRATA_DEVICE void forget_news(Thread& thread, const WaveArguments<T>& wave) {
  thread.sync_block();
  for (int k = 1; k < wave.power; ++k) {
    std::uint32_t* news = news_for(thread, wave, k, thread.block());
    for (int worker = thread.index(); worker < thread.blocks(); worker += thread.size()) {
      thread.store_flag(news + worker, 0);
    }
  }
}

}  // namespace strata::gpu
