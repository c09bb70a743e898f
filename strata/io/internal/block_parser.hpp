// Turns one block of lines into entries. Each thread has a parser of its own.
#pragma once

#include <span>

#include "strata/io/internal/body.hpp"

namespace strata::detail {

template <Value V, Index I>
class BlockParser {
 public:
  // Borrows the header, whose sizes fit I.
  explicit BlockParser(const MatrixMarketHeader& header);

  // The text consists of whole lines. Stops at the first line that is wrong.
  EntryBlock<V, I> parse(std::span<const char> text);

 private:
  void parse_lines(std::span<const char> text, EntryBlock<V, I>& block);
  const char* parse_entry(const char* cursor, const char* end);
  V parse_value(const char*& cursor, const char* end) const;
  void require_symmetry(I row, I column, V value) const;
  void skip_line(EntryBlock<V, I>& block) const;

  const MatrixMarketHeader& header_;
  I rows_;
  I cols_;
  bool coordinates_;
  bool vector_;
  // Room for as many entries as the text can hold, filled up to count_.
  Array<I> row_indices_;
  Array<I> column_indices_;
  Array<V> values_;
  Offset count_ = 0;
};

// Lines of a text of whole lines, and those of them that hold an entry or something wrong.
struct LineCounts {
  Offset lines = 0;
  Offset entries = 0;
};
LineCounts count_lines(std::span<const char> text);

}  // namespace strata::detail
