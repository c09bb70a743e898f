// Products of local matrices on a GPU (fem/local_matrices.hpp): a thread per element, and a launch
// per colour. Neighbouring threads read neighbours in memory, as value n of all elements is
// contiguous.
#pragma once

#include <cstdint>

#include "strata/kernels/gpu/products.hpp"
#include "strata/kernels/gpu/simt.hpp"
#include "strata/kernels/gpu/value.hpp"

namespace strata::gpu {

template <class T>
struct LocalProductArguments {
  const T* values = nullptr;               // value n of slot s at n·slots + s
  const std::int32_t* unknowns = nullptr;  // of node a of slot s at a·slots + s
  std::int64_t slots = 0;
  std::int64_t begin = 0;  // of the slots of one colour
  std::int64_t end = 0;
  const T* x = nullptr;
  T* y = nullptr;  // is added to
};

// y = y + Kx for the elements of a colour, which share no unknowns. With all values the rows of a
// matrix go one by one, each with its loads in flight at once; of half a matrix every value goes to
// two rows, whose sums stay in registers.
template <int nodes, bool symmetric, class Thread, class T>
STRATA_DEVICE void multiply_local(Thread& thread, const LocalProductArguments<T>& a) {
  const std::int64_t stride = static_cast<std::int64_t>(thread.blocks()) * thread.size();
  const std::int64_t first =
      static_cast<std::int64_t>(thread.block()) * thread.size() + thread.index();
  for (std::int64_t slot = a.begin + first; slot < a.end; slot += stride) {
    const std::int32_t* const unknowns = a.unknowns + slot;
    const T* values = a.values + slot;
    T in[nodes];
    STRATA_UNROLL
    for (int node = 0; node < nodes; ++node) in[node] = a.x[unknowns[node * a.slots]];
    if constexpr (symmetric) {
      T out[nodes] = {};
      STRATA_UNROLL
      for (int row = 0; row < nodes; ++row) {
        out[row] = multiply_add(thread.load_once(values), in[row], out[row]);
        values += a.slots;
        STRATA_UNROLL
        for (int column = row + 1; column < nodes; ++column) {
          const T value = thread.load_once(values);
          values += a.slots;
          out[row] = multiply_add(value, in[column], out[row]);
          out[column] = multiply_add(value, in[row], out[column]);
        }
      }
      STRATA_UNROLL
      for (int row = 0; row < nodes; ++row) {
        T* const target = a.y + unknowns[row * a.slots];
        *target = add(*target, out[row]);
      }
    } else {
      // Elements of a high degree are few for a GPU: each keeps so many loads in flight.
      constexpr int ahead = nodes > 16 ? (nodes + 1) / 2 : nodes;
      STRATA_NO_UNROLL
      for (int row = 0; row < nodes; ++row) {
        T* const target = a.y + unknowns[row * a.slots];
        const T before = *target;
        T sum{};
        STRATA_UNROLL
        for (int begin = 0; begin < nodes; begin += ahead) {
          T loaded[ahead];
          STRATA_UNROLL
          for (int k = 0; k < ahead; ++k) {
            if (begin + k < nodes) loaded[k] = thread.load_early(values + (begin + k) * a.slots);
          }
          STRATA_UNROLL
          for (int k = 0; k < ahead; ++k) {
            if (begin + k < nodes) sum = multiply_add(loaded[k], in[begin + k], sum);
          }
        }
        values += nodes * a.slots;
        *target = add(before, sum);
      }
    }
  }
}

}  // namespace strata::gpu
