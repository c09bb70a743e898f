// What of a result is compared: its times, whatever command wrote it.
#pragma once

#include <string>
#include <vector>

#include "strata/report/internal/runs.hpp"

namespace strata::report::detail {

struct MeasuredTime {
  std::string what = {};  // which time of the result, where it is not that of one run of it
  double seconds = 0;     // the median
  std::vector<double> samples = {};  // none: the median is all there is
  bool averaged = false;             // of many iterations or products
  std::string counted = {};          // what it took some of: iterations, products
  long count = 0;
};

// solve, eig, expm, hpcg and fem: programs of many products, each timed once or a few times.
bool is_solver(const Tree& result);

// Products and powers have their median. solve has its time per iteration, eig and expm theirs per
// product, and what reached a tolerance the time which that took besides; hpcg has the time of a
// set, fem that of an iteration. Times that are none are left out.
std::vector<MeasuredTime> measured_times(const Tree& result);

// Whether the result is not what was asked for: wrong, or short of the tolerance.
bool is_wrong(const Tree& result);

}  // namespace strata::report::detail
