// Options about how a matrix is distributed over ranks. Commands have them in every build; on one
// rank they are refused.
#pragma once

#include <string>

#include "cli/parts/command_line.hpp"

namespace strata::cli {

struct LayoutOptions {
  std::string layouts;    // of products, with commas; empty: rows
  int grid_rows = 0;      // of ranks; 0: as square as it can be
  std::string partition;  // of rows; empty: chosen
};

// --partition
void add_partition_option(CommandOptions& command, LayoutOptions& options);
// These and --layout, --grid-rows
void add_layout_options(CommandOptions& command, LayoutOptions& options);

// --depth, of exchanges
void add_depth_option(CommandOptions& command, int& depth);

// Throws InvalidArgument if any is given.
void require_one_rank(const LayoutOptions& options, int depth = 0);

}  // namespace strata::cli
