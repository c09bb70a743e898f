// FlaggedStream: a matrix as the sweep whose values are their own flags reads it, tile after tile
// (flagged_tile.hpp). Host code: nothing here needs a GPU.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/execute/gpu/flagged_form.hpp"
#include "strata/execute/gpu/flagged_tile.hpp"
#include "strata/execute/gpu/sweep_arguments.hpp"
#include "strata/formats/csr.hpp"

namespace strata::gpu {

struct FlaggedSizes {
  FlaggedForm form;
  std::int32_t rows = 0;
  std::int32_t tiles = 0;
  Offset record_bytes = 0;
  Offset line_rows = 0;  // rows that are in lines
  Offset sectors = 0;    // of x that one power loads, for all tiles
  std::uint32_t largest_tile = 0;
  int most_sectors = 0;  // of a tile of blocks or diagonals
  // How many tiles beyond a tile must have power 1 before that tile can have power k, at most, as
  // in schedule/worker_sweep.hpp.
  std::array<Offset, kMaxSweepPower + 1> dependency_distance{};
};

// What is written into a tile besides entries of the matrix.
struct FlaggedHead {
  Offset first_listed = 0;  // of its list, in the lists of all tiles
  Offset first_word = 0;    // of lines and diagonals: where the presence of its values begins
  std::uint32_t columns = 0;
  std::int32_t cleared = 0;
  std::uint16_t listed = 0;    // distances; or sectors, and behind them
  std::uint8_t diagonals = 0;  // so many
  FlaggedKind kind = FlaggedKind::lines;
  bool whole = false;
  bool inner = false;
  bool mirrored = false;
};

// The tiles are there when they are written, some at a time: all of them are as large as the
// matrix, and nobody but the device needs them.
template <Value V>
class FlaggedStream : public FlaggedSizes {
 public:
  // The matrix must outlive it. workers: that share the tiles, tile t is worker t mod workers'.
  // Throws InvalidArgument unless the matrix is square, and if a row needs more sectors than a tile
  // can have or has blocks that are not full; OverflowError if it is too large.
  FlaggedStream(const Csr<V, std::int32_t>& matrix, const FlaggedForm& cut, int workers);

  std::span<const FlaggedPlace> places() const { return places_; }
  // Which values of lines and diagonals are entries, bit by bit, takes so many words; 0: all of
  // them are.
  Offset presence_words() const { return presence_words_; }
  // Where a tile begins, in bytes; for the number of tiles, where the last one ends.
  Offset begin_of(Offset tile) const {
    return tile == tiles ? record_bytes : Offset{places_[tile].begin} * kFlaggedUnit;
  }

  // Writes the tiles [first, end) one after another, and their words of those of all tiles.
  void write(Offset first, Offset end, std::byte* to, std::span<std::uint64_t> presence) const;

 private:
  std::span<const std::uint32_t> list_of(const FlaggedHead& head) const {
    return std::span(lists_).subspan(head.first_listed, head.listed);
  }

  const Csr<V, std::int32_t>& matrix_;
  Array<FlaggedPlace> places_;
  Array<FlaggedHead> heads_;
  Array<std::uint32_t> lists_;
  Offset presence_words_ = 0;
};

}  // namespace strata::gpu
