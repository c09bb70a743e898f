#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/device/internal/launch.hpp"
#include "strata/execute/gpu/internal/wave_launch.hpp"
#include "strata/kernels/gpu/dispatch.hpp"
#ifndef STRATA_GPU_HIP
#include "strata/execute/gpu/internal/hopper_wave.hpp"
#endif

namespace strata::gpu::detail {

#ifdef STRATA_GPU_HIP

bool has_hopper_wave() {
  return false;
}

template <Value V>
void launch_hopper_wave(const WaveArguments<DeviceValue<V>>&, int, int, bool, const hopper::Ring&,
                        Stream&) {
  throw Unavailable("a window in shared memory takes a Hopper GPU");
}

#else

namespace {

// Registers: 27 elements of x in doubles take 54 of the 96 that 640 threads leave each other.
template <class T>
constexpr int gathers_of(bool many) {
  return (many ? 27 : 9) * 8 / (sizeof(T) > 8 ? static_cast<int>(sizeof(T)) : 8);
}

template <int height, bool many, class T>
__global__ void __launch_bounds__(most_hopper_warps(many) * 32, 1)
    hopper_wave_kernel(const __grid_constant__ WaveArguments<T> arguments,
                       const __grid_constant__ hopper::Ring ring) {
  // In a build for several GPUs, older ones have this kernel too; they never run it.
#if __CUDA_ARCH__ >= 900
  hopper::WaveBlock<height, gathers_of<T>(many), T>(arguments, ring).run();
#endif
}

}  // namespace

bool has_hopper_wave() {
  return true;
}

template <Value V>
void launch_hopper_wave(const WaveArguments<DeviceValue<V>>& arguments, int slice_height,
                        int workers, bool many_gathers, const hopper::Ring& ring, Stream& stream) {
  using T = DeviceValue<V>;
  const LaunchShape shape{workers, ring.warps(arguments.power) * 32,
                          ring.shared_bytes(arguments.power, workers)};
  const bool known = with_power_of_two<8, 32>(slice_height, [&](auto height) {
    if (many_gathers) {
      launch_cooperative("hopper_wave_kernel", hopper_wave_kernel<height(), true, T>, shape, stream,
                         arguments, ring);
    } else {
      launch_cooperative("hopper_wave_kernel", hopper_wave_kernel<height(), false, T>, shape,
                         stream, arguments, ring);
    }
  });
  if (!known) throw InvalidArgument("waves run over slices of 8, 16 or 32 rows");
}

#endif

#define STRATA_INSTANTIATE(V, unused)                                                       \
  template void launch_hopper_wave<V>(const WaveArguments<DeviceValue<V>>&, int, int, bool, \
                                      const hopper::Ring&, Stream&)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu::detail
