// What rows are as tiles of a sweep whose values are their own flags (flagged_tile.hpp): lines, if
// their columns are on few diagonals, or blocks and the sectors of x that these need. Host code.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/base/types.hpp"
#include "strata/execute/gpu/flagged_form.hpp"
#include "strata/execute/gpu/flagged_tile.hpp"
#include "strata/formats/csr.hpp"
#include "strata/kernels/gpu/value.hpp"

namespace strata::gpu::detail {

using I = std::int32_t;

// A segment becomes lines if these store at most so many values for each entry.
inline constexpr double kMostFill = 1.25;
// Of blocks: tiles are as large as this at most, so that there are enough for all warps.
inline constexpr Offset kBlockTileBytes = 16 * 1024 + 512;

constexpr Offset rounded(Offset bytes) {
  return ceil_div<Offset>(bytes, kFlaggedUnit) * kFlaggedUnit;
}

// Block rows of a tile, at most.
inline int tile_rows(const FlaggedForm& form) {
  return form.rows > 0 ? form.rows : kWarpLanes / form.lanes;
}

template <Value V>
constexpr int segment_rows() {
  return kSegmentRows<DeviceValue<V>>;
}
template <Value V>
constexpr Offset sector_elements() {
  return kSectorBytes / Offset{sizeof(V)};
}

// The diagonals of some rows: columns minus rows, increasing.
template <Value V>
class Diagonals {
 public:
  // Whether there are at most so many of the rows [first, end) and those that were added before.
  bool add(const Csr<V, I>& matrix, Offset first, Offset end, std::size_t most) {
    const I* columns = matrix.columns().data();
    for (Offset row = first; row < end; ++row) {
      const Offset begin = matrix.row_offsets()[row];
      const Offset count = matrix.row_offsets()[row + 1] - begin;
      entries_ += count;
      // Rows that follow one another mostly have the same ones.
      if (count == std::ssize(found_) && are_found(columns + begin, static_cast<I>(row))) continue;
      if (!insert({columns + begin, static_cast<std::size_t>(count)}, static_cast<I>(row), most)) {
        return false;
      }
    }
    return true;
  }
  const std::vector<I>& all() const { return found_; }
  Offset entries() const { return entries_; }

 private:
  bool are_found(const I* columns, I row) const {
    I different = 0;
    for (std::size_t d = 0; d < found_.size(); ++d) different |= columns[d] - row - found_[d];
    return different == 0;
  }
  bool insert(std::span<const I> columns, I row, std::size_t most) {
    auto place = found_.begin();
    for (const I column : columns) {
      const I diagonal = column - row;
      while (place != found_.end() && *place < diagonal) ++place;
      if (place != found_.end() && *place == diagonal) continue;
      place = found_.insert(place, diagonal);
      if (found_.size() > most) return false;
    }
    return true;
  }

  std::vector<I> found_;
  Offset entries_ = 0;
};

// The lines of a tile, by their place.
struct LinesOfTile {
  std::array<I, kLineSlots> distances{};
  std::uint32_t columns = 0;

  void add(int line, I distance, std::uint32_t sides) {
    distances[line] = distance;
    columns |= sides << (3 * line);
  }
};

// At most nine lines that have all diagonals. The rows themselves are always among them: tiles
// wait for what they have at the power before.
inline std::optional<LinesOfTile> nine_lines(std::vector<I> diagonals) {
  const auto own = std::ranges::lower_bound(diagonals, 0);
  if (own == diagonals.end() || *own != 0) diagonals.insert(own, 0);
  LinesOfTile lines;
  int line = 0;
  for (std::size_t d = 0; d < diagonals.size(); ++line) {
    if (line == kLinesOf<NineLines>) return std::nullopt;
    const auto is = [&](std::size_t place, I distance) {
      return place < diagonals.size() && diagonals[place] == distance;
    };
    const I first = diagonals[d];
    if (is(d + 1, first + 1) && is(d + 2, first + 2)) {
      lines.add(line, first + 1, 7);
      d += 3;
    } else if (is(d + 1, first + 1)) {
      // Chunks of even distances are aligned.
      const bool even = first % 2 == 0;
      lines.add(line, even ? first : first + 1, even ? 6 : 3);
      d += 2;
    } else {
      lines.add(line, first, 2);
      ++d;
    }
  }
  return lines;
}

// What is known of lines when tiles are cut.
struct LineShape {
  int segments = 1;
  int lines = 0;
  std::uint32_t usual = 0;
};
constexpr LineShape shape_of(FlaggedLines lines) {
  const auto of = []<class Lines>(Lines) {
    return LineShape{Lines::segments, kLinesOf<Lines>, Lines::usual};
  };
  switch (lines) {
    case FlaggedLines::nine_lines: return of(NineLines{});
    case FlaggedLines::seven_points: return of(SevenPoints{});
    case FlaggedLines::five_points: return of(FivePoints{});
  }
  return {};
}

// The lines of a stencil of points whose rows are `stride` apart in one direction, if these are at
// most so many.
inline std::optional<LinesOfTile> point_lines(const std::vector<I>& diagonals, I stride, int most) {
  LinesOfTile lines;
  std::uint32_t own = 2;
  int other = 3;
  for (const I diagonal : diagonals) {
    if (diagonal >= -1 && diagonal <= 1) {
      own |= std::uint32_t{1} << (diagonal + 1);
    } else if (diagonal == -stride) {
      lines.add(0, -stride, 2);
    } else if (diagonal == stride) {
      lines.add(2, stride, 2);
    } else if (other < most) {
      lines.add(other++, diagonal, 2);
    } else {
      return std::nullopt;
    }
  }
  lines.add(1, 0, own);
  lines.distances[0] = -stride;
  lines.distances[2] = stride;
  return lines;
}

inline constexpr std::size_t kMostDiagonals = 27;  // of lines
// Of a tile of diagonals: as many as a short row takes to fill it.
inline constexpr int kMostSegments = 4;

// Lines of one segment at a time.
template <Value V>
std::optional<LinesOfTile> lines_of(const Csr<V, I>& matrix, Offset first, Offset end) {
  Diagonals<V> diagonals;
  if (!diagonals.add(matrix, first, end, kMostDiagonals)) return std::nullopt;
  const auto lines = nine_lines(diagonals.all());
  if (!lines) return std::nullopt;
  const auto stored = static_cast<double>((end - first) * std::popcount(lines->columns));
  if (stored > kMostFill * static_cast<double>(std::max<Offset>(diagonals.entries(), 1))) {
    return std::nullopt;
  }
  return lines;
}

// The diagonals of some whole segments, as a tile has them, and the sectors of x that they touch.
struct DiagonalsOfTile {
  std::vector<std::uint32_t> sectors;  // increasing
  std::vector<I> diagonals;            // even ones first, increasing
};

// The bytes of such a tile.
template <Value V>
Offset diagonal_tile_bytes(std::size_t sectors, std::size_t diagonals, Offset rows) {
  return static_cast<Offset>(sizeof(FlaggedTile)) + rounded(static_cast<Offset>(sectors) * 4) +
         rounded(static_cast<Offset>(diagonals) * 2) +
         static_cast<Offset>(diagonals) * rows * Offset{sizeof(V)};
}

// None if rows are no whole segments, on too many diagonals or on some that leave the matrix; or if
// this stores too much or needs too many sectors.
template <Value V>
std::optional<DiagonalsOfTile> diagonals_of(const Csr<V, I>& matrix, Offset first, Offset end) {
  constexpr auto kMost = static_cast<std::size_t>(kBlockTileBytes / (kWarpLanes * kChunkBytes));
  constexpr Offset each = sector_elements<V>();
  if (first == end || (end - first) % segment_rows<V>() != 0) return std::nullopt;
  Diagonals<V> found;
  if (!found.add(matrix, first, end, kMost) || found.all().empty()) return std::nullopt;
  const auto count = std::ssize(found.all());
  const auto stored = static_cast<double>((end - first) * count);
  if (stored > kMostFill * static_cast<double>(found.entries())) return std::nullopt;
  if (first + found.all().front() < 0 || end + found.all().back() > matrix.rows()) {
    return std::nullopt;
  }
  DiagonalsOfTile tile;
  const auto add_run = [&](I diagonal) {
    const Offset begin = (first + diagonal) / each;
    const Offset last = (end - 1 + diagonal) / each;
    for (Offset sector = tile.sectors.empty() ? begin
                                              : std::max(begin, Offset{tile.sectors.back()} + 1);
         sector <= last; ++sector) {
      tile.sectors.push_back(static_cast<std::uint32_t>(sector));
    }
  };
  // Tiles wait for what their rows have at the power before, whether they multiply it or not.
  const auto behind = std::ranges::lower_bound(found.all(), 0);
  for (const I diagonal : std::span(found.all().begin(), behind)) add_run(diagonal);
  add_run(0);
  for (const I diagonal : std::span(behind, found.all().end())) add_run(diagonal);
  if (std::ssize(tile.sectors) > kMostSectors ||
      diagonal_tile_bytes<V>(tile.sectors.size(), found.all().size(), end - first) >
          kBlockTileBytes) {
    return std::nullopt;
  }
  tile.diagonals = found.all();
  std::ranges::stable_partition(tile.diagonals, [](I diagonal) { return diagonal % 2 == 0; });
  return tile;
}

// Whether D rows from here on have the same columns, and these in full blocks.
template <Value V>
bool is_block_row(const Csr<V, I>& matrix, Offset row, int block) {
  const auto offsets = matrix.row_offsets();
  const auto columns = matrix.columns();
  const Offset count = offsets[row + 1] - offsets[row];
  if (count % block != 0) return false;
  for (int r = 1; r < block; ++r) {
    if (!std::ranges::equal(
            columns.subspan(offsets[row], count),
            columns.subspan(offsets[row + r], offsets[row + r + 1] - offsets[row + r]))) {
      return false;
    }
  }
  for (Offset entry = offsets[row]; entry < offsets[row + 1]; entry += block) {
    if (columns[entry] % block != 0 || columns[entry + block - 1] != columns[entry] + block - 1) {
      return false;
    }
  }
  return true;
}

inline constexpr std::uint32_t kNoSector = 0xffffffff;

// The places of the sectors of a tile: a hash table that is never more than a quarter full.
class SectorPlaces {
 public:
  void clear() { sectors_.fill(kNoSector); }
  // False, and nothing happens, if the sector has a place.
  bool add(std::uint32_t sector, std::size_t place) {
    const std::size_t slot = slot_of(sector);
    if (sectors_[slot] == sector) return false;
    sectors_[slot] = sector;
    places_[slot] = static_cast<std::uint16_t>(place);
    return true;
  }
  // The one that was added last of those that are left.
  void remove_last(std::uint32_t sector) { sectors_[slot_of(sector)] = kNoSector; }
  // Of a sector that has one.
  std::uint16_t place_of(std::uint32_t sector) const { return places_[slot_of(sector)]; }

 private:
  static constexpr int kBits = 9;
  static constexpr std::size_t kSlots = std::size_t{1} << kBits;
  static_assert(kSlots >= 4 * kMostSectors);

  std::size_t slot_of(std::uint32_t sector) const {
    constexpr std::uint32_t kGoldenRatio = 0x9e3779b9;  // times 2^32
    std::size_t slot = sector * kGoldenRatio >> (32 - kBits);
    while (sectors_[slot] != sector && sectors_[slot] != kNoSector) slot = (slot + 1) % kSlots;
    return slot;
  }

  std::array<std::uint32_t, kSlots> sectors_;
  std::array<std::uint16_t, kSlots> places_;
};

// The sectors of x that rows need; their own are always among them.
template <Value V>
class SectorSet {
 public:
  void clear() {
    sectors_.clear();
    places_.clear();
    last_ = kNoSector;
  }
  // With those of the block row. False, and as before, if there are too many.
  bool add(const Csr<V, I>& matrix, Offset row, int block) {
    const std::size_t before = sectors_.size();
    for (int r = 0; r < block; ++r) insert(row + r);
    for (const I column : matrix.pattern().columns_of(static_cast<I>(row))) {
      insert(column);
      if (sectors_.size() > kMost) break;
    }
    if (sectors_.size() <= kMost) return true;
    for (; sectors_.size() > before; sectors_.pop_back()) places_.remove_last(sectors_.back());
    last_ = kNoSector;
    return false;
  }
  // Increasing. Then nothing can be added before the next clear().
  std::span<const std::uint32_t> sorted() {
    std::ranges::sort(sectors_);
    return sectors_;
  }

 private:
  static constexpr auto kMost = static_cast<std::size_t>(kMostSectors);

  void insert(Offset column) {
    const auto sector = static_cast<std::uint32_t>(column / sector_elements<V>());
    if (sector == std::exchange(last_, sector)) return;
    if (places_.add(sector, sectors_.size())) sectors_.push_back(sector);
  }

  std::vector<std::uint32_t> sectors_;
  SectorPlaces places_;
  std::uint32_t last_ = kNoSector;  // that was looked for
};

// The bytes of a tile of blocks.
template <Value V>
Offset block_tile_bytes(std::size_t sectors, Offset block_rows, Offset blocks, int block) {
  return static_cast<Offset>(sizeof(FlaggedTile)) + rounded(static_cast<Offset>(sectors) * 4) +
         rounded(ceil_div<Offset>(block_rows, 8) * 16 + blocks * 2) +
         rounded(blocks * block * block * Offset{sizeof(V)});
}

// The end of a tile of blocks that begins with the row: at most so many block rows, as many as fit.
// Their sectors are those of the set.
template <Value V>
Offset end_of_block_tile(const Csr<V, I>& matrix, Offset first, Offset end, int block,
                         Offset most_rows, SectorSet<V>& sectors) {
  const auto offsets = matrix.row_offsets();
  sectors.clear();
  Offset rows = 0;
  Offset row = first;
  for (; row < end && rows < most_rows; row += block, ++rows) {
    const Offset blocks = (offsets[row + block] - offsets[first]) / (block * block);
    // The list of sectors takes little beside the blocks: its bytes count as if it were full.
    const bool fits = block_tile_bytes<V>(kMostSectors, rows + 1, blocks, block) <= kBlockTileBytes;
    if (rows > 0 && (!fits || blocks > 0xffff)) break;
    if (!sectors.add(matrix, row, block)) break;
  }
  return row;
}

}  // namespace strata::gpu::detail
