#include "strata/machine/internal/stream_kernels.hpp"

#include "strata/kernels/cpu/internal/kernel_table.hpp"

namespace strata::detail {

namespace {

static_assert(kLanes % cpu::kStreamSums == 0);

Offset length_of(std::span<const double> data) {
  return static_cast<Offset>(data.size());
}

const cpu::StreamKernels& stream() {
  return *cpu::kernels().stream;
}

}  // namespace

double read_again_and_again(std::span<const double> data, Offset sweeps) {
  return stream().read(data.data(), length_of(data), sweeps);
}

void stream_copy(std::span<const double> a, std::span<double> c) {
  stream().copy(a.data(), c.data(), length_of(a));
}

void stream_scale(double factor, std::span<const double> c, std::span<double> b) {
  stream().scale(factor, c.data(), b.data(), length_of(c));
}

void stream_add(std::span<const double> a, std::span<const double> b, std::span<double> c) {
  stream().add(a.data(), b.data(), c.data(), length_of(a));
}

void stream_triad(double factor, std::span<const double> b, std::span<const double> c,
                  std::span<double> a) {
  stream().triad(factor, b.data(), c.data(), a.data(), length_of(b));
}

double stream_dot(std::span<const double> a, std::span<const double> b) {
  return stream().dot(a.data(), b.data(), length_of(a));
}

double multiply_adds(double a, double b, Offset rounds) {
  static_assert(kLanes == cpu::kStreamSums);
  return stream().multiply_adds(a, b, rounds);
}

}  // namespace strata::detail
