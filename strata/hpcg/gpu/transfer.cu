#include "strata/hpcg/gpu/transfer.hpp"

#include "strata/base/checked.hpp"
#include "strata/device/internal/launch.hpp"
#include "strata/hpcg/gpu/internal/transfer_launch.hpp"

namespace strata::gpu {

namespace {

constexpr int kTransferThreads = 256;

__global__ void gather_kernel(GatherArguments<double> arguments) {
  NativeThread thread;
  gather(thread, arguments);
}

__global__ void add_at_kernel(AddAtArguments<double> arguments) {
  NativeThread thread;
  add_at(thread, arguments);
}

}  // namespace

namespace detail {

void launch_gather(const GatherArguments<double>& arguments, Stream& stream) {
  launch(
      "gather_kernel", gather_kernel,
      {.blocks = ceil_div<Offset>(arguments.count, kTransferThreads), .threads = kTransferThreads},
      stream, arguments);
}

void launch_add_at(const AddAtArguments<double>& arguments, Stream& stream) {
  launch(
      "add_at_kernel", add_at_kernel,
      {.blocks = ceil_div<Offset>(arguments.count, kTransferThreads), .threads = kTransferThreads},
      stream, arguments);
}

}  // namespace detail

}  // namespace strata::gpu
