#include "strata/formats/bcsr.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/base/function_ref.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/internal/collect.hpp"
#include "strata/formats/internal/validation.hpp"

namespace strata {

namespace {

// The options in the matrix' index type.
template <Index I>
struct BlockShape {
  I rows;
  I cols;

  explicit BlockShape(const BcsrOptions& options) {
    if (options.block_rows < 1 || options.block_cols < 1) {
      throw InvalidArgument(fmt::format("BCSR cannot have blocks of {} x {}", options.block_rows,
                                        options.block_cols));
    }
    rows = narrow<I>(options.block_rows, "the rows of a block");
    cols = narrow<I>(options.block_cols, "the columns of a block");
  }
};

template <Value V, Index I>
Footprint footprint_from(I block_rows, I block_cols, Offset block_row_count, Offset blocks,
                         Offset entries) {
  const Offset block_size = checked_multiply<Offset>(block_rows, block_cols, "a block's size");
  const Offset stored = checked_multiply(blocks, block_size, "the size of a BCSR matrix");
  return {.value_bytes = bytes_of<V>(stored),
          .index_bytes = bytes_of<I>(blocks) + bytes_of<Offset>(block_row_count + 1),
          .stored_entries = stored,
          .entries = entries};
}

// The rows of a block row that exist.
template <Index I>
RowRange<I> rows_of(I block_row, I block_rows, I rows) {
  const I begin = block_row * block_rows;
  return {begin, static_cast<I>(begin + std::min<I>(block_rows, rows - begin))};
}

// The block columns that rows touch. Keeps its memory from block row to block row.
template <Index I>
class BlockColumns {
 public:
  BlockColumns(const PatternView<I>& pattern, const BlockShape<I>& shape)
      : pattern_(pattern), shape_(shape) {}

  // Of the rows of one block row, increasing.
  std::span<const I> of(I block_row) {
    found_.clear();
    const RowRange<I> rows = rows_of(block_row, shape_.rows, pattern_.rows);
    for (I row = rows.begin; row < rows.end; ++row) add(pattern_.columns_of(row));
    return found_;
  }

 private:
  // Most rows touch the same ones as those before them, so that there is nothing to merge.
  void add(std::span<const I> columns) {
    row_.clear();
    I begin = 0;  // of the last one
    for (const I column : columns) {
      if (!row_.empty() && column - begin < shape_.cols) continue;
      row_.push_back(column / shape_.cols);
      begin = row_.back() * shape_.cols;
    }
    if (row_ == found_) return;
    merged_.clear();
    std::ranges::set_union(found_, row_, std::back_inserter(merged_));
    found_.swap(merged_);
  }

  PatternView<I> pattern_;
  BlockShape<I> shape_;
  std::vector<I> found_;
  std::vector<I> row_;
  std::vector<I> merged_;
};

// Visits all block rows with their block columns: visit(block_row, block_columns).
template <Index I>
void for_each_block_row(const PatternView<I>& pattern, const BlockShape<I>& shape,
                        std::type_identity_t<FunctionRef<void(I, std::span<const I>)>> visit) {
  parallel_dynamic(ceil_div(pattern.rows, shape.rows), 256, [&](Offset begin, Offset end) {
    BlockColumns<I> columns(pattern, shape);
    for (Offset block_row = begin; block_row < end; ++block_row) {
      visit(static_cast<I>(block_row), columns.of(static_cast<I>(block_row)));
    }
  });
}

template <Index I>
Array<Offset> block_row_offsets_of(const PatternView<I>& pattern, const BlockShape<I>& shape) {
  const Offset block_row_count = ceil_div(pattern.rows, shape.rows);
  Array<Offset> offsets(block_row_count + 1);
  offsets[block_row_count] = 0;
  for_each_block_row(pattern, shape, [&](I block_row, std::span<const I> block_columns) {
    offsets[block_row] = static_cast<Offset>(block_columns.size());
  });
  exclusive_scan(offsets);
  return offsets;
}

}  // namespace

template <Value V, Index I>
Bcsr<V, I>::Bcsr(I rows, I cols, I block_rows, I block_cols, Array<Offset> block_row_offsets,
                 Array<I> block_columns, Array<V> values)
    : rows_(rows),
      cols_(cols),
      block_rows_(block_rows),
      block_cols_(block_cols),
      block_row_offsets_(std::move(block_row_offsets)),
      block_columns_(std::move(block_columns)),
      values_(std::move(values)) {
  validate();
  nnz_ = count_nonzeros<V>(values_);
  presence_ = presence_of_nonzeros<V>(values_, nnz_);
}

template <Value V, Index I>
void Bcsr<V, I>::validate() const {
  require_shape(rows_, cols_);
  if (block_rows_ < 1 || block_cols_ < 1) {
    throw InvalidMatrix(fmt::format("blocks cannot be {} x {}", block_rows_, block_cols_));
  }
  const Offset block_row_count = ceil_div(rows_, block_rows_);
  require_offsets(kBlockRows, block_row_count, block_row_offsets_, block_columns_.size());
  require_increasing<I>(kBlockRows, ceil_div(cols_, block_cols_), block_row_offsets_,
                        block_columns_);
  require_size("values", values_.size(), footprint().stored_entries);
  parallel_for(block_row_count, [&](Offset block_row) {
    const Offset rows_inside = rows_ - block_row * block_rows_;
    for (Offset block = block_row_offsets_[block_row]; block < block_row_offsets_[block_row + 1];
         ++block) {
      const Offset cols_inside = cols_ - Offset{block_columns_[block]} * block_cols_;
      if (rows_inside >= block_rows_ && cols_inside >= block_cols_) continue;
      for (I row = 0; row < block_rows_; ++row) {
        for (I column = 0; column < block_cols_; ++column) {
          const bool inside = row < rows_inside && column < cols_inside;
          if (!inside && values_[position(block, row) + column] != V{}) {
            throw InvalidMatrix(
                fmt::format("block row {}: a value outside the matrix is not zero", block_row));
          }
        }
      }
    }
  });
}

template <Value V, Index I>
Footprint Bcsr<V, I>::footprint_of(const Csr<V, I>& matrix, const BcsrOptions& options) {
  const BlockShape<I> shape(options);
  const Array<Offset> offsets = block_row_offsets_of(matrix.pattern(), shape);
  return footprint_from<V>(shape.rows, shape.cols, static_cast<Offset>(offsets.size()) - 1,
                           offsets.back(), matrix.nnz());
}

template <Value V, Index I>
Bcsr<V, I> Bcsr<V, I>::from_csr(const Csr<V, I>& matrix, const BcsrOptions& options) {
  const BlockShape<I> shape(options);
  const PatternView<I> pattern = matrix.pattern();
  Bcsr bcsr;
  bcsr.rows_ = matrix.rows();
  bcsr.cols_ = matrix.cols();
  bcsr.block_rows_ = shape.rows;
  bcsr.block_cols_ = shape.cols;
  bcsr.nnz_ = matrix.nnz();
  bcsr.block_row_offsets_ = block_row_offsets_of(pattern, shape);
  const Footprint footprint = footprint_from<V>(
      shape.rows, shape.cols, static_cast<Offset>(bcsr.block_row_offsets_.size()) - 1,
      bcsr.block_row_offsets_.back(), matrix.nnz());
  require_fill(footprint, options.max_fill, "BCSR");

  bcsr.block_columns_.resize(bcsr.block_row_offsets_.back());
  bcsr.values_.resize(footprint.stored_entries);
  bcsr.presence_ = PresenceBits(footprint.stored_entries, matrix.nnz());
  const Offset block_size = Offset{shape.rows} * shape.cols;
  for_each_block_row(pattern, shape, [&](I block_row, std::span<const I> block_columns) {
    const Offset first = bcsr.block_row_offsets_[block_row];
    const auto block_count = static_cast<Offset>(block_columns.size());
    std::ranges::copy(block_columns, bcsr.block_columns_.begin() + first);
    std::fill(bcsr.values_.begin() + bcsr.position(first, 0),
              bcsr.values_.begin() + bcsr.position(first + block_count, 0), V{});
    const RowRange<I> rows = rows_of(block_row, shape.rows, matrix.rows());
    for (I row = rows.begin; row < rows.end; ++row) {
      // Of the block that the last entry was in: its number, its first column, and where the row
      // begins.
      Offset block = -1;
      I begin = 0;
      Offset place = bcsr.position(first, row) - block_size;
      for (Offset k = pattern.row_offsets[row]; k < pattern.row_offsets[row + 1]; ++k) {
        const I column = pattern.columns[k];
        while (block < 0 || column - begin >= shape.cols) {
          ++block;
          begin = block_columns[block] * shape.cols;
          place += block_size;
        }
        const Offset at = place + (column - begin);  // in this order, for columns may be huge
        bcsr.values_[at] = matrix.values()[k];
        bcsr.presence_.set(at);
      }
    }
  });
  return bcsr;
}

template <Value V, Index I>
Csr<V, I> Bcsr<V, I>::to_csr() const {
  return collect_rows<V, I>(rows_, cols_, [&](I row, RowEntries<V, I>& entries) {
    const I block_row = row / block_rows_;
    for (Offset block = block_row_offsets_[block_row]; block < block_row_offsets_[block_row + 1];
         ++block) {
      for (I column = 0; column < block_cols_; ++column) {
        const Offset k = position(block, row) + column;
        if (presence_.has(k)) {
          entries.add(block_columns_[block] * block_cols_ + column, values_[k]);
        }
      }
    }
    return row;
  });
}

template <Value V, Index I>
Footprint Bcsr<V, I>::footprint() const {
  return footprint_from<V>(block_rows_, block_cols_,
                           static_cast<Offset>(block_row_offsets_.size()) - 1, blocks(), nnz_);
}

#define STRATA_INSTANTIATE(V, I) template class Bcsr<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
