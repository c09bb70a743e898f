#include "strata/kernels/gpu/vector_operations.hpp"

#include <algorithm>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/device/internal/launch.hpp"
#include "strata/kernels/gpu/vector_bodies.hpp"

namespace strata::gpu {

namespace {

constexpr int kAxpbyThreads = 256;
constexpr Offset kMostBlocks = 65536;

template <class T>
__global__ void axpby_kernel(AxpbyArguments<T> arguments) {
  NativeThread thread;
  axpby(thread, arguments);
}

template <class T>
__global__ void weighted_sum_kernel(WeightedSumArguments<T> arguments) {
  NativeThread thread;
  weighted_sum(thread, arguments);
}

template <class T>
__global__ void dot_kernel(DotArguments<T> arguments) {
  NativeThread thread;
  dot(thread, arguments);
}

template <class T>
__global__ void take_lines_kernel(LineArguments<T> arguments) {
  NativeThread thread;
  take_lines(thread, arguments);
}
template <class T>
__global__ void put_lines_kernel(LineArguments<T> arguments) {
  NativeThread thread;
  put_lines(thread, arguments);
}
template <class T>
__global__ void add_lines_kernel(LineArguments<T> arguments) {
  NativeThread thread;
  add_lines(thread, arguments);
}

void require_same_length(Offset x, Offset y) {
  if (x != y) throw InvalidArgument("the vectors have different lengths");
}

template <class T>
void launch_dot(const DotArguments<T>& arguments, Offset blocks, Stream& stream) {
  launch(
      "dot_kernel", dot_kernel<T>,
      {.blocks = blocks, .threads = kDotThreads, .shared_bytes = kDotThreads * Offset{sizeof(T)}},
      stream, arguments);
}

}  // namespace

template <Value V>
void axpby(std::type_identity_t<V> alpha, DeviceSpan<const std::type_identity_t<V>> x,
           std::type_identity_t<V> beta, DeviceSpan<V> y, Stream& stream) {
  using T = DeviceValue<V>;
  require_same_length(x.size(), y.size());
  const AxpbyArguments<T> arguments{reinterpret_cast<const T*>(x.data()),
                                    reinterpret_cast<T*>(y.data()), y.size(), device_value(alpha),
                                    device_value(beta)};
  const Offset blocks = std::min(ceil_div<Offset>(y.size(), kAxpbyThreads), kMostBlocks);
  launch("axpby_kernel", axpby_kernel<T>, {.blocks = blocks, .threads = kAxpbyThreads}, stream,
         arguments);
}

template <Value V>
void weighted_sum(std::span<const Summand<V>> summands, bool adds, DeviceSpan<V> target,
                  Stream& stream) {
  using T = DeviceValue<V>;
  if (summands.size() > kMostSummands) throw InvalidArgument("too many vectors for one sum");
  WeightedSumArguments<T> arguments;
  arguments.target = reinterpret_cast<T*>(target.data());
  arguments.size = target.size();
  arguments.adds = adds;
  for (const Summand<V>& summand : summands) {
    require_same_length(summand.vector.size(), target.size());
    arguments.vectors[arguments.count] = reinterpret_cast<const T*>(summand.vector.data());
    arguments.weights[arguments.count++] = device_value(summand.weight);
  }
  const Offset blocks = std::min(ceil_div<Offset>(target.size(), kAxpbyThreads), kMostBlocks);
  launch("weighted_sum_kernel", weighted_sum_kernel<T>,
         {.blocks = blocks, .threads = kAxpbyThreads}, stream, arguments);
}

namespace {

// The packed side is as long as its lines say.
template <Value V, class Kernel>
void launch_lines(const char* name, Kernel kernel, const V* from, V* to, Offset packed,
                  DeviceSpan<const std::int32_t> lines, int count, Stream& stream) {
  using T = DeviceValue<V>;
  if (count < 1 || packed != lines.size() * count) {
    throw InvalidArgument("as many packed lines as numbers of lines");
  }
  if (packed == 0) return;
  const LineArguments<T> arguments{reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to),
                                   lines.data(), packed, count};
  const Offset blocks = std::min(ceil_div<Offset>(packed, kAxpbyThreads), kMostBlocks);
  launch(name, kernel, {.blocks = blocks, .threads = kAxpbyThreads}, stream, arguments);
}

}  // namespace

template <Value V>
void take_lines(DeviceSpan<const std::type_identity_t<V>> from,
                DeviceSpan<const std::int32_t> lines, DeviceSpan<V> packed, int count,
                Stream& stream) {
  launch_lines<V>("take_lines_kernel", take_lines_kernel<DeviceValue<V>>, from.data(),
                  packed.data(), packed.size(), lines, count, stream);
}
template <Value V>
void put_lines(DeviceSpan<const std::type_identity_t<V>> packed,
               DeviceSpan<const std::int32_t> lines, DeviceSpan<V> to, int count, Stream& stream) {
  launch_lines<V>("put_lines_kernel", put_lines_kernel<DeviceValue<V>>, packed.data(), to.data(),
                  packed.size(), lines, count, stream);
}
template <Value V>
void add_lines(DeviceSpan<const std::type_identity_t<V>> packed,
               DeviceSpan<const std::int32_t> lines, DeviceSpan<V> to, int count, Stream& stream) {
  launch_lines<V>("add_lines_kernel", add_lines_kernel<DeviceValue<V>>, packed.data(), to.data(),
                  packed.size(), lines, count, stream);
}

template <Value V>
DotProduct<V>::DotProduct() : partial_sums_(kDotBlocks), sum_(1) {}

template <Value V>
V DotProduct<V>::operator()(DeviceSpan<const V> x, DeviceSpan<const V> y, Stream& stream) {
  using T = DeviceValue<V>;
  require_same_length(x.size(), y.size());
  auto* partial_sums = reinterpret_cast<T*>(partial_sums_.data());
  launch_dot<T>({reinterpret_cast<const T*>(x.data()), reinterpret_cast<const T*>(y.data()),
                 y.size(), partial_sums},
                kDotBlocks, stream);
  launch_dot<T>({nullptr, partial_sums, kDotBlocks, reinterpret_cast<T*>(sum_.data())}, 1, stream);
  return to_host(sum_.span(), stream)[0];
}

#define STRATA_INSTANTIATE(V, unused)                                                              \
  template void axpby(V, DeviceSpan<const V>, V, DeviceSpan<V>, Stream&);                          \
  template void weighted_sum(std::span<const Summand<V>>, bool, DeviceSpan<V>, Stream&);           \
  template void take_lines(DeviceSpan<const V>, DeviceSpan<const std::int32_t>, DeviceSpan<V>,     \
                           int, Stream&);                                                          \
  template void put_lines(DeviceSpan<const V>, DeviceSpan<const std::int32_t>, DeviceSpan<V>, int, \
                          Stream&);                                                                \
  template void add_lines(DeviceSpan<const V>, DeviceSpan<const std::int32_t>, DeviceSpan<V>, int, \
                          Stream&);                                                                \
  template class DotProduct<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu
