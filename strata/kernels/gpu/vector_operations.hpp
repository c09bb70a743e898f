// Operations on vectors in device memory: what iterative methods need besides products, and what
// ranks do to send some elements of a vector.
//
//   DotProduct<double> dot;
//   const double length = std::sqrt(dot(r.span(), r.span(), stream));
//   axpby(alpha, p.span(), 1.0, x.span(), stream);   // x = x + αp
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "strata/base/types.hpp"
#include "strata/device/array.hpp"
#include "strata/device/stream.hpp"

namespace strata::gpu {

// y = αx + βy, in the order of the stream; the old y is not read where β is 0. x may be y. Throws
// InvalidArgument for vectors of different lengths.
template <Value V>
void axpby(std::type_identity_t<V> alpha, DeviceSpan<const std::type_identity_t<V>> x,
           std::type_identity_t<V> beta, DeviceSpan<V> y, Stream& stream);

// target = Σ weights · vectors, of one to seven vectors, or that much more where `adds` says so, in
// the order of the stream. Throws InvalidArgument for vectors of different lengths, or more.
template <Value V>
struct Summand {
  V weight{};
  DeviceSpan<const V> vector;
};
template <Value V>
void weighted_sum(std::span<const Summand<V>> summands, bool adds, DeviceSpan<V> target,
                  Stream& stream);

// Some lines of interleaved vectors, `count` elements each, in the order of the stream: taken from
// where they are (packed line i is line lines[i]), put there, or added to what is there. Lines that
// are put or added to are all different. Throws InvalidArgument unless there are as many packed
// lines as numbers; that these are lines of the other vector is for the caller to know.
template <Value V>
void take_lines(DeviceSpan<const std::type_identity_t<V>> from,
                DeviceSpan<const std::int32_t> lines, DeviceSpan<V> packed, int count,
                Stream& stream);
template <Value V>
void put_lines(DeviceSpan<const std::type_identity_t<V>> packed,
               DeviceSpan<const std::int32_t> lines, DeviceSpan<V> to, int count, Stream& stream);
template <Value V>
void add_lines(DeviceSpan<const std::type_identity_t<V>> packed,
               DeviceSpan<const std::int32_t> lines, DeviceSpan<V> to, int count, Stream& stream);

// Σ conj(x_i) y_i, added up in an order that depends on the length alone: the same bits in every
// run and on every device. Holds the memory for one dot product at a time.
template <Value V>
class DotProduct {
 public:
  DotProduct();
  // Waits for the stream. Throws InvalidArgument for vectors of different lengths.
  V operator()(DeviceSpan<const V> x, DeviceSpan<const V> y, Stream& stream);

 private:
  DeviceArray<V> partial_sums_;
  DeviceArray<V> sum_;
};

}  // namespace strata::gpu
