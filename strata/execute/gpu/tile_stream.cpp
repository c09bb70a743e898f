#include "strata/execute/gpu/tile_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/schedule/internal/tile_lists.hpp"

namespace strata::gpu {

namespace {

// What tiles are cut by: the bytes of the slice if its values were stored in full.
template <Value V, Index I>
Offset work_of_slice(const PackedSell<V, I>& matrix, Offset slice) {
  const auto number = static_cast<I>(slice);
  const Offset height = matrix.slice_height();
  const Offset width = matrix.width(number);
  return width * height * Offset{sizeof(V)} +
         code_bytes(matrix.encoding(number), height, width, matrix.run_length());
}

using strata::detail::add_readers;
using strata::detail::sort_unique;
using strata::detail::TileLists;

std::vector<std::int32_t> tile_of_slices(const SliceTiles& tiles) {
  std::vector<std::int32_t> tile_of(tiles.slices.size());
  for (std::int32_t tile = 0; tile < tiles.tiles(); ++tile) {
    for (const std::int32_t slice : tiles.slices_of(tile)) tile_of[slice] = tile;
  }
  return tile_of;
}

// Calls found(slice) for every slice whose rows this one reads; often several times.
template <Value V, Index I, class Found>
void for_each_slice_read(const PackedSell<V, I>& matrix, Offset slice, const Found& found) {
  const Offset height = matrix.slice_height();
  const Offset width = matrix.width(static_cast<I>(slice));
  const Offset first = slice * height;
  for (Offset entry = 0; entry < width; ++entry) {
    if (matrix.encoding(static_cast<I>(slice)) == SliceEncoding::dia) {
      // Consecutive columns.
      const Offset column = matrix.column(first, entry);
      found(column / height);
      found((column + height - 1) / height);
      continue;
    }
    for (Offset lane = 0; lane < height; ++lane) found(matrix.column(first + lane, entry) / height);
  }
}

// The columns that a slice reads: slices and, bit by bit, which of their rows.
class ColumnsRead {
 public:
  template <Value V, Index I>
  void find(const PackedSell<V, I>& matrix, Offset slice) {
    masks_.clear();
    const Offset height = matrix.slice_height();
    const Offset width = matrix.width(static_cast<I>(slice));
    for (Offset entry = 0; entry < width; ++entry) {
      for (Offset lane = 0; lane < height; ++lane) {
        const Offset column = matrix.column(slice * height + lane, entry);
        const std::uint32_t bit = std::uint32_t{1} << (column % height);
        if (masks_.empty() || masks_.back().first != column / height) {
          masks_.emplace_back(column / height, bit);
        } else {
          masks_.back().second |= bit;
        }
      }
    }
    std::ranges::sort(masks_);
    std::size_t kept = 0;
    for (const auto& [read, mask] : masks_) {
      if (kept > 0 && masks_[kept - 1].first == read) {
        masks_[kept - 1].second |= mask;
      } else {
        masks_[kept++] = {read, mask};
      }
    }
    masks_.resize(kept);
  }

  int shared_with(const ColumnsRead& other) const {
    int shared = 0;
    auto mine = masks_.begin();
    auto others = other.masks_.begin();
    while (mine != masks_.end() && others != other.masks_.end()) {
      if (mine->first == others->first) {
        shared += std::popcount(mine->second & others->second);
      }
      const bool both = mine->first == others->first;
      const bool first = mine->first < others->first;
      if (both || first) ++mine;
      if (both || !first) ++others;
    }
    return shared;
  }

 private:
  std::vector<std::pair<Offset, std::uint32_t>> masks_;
};

// Makes tiles of the slices: from the first that is left always on to the one that shares most
// columns with those of the tile so far.
template <Value V, Index I>
TileLists gather(const PackedSell<V, I>& matrix, std::span<const std::int32_t> slices,
                 Offset tile_bytes) {
  std::vector<ColumnsRead> columns(slices.size());
  for (std::size_t s = 0; s < slices.size(); ++s) columns[s].find(matrix, slices[s]);
  std::vector<bool> taken(slices.size(), false);
  TileLists tiles;
  for (std::size_t left = slices.size(); left > 0;) {
    std::vector<std::int32_t>& tile = tiles.emplace_back();
    std::vector<int> shared(slices.size(), 0);
    std::size_t next = std::ranges::find(taken, false) - taken.begin();
    Offset bytes = 0;
    do {
      taken[next] = true;
      --left;
      tile.push_back(slices[next]);
      bytes += work_of_slice(matrix, slices[next]);
      const ColumnsRead& added = columns[next];
      int most = -1;
      for (std::size_t other = 0; other < slices.size(); ++other) {
        if (taken[other]) continue;
        shared[other] += added.shared_with(columns[other]);
        if (shared[other] > most) {
          most = shared[other];
          next = other;
        }
      }
    } while (left > 0 && bytes + work_of_slice(matrix, slices[next]) <= tile_bytes);
    std::ranges::sort(tile);
  }
  return tiles;
}

constexpr Offset rounded(Offset bytes) {
  return ceil_div<Offset>(bytes, kRecordUnit) * kRecordUnit;
}

// The parts of a record before its code blocks.
Offset list_bytes(const SliceTiles& tiles, const WorkerSweep& sweep, std::int32_t tile) {
  return rounded(static_cast<Offset>(sizeof(TileRecord) +
                                     tiles.slices_of(tile).size() * sizeof(RecordSlice) +
                                     sweep.needs_of(tile).size() * sizeof(RecordNeed) +
                                     sweep.readers_of(tile).size() * sizeof(std::int32_t)));
}

// The mailboxes that the tile's worker polls for the needs of the tile.
std::vector<RecordNeed> needs_in_mailboxes(const WorkerSweep& sweep, std::int32_t tile) {
  std::vector<RecordNeed> needs;
  for (const Need& need : sweep.needs_of(tile)) {
    needs.push_back({sweep.mailbox_of(tile % sweep.workers(), need.worker), need.tiles});
  }
  return needs;
}

// The mailboxes that the tile's worker signals when the tile is done.
std::vector<std::int32_t> mailboxes_of_readers(const WorkerSweep& sweep, std::int32_t tile) {
  std::vector<std::int32_t> mailboxes;
  for (const std::int32_t reader : sweep.readers_of(tile)) {
    mailboxes.push_back(narrow<std::int32_t>(
        Offset{reader} * sweep.mailboxes() + sweep.mailbox_of(reader, tile % sweep.workers()),
        "the mailboxes of a wavefront sweep"));
  }
  return mailboxes;
}

template <class T>
std::byte* append(std::byte* to, std::span<const T> items) {
  if (!items.empty()) std::memcpy(to, items.data(), items.size_bytes());
  return to + items.size_bytes();
}

}  // namespace

template <Value V, Index I>
SliceTiles cut_slices(const PackedSell<V, I>& matrix, Offset tile_bytes) {
  SliceTiles tiles;
  const auto slices = narrow<std::int32_t>(matrix.slices(), "the number of slices");
  tiles.slices.resize(slices);
  std::iota(tiles.slices.begin(), tiles.slices.end(), 0);
  Offset bytes = 0;
  for (std::int32_t slice = 0; slice < slices; ++slice) {
    const Offset more = work_of_slice(matrix, slice);
    if (slice > tiles.offsets.back() && bytes + more > tile_bytes) {
      tiles.offsets.push_back(slice);
      bytes = 0;
    }
    bytes += more;
  }
  if (slices > 0) tiles.offsets.push_back(slices);
  return tiles;
}

template <Value V, Index I>
SliceTiles gather_slices(const PackedSell<V, I>& matrix, Offset tile_bytes) {
  // So many consecutive tiles are formed again, together: enough for patches as high as wide.
  constexpr std::int32_t kTilesPerWindow = 4;
  const SliceTiles lines = cut_slices(matrix, tile_bytes);
  std::vector<TileLists> windows(ceil_div<Offset>(lines.tiles(), kTilesPerWindow));
  parallel_dynamic(static_cast<Offset>(windows.size()), 16, [&](Offset first, Offset last) {
    for (Offset window = first; window < last; ++window) {
      const auto tile = static_cast<std::int32_t>(window) * kTilesPerWindow;
      const std::int32_t begin = lines.offsets[tile];
      const std::int32_t end = lines.offsets[std::min(tile + kTilesPerWindow, lines.tiles())];
      windows[window] =
          gather(matrix, std::span(lines.slices).subspan(begin, end - begin), tile_bytes);
    }
  });
  SliceTiles tiles;
  for (const TileLists& window : windows) {
    for (const std::vector<std::int32_t>& tile : window) {
      tiles.slices.insert(tiles.slices.end(), tile.begin(), tile.end());
      tiles.offsets.push_back(static_cast<std::int32_t>(tiles.slices.size()));
    }
  }
  return tiles;
}

template <Value V, Index I>
TileInputs inputs_of(const PackedSell<V, I>& matrix, const SliceTiles& tiles) {
  if (matrix.rows() != matrix.cols()) {
    throw InvalidArgument(
        fmt::format("a {} x {} matrix has no powers", matrix.rows(), matrix.cols()));
  }
  if (std::ranges::any_of(matrix.encodings(), has_runs)) {
    throw InvalidArgument("wavefront sweeps take columns one by one, not in runs");
  }
  if (matrix.sorted())
    throw InvalidArgument("a wavefront sweep runs over rows in their order, not sorted by length");
  const std::vector<std::int32_t> tile_of = tile_of_slices(tiles);
  TileLists lists(tiles.tiles());
  parallel_dynamic(tiles.tiles(), 64, [&](Offset begin, Offset end) {
    for (Offset tile = begin; tile < end; ++tile) {
      std::vector<std::int32_t>& list = lists[tile];
      std::int32_t last = -1;
      for (const std::int32_t slice : tiles.slices_of(static_cast<std::int32_t>(tile))) {
        for_each_slice_read(matrix, slice, [&](Offset read) {
          if (std::exchange(last, tile_of[read]) != tile_of[read]) list.push_back(tile_of[read]);
        });
      }
      sort_unique(list);
    }
  });
  add_readers(lists);
  TileInputs inputs;
  for (const std::vector<std::int32_t>& list : lists) {
    inputs.inputs.insert(inputs.inputs.end(), list.begin(), list.end());
    inputs.offsets.push_back(static_cast<Offset>(inputs.inputs.size()));
  }
  return inputs;
}

namespace {

// Where the code blocks of a tile's slices go, each block once.
struct BlockPlaces {
  struct Block {
    Offset from = 0;  // in the codes of the matrix
    Offset bytes = 0;
    Offset to = 0;  // in the record
  };
  std::vector<Block> blocks;
  std::vector<Offset> of_slices;  // in the record
  Offset end = 0;
};

// From `begin` of the record on.
template <Value V, Index I>
BlockPlaces place_blocks(const PackedSell<V, I>& matrix, std::span<const std::int32_t> slices,
                         Offset begin) {
  BlockPlaces places;
  places.end = begin;
  std::unordered_map<Offset, Offset> place_of;  // by the block's place in the codes of the matrix
  for (const std::int32_t slice : slices) {
    const Offset bytes = matrix.block_bytes(static_cast<I>(slice));
    if (bytes == 0) {  // its place in the codes of the matrix is another's
      places.of_slices.push_back(places.end);
      continue;
    }
    const Offset from = matrix.code_offsets()[slice];
    const auto [found, is_new] = place_of.try_emplace(from, places.end);
    places.of_slices.push_back(found->second);
    if (!is_new) continue;
    places.blocks.push_back({from, bytes, places.end});
    places.end += rounded(bytes);
  }
  return places;
}

// Kernels count the values of a slice with 31 bits, and some steps too far.
template <Value V, Index I>
void require_slice_size(const PackedSell<V, I>& matrix, std::int32_t slice) {
  constexpr Offset kTooMany = Offset{1} << 29;
  const Offset values = matrix.entry_offsets()[slice + 1] - matrix.entry_offsets()[slice];
  if (values >= kTooMany) {
    throw OverflowError(fmt::format("slice {} has {} values; a wavefront sweep takes fewer than {}",
                                    slice, values, kTooMany));
  }
}

// See RecordSlice.
template <Value V, Index I>
std::uint32_t shape_of_slice(const PackedSell<V, I>& matrix, I slice) {
  const auto values = static_cast<std::uint32_t>(matrix.value_encoding(slice));
  return (matrix.has_full_values() ? 0 : values << 29) +
         static_cast<std::uint32_t>(matrix.width(slice)) * 4 +
         static_cast<std::uint32_t>(matrix.encoding(slice));
}

// One tile's record at its place.
template <Value V, Index I>
void write_record(const PackedSell<V, I>& matrix, std::span<const std::int32_t> slices,
                  std::span<const RecordNeed> needs, std::span<const std::int32_t> readers,
                  Offset lists, std::uint64_t first_value, std::uint64_t place, std::byte* record) {
  const BlockPlaces blocks = place_blocks(matrix, slices, lists);
  for (const BlockPlaces::Block& block : blocks.blocks) {
    append(record + block.to, matrix.codes().subspan(block.from, block.bytes));
  }
  std::vector<RecordSlice> list;
  Offset data = blocks.end;
  for (std::size_t s = 0; s < slices.size(); ++s) {
    list.push_back({static_cast<std::int32_t>(slices[s] * Offset{matrix.slice_height()}),
                    shape_of_slice(matrix, static_cast<I>(slices[s])),
                    static_cast<std::uint32_t>(blocks.of_slices[s] / kRecordUnit),
                    static_cast<std::uint32_t>(data / kRecordUnit)});
    const std::span<const std::byte> of_slice = matrix.data_of(static_cast<I>(slices[s]));
    append(record + data, of_slice);
    data += rounded(std::ssize(of_slice));
  }
  const TileRecord head{static_cast<std::int32_t>(slices.size()),
                        static_cast<std::int32_t>(needs.size()),
                        static_cast<std::int32_t>(readers.size()),
                        static_cast<std::uint32_t>(blocks.end / kRecordUnit),
                        first_value,
                        place};
  std::byte* to = append(record, std::span(&head, 1));
  to = append(to, std::span<const RecordSlice>(list));
  to = append(to, needs);
  append(to, readers);
}

// Where everything of a stream goes.
struct StreamLayout {
  // Of one record.
  struct Parts {
    Offset lists = 0;  // bytes before the code blocks
    Offset head = 0;   // bytes before the value data
    Offset bytes = 0;
    Offset values = 0;  // padding included
  };
  TileStreamSizes sizes;
  std::vector<Parts> parts;  // by tile
  Array<RecordPlace> places;
  std::vector<Offset> values_before;  // of the tile and all behind it; tiles + 1
};

template <Value V, Index I>
StreamLayout::Parts parts_of(const PackedSell<V, I>& matrix, std::span<const std::int32_t> slices,
                             Offset lists) {
  StreamLayout::Parts parts;
  parts.lists = lists;
  parts.head = place_blocks(matrix, slices, lists).end;
  parts.bytes = parts.head;
  for (const std::int32_t slice : slices) {
    require_slice_size(matrix, slice);
    parts.bytes += rounded(std::ssize(matrix.data_of(static_cast<I>(slice))));
    parts.values += matrix.entry_offsets()[slice + 1] - matrix.entry_offsets()[slice];
  }
  return parts;
}

template <Value V, Index I>
StreamLayout lay_out(const PackedSell<V, I>& matrix, const SliceTiles& tiles,
                     const WorkerSweep& sweep) {
  StreamLayout layout;
  TileStreamSizes& sizes = layout.sizes;
  sizes.rows = narrow<std::int32_t>(matrix.rows(), "the number of rows");
  sizes.tiles = tiles.tiles();
  sizes.slice_height = static_cast<std::int32_t>(matrix.slice_height());
  sizes.value_bytes = sizeof(V);
  sizes.table_values = matrix.table().size();
  sizes.encoded = !matrix.has_full_values();
  layout.parts.resize(tiles.tiles());
  parallel_dynamic(tiles.tiles(), 64, [&](Offset first, Offset last) {
    for (auto tile = static_cast<std::int32_t>(first); tile < last; ++tile) {
      layout.parts[tile] = parts_of(matrix, tiles.slices_of(tile), list_bytes(tiles, sweep, tile));
    }
  });
  layout.values_before.push_back(0);
  for (const StreamLayout::Parts& parts : layout.parts) {
    layout.values_before.push_back(layout.values_before.back() + parts.values);
    const RecordPlace place{
        narrow<std::uint32_t>(sizes.record_bytes / kRecordUnit, "the place of a tile"),
        narrow<std::uint32_t>(parts.bytes, "the bytes of a tile"),
        static_cast<std::uint32_t>(parts.head), 0};
    layout.places.push_back(place);
    sizes.largest_record = std::max(sizes.largest_record, place.bytes);
    sizes.largest_head = std::max(sizes.largest_head, place.values);
    sizes.record_bytes += parts.bytes;
  }
  sizes.values = layout.values_before.back();
  return layout;
}

}  // namespace

template <Value V, Index I>
TileStreamSizes tile_stream_sizes(const PackedSell<V, I>& matrix, const SliceTiles& tiles,
                                  const WorkerSweep& sweep) {
  return lay_out(matrix, tiles, sweep).sizes;
}

template <Value V>
template <Index I>
TileStream<V>::TileStream(const PackedSell<V, I>& matrix, const SliceTiles& cut,
                          const WorkerSweep& sweep) {
  StreamLayout layout = lay_out(matrix, cut, sweep);
  static_cast<TileStreamSizes&>(*this) = layout.sizes;
  places = std::move(layout.places);
  const std::vector<Offset>& values_before = layout.values_before;
  records.resize(record_bytes);
  const std::span<const std::uint64_t> bits = matrix.presence().words();
  PresenceBits reordered(bits.empty() ? 0 : values_before.back(), -1);
  parallel_dynamic(tiles, 64, [&](Offset first, Offset last) {
    for (auto tile = static_cast<std::int32_t>(first); tile < last; ++tile) {
      write_record(matrix, cut.slices_of(tile), needs_in_mailboxes(sweep, tile),
                   mailboxes_of_readers(sweep, tile), layout.parts[tile].lists,
                   static_cast<std::uint64_t>(values_before[tile]), places[tile].begin,
                   records.data() + places[tile].begin * kRecordUnit);
      if (bits.empty()) continue;
      Offset position = values_before[tile];
      for (const std::int32_t slice : cut.slices_of(tile)) {
        for (Offset from = matrix.entry_offsets()[slice]; from < matrix.entry_offsets()[slice + 1];
             ++from, ++position) {
          if (matrix.presence().has(from)) reordered.set(position);
        }
      }
    }
  });
  presence.assign(reordered.words().begin(), reordered.words().end());
  table.assign(matrix.table().values().begin(), matrix.table().values().end());
}

#define STRATA_INSTANTIATE(V, I)                                                         \
  template SliceTiles cut_slices(const PackedSell<V, I>&, Offset);                       \
  template SliceTiles gather_slices(const PackedSell<V, I>&, Offset);                    \
  template TileInputs inputs_of(const PackedSell<V, I>&, const SliceTiles&);             \
  template TileStreamSizes tile_stream_sizes(const PackedSell<V, I>&, const SliceTiles&, \
                                             const WorkerSweep&);                        \
  template TileStream<V>::TileStream(const PackedSell<V, I>&, const SliceTiles&, const WorkerSweep&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::gpu
