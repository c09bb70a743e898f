// The bodies of kernels on vectors (vector_operations.hpp).
#pragma once

#include <cstdint>

#include "strata/kernels/gpu/simt.hpp"
#include "strata/kernels/gpu/value.hpp"

namespace strata::gpu {

inline constexpr int kDotThreads = 256;
inline constexpr int kDotBlocks = 512;

template <class T>
STRATA_DEVICE T conjugated(T a) {
  return a;
}
template <class R>
STRATA_DEVICE Complex<R> conjugated(Complex<R> a) {
  return {a.re, -a.im};
}

template <class T>
struct AxpbyArguments {
  const T* x = nullptr;
  T* y = nullptr;
  std::int64_t size = 0;
  T alpha{};
  T beta{};
};

template <class Thread, class T>
STRATA_DEVICE void axpby(Thread& thread, const AxpbyArguments<T>& a) {
  const std::int64_t stride = static_cast<std::int64_t>(thread.blocks()) * thread.size();
  const std::int64_t first =
      static_cast<std::int64_t>(thread.block()) * thread.size() + thread.index();
  for (std::int64_t i = first; i < a.size; i += stride) {
    T result = multiply_add(a.alpha, a.x[i], T{});
    if (!is_zero(a.beta)) result = multiply_add(a.beta, a.y[i], result);
    a.y[i] = result;
  }
}

// target = Σ weights · vectors, or that much more where it adds.
inline constexpr int kMostSummands = 7;
template <class T>
struct WeightedSumArguments {
  T* target = nullptr;
  const T* vectors[kMostSummands] = {};
  T weights[kMostSummands] = {};
  std::int64_t size = 0;
  int count = 0;
  bool adds = false;
};

template <class Thread, class T>
STRATA_DEVICE void weighted_sum(Thread& thread, const WeightedSumArguments<T>& a) {
  const std::int64_t stride = static_cast<std::int64_t>(thread.blocks()) * thread.size();
  const std::int64_t first =
      static_cast<std::int64_t>(thread.block()) * thread.size() + thread.index();
  for (std::int64_t i = first; i < a.size; i += stride) {
    T values[kMostSummands];
    T sum = a.adds ? a.target[i] : T{};
    for (int k = 0; k < kMostSummands; ++k) values[k] = k < a.count ? a.vectors[k][i] : T{};
    for (int k = 0; k < kMostSummands; ++k) {
      if (k < a.count) sum = multiply_add(a.weights[k], values[k], sum);
    }
    a.target[i] = sum;
  }
}

// Line i of `from` goes to line lines[i] of `to`, or is added to it: lines of `count` elements, no
// two of which go to the same place. Backwards, line i of `to` becomes line lines[i] of `from`.
template <class T>
struct LineArguments {
  const T* from = nullptr;
  T* to = nullptr;
  const std::int32_t* lines = nullptr;
  std::int64_t size = 0;  // elements of all lines that move
  int count = 1;
};

template <class Thread, class T, class Move>
STRATA_DEVICE void for_each_line_element(Thread& thread, const LineArguments<T>& a,
                                         const Move& move) {
  const std::int64_t stride = static_cast<std::int64_t>(thread.blocks()) * thread.size();
  const std::int64_t first =
      static_cast<std::int64_t>(thread.block()) * thread.size() + thread.index();
  for (std::int64_t i = first; i < a.size; i += stride) {
    const std::int64_t line = i / a.count;
    move(i, static_cast<std::int64_t>(a.lines[line]) * a.count + (i - line * a.count));
  }
}

template <class Thread, class T>
STRATA_DEVICE void take_lines(Thread& thread, const LineArguments<T>& a) {
  for_each_line_element(thread, a, [&](std::int64_t packed, std::int64_t element) {
    a.to[packed] = a.from[element];
  });
}
template <class Thread, class T>
STRATA_DEVICE void put_lines(Thread& thread, const LineArguments<T>& a) {
  for_each_line_element(thread, a, [&](std::int64_t packed, std::int64_t element) {
    a.to[element] = a.from[packed];
  });
}
template <class Thread, class T>
STRATA_DEVICE void add_lines(Thread& thread, const LineArguments<T>& a) {
  for_each_line_element(thread, a, [&](std::int64_t packed, std::int64_t element) {
    a.to[element] = add(a.to[element], a.from[packed]);
  });
}

template <class T>
struct DotArguments {
  const T* x = nullptr;  // none: y is added up
  const T* y = nullptr;
  std::int64_t size = 0;
  T* sums = nullptr;  // of each block
};

// Blocks of kDotThreads with shared memory for as many numbers. A block takes every so manyth
// element, and its threads' sums are added by halves: the grid alone decides about the order.
template <class Thread, class T>
STRATA_DEVICE void dot(Thread& thread, const DotArguments<T>& a) {
  const std::int64_t stride = static_cast<std::int64_t>(thread.blocks()) * thread.size();
  const std::int64_t first =
      static_cast<std::int64_t>(thread.block()) * thread.size() + thread.index();
  T sum{};
  for (std::int64_t i = first; i < a.size; i += stride) {
    sum = a.x != nullptr ? multiply_add(conjugated(a.x[i]), a.y[i], sum) : add(sum, a.y[i]);
  }
  T* sums = thread.template shared<T>();
  sums[thread.index()] = sum;
  thread.sync_block();
  for (int half = thread.size() / 2; half > 0; half /= 2) {
    if (thread.index() < half) {
      sums[thread.index()] = add(sums[thread.index()], sums[thread.index() + half]);
    }
    thread.sync_block();
  }
  if (thread.index() == 0) a.sums[thread.block()] = sums[0];
}

}  // namespace strata::gpu
