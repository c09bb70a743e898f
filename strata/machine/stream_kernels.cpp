#include "strata/machine/internal/stream_kernels.hpp"

#include <numeric>

namespace strata::detail {

namespace {

Offset length_of(std::span<const double> data) {
  return static_cast<Offset>(data.size());
}

}  // namespace

double read_again_and_again(std::span<const double> data, Offset sweeps) {
  double sums[kLanes] = {};
  for (Offset sweep = 0; sweep < sweeps; ++sweep) {
    for (Offset i = 0; i < length_of(data); i += kLanes) {
      for (Offset lane = 0; lane < kLanes; ++lane) sums[lane] += data[i + lane];
    }
  }
  return std::accumulate(sums, sums + kLanes, 0.0);
}

void stream_copy(std::span<const double> a, std::span<double> c) {
  for (Offset i = 0; i < length_of(a); ++i) c[i] = a[i];
}

void stream_scale(double factor, std::span<const double> c, std::span<double> b) {
  for (Offset i = 0; i < length_of(c); ++i) b[i] = factor * c[i];
}

void stream_add(std::span<const double> a, std::span<const double> b, std::span<double> c) {
  for (Offset i = 0; i < length_of(a); ++i) c[i] = a[i] + b[i];
}

void stream_triad(double factor, std::span<const double> b, std::span<const double> c,
                  std::span<double> a) {
  for (Offset i = 0; i < length_of(b); ++i) a[i] = b[i] + factor * c[i];
}

double stream_dot(std::span<const double> a, std::span<const double> b) {
  double sums[kLanes] = {};
  for (Offset i = 0; i < length_of(a); i += kLanes) {
    for (Offset lane = 0; lane < kLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  return std::accumulate(sums, sums + kLanes, 0.0);
}

}  // namespace strata::detail
