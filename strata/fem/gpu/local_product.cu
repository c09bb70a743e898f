#include "strata/fem/gpu/local_product.hpp"

#include "strata/base/checked.hpp"
#include "strata/device/internal/launch.hpp"
#include "strata/fem/gpu/internal/local_launch.hpp"

namespace strata::gpu {

namespace {

constexpr int kLocalThreads = 128;

template <int nodes, bool symmetric>
__global__ void __launch_bounds__(kLocalThreads)
    local_product_kernel(LocalProductArguments<double> arguments) {
  NativeThread thread;
  multiply_local<nodes, symmetric>(thread, arguments);
}

template <bool symmetric>
auto kernel_of(int degree) {
  switch (degree) {
    case 1: return local_product_kernel<4, symmetric>;
    case 2: return local_product_kernel<9, symmetric>;
    case 3: return local_product_kernel<16, symmetric>;
    default: return local_product_kernel<25, symmetric>;
  }
}

}  // namespace

namespace detail {

void launch_local_product(int degree, bool symmetric,
                          const LocalProductArguments<double>& arguments, Stream& stream) {
  const Offset blocks = ceil_div<Offset>(arguments.end - arguments.begin, kLocalThreads);
  launch("local_product_kernel", symmetric ? kernel_of<true>(degree) : kernel_of<false>(degree),
         {.blocks = blocks, .threads = kLocalThreads}, stream, arguments);
}

}  // namespace detail

}  // namespace strata::gpu
