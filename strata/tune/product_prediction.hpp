// What a product should take, from the time of its kernel on a sample of the rows and from its
// bytes, and why a measured time differs from that.
//
// A core loads ahead while it computes: the longer one of the kernel's and the memory's time hides
// the other, but the less the closer they are,
//   T = (T_kernel⁴ + T_memory⁴)^¼,
// which is between the two assumptions of the ECM model, that everything overlaps (the longer one)
// and that nothing does (the sum). The exponent is what fits the products of
// docs/results/products.md.
//   J. Treibig, G. Hager, Introducing a performance model for bandwidth-limited loop kernels,
//   PPAM 2009
#pragma once

#include <string>

#include "strata/base/types.hpp"
#include "strata/formats/statistics.hpp"
#include "strata/kernels/product_spec.hpp"

namespace strata {

struct PredictedTime {
  double kernel_seconds = 0;  // of all rows, with a matrix in cache
  // Of all bytes at the bandwidth of where they are; 0 where the kernel was timed with them there.
  double memory_seconds = 0;

  double seconds() const;
};

// What was found of a sample with so many entries: the time of a kernel, or bytes.
struct SampleFigure {
  Offset entries = 0;
  double figure = 0;
};
// The figure of so many entries, if every further one adds the same: what does not grow, such as
// the start of threads or the offsets of all columns, counts once. Throws InvalidArgument unless
// the small sample has fewer entries than the large one.
double extrapolated(const SampleFigure& small, const SampleFigure& large, Offset entries);

// Whether the format stores values by what they are: how many bytes that takes depends on all of
// them, so that a sample says little.
bool encodes_values(const FormatSpec& format);

// A prediction that is off by more is a miss.
inline constexpr double kMissShare = 0.15;

struct MeasuredProduct {
  ProductSpec spec;
  PredictedTime predicted;
  double predicted_bytes = 0;  // of the matrix
  double seconds = 0;
  double bytes = 0;
  int threads = 1;  // of a processor; multiprocessors of a GPU
  KernelTarget target = KernelTarget::processor;
};
// Why the time is not as predicted; empty where it is, within kMissShare. What the model leaves out
// and the product has: lines of x that a sample shares less or more, entries of one thread that
// others wait for, results that are written all over y, more streams than hardware follows.
std::string cause_of_miss(const MeasuredProduct& product, const MatrixStatistics& matrix);

}  // namespace strata
