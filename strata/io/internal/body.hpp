// The entries of a Matrix Market file, parsed by all threads in blocks of lines.
#pragma once

#include <deque>
#include <exception>
#include <string>
#include <vector>

#include "strata/base/array.hpp"
#include "strata/io/internal/header.hpp"
#include "strata/io/internal/line_blocks.hpp"

namespace strata::detail {

// What one block of lines says. Blocks have the length of their entries exactly: together they are
// most of the memory that reading needs besides the matrix itself.
template <Value V, Index I>
struct EntryBlock {
  // Lines without an entry (blank or comment) right before an entry. They make line numbers exact
  // when an entry turns out to be wrong only later.
  struct Gap {
    Offset entries_before = 0;
    Offset lines = 0;
  };

  Array<I> rows;  // from 0; rows and columns stay empty in array layout
  Array<I> columns;
  Array<V> values;  // ones for patterns
  std::vector<Gap> gaps;
  Offset lines = 0;      // with an error: up to and with the line that has it
  Offset last_line = 0;  // where the last of them begins in the text
  Offset bytes = 0;      // of the text
  std::string error;     // what is wrong with the last line; empty if nothing is

  Offset entries() const { return static_cast<Offset>(values.size()); }
  // Of entry `entry` of this block, counted from 1 at the first line of the block.
  Offset line_of(Offset entry) const {
    Offset line = entry + 1;
    for (const Gap& gap : gaps) line += gap.entries_before <= entry ? gap.lines : 0;
    return line;
  }
};

template <Value V, Index I>
using EntryBlocks = std::deque<EntryBlock<V, I>>;

// Whether a matrix of this symmetry may have the value on its diagonal.
template <Value V>
bool fits_diagonal(V value, Symmetry symmetry) {
  switch (symmetry) {
    case Symmetry::skew_symmetric: return value == V{};
    case Symmetry::hermitian: return std::imag(value) == 0;
    default: return true;
  }
}

// Where blocks of lines come from: one after the other, from one thread at a time.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  // Whole lines that follow those before; false at the end.
  virtual bool next_block(Array<char>& text) = 0;
  virtual double fraction() const = 0;
  // Whether little is left, so that one thread is enough.
  virtual bool little_left() const = 0;
};

// All that the lines still have. Borrows them.
class AllBlocks final : public BlockSource {
 public:
  explicit AllBlocks(LineBlocks& lines) : lines_(lines) {}
  bool next_block(Array<char>& text) override { return lines_.next_block(text); }
  double fraction() const override { return lines_.fraction(); }
  bool little_left() const override { return lines_.source_ended(); }

 private:
  LineBlocks& lines_;
};

template <Value V, Index I>
struct ParsedBlocks {
  EntryBlocks<V, I> blocks;
  std::exception_ptr failure;  // an Error that ended the text too early, after all blocks
};

// The blocks of the source in their order, by all threads. Stops soon after the first one that has
// an error, or with which there are more entries than the header says.
template <Value V, Index I>
ParsedBlocks<V, I> parse_blocks(BlockSource& source, const MatrixMarketHeader& header,
                                const ProgressCallback& progress);

// All entries, in the order of the file, exactly as many as the header says. Throws the first error
// of the file, whatever the number of threads and the size of the blocks.
template <Value V, Index I>
EntryBlocks<V, I> parse_body(LineBlocks& lines, const LocatedHeader& located,
                             const ProgressCallback& progress);

}  // namespace strata::detail
