// What goes between the levels of a multigrid cycle on a GPU (hpcg/multigrid.hpp), and between its
// order of the rows and the caller's.
#pragma once

#include <cstdint>

#include "strata/kernels/gpu/simt.hpp"

namespace strata::gpu {

// target[i] = factor[i] · (from[j] − minus[j]) with j = source[i], 0 where that is negative. No
// factor is 1, and nothing to subtract is 0.
template <class T>
struct GatherArguments {
  const T* from = nullptr;
  const T* minus = nullptr;
  const std::int32_t* source = nullptr;
  const T* factor = nullptr;
  T* target = nullptr;
  std::int64_t count = 0;
};

template <class Thread, class T>
STRATA_DEVICE void gather(Thread& thread, const GatherArguments<T>& a) {
  const std::int64_t stride = static_cast<std::int64_t>(thread.blocks()) * thread.size();
  const std::int64_t first =
      static_cast<std::int64_t>(thread.block()) * thread.size() + thread.index();
  for (std::int64_t i = first; i < a.count; i += stride) {
    const std::int32_t j = a.source[i];
    T value{};
    if (j >= 0) {
      value = a.from[j];
      if (a.minus != nullptr) value -= a.minus[j];
      if (a.factor != nullptr) value *= a.factor[i];
    }
    a.target[i] = value;
  }
}

// target[place[i]] += from[i], where the place is not negative. No two places are the same.
template <class T>
struct AddAtArguments {
  const T* from = nullptr;
  const std::int32_t* place = nullptr;
  T* target = nullptr;
  std::int64_t count = 0;
};

template <class Thread, class T>
STRATA_DEVICE void add_at(Thread& thread, const AddAtArguments<T>& a) {
  const std::int64_t stride = static_cast<std::int64_t>(thread.blocks()) * thread.size();
  const std::int64_t first =
      static_cast<std::int64_t>(thread.block()) * thread.size() + thread.index();
  for (std::int64_t i = first; i < a.count; i += stride) {
    if (a.place[i] >= 0) a.target[a.place[i]] += a.from[i];
  }
}

}  // namespace strata::gpu
