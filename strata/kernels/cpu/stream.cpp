// The loops by which a machine is measured, as fast as its memory lets them be.
#include "strata/kernels/cpu/internal/level_functions.hpp"

namespace strata::cpu::STRATA_CPU_LEVEL {

namespace {

double total(const double (&sums)[kStreamSums]) {
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

double read(const double* data, Offset length, Offset sweeps) {
  double sums[kStreamSums] = {};
  for (Offset sweep = 0; sweep < sweeps; ++sweep) {
    for (Offset i = 0; i < length; i += kStreamSums) {
      for (int lane = 0; lane < kStreamSums; ++lane) sums[lane] += data[i + lane];
    }
  }
  return total(sums);
}

void copy(const double* a, double* c, Offset length) {
  for (Offset i = 0; i < length; ++i) c[i] = a[i];
}

void scale(double factor, const double* c, double* b, Offset length) {
  for (Offset i = 0; i < length; ++i) b[i] = factor * c[i];
}

void add(const double* a, const double* b, double* c, Offset length) {
  for (Offset i = 0; i < length; ++i) c[i] = a[i] + b[i];
}

void triad(double factor, const double* b, const double* c, double* a, Offset length) {
  for (Offset i = 0; i < length; ++i) a[i] = b[i] + factor * c[i];
}

double dot(const double* a, const double* b, Offset length) {
  double sums[kStreamSums] = {};
  for (Offset i = 0; i < length; i += kStreamSums) {
    for (int lane = 0; lane < kStreamSums; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  return total(sums);
}

double multiply_adds(double a, double b, Offset rounds) {
  double sums[kStreamSums] = {};
  for (Offset round = 0; round < rounds; ++round) {
    for (double& sum : sums) sum = multiply_add(a, b, sum);
  }
  return total(sums);
}

}  // namespace

constinit const StreamKernels stream_kernels{read, copy, scale, add, triad, dot, multiply_adds};

}  // namespace strata::cpu::STRATA_CPU_LEVEL
