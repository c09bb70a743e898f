// Loads and stores that order what lies around them, between all threads of a device; and loads
// that find their data in L2. For .cu files.
#pragma once

#include "strata/device/internal/runtime.hpp"

namespace strata::gpu::detail {

struct alignas(16) Pair {
  double first;
  double second;
};

#ifdef STRATA_GPU_HIP

__device__ inline unsigned load_acquire(const unsigned* flag) {
  return __hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
}
__device__ inline void store_release(unsigned* flag, unsigned value) {
  __hip_atomic_store(flag, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}
__device__ inline void add_release(unsigned* flag, unsigned value) {
  __hip_atomic_fetch_add(flag, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}
// Atomic loads of the whole device do not stop at the caches of one of its parts.
__device__ inline Pair load_from_l2(const Pair* pair) {
  return {__hip_atomic_load(&pair->first, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT),
          __hip_atomic_load(&pair->second, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)};
}

#elif defined(STRATA_GPU_EMULATED)

inline unsigned load_acquire(const unsigned* flag) {
  return NativeThread().load_flag(flag);
}
inline void store_release(unsigned* flag, unsigned value) {
  NativeThread().store_flag(flag, value);
}
inline void add_release(unsigned* flag, unsigned value) {
  NativeThread().add_flag(flag, value);
}
inline Pair load_from_l2(const Pair* pair) {
  return *pair;
}

#else

__device__ inline unsigned load_acquire(const unsigned* flag) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
}
__device__ inline void store_release(unsigned* flag, unsigned value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(flag), "r"(value) : "memory");
}
__device__ inline void add_release(unsigned* flag, unsigned value) {
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" : : "l"(flag), "r"(value) : "memory");
}
__device__ inline Pair load_from_l2(const Pair* pair) {
  const double2 value = __ldcg(reinterpret_cast<const double2*>(pair));
  return {value.x, value.y};
}

#endif

}  // namespace strata::gpu::detail
