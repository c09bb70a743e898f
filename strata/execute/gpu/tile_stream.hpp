// TileStream: a matrix in packed SELL as a wavefront sweep reads it on a GPU, tile after tile, each
// tile a record (tile_record.hpp). Host code: nothing here needs a GPU.
//
// A tile is a set of slices, which need not be neighbours: rows keep their places in the vectors,
// and so slices keep their encodings, whatever goes together into a tile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/execute/gpu/tile_record.hpp"
#include "strata/formats/packed_sell.hpp"
#include "strata/schedule/worker_sweep.hpp"

namespace strata::gpu {

struct SliceTiles {
  Array<std::int32_t> offsets = Array<std::int32_t>(1, 0);  // tiles + 1
  Array<std::int32_t> slices;                               // each slice once

  std::int32_t tiles() const { return static_cast<std::int32_t>(offsets.size()) - 1; }
  std::span<const std::int32_t> slices_of(std::int32_t tile) const {
    return std::span(slices).subspan(offsets[tile], offsets[tile + 1] - offsets[tile]);
  }
};

// Consecutive slices, as many as fit into tile_bytes of values and column codes, but at least one.
// Values count as if they were stored in full: a tile then is as much work whatever encodes them,
// and only the bytes of its record differ.
template <Value V, Index I>
SliceTiles cut_slices(const PackedSell<V, I>& matrix, Offset tile_bytes);

// The same, but slices that read the same columns go into one tile, so that a tile's warps find in
// the nearest cache what one of them has fetched: tiles become patches of a mesh instead of lines.
// Slices move by at most a few tiles.
template <Value V, Index I>
SliceTiles gather_slices(const PackedSell<V, I>& matrix, Offset tile_bytes);

// The tiles whose rows a tile reads, holes and padding included, for a kernel loads these too;
// those that read it; and itself. Throws InvalidArgument for a matrix that is not square or whose
// rows are sorted: then a slice's columns would not be the rows of slices.
template <Value V, Index I>
TileInputs inputs_of(const PackedSell<V, I>& matrix, const SliceTiles& tiles);

// How large a stream of tiles is, which is known before it is made.
struct TileStreamSizes {
  Offset record_bytes = 0;
  Offset values = 0;        // padding included
  Offset value_bytes = 0;   // of one in full
  Offset table_values = 0;  // that codes name
  bool encoded = false;     // not all values are stored in full
  std::int32_t rows = 0;
  std::int32_t tiles = 0;
  std::int32_t slice_height = 32;
  std::uint32_t largest_record = 0;  // bytes
  std::uint32_t largest_head = 0;    // bytes of what comes before a record's value data
};
// Throws OverflowError where a record is too large for 32 bits, or a slice has 2^29
// values or more.
template <Value V, Index I>
TileStreamSizes tile_stream_sizes(const PackedSell<V, I>& matrix, const SliceTiles& tiles,
                                  const WorkerSweep& sweep);

template <Value V>
struct TileStream : TileStreamSizes {
  Array<std::byte> records;  // aligned to a cache line
  Array<RecordPlace> places;
  Array<std::uint64_t> presence;  // in the order of the records; empty: every value is an entry
  Array<V> table;                 // of the values that codes name

  // Throws OverflowError as tile_stream_sizes() does.
  template <Index I>
  TileStream(const PackedSell<V, I>& matrix, const SliceTiles& cut, const WorkerSweep& sweep);
};

}  // namespace strata::gpu
