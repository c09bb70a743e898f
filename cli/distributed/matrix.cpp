#include "cli/distributed/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ranges>

#include "cli/distributed/world.hpp"
#include "cli/parts/exit_status.hpp"
#include "cli/parts/matrix_source.hpp"
#include "strata/base/error.hpp"

namespace strata::cli::distributed {

namespace {

// Opened on every rank, for each reads of it. A Failure knows no ranks: what one of them cannot
// read is an error of the file on all.
MatrixSource find_on_all(const std::string& argument) {
  MatrixSource source;
  blame_input(argument, [&] {
    world().together([&] {
      try {
        source = find_matrix(argument);
      } catch (const Failure& failure) {
        const std::string why = failure.what();
        const std::string prefix = argument + ": ";
        throw FileError(argument, why.starts_with(prefix) ? why.substr(prefix.size()) : why);
      }
    });
    return 0;
  });
  return source;
}

// Less cut than this is not worth looking for something better; nor is a graph partition that still
// cuts so much of what was cut.
constexpr double kSmallCut = 0.1;
constexpr double kMuchOfIt = 0.5;

template <Value V, Index I>
void take_order(GlobalMatrix& whole, strata::distributed::OrderedMatrix<V, I> ordered) {
  whole.order = std::move(ordered.order);
  whole.matrix = std::move(ordered.matrix);
  whole.partition = RowPartition::graph;
}

// Moves rows of the matrix to where they are asked for.
template <Value V, Index I>
void distribute(GlobalMatrix& whole, DistributedMatrix<V, I> matrix, RowPartition asked) {
  whole.partition = asked;
  if (asked == RowPartition::graph) {
    return take_order(whole, strata::distributed::by_graph(world(), matrix));
  }
  if (asked != RowPartition::rows) {
    matrix = strata::distributed::by_nonzeros(world(), std::move(matrix));
    whole.partition = RowPartition::nonzeros;
  }
  if (asked == RowPartition::automatic && matrix.square() &&
      strata::distributed::has_graph_partitioner()) {
    const double cut = strata::distributed::edge_cut(world(), matrix);
    if (cut >= kSmallCut) {
      auto ordered = strata::distributed::by_graph(world(), matrix);
      if (strata::distributed::edge_cut(world(), ordered.matrix) <= kMuchOfIt * cut) {
        return take_order(whole, std::move(ordered));
      }
    }
  }
  whole.matrix = std::move(matrix);
}

}  // namespace

RowPartition partition_named(const std::string& name) {
  if (name == "rows") return RowPartition::rows;
  if (name == "nonzeros") return RowPartition::nonzeros;
  return name == "graph" ? RowPartition::graph : RowPartition::automatic;
}

std::string_view name_of(RowPartition partition) {
  switch (partition) {
    case RowPartition::automatic: return "auto";
    case RowPartition::rows: return "rows";
    case RowPartition::nonzeros: return "nonzeros";
    case RowPartition::graph: return "graph";
  }
  return "";
}

Precision GlobalMatrix::precision() const {
  return std::visit(
      []<Value V, Index I>(const DistributedMatrix<V, I>&) { return precision_of<V>(); }, matrix);
}

GlobalMatrix load_distributed(const std::string& argument, const CommonOptions& options,
                              RowPartition partition, ResultDocument& document,
                              Progress& progress) {
  const MatrixSource source = find_on_all(argument);
  document.describe_matrix(describe(source));
  progress.start(fmt::format("{} {}", source.generated() ? "generating" : "reading", source.name));
  const auto begin = std::chrono::steady_clock::now();
  GlobalMatrix whole{.name = source.name, .matrix = {}, .generated = source.generated()};
  blame_input(argument, [&] {
    with_types(precision_for(source, options), options.index_bits, [&]<Value V, Index I>() {
      DistributedMatrix<V, I> matrix =
          source.generated()
              ? strata::distributed::generate_distributed<V, I>(world(), source.argument)
              : strata::distributed::read_distributed<V, I>(world(), source.argument);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      whole.seconds = world().max(seconds.count());
      distribute(whole, std::move(matrix), partition);
      return 0;
    });
    return 0;
  });
  Offset longest = 0;
  std::visit(
      [&](const auto& matrix) {
        whole.rows = matrix.rows.elements();
        whole.cols = matrix.cols.elements();
        whole.entries = world().sum(Offset{matrix.local.nnz()});
        for (const Offset row : std::views::iota(Offset{0}, Offset{matrix.local.rows()})) {
          const auto offsets = matrix.local.row_offsets();
          longest = std::max(longest, offsets[row + 1] - offsets[row]);
        }
      },
      whole.matrix);
  longest = world().max(longest);
  const double mean =
      whole.rows == 0 ? 0 : static_cast<double>(whole.entries) / static_cast<double>(whole.rows);
  document.describe_matrix({{"rows", whole.rows},
                            {"cols", whole.cols},
                            {"nnz", whole.entries},
                            {"nnz_per_row", {{"mean", mean}, {"max", longest}}},
                            {"load_seconds", whole.seconds},
                            {"partition", std::string(name_of(whole.partition))}});
  return whole;
}

std::string matrix_text(const GlobalMatrix& matrix) {
  const double mean =
      matrix.rows == 0 ? 0 : static_cast<double>(matrix.entries) / static_cast<double>(matrix.rows);
  return fmt::format("{}: {} rows, {} entries, {:.1f} per row, {} in {}; {}\n", matrix.name,
                     grouped(matrix.rows), grouped(matrix.entries), mean,
                     matrix.generated ? "generated" : "read", seconds_text(matrix.seconds),
                     matrix.partition == RowPartition::rows       ? "as many rows on every rank"
                     : matrix.partition == RowPartition::nonzeros ? "rows by nonzeros"
                                                                  : "rows by the graph");
}

}  // namespace strata::cli::distributed
