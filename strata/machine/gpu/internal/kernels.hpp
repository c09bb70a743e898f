// The kernels that are timed on a GPU. Each function puts one kernel into the stream.
#pragma once

#include "strata/device/array.hpp"

namespace strata::gpu::detail {

// Arrays have multiples of so many elements: what a block takes at a time.
inline constexpr Offset kTile = 2048;
inline constexpr Offset kTileBytes = kTile * Offset{sizeof(double)};

// Numbers in [1, 2) without a pattern: memory may be faster with zeros.
void fill_with_numbers(DeviceSpan<double> data, Stream& stream);

// BabelStream's kernels.
void babel_copy(DeviceSpan<const double> a, DeviceSpan<double> c, Stream& stream);
void babel_mul(double factor, DeviceSpan<const double> c, DeviceSpan<double> b, Stream& stream);
void babel_add(DeviceSpan<const double> a, DeviceSpan<const double> b, DeviceSpan<double> c,
               Stream& stream);
void babel_triad(double factor, DeviceSpan<const double> b, DeviceSpan<const double> c,
                 DeviceSpan<double> a, Stream& stream);
// The sums of all parts of a·b, one per element of `partial`.
void babel_dot(DeviceSpan<const double> a, DeviceSpan<const double> b, DeviceSpan<double> partial,
               Stream& stream);

// The threads of the next kernel that fill the current device.
Offset reading_threads();

// So many threads read the data again and again, past the first-level caches, at least `bytes` in
// all. Returns how many they read. `sink` is one element that keeps the reads alive.
Offset read_again_and_again(DeviceSpan<const double> data, Offset threads, Offset bytes,
                            DeviceSpan<unsigned> sink, Stream& stream);
// Reads the data once, with as many blocks as it has tiles.
void read_once(DeviceSpan<const double> data, DeviceSpan<unsigned> sink, Stream& stream);

void do_nothing(Stream& stream);

// Where flags lie apart enough that they share no cache line.
inline constexpr Offset kFlags = 128;

// One block per multiprocessor, which all meet `rounds` times. `flags` are kFlags zeros.
void meet(int rounds, DeviceSpan<unsigned> flags, Stream& stream);
// Two multiprocessors answer each other `trips` times. `flags` as above. Needs two of them.
void answer_each_other(int trips, DeviceSpan<unsigned> flags, Stream& stream);

}  // namespace strata::gpu::detail
