// Which product is the fastest for a matrix on a GPU: the search of strata/tune/product_search.hpp,
// with kernels on the device and by its clock. The sample is larger than the L2 cache: how long a
// kernel waits for memory depends on how much it has in flight, which a sample in the cache does
// not show. Where fewer bytes fit after all, what they take from memory is the other part of a
// prediction.
//
//   strata::gpu::Stream stream;
//   const auto A = strata::generate<double, std::int32_t>("stencil27:100x100x100,dof=3");
//   const auto& profile = strata::gpu::cached_gpu_profile().profile;
//   const auto found = strata::gpu::search_products(A, profile, {}, stream);
//   label_of(found.best().spec);   // "packed SELL-32"
#pragma once

#include <vector>

#include "strata/device/stream.hpp"
#include "strata/machine/gpu/profile.hpp"
#include "strata/tune/product_search.hpp"

namespace strata::gpu {

// On the device of the stream, which the profile is of. What does not fit into the memory of the
// device beside the others takes no part. Throws InvalidArgument for options that make no sense,
// DeviceOutOfMemory if the vectors do not fit, and DeviceError if the device fails.
template <Value V, Index I>
ProductSearch search_products(const Csr<V, I>& matrix, const GpuProfile& profile,
                              const SearchOptions& options, Stream& stream);

// The candidates by what they should take, the best first, those that refuse the matrix last.
// Nothing is stored whole. Throws as search_products does.
template <Value V, Index I>
std::vector<SearchedProduct> rank_products(const Csr<V, I>& matrix, const GpuProfile& profile,
                                           const SearchOptions& options, Stream& stream);

// Of a sample: two and a half times what the L2 cache holds in a format that stores row, column and
// value of each, but neither fewer than fill a device nor so many that they take long to convert.
Offset sample_entries(const GpuProfile& profile, Offset value_bytes);

}  // namespace strata::gpu
