// What the power benchmark does on every device: who takes part, timing in turn, speed-ups, and the
// comparison with the reference. A device only has to make plans and run them.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "cli/power_bench.hpp"
#include "strata/bench/timing.hpp"
#include "strata/formats/csr.hpp"
#include "strata/order/permutation.hpp"

namespace strata::cli {

// A way to compute powers, ready to run.
template <Value V, Index I>
struct Contender {
  PowerRun run;
  // Computes all powers. None if it was refused.
  std::function<void()> apply = {};
  // Does so once more and returns them, in the order of the rows of its matrix. What was computed
  // before is destroyed first, in the output and in all memory in between.
  std::function<Array<V>()> powers = {};
  // The order in which its plan has the rows, without empty positions.
  std::function<Permutation<I>()> order = {};
};

// What one contender is asked for.
struct PowerTask {
  int power = 1;
  Offset cache_bytes = 0;  // 0: the plan's choice
  PowerStrategy strategy = PowerStrategy::automatic;
};

template <Value V, Index I>
struct PowerDevice {
  // Plans and prepares; neither the matrix nor x need to stay. None: the vendor runs alone.
  std::function<Contender<V, I>(const Csr<V, I>& matrix, std::span<const V> x,
                                const PowerTask& task)>
      plan = {};
  // The vendor's library, where it is compared with.
  std::function<Contender<V, I>(std::span<const V> x, int power)> vendor = {};
  std::vector<PowerStrategy> strategies = {};
  std::vector<Offset> cache_sizes = {0};
  bool write_allocate = true;  // see VectorTraffic
  int min_repetitions = 5;
  Stopwatch stopwatch = host_stopwatch();
  const gpu::GpuProfile* gpu = nullptr;  // for the formulas
};

template <Value V, Index I>
class PowerContest {
 public:
  PowerContest(const Csr<V, I>& matrix, const PowerSettings& settings,
               const MeasuringOptions& measuring, Progress& progress);

  // Every power with every cache size.
  void run(const PowerDevice<V, I>& device, const PowerRunsDone& done);

 private:
  using Contenders = std::vector<Contender<V, I>>;

  std::vector<PowerRun> run_one(const PowerDevice<V, I>& device, int power, Offset cache_bytes,
                                bool with_plain);
  Contender<V, I> plan(const PowerDevice<V, I>& device, const PowerTask& task);
  void add_plain_in_levels(const PowerDevice<V, I>& device, Contenders& contenders);
  void count(const PowerDevice<V, I>& device, PowerRun& run) const;
  void time(const PowerDevice<V, I>& device, Contenders& contenders);
  static void compare(Contenders& contenders);
  void check(Contender<V, I>& contender);

  const Csr<V, I>& matrix_;
  const PowerSettings& settings_;
  const MeasuringOptions& measuring_;
  Progress& progress_;
  Array<V> x_;
};

}  // namespace strata::cli
