// A GPU for tests: kernel bodies (strata/kernels/gpu/simt.hpp) on emulated threads, in warps of 32
// or of 64. grid.hpp says what is emulated and which mistakes are found.
//
//   launch<64>(blocks, threads, shared_bytes, {}, [&](auto& thread) { body(thread, arguments); });
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tests/emulator/grid.hpp"

namespace strata::emulator {

// The Thread of simt.hpp.
template <int warp_size_>
class EmulatedThread {
 public:
  static constexpr int warp_size = warp_size_;

  EmulatedThread(Grid& grid, int number) : grid_(grid), number_(number) {}

  int block() const { return grid_.block_of(number_); }
  int blocks() const { return grid_.blocks(); }
  int index() const { return number_ % grid_.block_size(); }
  int size() const { return grid_.block_size(); }
  int lane() const { return index() % warp_size; }
  int warp() const { return index() / warp_size; }
  int warps() const { return size() / warp_size; }

  void sync_warp() { grid_.exchange(number_, Exchange::sync_warp, 0); }
  void sync_block() { grid_.sync_block(number_); }

  template <class R>
  R shuffle_down(R value, int delta, int width) {
    const Grid::Words& words = exchanged(value);
    if (lane() % width + delta < width) std::memcpy(&value, &words[lane() + delta], sizeof(R));
    return value;
  }
  template <class R>
  R shuffle(R value, int lane) {
    const Grid::Words& words = exchanged(value);
    std::memcpy(&value, &words.at(static_cast<std::size_t>(lane)), sizeof(R));
    return value;
  }
  bool any(bool predicate) { return votes(predicate) > 0; }
  bool all(bool predicate) { return votes(predicate) == warp_size; }

  template <class T>
  T* shared() {
    return reinterpret_cast<T*>(grid_.shared(block()));
  }
  template <class T>
  T load_once(const T* pointer) const {
    return *pointer;
  }

  template <class T>
  T load_early(const T* pointer) const {
    return *pointer;
  }
  template <class From, class T>
  T load_if(bool condition, const From* pointer, T other) const {
    return condition ? static_cast<T>(*pointer) : other;
  }
  void prefetch(const void*) const {}

  std::uint32_t load_flag(const std::uint32_t* flag) { return grid_.load_flag(number_, flag); }
  void store_flag(std::uint32_t* flag, std::uint32_t value) {
    grid_.store_flag(number_, flag, value);
  }
  std::uint32_t add_flag(std::uint32_t* flag, std::uint32_t value) {
    return grid_.add_flag(number_, flag, value);
  }
  void fence() { grid_.fence(number_); }
  void pause() { grid_.pause(number_); }
  void nap(std::uint32_t) { grid_.pause(number_); }
  std::uint64_t nanoseconds() { return grid_.nanoseconds(); }

 private:
  template <class R>
  const Grid::Words& exchanged(R value) {
    static_assert(std::is_arithmetic_v<R> && sizeof(R) <= sizeof(std::uint64_t));
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof(R));
    return grid_.exchange(number_, Exchange::shuffle, word);
  }
  int votes(bool predicate) {
    const Grid::Words& words = grid_.exchange(number_, Exchange::vote, predicate ? 1 : 0);
    int sum = 0;
    for (int lane = 0; lane < warp_size; ++lane) sum += static_cast<int>(words[lane]);
    return sum;
  }

  Grid& grid_;
  int number_;
};

// Runs body(thread) on `blocks` blocks of `threads` threads, all at once, and returns when the last
// has exited. Throws EmulationError for misuse, and what a body throws.
template <int warp_size, class Body>
void launch(int blocks, int threads, std::size_t shared_bytes, const LaunchOptions& options,
            const Body& body) {
  static_assert(warp_size == 32 || warp_size == 64);
  Grid grid(warp_size, blocks, threads, shared_bytes, options);
  grid.run([&](int number) {
    EmulatedThread<warp_size> thread(grid, number);
    body(thread);
  });
}

}  // namespace strata::emulator
