// Finding out how fast the machine is.
#pragma once

#include <functional>
#include <string_view>

#include "strata/machine/facts.hpp"

namespace strata {

struct MeasureOptions {
  // Roughly how long it may take. Below 3 there are fewer points, each measured once; filling the
  // memory takes its time in any case.
  double seconds = 10;
  int threads = 0;           // the most to measure with; 0: all that this process may run on
  Offset largest_bytes = 0;  // largest working set; 0: well beyond the last-level caches
  // Is told what comes next and the share of the work that is done. May throw to give up.
  std::function<void(std::string_view what, double share_done)> progress = {};
};

// The part of the facts that needs no measurement: processor, cores, caches. `threads` as above.
MachineFacts reported_facts(int threads = 0);

MachineFacts measure_machine(const MeasureOptions& options = {});

}  // namespace strata
