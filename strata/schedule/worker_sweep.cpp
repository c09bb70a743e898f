#include "strata/schedule/worker_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"

namespace strata {

namespace {

// What one worker has waited for so far: tiles of every other.
class Waited {
 public:
  explicit Waited(std::int32_t workers) : workers_(workers), tiles_(workers, 0) {}

  // The needs of the next tile that are new.
  void wait(std::span<const std::int32_t> inputs, std::vector<Need>& fresh) {
    fresh.clear();
    for (const std::int32_t input : inputs) {
      const Need need{input % workers_, input / workers_ + 1};
      if (need.tiles <= tiles_[need.worker]) continue;
      tiles_[need.worker] = need.tiles;
      const auto same = std::ranges::find(fresh, need.worker, &Need::worker);
      if (same != fresh.end()) {
        same->tiles = need.tiles;
      } else {
        fresh.push_back(need);
      }
    }
    std::ranges::sort(fresh, {}, &Need::worker);
  }

 private:
  std::int32_t workers_;
  std::vector<std::int32_t> tiles_;
};

}  // namespace

WorkerSweep::WorkerSweep(const TileInputs& tile_inputs, std::int32_t workers) : workers_(workers) {
  if (workers < 1)
    throw InvalidArgument(fmt::format("a wavefront sweep cannot have {} workers", workers));
  const std::int32_t tiles = tile_inputs.tiles();
  std::vector<Waited> waited(workers, Waited(workers));
  std::vector<Need> fresh;
  std::vector<std::vector<std::int32_t>> readers(tiles);
  mailbox_.resize(checked_multiply<Offset>(workers, workers, "the mailboxes of a wavefront sweep"),
                  -1);
  std::vector<std::int32_t> used(workers, 0);
  for (std::int32_t tile = 0; tile < tiles; ++tile) {
    const std::span<const std::int32_t> inputs = tile_inputs.of(tile);
    waited[tile % workers].wait(inputs, fresh);
    needs_.insert(needs_.end(), fresh.begin(), fresh.end());
    need_offsets_.push_back(narrow<std::int32_t>(needs_.size(), "the needs of all tiles"));
    last_input_.push_back(std::max(inputs.back(), tile > 0 ? last_input_.back() : 0));
    for (const Need& need : fresh) {
      std::int32_t& mailbox = mailbox_[Offset{tile % workers} * workers + need.worker];
      if (mailbox < 0) mailbox = used[tile % workers]++;
      readers[(need.tiles - 1) * workers + need.worker].push_back(tile % workers);
    }
  }
  for (std::vector<std::int32_t>& list : readers) {
    // A worker is signalled once for a tile: its later tiles have waited for that already.
    std::ranges::sort(list);
    readers_.insert(readers_.end(), list.begin(), list.end());
    reader_offsets_.push_back(narrow<std::int32_t>(readers_.size(), "the readers of all tiles"));
  }
  mailboxes_ = std::max<std::int32_t>(4, ceil_div(std::ranges::max(used), 4) * 4);
}

std::int32_t WorkerSweep::dependency_distance(int power) const {
  std::int32_t most = 0;
  for (std::int32_t tile = 0; tile < tiles(); ++tile) {
    std::int32_t last = tile;
    for (int k = 1; k < power; ++k) last = last_input_[last];
    most = std::max(most, last - tile);
  }
  return most;
}

}  // namespace strata
