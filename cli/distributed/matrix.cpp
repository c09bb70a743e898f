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
DistributedMatrix<V, I> by_the_better(DistributedMatrix<V, I> matrix,
                                      std::optional<DistributedOrder>& order) {
  matrix = strata::distributed::by_nonzeros(world(), std::move(matrix));
  const double cut = strata::distributed::edge_cut(world(), matrix);
  if (cut < kSmallCut || !matrix.square() || !strata::distributed::has_graph_partitioner()) {
    return matrix;
  }
  auto ordered = strata::distributed::by_graph(world(), matrix);
  if (strata::distributed::edge_cut(world(), ordered.matrix) > kMuchOfIt * cut) return matrix;
  order = std::move(ordered.order);
  return std::move(ordered.matrix);
}

template <Value V, Index I>
DistributedMatrix<V, I> make(const MatrixSource& source, RowPartition partition,
                             std::optional<DistributedOrder>& order) {
  DistributedMatrix<V, I> matrix =
      source.generated() ? strata::distributed::generate_distributed<V, I>(world(), source.argument)
                         : strata::distributed::read_distributed<V, I>(world(), source.argument);
  switch (partition) {
    case RowPartition::automatic: return by_the_better(std::move(matrix), order);
    case RowPartition::rows: return matrix;
    case RowPartition::nonzeros:
      return strata::distributed::by_nonzeros(world(), std::move(matrix));
    case RowPartition::graph: break;
  }
  auto ordered = strata::distributed::by_graph(world(), matrix);
  order = std::move(ordered.order);
  return std::move(ordered.matrix);
}

}  // namespace

RowPartition partition_named(const std::string& name) {
  if (name == "rows") return RowPartition::rows;
  if (name == "nonzeros") return RowPartition::nonzeros;
  return name == "graph" ? RowPartition::graph : RowPartition::automatic;
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
  GlobalMatrix whole{.name = source.name, .matrix = {}};
  blame_input(argument, [&] {
    with_types(precision_for(source, options), options.index_bits, [&]<Value V, Index I>() {
      whole.matrix = make<V, I>(source, partition, whole.order);
      return 0;
    });
    return 0;
  });
  whole.seconds =
      world().max(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
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
                            {"nnz_per_row", {{"mean", mean}, {"max", longest}}}});
  return whole;
}

std::string matrix_text(const GlobalMatrix& matrix) {
  return fmt::format("{}: {} rows, {} entries, {:.1f} per row\n", matrix.name, grouped(matrix.rows),
                     grouped(matrix.entries),
                     matrix.rows == 0
                         ? 0.0
                         : static_cast<double>(matrix.entries) / static_cast<double>(matrix.rows));
}

}  // namespace strata::cli::distributed
