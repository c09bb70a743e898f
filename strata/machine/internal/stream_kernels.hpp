// The loops that are timed, each on one thread's share. They are compiled apart from the code that
// times them, so that no compiler finds out that their results are not needed.
#pragma once

#include <span>

#include "strata/base/types.hpp"

namespace strata::detail {

// Lengths are multiples of this: as many sums are independent, so that additions never wait for
// each other and the loads are all there is to wait for.
inline constexpr Offset kLanes = 32;

// The sum of `data`, which is read `sweeps` times over.
double read_again_and_again(std::span<const double> data, Offset sweeps);

// STREAM (McCalpin, IEEE TCCA Newsletter, 1995) and the dot product.
void stream_copy(std::span<const double> a, std::span<double> c);                  // c = a
void stream_scale(double factor, std::span<const double> c, std::span<double> b);  // b = factor·c
void stream_add(std::span<const double> a, std::span<const double> b,
                std::span<double> c);  // c = a + b
void stream_triad(double factor, std::span<const double> b, std::span<const double> c,
                  std::span<double> a);  // a = b + factor·c
double stream_dot(std::span<const double> a, std::span<const double> b);

// a·b is added to each of kLanes sums, `rounds` times: needs no memory, and none waits for another.
double multiply_adds(double a, double b, Offset rounds);

}  // namespace strata::detail
