// WorkerSweep: a wavefront sweep divided among many workers, the way a GPU runs it.
//
// Tile t belongs to worker t mod workers at every power. A worker takes its tiles in order; all
// powers are in progress at the same time, each waiting for its own inputs. Workers share nothing
// but their progress: how many of its tiles a worker has done at a power. Power k of a tile may
// start once, for each of its needs, that worker has done so many tiles at power k − 1. A worker
// that has done a tile signals its readers, the workers with a need that the tile fulfils, and no
// other.
//
// Consecutive tiles belong to different workers, so the sweep moves through the matrix as evenly as
// its rows are ordered, and what has to stay on chip is the dependency distance: how far behind the
// first tile in progress the last one may be.
#pragma once

#include <cstdint>
#include <span>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"

namespace strata {

// The worker has done so many of its tiles.
struct Need {
  std::int32_t worker = 0;
  std::int32_t tiles = 0;

  bool operator==(const Need&) const = default;
};

// Which tiles a tile depends on, as in tiling.hpp; itself is one of them.
struct TileInputs {
  Array<Offset> offsets = Array<Offset>(1, 0);  // tiles + 1
  Array<std::int32_t> inputs;                   // of tile t at offsets[t] …, increasing

  std::int32_t tiles() const { return static_cast<std::int32_t>(offsets.size()) - 1; }
  std::span<const std::int32_t> of(std::int32_t tile) const {
    return std::span(inputs).subspan(offsets[tile], offsets[tile + 1] - offsets[tile]);
  }
};

class WorkerSweep {
 public:
  WorkerSweep() = default;
  WorkerSweep(const TileInputs& inputs, std::int32_t workers);

  std::int32_t workers() const { return workers_; }
  std::int32_t tiles() const { return static_cast<std::int32_t>(need_offsets_.size()) - 1; }
  std::int32_t tiles_of(std::int32_t worker) const {
    return worker < tiles() ? (tiles() - worker - 1) / workers_ + 1 : 0;
  }
  // What the worker's earlier tiles have not already waited for; by worker. The tile itself is
  // always among the inputs, and so is its reader: power k may overwrite power k − 2 in place.
  std::span<const Need> needs_of(std::int32_t tile) const {
    return std::span(needs_).subspan(need_offsets_[tile],
                                     need_offsets_[tile + 1] - need_offsets_[tile]);
  }
  // The workers with a need that this tile fulfils; increasing.
  std::span<const std::int32_t> readers_of(std::int32_t tile) const {
    return std::span(readers_).subspan(reader_offsets_[tile],
                                       reader_offsets_[tile + 1] - reader_offsets_[tile]);
  }

  // Signals arrive in the mailboxes of a reader, one for each worker that it ever waits for. Their
  // number is the same for all readers, a multiple of 4.
  std::int32_t mailboxes() const { return mailboxes_; }
  std::int32_t mailbox_of(std::int32_t reader, std::int32_t worker) const {
    return mailbox_[static_cast<Offset>(reader) * workers_ + worker];
  }

  // How many tiles beyond a tile must have power 1 before that tile can have power `power`, at
  // most. If all workers together hold more tiles than this at a time, taking up a new tile only
  // when their oldest has its last power, none of them can wait forever: the oldest tile of all
  // needs none that is not held.
  std::int32_t dependency_distance(int power) const;

 private:
  std::int32_t workers_ = 1;
  Array<std::int32_t> last_input_;  // of this tile and all before it
  Array<std::int32_t> need_offsets_ = Array<std::int32_t>(1, 0);
  Array<Need> needs_;
  Array<std::int32_t> reader_offsets_ = Array<std::int32_t>(1, 0);
  Array<std::int32_t> readers_;
  std::int32_t mailboxes_ = 4;
  Array<std::int32_t> mailbox_;  // by reader and worker; −1: none
};

}  // namespace strata
