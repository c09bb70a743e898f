// FlaggedWorker: a warp of a sweep whose values are their own flags (flagged_block.hpp), and the
// power that it works on. For compilers of device code alone.
#pragma once

#include <cstdint>

#include "strata/execute/gpu/flagged_arguments.hpp"
#include "strata/execute/gpu/internal/flagged_words.hpp"
#include "strata/kernels/gpu/value.hpp"

namespace strata::gpu::hopper {

// Element `row` of a power that the tile has waited for; or of y_0, which nobody writes. Another
// lane has seen it, and this one will.
template <class T>
__device__ __forceinline__ T own_element(const T* vector, std::int64_t row, bool written) {
  Words words{};
  do {
    load_element_if(true, vector, row, words, 0);
  } while (written && has_flag<T>(words));
  return element<T>(words, 0);
}

// The element of power k from the row's sum of products: step.hpp's finish() with the vectors of a
// flagged sweep. After the last power it is added to the sum, with those before. Not inline: these
// are many instructions, and most sweeps have plain powers.
template <class T>
__device__ __noinline__ T finish_element(const FlaggedArguments<T>& a, int k, std::int64_t row,
                                         T sum) {
  const T shift = a.shift[k - 1];
  if (!is_zero(shift)) {
    sum = multiply_add(negative(shift), own_element(a.vectors[k - 1], row, k > 1), sum);
  }
  T result = multiply_add(a.alpha[k - 1], sum, T{});
  const T beta = a.beta[k - 1];
  if (!is_zero(beta)) {
    const T* previous = k >= 2 ? a.vectors[k - 2] : a.before;
    result = multiply_add(beta, own_element(previous, row, k > 2), result);
  }
  if (k < a.power || a.sum == nullptr) return result;
  T total =
      a.starts ? multiply_add(a.start, own_element(a.vectors[0], row, false), T{}) : a.sum[row];
  for (int before = 1; before < k; ++before) {
    total = multiply_add(a.weight[before - 1], own_element(a.vectors[before], row, true), total);
  }
  a.sum[row] = multiply_add(a.weight[k - 1], result, total);
  return result;
}

template <class T>
struct FlaggedWorker {
  const FlaggedArguments<T>& a;
  std::uint32_t* given_up;  // of the block, in shared memory; not 0: all warps leave
  int k;                    // the power
  T alpha;
  bool plain;  // a row's result is α times its sum, and nothing else has to be done
  NativeThread thread;

  __device__ __forceinline__ FlaggedWorker(const FlaggedArguments<T>& arguments,
                                           std::uint32_t* block_gave_up, int power)
      : a(arguments),
        given_up(block_gave_up),
        k(power),
        alpha(a.alpha[k - 1]),
        plain(is_zero(a.shift[k - 1]) && is_zero(a.beta[k - 1]) &&
              (k < a.power || a.sum == nullptr)) {}

  __device__ __forceinline__ const T* x() const { return a.vectors[k - 1]; }
  __device__ __forceinline__ T* y() const { return a.vectors[k]; }
  // Whether elements of x may not be there yet.
  __device__ __forceinline__ bool waits() const { return k > 1; }
  __device__ __forceinline__ T finished(std::int64_t row, T sum) const {
    return plain ? multiply_add(alpha, sum, T{}) : finish_element(a, k, row, sum);
  }

  // Looks at elements that were not there.
  struct Patience {
    int looks = 0;
    Waiting waiting;
  };
  // False, for all lanes, if it is time to leave.
  __device__ __forceinline__ bool go_on(Patience& patience) {
    if (++patience.looks % kPollsPerClockRead != 0) return true;
    volatile std::uint32_t& leaves = *given_up;
    if (thread.lane() == 0) {
      patience.waiting = wait_longer(thread, a.control, patience.waiting, a.timeout_ns);
      if (patience.waiting.given_up) leaves = 1;
    }
    thread.sync_warp();
    return !thread.any(leaves != 0);
  }
};

}  // namespace strata::gpu::hopper
