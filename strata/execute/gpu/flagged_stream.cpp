#include "strata/execute/gpu/flagged_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/kernels/gpu/value.hpp"

namespace strata::gpu {

namespace {

using I = std::int32_t;

// A segment becomes lines if these store at most so many values for each entry.
constexpr double kMostFill = 1.25;
// And a matrix has lines if so many of the segments that are looked at do.
constexpr double kMostlyLines = 0.8;
constexpr Offset kSamples = 128;
// Of blocks: tiles are as large as this at most, so that there are enough for all warps.
constexpr Offset kBlockTileBytes = 16 * 1024 + 512;
constexpr int kMostTileRows = 256;
// So many times the rows that fit into a tile have lanes: a few of them have nothing to do.
constexpr double kMostLanes = 1.25;
// Rows that are cut independently of others: about so many.
constexpr Offset kPieceRows = 4096;

constexpr Offset rounded(Offset bytes) {
  return ceil_div<Offset>(bytes, kFlaggedUnit) * kFlaggedUnit;
}

// Block rows of a tile, at most.
int tile_rows(const FlaggedForm& form) {
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
std::optional<LinesOfTile> nine_lines(std::vector<I> diagonals) {
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

// The lines of a five- or seven-point stencil whose rows are `stride` apart in one direction.
std::optional<LinesOfTile> seven_points(const std::vector<I>& diagonals, I stride) {
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
    } else if (other < kLinesOf<SevenPoints>) {
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

constexpr std::size_t kMostDiagonals = 27;

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

constexpr std::uint32_t kNoSector = 0xffffffff;

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

// Before the values of lines.
constexpr Offset kLinesHead = sizeof(FlaggedTile) + kLineSlots * sizeof(I);

// Of the rows of some segments.
template <Value V>
Offset entries_in(const Csr<V, I>& matrix, Offset stride, Offset first, Offset rows, int segments) {
  Offset entries = 0;
  for (Offset segment = 0; segment < segments; ++segment) {
    const Offset row = first + segment * stride;
    entries += matrix.row_offsets()[row + rows] - matrix.row_offsets()[row];
  }
  return entries;
}

// The tiles of some consecutive rows.
struct TilesOfPiece {
  std::vector<FlaggedPlace> places;  // in the bytes of this piece
  std::vector<FlaggedHead> heads;    // with lists and presence of this piece
  std::vector<std::uint32_t> lists;
  Offset bytes = 0;
  Offset words = 0;  // of presence
  bool has_holes = false;
  Offset line_rows = 0;
  Offset sectors = 0;
  int most_sectors = 0;

  // The list is of distances or sectors.
  template <class List>
  FlaggedHead& add(Offset tile_bytes, Offset first_row, Offset rows, int segments,
                   const List& list) {
    places.push_back({narrow<std::uint32_t>(bytes / kFlaggedUnit, "a piece of a sweep's matrix"),
                      narrow<std::uint32_t>(tile_bytes, "a tile of a sweep"),
                      static_cast<I>(first_row), narrow<std::uint16_t>(rows, "the rows of a tile"),
                      static_cast<std::uint16_t>(segments)});
    bytes += tile_bytes;
    FlaggedHead& head = heads.emplace_back();
    head.first_listed = std::ssize(lists);
    head.listed = static_cast<std::uint16_t>(list.size());
    for (const auto item : list) lists.push_back(static_cast<std::uint32_t>(item));
    return head;
  }
};

// Cuts rows into tiles.
template <Value V>
class TileCutter {
 public:
  TileCutter(const Csr<V, I>& matrix, const FlaggedForm& form) : matrix_(matrix), form_(form) {}

  TilesOfPiece make(Offset first, Offset end) {
    made_ = {};
    if (form_.has_lines && form_.lines == FlaggedLines::seven_points) {
      make_patches(first, end);
    } else if (form_.has_lines) {
      make_lines(first, end);
    } else {
      make_blocks(first, end);
    }
    return std::move(made_);
  }

 private:
  static constexpr Offset kSegment = segment_rows<V>();

  // Segment by segment; those that are no lines go together.
  void make_lines(Offset first, Offset end) {
    Offset blocks_from = first;
    for (Offset segment = first; segment < end; segment += kSegment) {
      const Offset segment_end = std::min(segment + kSegment, end);
      const auto lines = lines_of(matrix_, segment, segment_end);
      if (!lines) continue;
      make_blocks(blocks_from, segment);
      blocks_from = segment_end;
      add_lines(segment, segment_end - segment, 1, *lines);
    }
    make_blocks(blocks_from, end);
  }

  // Rows of several strides: a tile has a segment of each. What is left over at the end are blocks.
  void make_patches(Offset first, Offset end) {
    const Offset strides = SevenPoints::segments;
    if (end - first < strides * form_.stride) return make_blocks(first, end);
    for (Offset segment = first; segment < first + form_.stride; segment += kSegment) {
      Diagonals<V> diagonals;
      bool few = true;
      for (Offset s = 0; s < strides && few; ++s) {
        const Offset row = segment + s * form_.stride;
        few = diagonals.add(matrix_, row, row + kSegment, kMostDiagonals);
      }
      const auto lines = few ? seven_points(diagonals.all(), form_.stride) : std::nullopt;
      if (lines) {
        add_lines(segment, kSegment, SevenPoints::segments, *lines);
        continue;
      }
      for (Offset s = 0; s < strides; ++s) {
        const Offset row = segment + s * form_.stride;
        make_blocks(row, row + kSegment);
      }
    }
  }

  void add_lines(Offset first, Offset rows, int segments, const LinesOfTile& lines) {
    const Offset values = std::popcount(lines.columns) * Offset{segments} * kSegment;
    FlaggedHead& head =
        made_.add(kLinesHead + values * Offset{sizeof(V)}, first, rows, segments, lines.distances);
    head.kind = FlaggedKind::lines;
    head.columns = lines.columns;
    head.first_word = made_.words;
    head.whole = is_whole(first, lines);
    head.inner = head.whole && is_inner(first, rows, segments, lines);
    made_.words += ceil_div<Offset>(values, 64);
    made_.has_holes = made_.has_holes || entries_of(first, rows, segments) < values;
    made_.line_rows += rows * segments;
    count_line_sectors(lines, segments);
  }
  Offset entries_of(Offset first, Offset rows, int segments) const {
    return entries_in(matrix_, form_.stride, first, rows, segments);
  }
  bool is_whole(Offset first, const LinesOfTile& lines) const {
    constexpr Offset chunk = kChunk<DeviceValue<V>>;
    if (first % chunk != 0 || matrix_.rows() % chunk != 0) return false;
    for (int line = 0; line < kMostLines; ++line) {
      if (line_columns(lines.columns, line) != 0 && lines.distances[line] % chunk != 0) {
        return false;
      }
    }
    return form_.stride % chunk == 0;
  }
  bool is_inner(Offset first, Offset rows, int segments, const LinesOfTile& lines) const {
    const bool seven = form_.lines == FlaggedLines::seven_points;
    if (lines.columns != (seven ? SevenPoints::usual : NineLines::usual) || rows < kSegment) {
      return false;
    }
    const auto [least, most] = std::ranges::minmax(
        std::span(lines.distances).first(seven ? kLinesOf<SevenPoints> : kLinesOf<NineLines>));
    return first + least >= 1 &&
           first + (segments - 1) * Offset{form_.stride} + kSegment + most < matrix_.rows();
  }
  void count_line_sectors(const LinesOfTile& lines, int segments) {
    constexpr Offset each = kSegment / sector_elements<V>();
    Offset loaded = 0;
    for (int line = 0; line < kMostLines; ++line) {
      const std::uint32_t here = line_columns(lines.columns, line);
      if (here == 0) continue;
      // Segments share the lines of a chain but for its ends.
      const bool end_of_chain = segments > 1 && (line == 0 || line == 2);
      loaded += (end_of_chain ? 1 : segments) * (each + ((here & 5) != 0 ? 2 : 0));
    }
    made_.sectors += loaded;
  }

  void make_blocks(Offset first, Offset end) {
    const int block = form_.block;
    while (first < end) {
      const Offset cut = end_of_block_tile(matrix_, first, end, block, tile_rows(form_), sectors_);
      if (cut == first) {
        throw InvalidArgument(fmt::format(
            "row {} needs more than {} sectors of x, the most of a tile", first, kMostSectors));
      }
      add_blocks(first, cut);
      first = cut;
    }
  }
  void add_blocks(Offset first, Offset end) {
    const int block = form_.block;
    const auto offsets = matrix_.row_offsets();
    for (Offset row = first; block > 1 && row < end; row += block) {
      if (!is_block_row(matrix_, row, block)) {
        throw InvalidArgument(fmt::format("row {} does not consist of full blocks", row));
      }
    }
    const std::span<const std::uint32_t> sectors = sectors_.sorted();
    const Offset blocks = (offsets[end] - offsets[first]) / (block * block);
    FlaggedHead& head =
        made_.add(block_tile_bytes<V>(sectors.size(), (end - first) / block, blocks, block), first,
                  end - first, 1, sectors);
    head.kind = FlaggedKind::blocks;
    head.whole = (Offset{sectors.back()} + 1) * sector_elements<V>() <= matrix_.rows();
    made_.sectors += std::ssize(sectors);
    made_.most_sectors = std::max(made_.most_sectors, static_cast<int>(sectors.size()));
  }

  const Csr<V, I>& matrix_;
  const FlaggedForm& form_;
  SectorSet<V> sectors_;
  TilesOfPiece made_;
};

// Rows that are cut by themselves: pieces of so many.
template <Value V>
Offset piece_rows(const FlaggedForm& form) {
  if (form.has_lines && form.lines == FlaggedLines::seven_points) {
    return SevenPoints::segments * Offset{form.stride};
  }
  const Offset unit = form.has_lines ? segment_rows<V>() : Offset{tile_rows(form)} * form.block;
  return std::max<Offset>(kPieceRows / unit, 1) * unit;
}

// The tile of every row.
Array<I> tile_of_rows(const FlaggedSizes& sizes, std::span<const FlaggedPlace> places) {
  Array<I> tile_of(static_cast<std::size_t>(sizes.rows));
  parallel_for(sizes.tiles, [&](Offset tile) {
    const FlaggedPlace& place = places[tile];
    for (Offset segment = 0; segment < place.segments; ++segment) {
      const Offset row = place.first_row + segment * sizes.form.stride;
      std::fill_n(tile_of.begin() + row, place.rows, static_cast<I>(tile));
    }
  });
  return tile_of;
}

// The last of the tiles whose rows a tile loads. Holes count, for their x is loaded as well.
template <Value V>
I last_input(const FlaggedPlace& place, const FlaggedHead& head,
             std::span<const std::uint32_t> list, const FlaggedSizes& sizes,
             std::span<const I> tile_of) {
  I last = 0;
  const auto take = [&](Offset row) {
    last = std::max(last, tile_of[std::clamp<Offset>(row, 0, sizes.rows - 1)]);
  };
  if (head.kind == FlaggedKind::blocks) {
    for (const std::uint32_t sector : list) {
      const Offset row = Offset{sector} * sector_elements<V>();
      take(row);
      take(row + sector_elements<V>() - 1);
    }
    return last;
  }
  for (int line = 0; line < kMostLines; ++line) {
    if (line_columns(head.columns, line) == 0) continue;
    for (int segment = 0; segment < place.segments; ++segment) {
      const Offset row =
          place.first_row + Offset{segment} * sizes.form.stride + static_cast<I>(list[line]);
      // A chunk may reach beyond the rows of a segment that is short; so may what is to its side.
      // The rows of a segment are in two tiles at most.
      for (const Offset of_line : {-1, 0, segment_rows<V>() - 1, segment_rows<V>()}) {
        take(row + of_line);
      }
    }
  }
  return last;
}

// How far apart the powers of tiles are, from the last tile that each of them reads.
std::array<Offset, kMaxSweepPower + 1> distances_of(std::vector<I> last) {
  for (std::size_t t = 1; t < last.size(); ++t) last[t] = std::max(last[t], last[t - 1]);
  std::array<Offset, kMaxSweepPower + 1> distances{};
  std::vector<I> reached(last.size());
  for (std::size_t t = 0; t < last.size(); ++t) reached[t] = static_cast<I>(t);
  for (int power = 2; power <= kMaxSweepPower; ++power) {
    for (std::size_t t = 0; t < last.size(); ++t) {
      reached[t] = last[reached[t]];
      distances[power] = std::max<Offset>(distances[power], reached[t] - static_cast<Offset>(t));
    }
  }
  return distances;
}

// Writes tiles whose heads and places are known.
template <Value V>
class TileWriter {
 public:
  TileWriter(const Csr<V, I>& matrix, const FlaggedForm& form) : matrix_(matrix), form_(form) {}

  // presence: of the values of this tile and more, or none.
  void write(const FlaggedPlace& place, const FlaggedHead& head,
             std::span<const std::uint32_t> list, std::span<std::uint64_t> presence,
             std::byte* to) const {
    std::memset(to, 0, sizeof(FlaggedTile));
    auto& tile = *::new (static_cast<void*>(to)) FlaggedTile{};
    tile.first_row = place.first_row;
    tile.rows = place.rows;
    tile.kind = head.kind;
    tile.whole = head.whole;
    tile.inner = head.inner;
    tile.columns = head.columns;
    tile.cleared = head.cleared;
    std::memcpy(to + sizeof(FlaggedTile), list.data(), list.size_bytes());
    if (head.kind == FlaggedKind::lines) {
      tile.values = static_cast<std::uint32_t>(kLinesHead);
      tile.first_value = static_cast<std::uint64_t>(head.first_word) * 64;
      fill_lines(tile, reinterpret_cast<V*>(to + tile.values), place.segments, presence);
      return;
    }
    switch (form_.block) {
      case 1: return fill_blocks<1>(tile, place.bytes, list);
      case 2: return fill_blocks<2>(tile, place.bytes, list);
      default: return fill_blocks<3>(tile, place.bytes, list);
    }
  }

 private:
  static constexpr Offset kSegment = segment_rows<V>();

  void fill_lines(const FlaggedTile& tile, V* values, int segments,
                  std::span<std::uint64_t> presence) const {
    std::array<std::pair<I, int>, 3 * kMostLines> places;  // of diagonals among the columns
    int count = 0;
    for (int line = 0; line < kMostLines; ++line) {
      for (int side = 0; side < 3; ++side) {
        if ((line_columns(tile.columns, line) >> side & 1) == 0) continue;
        places[count] = {tile.distances()[line] + side - 1, count};
        ++count;
      }
    }
    std::sort(places.begin(), places.begin() + count);
    const Offset stored = Offset{segments} * count * kSegment;
    if (!presence.empty()) {
      presence = presence.first(static_cast<std::size_t>(ceil_div<Offset>(stored, 64)));
      std::ranges::fill(presence, ~std::uint64_t{0});
      if (stored % 64 != 0) presence.back() >>= 64 - stored % 64;
    }
    const auto leave_out = [&](Offset at) {
      values[at] = V{};
      if (!presence.empty()) presence[at / 64] &= ~(std::uint64_t{1} << (at % 64));
    };
    for (int segment = 0; segment < segments; ++segment) {
      V* const of_segment = values + Offset{segment} * count * kSegment;
      for (Offset place = 0; place < tile.rows; ++place) {
        const Offset row = tile.first_row + Offset{segment} * form_.stride + place;
        Offset entry = matrix_.row_offsets()[row];
        const Offset end = matrix_.row_offsets()[row + 1];
        const V* const source = matrix_.values().data();
        if (end - entry == count) {
          for (int d = 0; d < count; ++d) {
            of_segment[places[d].second * kSegment + place] = source[entry + d];
          }
          continue;
        }
        for (int d = 0; d < count; ++d) {  // diagonals and columns both increase
          const Offset at = places[d].second * kSegment + place;
          if (entry < end && matrix_.columns()[entry] - row == places[d].first) {
            of_segment[at] = source[entry++];
          } else {
            leave_out(of_segment - values + at);
          }
        }
      }
      for (Offset place = tile.rows; place < kSegment; ++place) {
        for (int d = 0; d < count; ++d) leave_out(of_segment - values + d * kSegment + place);
      }
    }
  }

  template <int block>
  void fill_blocks(FlaggedTile& tile, Offset tile_bytes,
                   std::span<const std::uint32_t> sectors) const {
    auto* bytes = reinterpret_cast<std::byte*>(&tile);
    const auto offsets = matrix_.row_offsets();
    const Offset first = tile.first_row;
    const Offset end = first + tile.rows;
    const Offset block_rows = tile.rows / block;
    const Offset blocks = (offsets[end] - offsets[first]) / (block * block);
    tile.sectors = static_cast<std::uint16_t>(sectors.size());
    tile.ends = static_cast<std::uint32_t>(sizeof(FlaggedTile)) +
                static_cast<std::uint32_t>(rounded(std::ssize(sectors) * 4));
    tile.values = tile.ends + static_cast<std::uint32_t>(
                                  rounded(ceil_div<Offset>(block_rows, 8) * 16 + blocks * 2));
    // What is between the parts.
    clear_end(bytes, sizeof(FlaggedTile) + std::ssize(sectors) * 4, tile.ends);
    std::memset(bytes + tile.ends, 0, tile.values - tile.ends);
    clear_end(bytes, tile.values + blocks * block * block * Offset{sizeof(V)}, tile_bytes);
    auto* ends = reinterpret_cast<std::uint16_t*>(bytes + tile.ends);
    auto* columns = ends + ceil_div<Offset>(block_rows, 8) * 8;
    auto* values = reinterpret_cast<V*>(bytes + tile.values);
    SectorPlaces places;
    places.clear();
    for (std::size_t place = 0; place < sectors.size(); ++place) places.add(sectors[place], place);
    Offset number = 0;
    for (Offset row = first; row < end; row += block) {
      const Offset count = (offsets[row + 1] - offsets[row]) / block;
      for (Offset b = 0; b < count; ++b, ++number) {
        const I column = matrix_.columns()[offsets[row] + b * block];
        const Offset sector =
            places.place_of(static_cast<std::uint32_t>(column / sector_elements<V>()));
        columns[number] = static_cast<std::uint16_t>(sector * sector_elements<V>() +
                                                     column % sector_elements<V>());
        for (int r = 0; r < block; ++r) {
          std::copy_n(matrix_.values().data() + offsets[row + r] + b * block, block,
                      values + (number * block + r) * block);
        }
      }
      ends[(row - first) / block] = static_cast<std::uint16_t>(number);
    }
  }
  static void clear_end(std::byte* bytes, Offset begin, Offset end) {
    std::memset(bytes + begin, 0, static_cast<std::size_t>(end - begin));
  }

  const Csr<V, I>& matrix_;
  const FlaggedForm& form_;
};

// Whether so many of some are as many as kMostlyLines says.
bool are_most(Offset these, Offset all) {
  return static_cast<double>(these) >= kMostlyLines * static_cast<double>(all);
}

// Rows to look at: the first of so many segments, evenly spread.
std::vector<Offset> sampled(Offset rows, Offset unit) {
  std::vector<Offset> firsts;
  const Offset units = rows / unit;
  for (Offset s = 0; s < std::min(kSamples, units); ++s) {
    firsts.push_back(s * units / std::min(kSamples, units) * unit);
  }
  return firsts;
}

// The stride of a five- or seven-point stencil; 0 if it is none.
template <Value V>
I stencil_stride(const Csr<V, I>& matrix, std::span<const Offset> segments) {
  I stride = 0;
  Offset fit = 0;
  for (const Offset first : segments) {
    Diagonals<V> diagonals;
    if (!diagonals.add(matrix, first, first + segment_rows<V>(), kMostDiagonals)) return 0;
    const auto beyond = std::ranges::upper_bound(diagonals.all(), 1);
    if (beyond == diagonals.all().end()) continue;
    if (stride == 0) stride = *beyond;
    fit += seven_points(diagonals.all(), stride).has_value() ? 1 : 0;
  }
  const bool mostly = are_most(fit, std::ssize(segments));
  const bool patches = stride > 0 && stride % segment_rows<V>() == 0 &&
                       matrix.rows() >= SevenPoints::segments * Offset{stride};
  return mostly && patches ? stride : 0;
}

// How many of the block rows from a sampled one on fit into a tile, in the mean; 0 if one does not.
template <Value V>
double rows_that_fit(const Csr<V, I>& matrix, int block) {
  SectorSet<V> sectors;
  const auto firsts = sampled(matrix.rows() / block * block, block);
  Offset fit = 0;
  for (const Offset first : firsts) {
    // The last rows count as if others followed.
    const Offset end = std::min<Offset>(first + Offset{kMostTileRows} * block, matrix.rows());
    const Offset cut = end_of_block_tile(matrix, first, end, block, kMostTileRows, sectors);
    if (cut == first) return 0;
    fit += cut < end ? (cut - first) / block : kMostTileRows;
  }
  return static_cast<double>(fit) / static_cast<double>(std::ssize(firsts));
}

// As few lanes per block row as possible, so that a row for all of them is a tile, or more rows
// where they are short. No lanes if some rows fit into no tile.
template <Value V>
void choose_lanes(const Csr<V, I>& matrix, FlaggedForm& form) {
  const double fit = rows_that_fit(matrix, form.block);
  form.lanes = fit > 0 ? 1 : 0;
  form.rows = kWarpLanes;
  while (form.lanes > 0 && form.rows > kMostLanes * fit) {
    form.lanes *= 2;
    form.rows /= 2;
  }
  while (form.lanes == 1 && form.rows < kMostTileRows && 2 * form.rows <= fit) form.rows *= 2;
}

}  // namespace

template <Value V>
std::optional<FlaggedForm> find_flagged_form(const Csr<V, I>& matrix) {
  if (matrix.rows() != matrix.cols() || matrix.nnz() == 0) return std::nullopt;
  FlaggedForm form;
  const auto segments = sampled(matrix.rows(), segment_rows<V>());
  const auto in_lines = std::ranges::count_if(segments, [&](Offset first) {
    return lines_of(matrix, first, first + segment_rows<V>()).has_value();
  });
  form.has_lines = !segments.empty() && are_most(in_lines, std::ssize(segments));
  if (form.has_lines) {
    form.stride = stencil_stride(matrix, segments);
    if (form.stride > 0) form.lines = FlaggedLines::seven_points;
  } else {
    for (const int block : {3, 2}) {
      if (matrix.rows() % block != 0 || form.block > 1) continue;
      const auto rows = sampled(matrix.rows(), block);
      const bool blocks =
          std::ranges::all_of(rows, [&](Offset row) { return is_block_row(matrix, row, block); });
      if (blocks) form.block = block;
    }
  }
  choose_lanes(matrix, form);
  if (form.lanes == 0) return std::nullopt;
  return form;
}

template <Value V>
FlaggedStream<V>::FlaggedStream(const Csr<V, I>& matrix, const FlaggedForm& cut, int workers)
    : matrix_(matrix) {
  if (matrix.rows() != matrix.cols()) {
    throw InvalidArgument("powers need a square matrix");
  }
  if (cut.block < 1 || cut.block > 3 || matrix.rows() % cut.block != 0 || cut.lanes < 1 ||
      cut.lanes > kWarpLanes || cut.rows < 0 || workers < 1 ||
      (cut.lines == FlaggedLines::seven_points && cut.has_lines &&
       (cut.stride < segment_rows<V>() || cut.stride % segment_rows<V>() != 0))) {
    throw InvalidArgument("tiles of a sweep cannot be cut like this");
  }
  form = cut;
  rows = matrix.rows();
  const Offset each = piece_rows<V>(form);
  const Offset pieces = ceil_div<Offset>(rows, each);
  std::vector<TilesOfPiece> made(static_cast<std::size_t>(pieces));
  parallel_dynamic(pieces, 1, [&](Offset begin, Offset end) {
    TileCutter<V> cutter(matrix, form);
    for (Offset piece = begin; piece < end; ++piece) {
      made[piece] = cutter.make(piece * each, std::min<Offset>((piece + 1) * each, rows));
    }
  });
  // Where the pieces go.
  struct Place {
    Offset byte = 0;
    Offset tile = 0;
    Offset word = 0;
    Offset listed = 0;
  };
  std::vector<Place> firsts(made.size() + 1);
  bool has_holes = false;
  for (std::size_t piece = 0; piece < made.size(); ++piece) {
    const TilesOfPiece& here = made[piece];
    const Place& first = firsts[piece];
    firsts[piece + 1] = {first.byte + here.bytes, first.tile + std::ssize(here.places),
                         first.word + here.words, first.listed + std::ssize(here.lists)};
    has_holes = has_holes || here.has_holes;
    line_rows += here.line_rows;
    sectors += here.sectors;
    most_sectors = std::max(most_sectors, here.most_sectors);
  }
  record_bytes = firsts.back().byte;
  narrow<std::uint32_t>(record_bytes / kFlaggedUnit, "the matrix of a sweep");
  tiles = narrow<I>(firsts.back().tile, "the tiles of a sweep");
  presence_words_ = has_holes ? firsts.back().word : 0;
  places_.resize(static_cast<std::size_t>(tiles));
  heads_.resize(static_cast<std::size_t>(tiles));
  lists_.resize(static_cast<std::size_t>(firsts.back().listed));
  parallel_dynamic(pieces, 1, [&](Offset begin, Offset end) {
    for (Offset piece = begin; piece < end; ++piece) {
      const TilesOfPiece here = std::move(made[piece]);
      const Place& first = firsts[piece];
      std::ranges::copy(here.lists, lists_.begin() + first.listed);
      for (std::size_t t = 0; t < here.places.size(); ++t) {
        const auto tile = static_cast<std::size_t>(first.tile) + t;
        places_[tile] = here.places[t];
        places_[tile].begin += static_cast<std::uint32_t>(first.byte / kFlaggedUnit);
        heads_[tile] = here.heads[t];
        heads_[tile].first_listed += first.listed;
        heads_[tile].first_word += first.word;
      }
    }
  });
  for (const FlaggedPlace& place : places_) largest_tile = std::max(largest_tile, place.bytes);
  const Array<I> tile_of = tile_of_rows(*this, places_);
  std::vector<I> last(static_cast<std::size_t>(tiles));
  parallel_for(tiles, [&](Offset t) {
    FlaggedHead& head = heads_[t];
    last[t] =
        std::max(static_cast<I>(t), last_input<V>(places_[t], head, list_of(head), *this, tile_of));
    head.cleared = last[t] / workers + 1;
  });
  dependency_distance = distances_of(std::move(last));
}

template <Value V>
void FlaggedStream<V>::write(Offset first, Offset end, std::byte* to,
                             std::span<std::uint64_t> presence) const {
  const TileWriter<V> writer(matrix_, form);
  for (Offset t = first; t < end; ++t) {
    const FlaggedHead& head = heads_[t];
    const bool has_presence = !presence.empty() && head.kind == FlaggedKind::lines;
    writer.write(places_[t], head, list_of(head),
                 has_presence ? presence.subspan(head.first_word) : presence.first(0), to);
    to += places_[t].bytes;
  }
}

#define STRATA_INSTANTIATE(V, unused)                                                        \
  template std::optional<FlaggedForm> find_flagged_form(const Csr<V, std::int32_t>& matrix); \
  template class FlaggedStream<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu
