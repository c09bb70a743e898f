#include "strata/schedule/worker_sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <set>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/base/random.hpp"

namespace strata {
namespace {

// Tiles that depend on others near them, on themselves, and on those that depend on them.
TileInputs random_inputs(std::int32_t tiles, int dependency_distance, std::uint64_t seed) {
  const Random random(seed);
  std::vector<std::set<std::int32_t>> lists(tiles);
  std::uint64_t counter = 0;
  for (std::int32_t tile = 0; tile < tiles; ++tile) {
    lists[tile].insert(tile);
    for (int n = 0; n < 3; ++n) {
      const auto other = static_cast<std::int32_t>(
          tile + random.below(counter++, static_cast<std::uint64_t>(dependency_distance) + 1));
      if (other >= tiles) continue;
      lists[tile].insert(other);
      lists[other].insert(tile);
    }
  }
  TileInputs inputs;
  for (const auto& list : lists) {
    inputs.inputs.insert(inputs.inputs.end(), list.begin(), list.end());
    inputs.offsets.push_back(static_cast<Offset>(inputs.inputs.size()));
  }
  return inputs;
}

// Tile t depends on t − before … t + after.
TileInputs chain(std::int32_t tiles, std::int32_t before, std::int32_t after) {
  TileInputs inputs;
  for (std::int32_t tile = 0; tile < tiles; ++tile) {
    const std::int32_t last = std::min(tile + after, tiles - 1);
    for (std::int32_t input = std::max(tile - before, 0); input <= last; ++input) {
      inputs.inputs.push_back(input);
    }
    inputs.offsets.push_back(static_cast<Offset>(inputs.inputs.size()));
  }
  return inputs;
}

// Workers that hold `slots` tiles each and know of each other's progress only what readers are
// signalled. Does one possible thing after another in random order; false if it comes to a
// standstill. Every tile has two places, power k in that of power k − 2: `faults` counts the inputs
// that were not yet computed when they were read, and those that had been overwritten.
class Rehearsal {
 public:
  Rehearsal(const TileInputs& inputs, const WorkerSweep& sweep, int power, std::int32_t slots)
      : inputs_(inputs),
        sweep_(sweep),
        power_(power),
        slots_(slots),
        done_(static_cast<std::size_t>(power + 1) * sweep.workers(), 0),
        signals_(static_cast<std::size_t>(power + 1) * sweep.workers() * sweep.mailboxes(), 0),
        places_{std::vector<int>(sweep.tiles(), 0), std::vector<int>(sweep.tiles(), -1)} {}

  int faults() const { return faults_; }

  bool run(std::uint64_t seed) {
    const Random random(seed);
    std::uint64_t counter = 0;
    for (std::int64_t left = static_cast<std::int64_t>(sweep_.tiles()) * power_; left > 0; --left) {
      std::vector<std::pair<int, int>> possible;  // worker, power
      for (int worker = 0; worker < sweep_.workers(); ++worker) {
        for (int k = 1; k <= power_; ++k) {
          if (may_go_on(worker, k)) possible.emplace_back(worker, k);
        }
      }
      if (possible.empty()) return false;
      const auto [worker, k] = possible[random.below(counter++, possible.size())];
      go_on(worker, k);
    }
    return true;
  }

 private:
  std::int32_t& done(int worker, int k) { return done_[k * sweep_.workers() + worker]; }
  std::int32_t& signal(int reader, int k, int worker) {
    const std::int32_t mailbox = sweep_.mailbox_of(reader, worker);
    EXPECT_TRUE(mailbox >= 0 && mailbox < sweep_.mailboxes());
    return signals_[(k * sweep_.workers() + reader) * sweep_.mailboxes() + mailbox];
  }

  bool may_go_on(int worker, int k) {
    const std::int32_t next = done(worker, k);
    if (next == sweep_.tiles_of(worker)) return false;
    if (k == 1) return next < done(worker, power_) + slots_;
    const std::int32_t tile = next * sweep_.workers() + worker;
    return std::ranges::all_of(sweep_.needs_of(tile), [&](const Need& need) {
      return signal(worker, k - 1, need.worker) >= need.tiles;
    });
  }

  void go_on(int worker, int k) {
    const std::int32_t tile = done(worker, k) * sweep_.workers() + worker;
    for (const std::int32_t input : inputs_.of(tile)) {
      if (places_[(k - 1) % 2][input] != k - 1) ++faults_;
    }
    EXPECT_EQ(places_[k % 2][tile], k - 2);
    places_[k % 2][tile] = k;
    ++done(worker, k);
    for (const std::int32_t reader : sweep_.readers_of(tile)) {
      signal(reader, k, worker) = done(worker, k);
    }
  }

  const TileInputs& inputs_;
  const WorkerSweep& sweep_;
  int power_;
  std::int32_t slots_;
  std::vector<std::int32_t> done_;
  std::vector<std::int32_t> signals_;
  std::vector<int> places_[2];  // which power of each tile they hold
  int faults_ = 0;
};

TEST(WorkerSweep, EveryTileFindsItsInputsInAnyOrderOfEvents) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Random random(seed, 7);
    const auto tiles = static_cast<std::int32_t>(random.below(0, 60));
    const auto workers = static_cast<std::int32_t>(1 + random.below(1, 9));
    const int power = static_cast<int>(1 + random.below(2, 5));
    const TileInputs inputs = random_inputs(tiles, static_cast<int>(random.below(3, 15)), seed);
    const WorkerSweep sweep(inputs, workers);
    // Just enough room.
    const std::int32_t slots = sweep.dependency_distance(power) / workers + 1;
    Rehearsal rehearsal(inputs, sweep, power, slots);
    EXPECT_TRUE(rehearsal.run(seed)) << "seed " << seed;
    EXPECT_EQ(rehearsal.faults(), 0) << "seed " << seed;
  }
}

// The claim above can fail: sweeps that wait for too little are detected.
TEST(WorkerSweep, ARehearsalFindsInputsThatAreMissingOrOverwritten) {
  const TileInputs read = chain(12, 0, 1);
  const auto faults = [&](const TileInputs& waited_for) {
    int all = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const WorkerSweep sweep(waited_for, 4);
      Rehearsal rehearsal(read, sweep, 5, 12);
      EXPECT_TRUE(rehearsal.run(seed));
      all += rehearsal.faults();
    }
    return all;
  };
  EXPECT_EQ(faults(chain(12, 1, 1)), 0);
  EXPECT_GT(faults(chain(12, 0, 0)), 0) << "what is read was not waited for";
  EXPECT_GT(faults(chain(12, 0, 1)), 0) << "readers were not waited for";
}

TEST(WorkerSweep, TooLittleRoomComesToAStandstill) {
  // Tile t needs t + 1 one power below.
  const TileInputs inputs = chain(40, 1, 1);
  const WorkerSweep sweep(inputs, 2);
  EXPECT_EQ(sweep.dependency_distance(1), 0);
  EXPECT_EQ(sweep.dependency_distance(4), 3);
  EXPECT_TRUE(Rehearsal(inputs, sweep, 4, 2).run(1));
  EXPECT_FALSE(Rehearsal(inputs, sweep, 4, 1).run(1));
}

TEST(WorkerSweep, DealsTilesOutInTurn) {
  const WorkerSweep sweep(random_inputs(10, 2, 1), 4);
  EXPECT_EQ(sweep.tiles_of(0), 3);
  EXPECT_EQ(sweep.tiles_of(1), 3);
  EXPECT_EQ(sweep.tiles_of(2), 2);
  EXPECT_EQ(sweep.tiles_of(3), 2);
  EXPECT_EQ(WorkerSweep(random_inputs(2, 2, 1), 4).tiles_of(3), 0);
}

TEST(WorkerSweep, SignalsReadersExactlyWhatTheyNeed) {
  const WorkerSweep sweep(random_inputs(80, 9, 3), 7);
  std::multiset<std::pair<std::int32_t, std::int32_t>> needed;  // tile, who needs it
  std::multiset<std::pair<std::int32_t, std::int32_t>> signalled;
  for (std::int32_t tile = 0; tile < sweep.tiles(); ++tile) {
    for (const Need& need : sweep.needs_of(tile)) {
      needed.emplace((need.tiles - 1) * sweep.workers() + need.worker, tile % sweep.workers());
    }
    for (const std::int32_t reader : sweep.readers_of(tile)) signalled.emplace(tile, reader);
  }
  EXPECT_EQ(needed, signalled);
}

TEST(WorkerSweep, RefusesToRunWithoutWorkers) {
  EXPECT_THROW(WorkerSweep(random_inputs(3, 1, 1), 0), InvalidArgument);
}

TEST(WorkerSweep, AReaderHasAMailboxForEachWorkerThatSignalsItAndNoTwoShareOne) {
  const WorkerSweep sweep(random_inputs(60, 3, 5), 12);
  EXPECT_EQ(sweep.mailboxes() % 4, 0);
  std::vector<std::set<std::int32_t>> workers(12);
  for (std::int32_t tile = 0; tile < sweep.tiles(); ++tile) {
    for (const Need& need : sweep.needs_of(tile)) workers[tile % 12].insert(need.worker);
  }
  for (std::int32_t reader = 0; reader < 12; ++reader) {
    std::set<std::int32_t> mailboxes;
    for (const std::int32_t worker : workers[reader]) {
      mailboxes.insert(sweep.mailbox_of(reader, worker));
    }
    EXPECT_EQ(mailboxes.size(), workers[reader].size());
    EXPECT_GE(*mailboxes.begin(), 0);
    EXPECT_LT(*mailboxes.rbegin(), sweep.mailboxes());
  }
}

}  // namespace
}  // namespace strata
