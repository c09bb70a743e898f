// The instructions of Hopper GPUs that the wavefront sweep uses: barriers in shared memory that a
// thread can wait for without spinning, and asynchronous copies that complete such a barrier. (PTX
// ISA 8.x, "mbarrier" and "cp.async.bulk".)
#pragma once

#include <cstdint>

#include "strata/execute/gpu/ring.hpp"

namespace strata::gpu::hopper {

// Shared memory has addresses of its own, of 32 bits.
__device__ __forceinline__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// A barrier completes a phase when `count` arrivals have come in, and as many bytes as were
// expected. Only the parity distinguishes phases: a waiter must never be a whole phase late.
static_assert(kBarrierBytes == sizeof(std::uint64_t));
struct Barrier {
  std::uint64_t state;

  __device__ __forceinline__ void init(std::uint32_t count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                 :
                 : "r"(shared_address(this)), "r"(count)
                 : "memory");
  }
  // Releases what this thread has written and read to those that wait.
  __device__ __forceinline__ void arrive() {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];"
                 :
                 : "r"(shared_address(this))
                 : "memory");
  }
  __device__ __forceinline__ void arrive_expecting(std::uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(shared_address(this)), "r"(bytes)
                 : "memory");
  }
  __device__ __forceinline__ bool completed(std::uint32_t parity) const {
    std::uint32_t done;
    asm volatile(
        "{\n\t.reg .pred p;\n\t"
        "mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, p;\n\t}"
        : "=r"(done)
        : "r"(shared_address(this)), "r"(parity)
        : "memory");
    return done != 0;
  }
  // The same after waiting for a while.
  __device__ __forceinline__ bool completed_soon(std::uint32_t parity) const {
    std::uint32_t done;
    asm volatile(
        "{\n\t.reg .pred p;\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, p;\n\t}"
        : "=r"(done)
        : "r"(shared_address(this)), "r"(parity)
        : "memory");
    return done != 0;
  }
};

// Makes barriers that were just initialised visible to the copy engine.
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
}

// Data that others have released; all loads of a warp are in flight at once.
__device__ __forceinline__ uint4 load_acquire(const uint4* pointer) {
  uint4 value;
  asm volatile("ld.acquire.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(pointer)
               : "memory");
  return value;
}
// For data that will not be read again.
__device__ __forceinline__ std::uint64_t evict_first_policy() {
  std::uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// Global to shared memory; addresses and bytes are multiples of 16.
__device__ __forceinline__ void copy_bulk(void* to, const void* from, std::uint32_t bytes,
                                          Barrier& barrier, std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
      " [%0], [%1], %2, [%3], %4;"
      :
      : "r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(&barrier)), "l"(policy)
      : "memory");
}

// Shared to global memory; addresses and bytes are multiples of 16. Bytes that this thread has
// written are read only after publish_to_copies().
__device__ __forceinline__ void copy_bulk_out(void* to, const void* from, std::uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
               :
               : "l"(to), "r"(shared_address(from)), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void publish_to_copies() {
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}
// Waits until all that this thread has copied out was written.
__device__ __forceinline__ void await_copies_out() {
  asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" : : : "memory");
}

// Global memory to L2; address and bytes are multiples of 16.
__device__ __forceinline__ void prefetch_bulk(const void* from, std::uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" : : "l"(from), "r"(bytes) : "memory");
}

// Matrix data that the L2 cache should keep: loaded before x, and without displacing x from the
// first-level cache. See kernels/gpu/products.hpp.
struct FromL2 {
  static constexpr bool kEarly = true;
  static constexpr bool kShifted = false;
  template <class Thread>
  __device__ __forceinline__ static float load(Thread&, const float* pointer) {
    return __ldcg(pointer);
  }
  template <class Thread>
  __device__ __forceinline__ static double load(Thread&, const double* pointer) {
    return __ldcg(pointer);
  }
  // Codes of values; those of columns have other types, and are in shared memory.
  template <class Thread>
  __device__ __forceinline__ static std::uint32_t load(Thread&, const std::uint32_t* pointer) {
    return __ldcg(pointer);
  }
  template <class Thread, class T>
  __device__ __forceinline__ static T load(Thread&, const T* pointer) {
    return *pointer;
  }
};

}  // namespace strata::gpu::hopper
