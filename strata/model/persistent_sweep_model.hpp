// How long a wavefront sweep takes on a GPU. Memory, the L2 cache and the waiting of tiles for each
// other all run at the same time, so a sweep takes as long as the slowest of them:
//
//   dram   bytes from and to memory / the memory's rate
//   l2     bytes through the cache / its rate. What comes from memory passes it twice, in and out
//   sync   a tile is held from its loading to its last power. Each power waits for the tiles within
//          the dependency distance of the schedule; the other tiles that are held hide the waiting.
//          Nor can tiles be taken up faster than the warps of a power finish them
#pragma once

#include "strata/model/bound.hpp"

namespace strata {

// What one sweep does.
struct PersistentSweepCosts {
  int power = 1;
  double matrix_bytes = 0;  // of all tiles
  double vector_bytes = 0;  // of one power: an element of each vector per row
  double gather_bytes = 0;  // of x that one power fetches through the L2
  bool in_l2 = false;       // the window is in the L2: every power reads the tiles through it
  double tiles = 0;
  double workers = 1;
  double held_tiles = 1;           // by all workers together, at most
  double dependency_distance = 0;  // tiles that have to be held, see schedule/worker_sweep.hpp
  double warps = 0;  // that a worker has for each power, one tile at a time; 0: as many as needed
};

struct PersistentSweepRates {
  double memory = 0;          // bytes per second
  double l2 = 0;              // bytes per second
  double load_seconds = 0;    // until a tile is on chip
  double step_seconds = 0;    // of one power of a tile: gathers, arithmetic, stores
  double signal_seconds = 0;  // until another multiprocessor sees a signal
};

struct PersistentSweepPrediction {
  double seconds = 0;
  Bound bound = Bound::memory;  // or l2, or synchronisation
};

// Infinity if the window is smaller than the dependency distance.
PersistentSweepPrediction predict_persistent_sweep(const PersistentSweepCosts& costs,
                                                   const PersistentSweepRates& rates);

}  // namespace strata
