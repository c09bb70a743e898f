// Writing to anything that takes bytes: what files and the fuzzer share.
#pragma once

#include <functional>
#include <span>

#include "strata/io/matrix_market.hpp"

namespace strata::detail {

// Called with one piece of the file after the other, from the calling thread.
using ByteSink = std::function<void(std::span<const char> bytes)>;

template <Value V, Index I>
void write_matrix(const ByteSink& sink, const Csr<V, I>& matrix, const WriteOptions& options,
                  bool compress);

}  // namespace strata::detail
