// RowBlock: some rows of a matrix that is not stored as a whole. Its memory is kept from block to
// block.
#pragma once

#include "strata/base/array.hpp"
#include "strata/base/function_ref.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/pattern.hpp"

namespace strata {

template <Value V, Index I>
struct RowBlock {
  Array<Offset> row_offsets = {};  // from 0 on
  Array<I> columns = {};           // increasing within a row
  Array<V> values = {};            // none unless they are needed
  bool needs_values = true;

  PatternView<I> pattern(I cols) const {
    return {static_cast<I>(row_offsets.size() - 1), cols, row_offsets, columns};
  }
};

// Makes these rows; called from several threads, each with a block of its own.
template <Value V, Index I>
using ReadRows = FunctionRef<void(RowRange<I> rows, RowBlock<V, I>& block)>;

}  // namespace strata
