// Cuts the rows of a CSR matrix into parts of about the same number of entries, one per warp for
// kernels/gpu/csr_parts.hpp and one per block for csr_stream.hpp.
#pragma once

#include <span>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/kernels/gpu/csr_options.hpp"
#include "strata/kernels/gpu/views.hpp"

namespace strata::gpu {

struct CsrParts {
  Array<CsrPart> parts;      // and one behind the last
  Array<LongRow> long_rows;  // and one behind the last
  // Of each partial sum, if pieces end their rows themselves: those of a stream do, with
  // kRowCounters long rows at most.
  Array<RowPieces> pieces;

  std::int32_t partials() const { return long_rows.back().first_partial; }
  // Those that hold the rows.
  PartRange parts_of(RowRange<std::int32_t> rows) const;
  PartRange long_rows_of(RowRange<std::int32_t> rows) const;
};

// Parts hold whole rows with products_of_part(warp_size) entries and as many rows at most; a longer
// row is a part of its own, and one of more than kWholeRow times as many is cut into pieces. Throws
// OverflowError if there are more than 2^31 − 1 rows or parts.
inline constexpr int kWholeRow = 16;
CsrParts split_csr(std::span<const Offset> row_offsets, int warp_size);

// A piece has the entries of as many parts as leave about kPieces pieces of its row or
// kPiecesOfMatrix of as many entries as the matrix has, whichever are larger, kPiece of them at
// most: gathers follow each other in a piece, and partial sums when the row is ended; and where
// other parts keep all of the device busy, small pieces are nothing but more work.
inline constexpr int kPieces = 128;
inline constexpr int kPiecesOfMatrix = 1 << 14;
inline constexpr int kPiece = 16;

// The same for blocks: at most shape.entries() entries and shape.threads rows, and rows of more
// than kWholeStreamRow times as many are cut. `partial` of parts with several rows is a StreamWay.
// The warp limits how many threads share a row.
inline constexpr int kWholeStreamRow = 4;
CsrParts split_csr_stream(std::span<const Offset> row_offsets, const StreamShape& shape,
                          StreamGather gather, int warp_size);
// CsrStreamView::row_ends of that split; 0 for rows that are not in a part with others.
Array<std::uint16_t> stream_row_ends(std::span<const Offset> row_offsets, const CsrParts& split);

}  // namespace strata::gpu
