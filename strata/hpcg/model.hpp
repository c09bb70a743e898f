// What an iteration of the solver should cost, part by part: bytes from memory over bandwidth, or
// flops over the peak if that is longer, and what it costs to start threads. An iteration is the
// sum of its parts, as they do not overlap:
//
//   G. Hager, G. Wellein: Application Knowledge Required: Analytical Performance Modeling and its
//   application to SpMV, NHR@FAU (T = Σ T_part, T_part = max(T_flops, T_BW), and HPCG's algorithm)
#pragma once

#include <string>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/hpcg/multigrid.hpp"
#include "strata/machine/profile.hpp"

namespace strata::hpcg {

// Of one iteration.
struct Part {
  std::string name;
  double bytes = 0;
  double flops = 0;  // that are done
  int launches = 0;  // of kernels, on a GPU
  int regions = 0;   // that threads are started for, on processors
  double predicted_seconds = 0;
  double measured_seconds = 0;
};

struct ProductCost {
  Offset rows = 0;
  Offset entries = 0;
  Offset matrix_bytes = 0;
};

// The parts without times: the product, passes over vectors, and for each level smoothing and what
// goes between levels.
std::vector<Part> parts_of(const ProductCost& product, const Multigrid& multigrid);

// Adds the predicted times. All of it goes through the caches in every iteration: bandwidth is that
// of reading so many bytes again and again.
void predict(std::vector<Part>& parts, const MachineProfile& profile, int threads);

}  // namespace strata::hpcg
