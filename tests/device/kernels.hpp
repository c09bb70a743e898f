// Small kernels for the tests of the device layer.
#pragma once

#include "strata/device/array.hpp"

namespace strata::test {

// data[i] += summand
void add_to_all(gpu::DeviceSpan<int> data, int summand, gpu::Stream& stream);

// Every block adds its number to the sum of all, waits for the others, and writes the sum it sees
// then to results[block]. `state` is two zeros.
void sum_across_blocks(gpu::DeviceSpan<int> results, gpu::DeviceSpan<int> state,
                       gpu::Stream& stream);
// How many blocks of that kernel fit.
int blocks_that_fit();

// results[block] = sum of 0 … elements − 1, taken from the block's shared memory.
void sum_in_shared_memory(gpu::DeviceSpan<double> results, int elements, gpu::Stream& stream);

// Writes where no memory is.
void write_to_nowhere(gpu::Stream& stream);

// Which architecture the code of these kernels is for.
int architecture_of_code();
// The same of a kernel that was compiled for an old one, and that kernel: it has no code that would
// set `done`. With CUDA alone.
int architecture_of_old_code();
void run_old_code(gpu::DeviceSpan<int> done, gpu::Stream& stream);

}  // namespace strata::test
