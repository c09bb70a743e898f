// What a GPU kernel may use of the machine that runs it. Kernels are bodies, templates over the
// type of their first argument:
//
//   template <class Thread, …> STRATA_DEVICE void body(Thread& thread, const Arguments& arguments);
//
// One body runs as CUDA and as HIP, where Thread is the empty NativeThread below and every call one
// instruction, and in the tests' emulator, whose threads are fibers. A Thread has
//
//   warp_size                            32 or 64
//   block(), blocks()                    which block of how many
//   index(), size()                      which thread of the block of how many
//   lane(), warp(), warps()              the same by warps
//   sync_warp(), sync_block()            barriers, which order memory among their threads
//   shuffle_down(value, delta, width)    the value of lane + delta; own value beyond the width
//   shuffle(value, lane)                 the value of that lane of the warp
//   any(predicate), all(predicate)       over the warp
//   shared<T>()                          the block's dynamic shared memory
//   load_once(pointer)                   of data that this kernel reads once and none writes
//   load_early(pointer)                  of such data, where it is written: compilers would move
//                                        loads to where they are used and wait for each
//   load_if(condition, pointer, other)   of such data, or the other value; without a branch, which
//                                        would keep loads from being in flight together
//   prefetch(pointer)                    brings its line to the L2 cache, where there is a way
//   load_flag, store_flag(pointer, …)    relaxed and atomic, visible to all blocks
//   add_flag(pointer, value)             atomic, returns the old value
//   fence()                              acquire and release among all blocks
//   pause()                              between two polls of a flag
//   nap(nanoseconds)                     does nothing for a while, for tests
//   nanoseconds()                        a clock, for the watchdog timeout
//
// Plain loads and stores of data that other blocks write are ordered by flag and fence alone:
//
//   writer:  data; sync_block(); one thread: fence(); store_flag
//   reader:  one thread: poll load_flag until it is set; fence(); sync_block(); data
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__CUDACC__) || defined(__HIPCC__)
#define STRATA_SIMT_NATIVE 1
#define STRATA_DEVICE __device__ __forceinline__
// For what is rarely needed: kept out of line so that it costs the fast path no registers.
#define STRATA_DEVICE_RARE __device__ __noinline__
#define STRATA_HOST_DEVICE __host__ __device__
#else
#define STRATA_DEVICE inline
#define STRATA_DEVICE_RARE inline
#define STRATA_HOST_DEVICE
#endif

#ifdef STRATA_SIMT_NATIVE
#ifdef __HIPCC__
#include <hip/hip_runtime.h>
#endif

namespace strata::gpu {

struct NativeThread {
#if defined(__HIP_DEVICE_COMPILE__) && defined(__AMDGCN_WAVEFRONT_SIZE)
  static constexpr int warp_size = __AMDGCN_WAVEFRONT_SIZE;
#else
  static constexpr int warp_size = 32;
#endif

  STRATA_DEVICE int block() const { return static_cast<int>(blockIdx.x); }
  STRATA_DEVICE int blocks() const { return static_cast<int>(gridDim.x); }
  STRATA_DEVICE int index() const { return static_cast<int>(threadIdx.x); }
  STRATA_DEVICE int size() const { return static_cast<int>(blockDim.x); }
  STRATA_DEVICE int lane() const { return index() % warp_size; }
  STRATA_DEVICE int warp() const { return index() / warp_size; }
  STRATA_DEVICE int warps() const { return size() / warp_size; }

  STRATA_DEVICE void sync_block() const { __syncthreads(); }
  template <class T>
  STRATA_DEVICE T* shared() const {
    extern __shared__ __align__(128) std::byte strata_shared_memory[];
    return reinterpret_cast<T*>(strata_shared_memory);
  }

#ifdef __HIPCC__
  // The barrier alone keeps the compiler from moving it, but not memory across it.
  STRATA_DEVICE void sync_warp() const {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
  }
  template <class R>
  STRATA_DEVICE R shuffle_down(R value, int delta, int width) const {
    return __shfl_down(value, static_cast<unsigned>(delta), width);
  }
  template <class R>
  STRATA_DEVICE R shuffle(R value, int lane) const {
    return __shfl(value, lane, warp_size);
  }
  STRATA_DEVICE bool any(bool predicate) const { return __any(predicate) != 0; }
  STRATA_DEVICE bool all(bool predicate) const { return __all(predicate) != 0; }
  template <class T>
  STRATA_DEVICE T load_once(const T* pointer) const {
    return *pointer;
  }
  template <class T>
  STRATA_DEVICE T load_early(const T* pointer) const {
    return *pointer;
  }
  template <class From, class T>
  STRATA_DEVICE T load_if(bool condition, const From* pointer, T other) const {
    return condition ? static_cast<T>(*pointer) : other;
  }
  STRATA_DEVICE void prefetch(const void*) const {}
  STRATA_DEVICE std::uint32_t load_flag(const std::uint32_t* flag) const {
    return __atomic_load_n(flag, __ATOMIC_RELAXED);
  }
  STRATA_DEVICE void store_flag(std::uint32_t* flag, std::uint32_t value) const {
    __atomic_store_n(flag, value, __ATOMIC_RELAXED);
  }
  STRATA_DEVICE void fence() const { __threadfence(); }
  STRATA_DEVICE void pause() const { __builtin_amdgcn_s_sleep(1); }
  STRATA_DEVICE void nap(std::uint32_t nanoseconds) const {
    for (std::uint32_t slept = 0; slept < nanoseconds; slept += 64) __builtin_amdgcn_s_sleep(1);
  }
  STRATA_DEVICE std::uint64_t nanoseconds() const {
    return __builtin_amdgcn_s_memrealtime() * 10;  // a clock of 100 MHz
  }
#else
  STRATA_DEVICE void sync_warp() const { __syncwarp(); }
  template <class R>
  STRATA_DEVICE R shuffle_down(R value, int delta, int width) const {
    return __shfl_down_sync(0xffffffffU, value, static_cast<unsigned>(delta), width);
  }
  template <class R>
  STRATA_DEVICE R shuffle(R value, int lane) const {
    return __shfl_sync(0xffffffffU, value, lane, warp_size);
  }
  STRATA_DEVICE bool any(bool predicate) const { return __any_sync(0xffffffffU, predicate) != 0; }
  STRATA_DEVICE bool all(bool predicate) const { return __all_sync(0xffffffffU, predicate) != 0; }
  template <class T>
  STRATA_DEVICE T load_once(const T* pointer) const {
    return __ldcs(pointer);
  }
  template <class T>
  STRATA_DEVICE T load_early(const T* pointer) const {
    T value;
    if constexpr (sizeof(T) == 8) {
      std::uint64_t bits;
      asm volatile("ld.global.nc.b64 %0, [%1];" : "=l"(bits) : "l"(pointer));
      memcpy(&value, &bits, sizeof value);
    } else {
      static_assert(sizeof(T) == 4);
      std::uint32_t bits;
      asm volatile("ld.global.nc.b32 %0, [%1];" : "=r"(bits) : "l"(pointer));
      memcpy(&value, &bits, sizeof value);
    }
    return value;
  }
  template <class From, class T>
  STRATA_DEVICE T load_if(bool condition, const From* pointer, T other) const {
    const int wanted = condition ? 1 : 0;
    if constexpr (sizeof(From) == 8) {
      static_assert(sizeof(T) == 8);
      std::uint64_t bits;
      memcpy(&bits, &other, sizeof bits);
      asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p ld.global.nc.b64 %0, [%1]; }"
                   : "+l"(bits)
                   : "l"(pointer), "r"(wanted));
      memcpy(&other, &bits, sizeof bits);
    } else {
      static_assert(sizeof(T) == 4);
      std::uint32_t bits;
      memcpy(&bits, &other, sizeof bits);
      if constexpr (sizeof(From) == 4) {
        asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p ld.global.nc.b32 %0, [%1]; }"
                     : "+r"(bits)
                     : "l"(pointer), "r"(wanted));
      } else if constexpr (sizeof(From) == 2) {
        asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p ld.global.nc.u16 %0, [%1]; }"
                     : "+r"(bits)
                     : "l"(pointer), "r"(wanted));
      } else {
        asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p ld.global.nc.u8 %0, [%1]; }"
                     : "+r"(bits)
                     : "l"(pointer), "r"(wanted));
      }
      memcpy(&other, &bits, sizeof bits);
    }
    return other;
  }
  STRATA_DEVICE void prefetch(const void* pointer) const {
    asm volatile("prefetch.global.L2 [%0];" : : "l"(pointer));
  }
  STRATA_DEVICE std::uint32_t load_flag(const std::uint32_t* flag) const {
    std::uint32_t value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    return value;
  }
  STRATA_DEVICE void store_flag(std::uint32_t* flag, std::uint32_t value) const {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" : : "l"(flag), "r"(value) : "memory");
  }
  // __threadfence() is sequentially consistent, which takes longer and is not needed.
  STRATA_DEVICE void fence() const { asm volatile("fence.acq_rel.gpu;" : : : "memory"); }
  STRATA_DEVICE void pause() const { __nanosleep(20); }
  STRATA_DEVICE void nap(std::uint32_t nanoseconds) const { __nanosleep(nanoseconds); }
  STRATA_DEVICE std::uint64_t nanoseconds() const {
    std::uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
  }
#endif

  // Ends the kernel with an error. For a kernel of which a build has no code for some devices: it
  // must not return as if it had done its work.
  STRATA_DEVICE void trap() const {
#ifdef __HIPCC__
    __builtin_trap();
#else
    __trap();
#endif
  }

  STRATA_DEVICE std::uint32_t add_flag(std::uint32_t* flag, std::uint32_t value) const {
    return atomicAdd(flag, value);
  }
};

}  // namespace strata::gpu
#endif
