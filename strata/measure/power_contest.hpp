// The power benchmark: plain products against blocked powers of the same matrix, timed in turn in
// one process and checked.
//
//   hold_power_contest(matrix, {.powers = {2, 4, 6}}, cached_machine_profile().profile, {},
//                      [](const std::vector<PowerResult>& results) {
//                        for (const auto& each : results)
//                        std::puts(text_of(json_of(each)).c_str());
//                      });
#pragma once

#include <functional>
#include <vector>

#include "strata/formats/csr.hpp"
#include "strata/machine/profile.hpp"
#include "strata/measure/contest.hpp"
#include "strata/measure/power_result.hpp"

namespace strata {

// Every power with every cache size.
struct PowerSweep {
  std::vector<int> powers{4};
  std::vector<Offset> cache_sizes{0};  // 0: the plan chooses
  // Besides plain products, which always take part.
  std::vector<PowerStrategy> strategies{PowerStrategy::automatic};
  PowerOptions options = {};  // everything that is the same in the whole sweep
  bool trace = false;         // afterwards, one more run that is traced; on processors alone
};

// Gets the results of one power and cache size, plain products first. Those are timed with every
// cache size, and among the results of the first.
using PowerResultsDone = std::function<void(const std::vector<PowerResult>& results)>;

// On the processor that the profile is of. Throws what plan_powers throws.
template <Value V, Index I>
void hold_power_contest(const Csr<V, I>& matrix, const PowerSweep& sweep,
                        const MachineProfile& profile, const ContestOptions& options,
                        const PowerResultsDone& done);

}  // namespace strata
