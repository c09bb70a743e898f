// Kernels that move data. A thread has several 16-byte accesses in flight before it uses the first:
// so many are needed to saturate memory.

#include <string>

#include "strata/base/checked.hpp"
#include "strata/base/random.hpp"
#include "strata/device/internal/launch.hpp"
#include "strata/machine/gpu/internal/kernels.hpp"
#include "strata/machine/gpu/internal/signals.hpp"

namespace strata::gpu::detail {

namespace {

constexpr int kThreads = 256;
constexpr int kPairs = 4;  // of a thread in a tile
static_assert(kTile == 2 * kThreads * kPairs);
constexpr int kInFlight = 8;  // loads of a thread that reads again and again

const Pair* pairs_of(DeviceSpan<const double> data) {
  return reinterpret_cast<const Pair*>(data.data());
}

// Blocks for the whole array, one tile each.
LaunchShape tiles_of(Offset elements) {
  if (elements % kTile != 0) {
    throw InvalidArgument(std::to_string(elements) + " elements are not a whole number of tiles");
  }
  return {.blocks = elements / kTile, .threads = kThreads};
}

__device__ Offset first_pair() {
  return Offset{blockIdx.x} * (kThreads * kPairs) + threadIdx.x;
}

// All bits of all numbers count, at the price of a few integer instructions: additions of doubles
// are slow on GPUs that are not made for computing.
__device__ unsigned bits_of(Pair pair) {
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(pair.first) ^
                                                    __double_as_longlong(pair.second));
  return static_cast<unsigned>(bits) ^ static_cast<unsigned>(bits >> 32);
}

// This is hardly ever true, but the compiler cannot know that.
__device__ void keep(unsigned bits, unsigned* sink) {
  if (bits == 0xdeadbeefU) *sink = bits;
}

__global__ void fill_kernel(double* data) {
  const Offset begin = Offset{blockIdx.x} * kTile;
  for (Offset i = begin + threadIdx.x; i < begin + kTile; i += kThreads) {
    data[i] = 1.0 + static_cast<double>(mix_bits(static_cast<std::uint64_t>(i)) >> 11) * 0x1p-53;
  }
}

struct Copy {
  __device__ double operator()(double x, double) const { return x; }
};
struct Scale {
  double factor;
  __device__ double operator()(double x, double) const { return factor * x; }
};
struct Add {
  __device__ double operator()(double x, double y) const { return x + y; }
};
struct Triad {
  double factor;
  __device__ double operator()(double x, double y) const { return x + factor * y; }
};

// out = operation(x) or operation(x, y), element by element.
template <bool two_inputs, class Operation>
__global__ void elementwise_kernel(Operation operation, const Pair* x, const Pair* y, Pair* out) {
  const Offset begin = first_pair();
  Pair from_x[kPairs];
  Pair from_y[kPairs];
#pragma unroll
  for (int i = 0; i < kPairs; ++i) {
    from_x[i] = x[begin + i * kThreads];
    from_y[i] = two_inputs ? y[begin + i * kThreads] : Pair{};
  }
#pragma unroll
  for (int i = 0; i < kPairs; ++i) {
    out[begin + i * kThreads] = {operation(from_x[i].first, from_y[i].first),
                                 operation(from_x[i].second, from_y[i].second)};
  }
}

template <bool two_inputs, class Operation>
void launch_elementwise(std::string_view name, Operation operation, DeviceSpan<const double> x,
                        DeviceSpan<const double> y, DeviceSpan<double> out, Stream& stream) {
  require_same_size(x.size(), out.size());
  if (two_inputs) require_same_size(y.size(), out.size());
  launch(name, elementwise_kernel<two_inputs, Operation>, tiles_of(out.size()), stream, operation,
         pairs_of(x), pairs_of(y), reinterpret_cast<Pair*>(out.data()));
}

__global__ void dot_kernel(const Pair* a, const Pair* b, Offset tiles, double* partial) {
  __shared__ double sums[kThreads];
  double sum = 0;
  for (Offset tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const Offset begin = tile * (kThreads * kPairs) + threadIdx.x;
    Pair from_a[kPairs];
    Pair from_b[kPairs];
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      from_a[i] = a[begin + i * kThreads];
      from_b[i] = b[begin + i * kThreads];
    }
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      sum += from_a[i].first * from_b[i].first + from_a[i].second * from_b[i].second;
    }
  }
  sums[threadIdx.x] = sum;
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}

// The grid reads at consecutive places, wherever it is, and begins again at the end of the data:
// place = thread + turn·step, modulo the length. A step of 0 would let every thread read one place
// for ever, from a register.
__global__ void __launch_bounds__(kThreads)
    read_again_kernel(const Pair* data, unsigned pairs, Offset turns, unsigned* sink) {
  const unsigned threads = gridDim.x * kThreads;
  const unsigned remainder = threads % pairs;
  const unsigned step = remainder == 0 ? kThreads : remainder;
  unsigned place = (blockIdx.x * kThreads + threadIdx.x) % pairs;
  unsigned bits = 0;
  for (Offset turn = 0; turn < turns; turn += kInFlight) {
    Pair loaded[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      loaded[i] = load_from_l2(data + place);
      place += step;
      if (place >= pairs) place -= pairs;
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) bits += bits_of(loaded[i]);
  }
  keep(bits, sink);
}

__global__ void read_once_kernel(const Pair* data, unsigned* sink) {
  const Offset begin = first_pair();
  Pair loaded[kPairs];
#pragma unroll
  for (int i = 0; i < kPairs; ++i) loaded[i] = data[begin + i * kThreads];
  unsigned bits = 0;
#pragma unroll
  for (int i = 0; i < kPairs; ++i) bits += bits_of(loaded[i]);
  keep(bits, sink);
}

}  // namespace

void fill_with_numbers(DeviceSpan<double> data, Stream& stream) {
  launch("fill_kernel", fill_kernel, tiles_of(data.size()), stream, data.data());
}

void babel_copy(DeviceSpan<const double> a, DeviceSpan<double> c, Stream& stream) {
  launch_elementwise<false>("babel_copy", Copy{}, a, {}, c, stream);
}

void babel_mul(double factor, DeviceSpan<const double> c, DeviceSpan<double> b, Stream& stream) {
  launch_elementwise<false>("babel_mul", Scale{factor}, c, {}, b, stream);
}

void babel_add(DeviceSpan<const double> a, DeviceSpan<const double> b, DeviceSpan<double> c,
               Stream& stream) {
  launch_elementwise<true>("babel_add", Add{}, a, b, c, stream);
}

void babel_triad(double factor, DeviceSpan<const double> b, DeviceSpan<const double> c,
                 DeviceSpan<double> a, Stream& stream) {
  launch_elementwise<true>("babel_triad", Triad{factor}, b, c, a, stream);
}

void babel_dot(DeviceSpan<const double> a, DeviceSpan<const double> b, DeviceSpan<double> partial,
               Stream& stream) {
  require_same_size(a.size(), b.size());
  const Offset tiles = tiles_of(a.size()).blocks;
  launch("babel_dot", dot_kernel, {.blocks = partial.size(), .threads = kThreads}, stream,
         pairs_of(a), pairs_of(b), tiles, partial.data());
}

Offset reading_threads() {
  return Offset{kThreads} * resident_blocks("read_again_kernel", read_again_kernel, kThreads);
}

Offset read_again_and_again(DeviceSpan<const double> data, Offset threads, Offset bytes,
                            DeviceSpan<unsigned> sink, Stream& stream) {
  constexpr Offset kPairBytes = sizeof(Pair);
  const Offset pairs = data.bytes() / kPairBytes;
  // Places and steps must add up in 32 bits.
  if (pairs < kThreads || pairs > Offset{1} << 31) {
    throw InvalidArgument("a working set of " + std::to_string(data.bytes()) + " bytes");
  }
  const Offset turns = ceil_div(ceil_div(bytes, threads * kPairBytes), kInFlight) * kInFlight;
  launch("read_again_kernel", read_again_kernel,
         {.blocks = threads / kThreads, .threads = kThreads}, stream, pairs_of(data),
         narrow<unsigned>(pairs, "a working set"), turns, sink.data());
  return threads * turns * kPairBytes;
}

void read_once(DeviceSpan<const double> data, DeviceSpan<unsigned> sink, Stream& stream) {
  launch("read_once_kernel", read_once_kernel, tiles_of(data.size()), stream, pairs_of(data),
         sink.data());
}

}  // namespace strata::gpu::detail
