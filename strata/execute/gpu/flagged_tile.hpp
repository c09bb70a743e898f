// FlaggedTile: rows that one warp multiplies at a time in a sweep whose values are their own flags
// (internal/flagged_block.hpp), as one run of bytes that one copy brings on chip. There are three
// kinds of tiles.
//
// Lines, for rows whose columns are on few diagonals. A segment has a chunk of 16 bytes of x and of
// y per lane, and a line is x at a fixed distance from the rows of a segment. Lanes hold lines in
// registers and take a column to the left or to the right of it from the lane beside, so a line
// serves up to three diagonals. Segments of a tile may be a stride apart that is a distance between
// lines, too: then a line of one segment is that of another, and is loaded once.
//
//   FlaggedTile, int32 distances of the lines[kLineSlots], values
//
// by segment, line, column of the line and row; diagonals have zeros where rows have no entry.
//
// Mirrored lines, of symmetric stencils of points: what a row has to its left is what the row
// before has to its right, and what it has a stride before is what the row there has a stride
// behind. Both are stored once, but for the left column of the first row of each segment, which
// comes behind all other values, and the line before the first segment. So 5 of 7 values of a row
// are stored, or 3 of 5, and one for 4 rows.
//
// Diagonals, for rows whose columns are on few diagonals that lines do not suit: some are close to
// each other, or an odd number of columns away. Segments follow one another, and all sectors of x
// that a diagonal touches are listed, so that its x is a run of elements once it is on chip.
//
//   FlaggedTile, uint32 sectors[], uint16 beginnings of the runs[], values
//
// by segment, diagonal and row; diagonals have zeros where rows have no entry. Those an even number
// of columns away come first: a row has one sum for them and one for the others, which depends on
// nothing but the row.
//
// Blocks, for any rows: entries in blocks of D × D without any padding, a list of the sectors of
// 32 bytes of x that they need, and for each block where its x is among those sectors.
//
//   FlaggedTile, uint32 sectors[], uint16 ends of the block rows[], uint16 columns[], values
//
// Every part starts at a multiple of 16 bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "strata/kernels/gpu/simt.hpp"

namespace strata::gpu {

inline constexpr int kFlaggedUnit = 16;  // of places and parts of tiles
inline constexpr int kChunkBytes = 16;   // that a lane loads at a time
inline constexpr int kSectorBytes = 32;  // of the L2 cache
inline constexpr int kWarpLanes = 32;
// The most sectors of a tile: a lane loads half a sector at a time and so many in all.
inline constexpr int kChunksOfLane = 8;
inline constexpr int kMostSectors = kChunksOfLane * kWarpLanes * kChunkBytes / kSectorBytes;

template <class T>
inline constexpr int kChunk = kChunkBytes / static_cast<int>(sizeof(T));  // elements
template <class T>
inline constexpr int kSegmentRows = kWarpLanes * kChunk<T>;

// How lines are arranged: `segments` a stride apart; `chains` of three lines that are the stride
// apart as well, of which segments share all but two; and other lines. Only lines of a chain whose
// place is wide have columns to the left and right. Where lines are many for their values, a warp
// waits for the last of them before it loads any: loads of what is not there take as long as
// others.
struct NoLines {
  static constexpr int segments = 1;
  static constexpr int chains = 0;
  static constexpr int others = 0;
};
struct NineLines {
  static constexpr int segments = 1;
  static constexpr int chains = 3;
  static constexpr int others = 0;
  static constexpr std::uint32_t usual = 0x7ffffff;
  static constexpr bool watches_last = false;
  STRATA_HOST_DEVICE static constexpr bool wide(int) { return true; }
};
struct SevenPoints {
  static constexpr int segments = 4;
  static constexpr int chains = 1;
  static constexpr int others = 2;
  static constexpr std::uint32_t usual = 2 | 7 << 3 | 2 << 6 | 2 << 9 | 2 << 12;
  static constexpr bool watches_last = true;
  STRATA_HOST_DEVICE static constexpr bool wide(int line) { return line == 1; }
};
struct FivePoints {
  static constexpr int segments = 4;
  static constexpr int chains = 1;
  static constexpr int others = 0;
  static constexpr std::uint32_t usual = 2 | 7 << 3 | 2 << 6;
  static constexpr bool watches_last = true;
  STRATA_HOST_DEVICE static constexpr bool wide(int line) { return line == 1; }
};
template <class Lines>
inline constexpr int kLinesOf = 3 * Lines::chains + Lines::others;
inline constexpr int kMostLines = 9;
inline constexpr int kLineSlots = 12;  // whole units of distances

enum class FlaggedKind : std::uint8_t { lines, diagonals, blocks };

struct alignas(kFlaggedUnit) FlaggedTile {
  std::int32_t first_row;
  std::int32_t rows;  // of all blocks or diagonals, or of each segment of lines
  FlaggedKind kind;
  bool whole;             // chunks of lines are aligned, and wholly inside or outside of x
  bool inner;             // lines have all columns that are usual, and all of them are inside
  bool mirrored;          // lines: see above
  std::uint32_t columns;  // of lines: three bits for each, left, middle and right
  std::uint32_t ends;     // where the ends of block rows or the beginnings of runs are, in bytes,
  std::uint32_t values;   // and the values
  std::int32_t cleared;   // so many tiles of every worker have to be cleared before it may start
  std::uint16_t sectors;  // of blocks and diagonals
  std::uint8_t diagonals;
  std::uint8_t even_diagonals;  // how many come first
  std::uint64_t first_value;  // of lines and diagonals: how many values tiles before this one have

  template <class Part>
  STRATA_HOST_DEVICE const Part* part(std::uint32_t bytes) const {
    return reinterpret_cast<const Part*>(reinterpret_cast<const std::byte*>(this) + bytes);
  }
  STRATA_HOST_DEVICE const std::int32_t* distances() const {
    return part<std::int32_t>(sizeof(FlaggedTile));
  }
  STRATA_HOST_DEVICE const std::uint32_t* sector_list() const {
    return part<std::uint32_t>(sizeof(FlaggedTile));
  }
  STRATA_HOST_DEVICE const std::uint16_t* row_ends() const { return part<std::uint16_t>(ends); }
  STRATA_HOST_DEVICE const std::uint16_t* runs() const { return part<std::uint16_t>(ends); }
  // block_rows: rows / D.
  STRATA_HOST_DEVICE const std::uint16_t* block_columns(int block_rows) const {
    return row_ends() + (block_rows + 7) / 8 * 8;
  }
};
static_assert(sizeof(FlaggedTile) == 48);
static_assert(kLinesOf<NineLines> <= kMostLines && kLinesOf<SevenPoints> <= kMostLines);

// Where a tile is in the stream, and which rows it writes.
struct alignas(16) FlaggedPlace {
  std::uint32_t begin;  // in units
  std::uint32_t bytes;
  std::int32_t first_row;
  std::uint16_t rows;  // of each segment of lines; at most kSegmentRows, or those of the tile
  std::uint16_t segments;
};

// Whether a column of a line is there.
STRATA_HOST_DEVICE constexpr std::uint32_t line_columns(std::uint32_t columns, int line) {
  return columns >> (3 * line) & 7;
}

// The columns of a segment of points are numbered: a stride before, left, own, right, a stride
// behind, others.
inline constexpr std::uint32_t kMirroredColumns = 2 | 7 << 3 | 2 << 6;
inline constexpr int kColumnBefore = 0;
inline constexpr int kColumnLeft = 1;
inline constexpr int kColumnRight = 3;
inline constexpr int kColumnBehind = 4;
// Those of each segment that are stored if they are mirrored.
STRATA_HOST_DEVICE constexpr int mirrored_columns(int columns) {
  return columns - 2;
}

// Where a value of lines is among those of its tile, whose segments have so many columns.
template <class T>
STRATA_HOST_DEVICE constexpr int place_of_value(bool mirrored, int segments, int columns,
                                                int segment, int number, int row) {
  if (!mirrored) return (segment * columns + number) * kSegmentRows<T> + row;
  const int each = mirrored_columns(columns);
  if (number == kColumnBefore) {
    if (segment == 0) return row;
    number = kColumnBehind;
    --segment;
  } else if (number == kColumnLeft) {
    if (row == 0) return (1 + segments * each) * kSegmentRows<T> + segment;
    number = kColumnRight;
    --row;
  }
  return (1 + segment * each + number - 2) * kSegmentRows<T> + row;
}
// Of all of them.
template <class T>
STRATA_HOST_DEVICE constexpr int stored_values(bool mirrored, int segments, int columns) {
  return mirrored ? (1 + segments * mirrored_columns(columns)) * kSegmentRows<T> + segments
                  : segments * columns * kSegmentRows<T>;
}

// What no result is: a signalling NaN, which arithmetic does not produce; what is stored is
// compared with it all the same, and becomes another NaN (flagged_block.hpp).
inline constexpr std::uint64_t kFlag64 = 0x7ff45a5a5a5a5a5a;
inline constexpr std::uint32_t kFlag32 = 0x7fa5a5a5;
inline constexpr std::uint32_t kFlagUpper = kFlag64 >> 32;
inline constexpr int kFlagBytes = kWarpLanes * kChunkBytes;  // that are cleared at a time

}  // namespace strata::gpu
