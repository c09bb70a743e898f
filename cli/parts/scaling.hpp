// `strata model --ranks`: strong and weak scaling over ranks of MPI, predicted from the partition
// of the matrix, the machine profile and a network; with all assumptions in words.
#pragma once

#include <string>
#include <vector>

#include "cli/parts/command_line.hpp"
#include "cli/parts/counted_matrix.hpp"
#include "cli/parts/document.hpp"
#include "strata/base/types.hpp"
#include "strata/machine/profile.hpp"

namespace strata::cli {

struct ScalingOptions {
  std::vector<Offset> ranks;  // empty: not asked for
  int ranks_per_node = 0;     // 0: the processors of this machine
  double latency = 0;         // microseconds between nodes; 0: not given
  double bandwidth = 0;       // GB/s between nodes; 0: not given
  std::string network;        // a file that `strata machine` has stored

  bool asked() const { return !ranks.empty(); }
};

// --ranks, --ranks-per-node, --latency, --bandwidth, --network
void add_scaling_options(CommandOptions& command, ScalingOptions& options);
// Throws InvalidArgument for those that make no sense without --ranks.
void require_ranks_for(const ScalingOptions& options);

// Adds a result for each number of ranks, and returns the tables. The matrix has entries.
std::string predict_scaling(const ScalingOptions& options, int power, const CountedMatrix& counted,
                            const MachineProfile& profile, ResultDocument& document,
                            Progress& progress);

}  // namespace strata::cli
