// Reading from any source of bytes, with any size of blocks: what files, tests and the fuzzer
// share.
#pragma once

#include <string>

#include "strata/io/internal/source.hpp"
#include "strata/io/matrix_market.hpp"

namespace strata::detail {

// Text that one thread parses at a time. Small enough to stay in its cache with the entries that
// come out of it, large enough to make the handing over cheap.
inline constexpr std::size_t kBlockBytes = std::size_t{1} << 18;

// `name` stands in front of errors.
MatrixMarketHeader read_header(ByteSource& source, const std::string& name,
                               std::size_t block_bytes = kBlockBytes);

template <Value V, Index I>
Csr<V, I> read_matrix(ByteSource& source, const std::string& name, const ReadOptions& options = {},
                      std::size_t block_bytes = kBlockBytes);

}  // namespace strata::detail
