// One step of a recurrence, out = α (A − θI) x + β previous, as the kernels on a GPU take it: the
// counterpart of kernels/cpu/step.hpp. Vectors are interleaved: element v of row r is at
// r·count + v.
#pragma once

#include "strata/kernels/gpu/simt.hpp"
#include "strata/kernels/gpu/value.hpp"

namespace strata::gpu {

inline constexpr int kMaxVectors = 8;

template <class T>
struct StepArguments {
  const T* x = nullptr;
  const T* previous = nullptr;  // may be the same as out
  T* out = nullptr;             // shares nothing with x
  T alpha{};
  T shift{};  // θ; 0 does not read the diagonal's x
  T beta{};   // 0 does not read `previous`
  int count = 1;
};

// Writes element `i` of the vectors from the row's sum of products.
template <class T>
STRATA_DEVICE void finish(const StepArguments<T>& step, std::int64_t i, T sum) {
  if (!is_zero(step.shift)) sum = multiply_add(negative(step.shift), step.x[i], sum);
  T result = multiply_add(step.alpha, sum, T{});
  if (!is_zero(step.beta)) result = multiply_add(step.beta, step.previous[i], result);
  step.out[i] = result;
}

}  // namespace strata::gpu
