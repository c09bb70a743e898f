#include "strata/formats/blocked_coo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/internal/collect.hpp"

namespace strata {

namespace {

void require_size_of_blocks(Offset rows, Offset cols) {
  if (kTwoBytes.contain(rows) && kTwoBytes.contain(cols)) return;
  throw InvalidArgument(
      fmt::format("blocks have {} rows and columns, not {} and {}", kTwoBytes.text, rows, cols));
}

// visit(block across, begin, end) for the entries begin … end−1 that the row has in each block.
template <Value V, Index I, class Visit>
void for_each_piece_of_row(const Csr<V, I>& matrix, Offset block_cols, Offset row,
                           const Visit& visit) {
  const Offset end = matrix.row_offsets()[row + 1];
  for (Offset k = matrix.row_offsets()[row]; k < end;) {
    const Offset block = matrix.columns()[k] / block_cols;
    const Offset bound = (block + 1) * block_cols;
    const Offset begin = k;
    while (k < end && matrix.columns()[k] < bound) ++k;
    visit(block, begin, k);
  }
}

// visit(block down, rows) for each row of blocks, on all threads.
template <Value V, Index I, class Visit>
void for_each_row_of_blocks(const Csr<V, I>& matrix, Offset block_rows, const Visit& visit) {
  const Offset blocks = ceil_div<Offset>(matrix.rows(), block_rows);
  parallel_dynamic(blocks, 1, [&](Offset begin, Offset end) {
    for (Offset block = begin; block < end; ++block) {
      visit(block,
            Chunk{block * block_rows, std::min<Offset>((block + 1) * block_rows, matrix.rows())});
    }
  });
}

template <Value V>
Footprint footprint_from(Offset blocks, Offset entries) {
  constexpr std::string_view what = "the size of a matrix in blocks";
  return {.value_bytes = bytes_of<V>(entries),
          .index_bytes = checked_add(bytes_of<std::uint32_t>(entries),
                                     bytes_of<Offset>(checked_add(blocks, 1, what)), what),
          .stored_entries = entries,
          .entries = entries};
}

template <Index I>
Offset count_blocks(I rows, I cols, const BlockedCooOptions& options) {
  return checked_multiply(ceil_div<Offset>(rows, options.block_rows),
                          ceil_div<Offset>(cols, options.block_cols), "the number of blocks");
}

}  // namespace

template <Value V, Index I>
Footprint BlockedCoo<V, I>::footprint_of(const Csr<V, I>& matrix,
                                         const BlockedCooOptions& options) {
  require_size_of_blocks(options.block_rows, options.block_cols);
  return footprint_from<V>(count_blocks(matrix.rows(), matrix.cols(), options), matrix.nnz());
}

template <Value V, Index I>
BlockedCoo<V, I> BlockedCoo<V, I>::from_csr(const Csr<V, I>& matrix,
                                            const BlockedCooOptions& options) {
  require_size_of_blocks(options.block_rows, options.block_cols);
  BlockedCoo blocked;
  blocked.rows_ = matrix.rows();
  blocked.cols_ = matrix.cols();
  blocked.block_rows_ = options.block_rows;
  blocked.block_cols_ = options.block_cols;
  const Offset across = blocked.blocks_across();
  blocked.block_offsets_.assign(count_blocks(matrix.rows(), matrix.cols(), options) + 1, 0);
  blocked.row_indices_.resize(matrix.nnz());
  blocked.column_indices_.resize(matrix.nnz());
  blocked.values_.resize(matrix.nnz());
  for_each_row_of_blocks(matrix, options.block_rows, [&](Offset down, const Chunk& rows) {
    std::vector<Offset> next(static_cast<std::size_t>(across), 0);
    for (Offset row = rows.begin; row < rows.end; ++row) {
      for_each_piece_of_row(
          matrix, options.block_cols, row,
          [&](Offset block, Offset begin, Offset end) { next[block] += end - begin; });
    }
    // Entries of earlier rows of blocks come before those of this one, as in CSR.
    Offset place = matrix.row_offsets()[rows.begin];
    for (Offset block = 0; block < across; ++block) {
      blocked.block_offsets_[down * across + block] = place;
      place += std::exchange(next[block], place);
    }
    for (Offset row = rows.begin; row < rows.end; ++row) {
      for_each_piece_of_row(
          matrix, options.block_cols, row, [&](Offset block, Offset begin, Offset end) {
            for (Offset k = begin; k < end; ++k) {
              const Offset to = next[block]++;
              blocked.row_indices_[to] = static_cast<std::uint16_t>(row - rows.begin);
              blocked.column_indices_[to] =
                  static_cast<std::uint16_t>(matrix.columns()[k] - block * options.block_cols);
              blocked.values_[to] = matrix.values()[k];
            }
          });
    }
  });
  blocked.block_offsets_.back() = matrix.nnz();
  return blocked;
}

template <Value V, Index I>
Csr<V, I> BlockedCoo<V, I>::to_csr() const {
  return collect_rows<V, I>(rows_, cols_, [&](I row, RowEntries<V, I>& entries) {
    const Offset down = row / block_rows_;
    const auto inside = static_cast<std::uint16_t>(row - down * block_rows_);
    for (Offset block = 0; block < blocks_across(); ++block) {
      const Offset number = down * blocks_across() + block;
      const auto [first, last] =
          std::equal_range(row_indices_.begin() + block_offsets_[number],
                           row_indices_.begin() + block_offsets_[number + 1], inside);
      for (Offset k = first - row_indices_.begin(); k < last - row_indices_.begin(); ++k) {
        entries.add(static_cast<I>(block * block_cols_ + column_indices_[k]), values_[k]);
      }
    }
    return row;
  });
}

template <Value V, Index I>
Footprint BlockedCoo<V, I>::footprint() const {
  return footprint_from<V>(std::ssize(block_offsets_) - 1, nnz());
}

#define STRATA_INSTANTIATE(V, I) template class BlockedCoo<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
