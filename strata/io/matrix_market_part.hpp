// Part of a Matrix Market file: what one of several processes reads, so that together they read all
// of it and none has all of it.
//
//   const auto part = strata::read_matrix_market_part<double, std::int64_t>("A.mtx", rank, ranks);
//   // … send the entries to those whose rows they are, and add up part.stored_entries …
//   strata::require_all_entries("A.mtx", part.header, total);
//
// A file is cut at equal numbers of bytes, and a line belongs to the part that it begins in. Two
// kinds of files cannot be cut: compressed ones, and arrays, in which the place of a value is the
// number of values before it. Every part goes through such a file up to its end, in bounded memory,
// and parses only its share of the blocks of lines: shares of equal numbers of entries, of which
// small files have one.
#pragma once

#include <filesystem>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/io/matrix_market.hpp"

namespace strata {

// Entries in the order of the file, rows and columns of the whole matrix counted from 0. Those of
// the parts one after another are the entries that read_matrix_market makes its matrix of:
// symmetric storage is expanded (an entry stands before its mirror image), duplicates are still
// there and mean their sum, pattern entries are 1.
template <Value V, Index I>
struct MatrixPart {
  MatrixMarketHeader header;  // of the whole file
  Array<I> rows;
  Array<I> columns;
  Array<V> values;
  Offset stored_entries = 0;  // lines of entries in this part of the file
};

// Part `part` of `parts`, which may be more than there are lines: some are empty then. Throws like
// read_matrix_market, InvalidArgument unless 0 ≤ part < parts, and FileError for what is no regular
// file. The number of a line is not known in a part that others stand before: errors are then
// InvalidMatrix, "FILE: at byte OFFSET: what is wrong". Whether the file has as many entries as it
// says is for the caller to find out.
template <Value V, Index I>
MatrixPart<V, I> read_matrix_market_part(const std::filesystem::path& path, int part, int parts,
                                         const ReadOptions& options = {});

// Throws InvalidMatrix, naming the file, unless `stored_entries`, the sum over all parts, is what
// the header says.
void require_all_entries(const std::filesystem::path& path, const MatrixMarketHeader& header,
                         Offset stored_entries);

}  // namespace strata
