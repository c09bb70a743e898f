#include "cli/parts/rank_options.hpp"

#include "strata/base/error.hpp"

namespace strata::cli {

void add_partition_option(CommandOptions& command, LayoutOptions& options) {
  command
      .add("--partition", options.partition,
           "On several ranks: as many rows for each, rows with as many nonzeros, or rows by the "
           "graph of the matrix (PT-Scotch); when not given by nonzeros, or by the graph where "
           "that keeps much more on the ranks")
      .type_name("NAME")
      .one_of(std::vector<std::string>{"rows", "nonzeros", "graph"});
}

void add_layout_options(CommandOptions& command, LayoutOptions& options) {
  command
      .add("--layout", options.layouts,
           "On several ranks: rows, columns or grid, several with commas; rows when not given")
      .type_name("NAME,…");
  command
      .add("--grid-rows", options.grid_rows,
           "On several ranks: rows of the grid of ranks; as square as it can be when not given")
      .type_name("N")
      .range(1, 1 << 30);
  add_partition_option(command, options);
}

void add_depth_option(CommandOptions& command, int& depth) {
  command
      .add("--depth", depth,
           "On several ranks: powers per exchange of messages; chosen when not given")
      .type_name("Q")
      .range(1, 1 << 20);
}

void require_one_rank(const LayoutOptions& options, int depth) {
  if (depth > 0) {
    throw InvalidArgument("--depth is for several ranks: start the command with mpirun");
  }
  if (!options.layouts.empty() || options.grid_rows > 0 || !options.partition.empty()) {
    throw InvalidArgument(
        "--layout, --grid-rows and --partition are for several ranks: start the command with "
        "mpirun");
  }
}

}  // namespace strata::cli
