// Reading part of a file with any size of blocks, for tests.
#pragma once

#include "strata/io/internal/read.hpp"
#include "strata/io/matrix_market_part.hpp"

namespace strata::detail {

template <Value V, Index I>
MatrixPart<V, I> read_part(const std::filesystem::path& path, int part, int parts,
                           const ReadOptions& options, std::size_t block_bytes = kBlockBytes);

}  // namespace strata::detail
