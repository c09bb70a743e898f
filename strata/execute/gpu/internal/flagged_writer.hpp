// TileWriter: writes tiles of a sweep whose values are their own flags (flagged_tile.hpp), once it
// is known what they consist of. Host code.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "strata/execute/gpu/flagged_stream.hpp"
#include "strata/execute/gpu/internal/flagged_rows.hpp"

namespace strata::gpu::detail {

// Before the values of lines.
inline constexpr Offset kLinesHead = sizeof(FlaggedTile) + kLineSlots * sizeof(I);

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
    tile.mirrored = head.mirrored;
    tile.columns = head.columns;
    tile.cleared = head.cleared;
    tile.diagonals = head.diagonals;
    tile.first_value = static_cast<std::uint64_t>(head.first_word) * 64;
    const auto sectors = list.first(list.size() - head.diagonals);  // or distances
    std::memcpy(to + sizeof(FlaggedTile), sectors.data(), sectors.size_bytes());
    if (head.kind == FlaggedKind::lines) {
      return fill_lines(tile, place.segments, presence);
    }
    if (head.kind == FlaggedKind::diagonals) {
      return fill_diagonals(tile, list, presence);
    }
    switch (form_.block) {
      case 1: return fill_blocks<1>(tile, place.bytes, list);
      case 2: return fill_blocks<2>(tile, place.bytes, list);
      default: return fill_blocks<3>(tile, place.bytes, list);
    }
  }

 private:
  static constexpr Offset kSegment = segment_rows<V>();

  // Segments of rows whose entries are stored by diagonal.
  struct Segments {
    Offset first_row = 0;
    Offset rows = 0;  // of each
    int count = 0;
    Offset stride = 0;  // from the first row of one to that of the next
    bool mirrored = false;
    // The diagonals, increasing, and where each of them is among the columns of a segment.
    std::vector<std::pair<I, int>> columns;
  };

  void fill_lines(FlaggedTile& tile, int segments, std::span<std::uint64_t> presence) const {
    tile.values = static_cast<std::uint32_t>(kLinesHead);
    Segments of{tile.first_row, tile.rows, segments, form_.stride, tile.mirrored, {}};
    for (int line = 0; line < kMostLines; ++line) {
      for (int side = 0; side < 3; ++side) {
        if ((line_columns(tile.columns, line) >> side & 1) == 0) continue;
        of.columns.emplace_back(tile.distances()[line] + side - 1,
                                static_cast<int>(of.columns.size()));
      }
    }
    fill_segments(of, values_of(tile), presence);
  }

  // The list: sectors, and diagonals behind them.
  void fill_diagonals(FlaggedTile& tile, std::span<const std::uint32_t> list,
                      std::span<std::uint64_t> presence) const {
    const auto sectors = list.first(list.size() - tile.diagonals);
    const auto diagonals = list.last(tile.diagonals);
    tile.sectors = static_cast<std::uint16_t>(sectors.size());
    tile.ends = static_cast<std::uint32_t>(sizeof(FlaggedTile)) +
                static_cast<std::uint32_t>(rounded(std::ssize(sectors) * 4));
    tile.values = tile.ends + static_cast<std::uint32_t>(rounded(std::ssize(diagonals) * 2));
    auto* const bytes = reinterpret_cast<std::byte*>(&tile);
    clear_end(bytes, sizeof(FlaggedTile) + std::ssize(sectors) * 4, tile.ends);
    std::memset(bytes + tile.ends, 0, tile.values - tile.ends);
    auto* const runs = reinterpret_cast<std::uint16_t*>(bytes + tile.ends);
    Segments of{tile.first_row, kSegment, static_cast<int>(tile.rows / kSegment),
                kSegment,       false,    {}};
    for (std::size_t d = 0; d < diagonals.size(); ++d) {
      const auto diagonal = static_cast<I>(diagonals[d]);
      of.columns.emplace_back(diagonal, static_cast<int>(d));
      if (diagonal % 2 == 0) ++tile.even_diagonals;
      const Offset begin = tile.first_row + Offset{diagonal};
      const auto sector = std::ranges::lower_bound(
          sectors, static_cast<std::uint32_t>(begin / sector_elements<V>()));
      runs[d] = static_cast<std::uint16_t>((sector - sectors.begin()) * sector_elements<V>() +
                                           begin % sector_elements<V>());
    }
    fill_segments(of, values_of(tile), presence);
  }
  static V* values_of(FlaggedTile& tile) {
    return reinterpret_cast<V*>(reinterpret_cast<std::byte*>(&tile) + tile.values);
  }

  void fill_segments(Segments& of, V* values, std::span<std::uint64_t> presence) const {
    std::ranges::sort(of.columns);
    const auto count = static_cast<int>(of.columns.size());
    const Offset stored = Offset{of.count} * count * kSegment;
    if (!presence.empty()) {
      presence = presence.first(static_cast<std::size_t>(ceil_div<Offset>(stored, 64)));
      std::ranges::fill(presence, ~std::uint64_t{0});
      if (stored % 64 != 0) presence.back() >>= 64 - stored % 64;
    }
    // Where a row's entry in a column goes, if it has a place of its own.
    const auto place_of = [&](int segment, int number, Offset row) -> V* {
      const bool is_elsewhere = of.mirrored && ((number == kColumnBefore && segment > 0) ||
                                                (number == kColumnLeft && row > 0));
      if (is_elsewhere) return nullptr;
      return values + place_of_value<DeviceValue<V>>(of.mirrored, of.count, count, segment, number,
                                                     static_cast<int>(row));
    };
    const auto leave_out = [&](int segment, int number, Offset row) {
      if (V* const value = place_of(segment, number, row)) *value = V{};
      const Offset bit = (Offset{segment} * count + number) * kSegment + row;
      if (!presence.empty()) presence[bit / 64] &= ~(std::uint64_t{1} << (bit % 64));
    };
    const I* const columns = matrix_.columns().data();
    const V* const source = matrix_.values().data();
    std::vector<V*> to(static_cast<std::size_t>(count));
    for (int segment = 0; segment < of.count; ++segment) {
      // Of the second row: values of the first one may have places of their own.
      for (int d = 0; d < count; ++d) to[d] = place_of(segment, of.columns[d].second, 1);
      for (Offset place = 0; place < of.rows; ++place) {
        const Offset row = of.first_row + segment * of.stride + place;
        Offset entry = matrix_.row_offsets()[row];
        const Offset end = matrix_.row_offsets()[row + 1];
        if (end - entry == count && place > 0) {
          for (int d = 0; d < count; ++d) {
            if (to[d] != nullptr) to[d][place - 1] = source[entry + d];
          }
          continue;
        }
        for (int d = 0; d < count; ++d) {  // diagonals and columns both increase
          const auto [diagonal, number] = of.columns[d];
          if (entry == end || columns[entry] - row != diagonal) {
            leave_out(segment, number, place);
            continue;
          }
          if (V* const value = place_of(segment, number, place)) *value = source[entry];
          ++entry;
        }
      }
      for (Offset place = of.rows; place < kSegment; ++place) {
        for (int number = 0; number < count; ++number) leave_out(segment, number, place);
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

}  // namespace strata::gpu::detail
