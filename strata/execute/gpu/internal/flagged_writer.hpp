// TileWriter: writes tiles of a sweep whose values are their own flags (flagged_tile.hpp), once it
// is known what they consist of. Host code.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <utility>

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

}  // namespace strata::gpu::detail
