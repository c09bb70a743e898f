// The entries of a Matrix Market file, parsed by all threads in blocks of lines.
#pragma once

#include <deque>
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
  Offset lines = 0;   // with an error: up to and with the line that has it
  std::string error;  // what is wrong with the last line; empty if nothing is

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

// All entries, in the order of the file, exactly as many as the header says. Throws the first error
// of the file, whatever the number of threads and the size of the blocks.
template <Value V, Index I>
EntryBlocks<V, I> parse_body(LineBlocks& lines, const LocatedHeader& located,
                             const ProgressCallback& progress);

}  // namespace strata::detail
