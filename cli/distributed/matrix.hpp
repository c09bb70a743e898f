// The MATRIX argument on several ranks: every rank makes or reads its own rows.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "cli/parts/document.hpp"
#include "cli/parts/options.hpp"
#include "cli/parts/terminal.hpp"
#include "strata/distributed/graph_partition.hpp"
#include "strata/distributed/matrix.hpp"
#include "strata/formats/any_matrix.hpp"

namespace strata::cli::distributed {

using strata::distributed::DistributedMatrix;
using strata::distributed::DistributedOrder;

// How rows are distributed: --partition.
// `automatic` is by nonzeros, unless that cuts much of the graph and PT-Scotch cuts less.
enum class RowPartition { automatic, rows, nonzeros, graph };
RowPartition partition_named(const std::string& name);
std::string_view name_of(RowPartition partition);

// One for each pair of types.
using AnyDistributed =
    std::variant<DistributedMatrix<double, std::int32_t>, DistributedMatrix<double, std::int64_t>,
                 DistributedMatrix<float, std::int32_t>, DistributedMatrix<float, std::int64_t>,
                 DistributedMatrix<std::complex<double>, std::int32_t>,
                 DistributedMatrix<std::complex<double>, std::int64_t>,
                 DistributedMatrix<std::complex<float>, std::int32_t>,
                 DistributedMatrix<std::complex<float>, std::int64_t>>;

// What is known of the whole, on all ranks.
struct GlobalMatrix {
  std::string name;
  AnyDistributed matrix;
  Offset rows = 0;
  Offset cols = 0;
  Offset entries = 0;
  bool generated = false;
  double seconds = 0;                           // until all ranks had rows, as many each
  RowPartition partition = RowPartition::rows;  // as they are now, none of them automatic
  // Where rows were numbered anew: from the order of the file or the generator to that of the
  // matrix.
  std::optional<DistributedOrder> order = {};

  Precision precision() const;
};

// Collective. Adds what is known to the document. Throws a Failure on all ranks, with the statuses
// of load_matrix.
GlobalMatrix load_distributed(const std::string& argument, const CommonOptions& options,
                              RowPartition partition, ResultDocument& document, Progress& progress);

// The first line of what people read.
std::string matrix_text(const GlobalMatrix& matrix);

}  // namespace strata::cli::distributed
