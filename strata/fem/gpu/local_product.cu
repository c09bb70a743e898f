#include "strata/fem/gpu/local_product.hpp"

#include "strata/base/checked.hpp"
#include "strata/device/internal/launch.hpp"
#include "strata/fem/gpu/internal/local_launch.hpp"

namespace strata::gpu {

namespace {

constexpr int kLocalThreads = 128;

template <int nodes, bool symmetric, class T>
__global__ void __launch_bounds__(kLocalThreads)
    local_product_kernel(LocalProductArguments<T> arguments) {
  NativeThread thread;
  multiply_local<nodes, symmetric>(thread, arguments);
}

template <bool symmetric, class T>
auto kernel_of(int degree) {
  switch (degree) {
    case 1: return local_product_kernel<4, symmetric, T>;
    case 2: return local_product_kernel<9, symmetric, T>;
    case 3: return local_product_kernel<16, symmetric, T>;
    default: return local_product_kernel<25, symmetric, T>;
  }
}

}  // namespace

namespace detail {

template <class T>
void launch_local_product(int degree, bool symmetric, const LocalProductArguments<T>& arguments,
                          Stream& stream) {
  const Offset blocks = ceil_div<Offset>(arguments.end - arguments.begin, kLocalThreads);
  launch("local_product_kernel",
         symmetric ? kernel_of<true, T>(degree) : kernel_of<false, T>(degree),
         {.blocks = blocks, .threads = kLocalThreads}, stream, arguments);
}

template void launch_local_product(int, bool, const LocalProductArguments<double>&, Stream&);
template void launch_local_product(int, bool, const LocalProductArguments<float>&, Stream&);

}  // namespace detail

}  // namespace strata::gpu
