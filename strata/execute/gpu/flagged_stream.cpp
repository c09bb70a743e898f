#include "strata/execute/gpu/flagged_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/execute/gpu/internal/flagged_rows.hpp"
#include "strata/execute/gpu/internal/flagged_writer.hpp"

namespace strata::gpu {

namespace {

using detail::block_tile_bytes;
using detail::diagonal_tile_bytes;
using detail::Diagonals;
using detail::diagonals_of;
using detail::DiagonalsOfTile;
using detail::end_of_block_tile;
using detail::I;
using detail::is_block_row;
using detail::kLinesHead;
using detail::kMostDiagonals;
using detail::lines_of;
using detail::LineShape;
using detail::LinesOfTile;
using detail::point_lines;
using detail::sector_elements;
using detail::SectorSet;
using detail::segment_rows;
using detail::shape_of;
using detail::tile_rows;
using detail::TileWriter;

// Rows that are cut independently of others: about so many.
constexpr Offset kPieceRows = 4096;

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

// Whether points are mirrored (flagged_tile.hpp): two entries are alike if they have the same bits
// or neither is there.
template <Value V>
class Mirror {
 public:
  // The lines have all columns that are mirrored.
  Mirror(const Csr<V, I>& matrix, I stride, const LinesOfTile& lines)
      : matrix_(matrix), stride_(stride), columns_(std::popcount(lines.columns)) {
    const auto place_of = [&](I diagonal) {
      int place = 0;
      for (int line = 0; line < kMostLines; ++line) {
        for (int side = 0; side < 3; ++side) {
          const bool here = (line_columns(lines.columns, line) >> side & 1) != 0;
          place += here && lines.distances[line] + side - 1 < diagonal ? 1 : 0;
        }
      }
      return place;
    };
    before_ = place_of(-stride);
    left_ = place_of(-1);
    right_ = place_of(1);
    behind_ = place_of(stride);
  }

  // Of the rows of so many segments, a stride apart.
  bool holds(Offset first, Offset segments) const {
    std::array<const V*, kRows> rows;         // values of those that have all columns, or null
    std::array<const V*, kRows> rows_before;  // of the segment before
    for (Offset segment = 0; segment < segments; ++segment) {
      const Offset start = first + segment * stride_;
      for (Offset place = 0; place < kRows; ++place) rows[place] = whole_row(start + place);
      for (Offset place = 1; place < kRows; ++place) {
        const Offset row = start + place;
        if (!are_alike(value(rows[place], row, -1, left_),
                       value(rows[place - 1], row - 1, 1, right_))) {
          return false;
        }
      }
      for (Offset place = 0; segment > 0 && place < kRows; ++place) {
        const Offset row = start + place;
        if (!are_alike(value(rows[place], row, -stride_, before_),
                       value(rows_before[place], row - stride_, stride_, behind_))) {
          return false;
        }
      }
      rows_before = rows;
    }
    return true;
  }

 private:
  static constexpr Offset kRows = segment_rows<V>();

  const V* whole_row(Offset row) const {
    const Offset begin = matrix_.row_offsets()[row];
    const bool whole = matrix_.row_offsets()[row + 1] - begin == columns_;
    return whole ? matrix_.values().data() + begin : nullptr;
  }
  // Null if there is none. whole: the values of the row if it has all columns; it is then in the
  // place that is known.
  const V* value(const V* whole, Offset row, I diagonal, int place) const {
    if (whole != nullptr) return whole + place;
    for (Offset entry = matrix_.row_offsets()[row]; entry < matrix_.row_offsets()[row + 1];
         ++entry) {
      if (matrix_.columns()[entry] - row == diagonal) return matrix_.values().data() + entry;
    }
    return nullptr;
  }
  static bool are_alike(const V* one, const V* other) {
    if (one == nullptr || other == nullptr) return one == other;
    return std::memcmp(one, other, sizeof(V)) == 0;
  }

  const Csr<V, I>& matrix_;
  I stride_;
  int columns_;
  // Which entry of a row with all columns it is.
  int before_ = 0;
  int left_ = 0;
  int right_ = 0;
  int behind_ = 0;
};

// The tiles of some consecutive rows.
struct TilesOfPiece {
  std::vector<FlaggedPlace> places;  // in the bytes of this piece
  std::vector<FlaggedHead> heads;    // with lists and presence of this piece
  std::vector<std::uint32_t> lists;
  Offset bytes = 0;
  Offset words = 0;        // of presence
  bool has_holes = false;  // of lines and diagonals
  Offset line_rows = 0;
  Offset sectors = 0;
  int most_sectors = 0;

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
    if (form_.has_points()) {
      make_patches(first, end);
    } else if (form_.has_lines) {
      make_lines(first, end);
    } else if (form_.segments > 0) {
      make_diagonals(first, end);
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

  // Tile by tile; rows that are none go together.
  void make_diagonals(Offset first, Offset end) {
    const Offset rows = form_.segments * kSegment;
    Offset blocks_from = first;
    for (Offset row = first; row < end; row += rows) {
      const Offset tile_end = std::min(row + rows, end);
      const auto diagonals = diagonals_of(matrix_, row, tile_end);
      if (!diagonals) continue;
      make_blocks(blocks_from, row);
      blocks_from = tile_end;
      add_diagonals(row, tile_end, *diagonals);
    }
    make_blocks(blocks_from, end);
  }

  void add_diagonals(Offset first, Offset end, const DiagonalsOfTile& tile) {
    const std::size_t count = tile.diagonals.size();
    const Offset values = static_cast<Offset>(count) * (end - first);
    std::vector<std::uint32_t> list = tile.sectors;
    for (const I diagonal : tile.diagonals) list.push_back(static_cast<std::uint32_t>(diagonal));
    FlaggedHead& head = made_.add(diagonal_tile_bytes<V>(tile.sectors.size(), count, end - first),
                                  first, end - first, 1, list);
    head.kind = FlaggedKind::diagonals;
    head.diagonals = static_cast<std::uint8_t>(count);
    head.first_word = made_.words;
    head.whole = are_inside(tile.sectors);
    made_.words += ceil_div<Offset>(values, 64);
    made_.has_holes =
        made_.has_holes || matrix_.row_offsets()[end] - matrix_.row_offsets()[first] < values;
    count_sectors(std::ssize(tile.sectors));
  }

  // Rows of several strides: a tile has a segment of each. What is left over at the end are blocks.
  void make_patches(Offset first, Offset end) {
    const LineShape shape = shape_of(form_.lines);
    const Offset strides = shape.segments;
    if (end - first < strides * form_.stride) return make_blocks(first, end);
    for (Offset segment = first; segment < first + form_.stride; segment += kSegment) {
      Diagonals<V> diagonals;
      bool few = true;
      for (Offset s = 0; s < strides && few; ++s) {
        const Offset row = segment + s * form_.stride;
        few = diagonals.add(matrix_, row, row + kSegment, kMostDiagonals);
      }
      const auto lines =
          few ? point_lines(diagonals.all(), form_.stride, shape.lines) : std::nullopt;
      if (lines) {
        add_lines(segment, kSegment, shape.segments, *lines);
        continue;
      }
      for (Offset s = 0; s < strides; ++s) {
        const Offset row = segment + s * form_.stride;
        make_blocks(row, row + kSegment);
      }
    }
  }

  void add_lines(Offset first, Offset rows, int segments, const LinesOfTile& lines) {
    const int columns = std::popcount(lines.columns);
    const Offset values = columns * Offset{segments} * kSegment;
    const bool mirrored = is_mirrored(first, rows, segments, lines);
    const Offset stored = stored_values<DeviceValue<V>>(mirrored, segments, columns);
    FlaggedHead& head = made_.add(kLinesHead + detail::rounded(stored * Offset{sizeof(V)}), first,
                                  rows, segments, lines.distances);
    head.kind = FlaggedKind::lines;
    head.mirrored = mirrored;
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
  bool is_mirrored(Offset first, Offset rows, int segments, const LinesOfTile& lines) const {
    if (!form_.mirrors || segments == 1 || rows < kSegment ||
        (lines.columns & kMirroredColumns) != kMirroredColumns) {
      return false;
    }
    return Mirror<V>(matrix_, form_.stride, lines).holds(first, segments);
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
    const LineShape shape = shape_of(form_.lines);
    if (lines.columns != shape.usual || rows < kSegment) return false;
    const auto [least, most] = std::ranges::minmax(
        std::span(lines.distances).first(static_cast<std::size_t>(shape.lines)));
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
    head.whole = are_inside(sectors);
    count_sectors(std::ssize(sectors));
  }

  // Of sectors that increase.
  bool are_inside(std::span<const std::uint32_t> sectors) const {
    return (Offset{sectors.back()} + 1) * sector_elements<V>() <= matrix_.rows();
  }
  void count_sectors(Offset sectors) {
    made_.sectors += sectors;
    made_.most_sectors = std::max(made_.most_sectors, static_cast<int>(sectors));
  }

  const Csr<V, I>& matrix_;
  const FlaggedForm& form_;
  SectorSet<V> sectors_;
  TilesOfPiece made_;
};

// Rows that are cut by themselves: pieces of so many.
template <Value V>
Offset piece_rows(const FlaggedForm& form) {
  if (form.has_points()) return shape_of(form.lines).segments * Offset{form.stride};
  const Offset unit = form.has_lines      ? segment_rows<V>()
                      : form.segments > 0 ? form.segments * segment_rows<V>()
                                          : Offset{tile_rows(form)} * form.block;
  return std::max<Offset>(kPieceRows / unit, 1) * unit;
}

// The tile of every row; of as many rows at a time as all tiles are made of.
class TileOfRows {
 public:
  TileOfRows(const FlaggedSizes& sizes, std::span<const FlaggedPlace> places)
      : unit_(unit_of(sizes, places)),
        tiles_(static_cast<std::size_t>(ceil_div<Offset>(sizes.rows, unit_))) {
    parallel_for(sizes.tiles, [&](Offset tile) {
      const FlaggedPlace& place = places[tile];
      for (Offset segment = 0; segment < place.segments; ++segment) {
        const Offset row = place.first_row + segment * sizes.form.stride;
        std::fill_n(tiles_.begin() + row / unit_, ceil_div<Offset>(place.rows, unit_),
                    static_cast<I>(tile));
      }
    });
  }
  I operator[](Offset row) const { return tiles_[row / unit_]; }

 private:
  static Offset unit_of(const FlaggedSizes& sizes, std::span<const FlaggedPlace> places) {
    // Of the numbers that divide the rows before all tiles, the largest power of two.
    constexpr Offset kMost = 64;
    const auto bits = parallel_reduce(
        std::ssize(places), Offset{sizes.form.stride} | kMost,
        [&](Offset begin, Offset end) {
          Offset any = 0;
          for (const FlaggedPlace& place : places.subspan(begin, end - begin)) {
            any |= place.first_row;
          }
          return any;
        },
        std::bit_or<Offset>());
    return bits & -bits;
  }

  Offset unit_;
  Array<I> tiles_;
};

// The last of the tiles whose rows a tile loads. Holes count, for their x is loaded as well.
template <Value V>
I last_input(const FlaggedPlace& place, const FlaggedHead& head,
             std::span<const std::uint32_t> list, const FlaggedSizes& sizes,
             const TileOfRows& tile_of) {
  I last = 0;
  const auto take = [&](Offset row) {
    last = std::max(last, tile_of[std::clamp<Offset>(row, 0, sizes.rows - 1)]);
  };
  if (head.kind != FlaggedKind::lines) {
    for (const std::uint32_t sector : list.first(list.size() - head.diagonals)) {
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

}  // namespace

template <Value V>
FlaggedStream<V>::FlaggedStream(const Csr<V, I>& matrix, const FlaggedForm& cut, int workers)
    : matrix_(matrix) {
  if (matrix.rows() != matrix.cols()) {
    throw InvalidArgument("powers need a square matrix");
  }
  if (cut.block < 1 || cut.block > 3 || matrix.rows() % cut.block != 0 || cut.lanes < 1 ||
      cut.lanes > kWarpLanes || cut.rows < 0 || cut.segments < 0 ||
      cut.segments > detail::kMostSegments || (cut.segments > 0 && cut.block > 1) || workers < 1 ||
      (cut.has_points() &&
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
  const TileOfRows tile_of(*this, places_);
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
    const bool has_presence = !presence.empty() && head.kind != FlaggedKind::blocks;
    writer.write(places_[t], head, list_of(head),
                 has_presence ? presence.subspan(head.first_word) : presence.first(0), to);
    to += places_[t].bytes;
  }
}

#define STRATA_INSTANTIATE(V, unused) template class FlaggedStream<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu
