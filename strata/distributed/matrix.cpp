#include "strata/distributed/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <ranges>
#include <utility>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/gen/generate.hpp"
#include "strata/io/matrix_market_part.hpp"
#include "strata/io/petsc_binary.hpp"
#include "strata/model/rank_traffic.hpp"

namespace strata::distributed {

namespace {

// How much more than the mean a rank may have before rows move.
constexpr double kTolerated = 1.01;
// Rows with the same columns, as the unknowns of a node have them, stay together: up to so many.
constexpr Offset kTogether = 16;

// The weight of all rows before each.
struct Weights {
  std::span<const Offset> row_offsets;

  Offset before(Offset row) const {
    return row_offsets[static_cast<std::size_t>(row)] + kRowWeight * row;
  }
  Offset all() const { return before(std::ssize(row_offsets) - 1); }
  // The first row with at least so much before it.
  Offset row_at(Offset weight) const {
    const auto rows = std::views::iota(Offset{0}, std::ssize(row_offsets));
    return *std::ranges::lower_bound(rows, weight, {}, [&](Offset row) { return before(row); });
  }
};

// Borders of parts, each found by one rank while the others leave it 0; parts may come out empty.
Partition agreed_on(const Communicator& ranks, std::vector<Offset> starts, Offset rows) {
  ranks.sum(std::span<Offset>(starts));
  starts.back() = rows;
  for (std::size_t part = 1; part + 1 < starts.size(); ++part) {
    starts[part] = std::max(starts[part], starts[part - 1]);
  }
  return Partition(std::move(starts));
}

// Ranges of rows with about the same weight each: they begin with the first row that has the share
// of the ranks before it behind it, whoever has it now.
Partition balanced(const Communicator& ranks, const Partition& rows, const Weights& weights) {
  const Offset own = weights.all();
  const Offset before = ranks.sum_before(own);
  const Offset all = ranks.sum(own);
  std::vector<Offset> starts(static_cast<std::size_t>(ranks.size()) + 1, 0);
  for (int part = 1; part < ranks.size(); ++part) {
    const Offset target = chunk_of(all, part, ranks.size()).begin - before;
    if (target < 0 || target >= own) continue;
    starts[static_cast<std::size_t>(part)] = rows.begin(ranks.rank()) + weights.row_at(target);
  }
  return agreed_on(ranks, std::move(starts), rows.elements());
}

// The same ranges, but where a border is between rows with the same columns, it moves behind them.
template <Value V, Index I>
Partition keep_together(const Communicator& ranks, const DistributedMatrix<V, I>& matrix,
                        const Partition& parts) {
  const Partition& rows = matrix.rows;
  const Offset first = rows.begin(ranks.rank()), end = rows.end(ranks.rank());
  const auto columns_of = [&](Offset row) {
    const auto offsets = matrix.local.row_offsets();
    return matrix.local.columns().subspan(
        static_cast<std::size_t>(offsets[row - first]),
        static_cast<std::size_t>(offsets[row - first + 1] - offsets[row - first]));
  };
  // The row before the first is the last of another rank.
  std::vector<std::vector<I>> last(static_cast<std::size_t>(ranks.size()));
  if (first < end && end < rows.elements()) {
    const auto columns = columns_of(end - 1);
    last[static_cast<std::size_t>(rows.owner(end))].assign(columns.begin(), columns.end());
  }
  std::vector<I> before;
  for (auto& list : ranks.exchange(last)) {
    if (!list.empty()) before = std::move(list);
  }
  const auto follows_its_like = [&](Offset row) {
    const auto columns = columns_of(row);
    if (columns.empty()) return false;
    return row == first ? std::ranges::equal(columns, before)
                        : std::ranges::equal(columns, columns_of(row - 1));
  };
  std::vector<Offset> starts(static_cast<std::size_t>(ranks.size()) + 1, 0);
  for (int part = 1; part < ranks.size(); ++part) {
    const Offset border = parts.begin(part);
    if (border == rows.elements() && ranks.rank() == 0) {
      starts[static_cast<std::size_t>(part)] = border;
    }
    if (border < first || border >= end) continue;
    Offset moved = border;
    while (moved < end && moved - border < kTogether && follows_its_like(moved)) ++moved;
    starts[static_cast<std::size_t>(part)] = moved - border < kTogether ? moved : border;
  }
  return agreed_on(ranks, std::move(starts), rows.elements());
}

}  // namespace

template <Value V, Index I>
DistributedMatrix<V, I> redistributed(const Communicator& ranks,
                                      const DistributedMatrix<V, I>& matrix, const Partition& rows,
                                      const Partition& cols) {
  if (rows.elements() != matrix.rows.elements() || cols.elements() != matrix.cols.elements() ||
      rows.parts() != ranks.size() || cols.parts() != ranks.size()) {
    throw InvalidArgument("a partition of another matrix, or for other ranks");
  }
  const Offset first = matrix.rows.begin(ranks.rank());
  const auto offsets = matrix.local.row_offsets();
  const auto each = static_cast<std::size_t>(ranks.size());
  std::vector<std::vector<Offset>> lengths(each);
  std::vector<std::vector<I>> columns(each);
  std::vector<std::vector<V>> values(each);
  ranks.together([&] {
    for (std::size_t rank = 0; rank < each; ++rank) {
      const auto begin =
          std::clamp<Offset>(rows.begin(static_cast<int>(rank)) - first, 0, matrix.local.rows());
      const auto end =
          std::clamp<Offset>(rows.end(static_cast<int>(rank)) - first, 0, matrix.local.rows());
      for (Offset row = begin; row < end; ++row) {
        lengths[rank].push_back(offsets[row + 1] - offsets[row]);
      }
      if (begin == end) continue;
      const auto part = [&](const auto& all) {
        return all.subspan(static_cast<std::size_t>(offsets[begin]),
                           static_cast<std::size_t>(offsets[end] - offsets[begin]));
      };
      const auto own_columns = part(matrix.local.columns());
      const auto own_values = part(matrix.local.values());
      columns[rank].assign(own_columns.begin(), own_columns.end());
      values[rank].assign(own_values.begin(), own_values.end());
    }
  });
  const auto new_lengths = ranks.exchange(lengths);
  const auto new_columns = ranks.exchange(columns);
  columns = {};
  const auto new_values = ranks.exchange(values);
  values = {};
  return ranks.together_make([&] {
    // Ranks had rows in their order.
    Array<Offset> new_offsets;
    Array<I> all_columns;
    Array<V> all_values;
    for (std::size_t rank = 0; rank < each; ++rank) {
      new_offsets.insert(new_offsets.end(), new_lengths[rank].begin(), new_lengths[rank].end());
      all_columns.insert(all_columns.end(), new_columns[rank].begin(), new_columns[rank].end());
      all_values.insert(all_values.end(), new_values[rank].begin(), new_values[rank].end());
    }
    new_offsets.push_back(0);
    exclusive_scan(new_offsets);
    const I count = narrow<I>(rows.size(ranks.rank()), "the number of rows of a rank");
    return DistributedMatrix<V, I>{rows, cols,
                                   Csr<V, I>(count, matrix.local.cols(), std::move(new_offsets),
                                             std::move(all_columns), std::move(all_values))};
  });
}

template <Value V, Index I>
DistributedMatrix<V, I> by_nonzeros(const Communicator& ranks, DistributedMatrix<V, I> matrix) {
  const Weights weights{matrix.local.row_offsets()};
  const auto own = static_cast<double>(weights.all());
  const bool even = ranks.max(own) <= kTolerated * ranks.sum(own) / ranks.size();
  const Partition rows =
      keep_together(ranks, matrix, even ? matrix.rows : balanced(ranks, matrix.rows, weights));
  if (rows == matrix.rows) return matrix;
  return redistributed(ranks, matrix, rows, matrix.square() ? rows : matrix.cols);
}

template <Value V, Index I>
DistributedMatrix<V, I> assemble(const Communicator& ranks, const Partition& row_parts,
                                 const Partition& col_parts, std::vector<Entry<V, I>> entries) {
  const Offset rows = row_parts.elements(), cols = col_parts.elements();
  ranks.together([&] {
    narrow<I>(rows, "the number of rows");
    narrow<I>(cols, "the number of columns");
    for (const Entry<V, I>& entry : entries) {
      if (entry.row < 0 || entry.row >= rows || entry.column < 0 || entry.column >= cols) {
        throw InvalidMatrix(fmt::format("entry ({}, {}) of a matrix of {} rows and {} columns",
                                        entry.row, entry.column, rows, cols));
      }
    }
  });
  // Most entries are often where they belong, and stay there.
  const int self = ranks.rank();
  std::vector<std::vector<Entry<V, I>>> to(static_cast<std::size_t>(ranks.size()));
  ranks.together([&] {
    std::size_t kept = 0;
    for (const Entry<V, I>& entry : entries) {
      if (row_parts.contains(self, entry.row)) {
        entries[kept++] = entry;
      } else {
        to[static_cast<std::size_t>(row_parts.owner(entry.row))].push_back(entry);
      }
    }
    entries.resize(kept);
  });
  auto from = ranks.exchange(to);
  to = {};
  from[static_cast<std::size_t>(self)] = std::move(entries);
  return ranks.together_make([&] {
    const Offset first = row_parts.begin(self);
    const I count = narrow<I>(row_parts.size(self), "the number of rows of a rank");
    Array<Offset> offsets(static_cast<std::size_t>(count) + 1, 0);
    for (const auto& list : from) {
      for (const Entry<V, I>& entry : list) ++offsets[entry.row - first];
    }
    const Offset all = exclusive_scan(offsets);
    Array<Offset> next(offsets);
    Array<I> columns(static_cast<std::size_t>(all));
    Array<V> values(static_cast<std::size_t>(all));
    for (const auto& list : from) {
      for (const Entry<V, I>& entry : list) {
        const Offset place = next[entry.row - first]++;
        columns[place] = entry.column;
        values[place] = entry.value;
      }
    }
    return DistributedMatrix<V, I>{
        row_parts, col_parts,
        Csr<V, I>::from_unsorted(count, static_cast<I>(cols), std::move(offsets),
                                 std::move(columns), std::move(values))};
  });
}

template <Value V, Index I>
DistributedMatrix<V, I> generate_distributed(const Communicator& ranks, std::string_view spec) {
  ranks.require_same("the specification of a matrix", std::string(spec));
  const auto generator = ranks.together_make([&] { return RowGenerator<V, I>(spec); });
  const Partition rows = Partition::even(generator.rows(), ranks.size());
  const Partition cols = Partition::even(generator.cols(), ranks.size());
  return ranks.together_make([&] {
    // Ranks are threads enough, where they share a node.
    const ThreadCountScope threads(ranks.threads_per_rank());
    return DistributedMatrix<V, I>{
        rows, cols, generator.make_rows(rows.begin(ranks.rank()), rows.end(ranks.rank()))};
  });
}

namespace {

template <Value V, Index I>
DistributedMatrix<V, I> read_petsc(const Communicator& ranks, const std::filesystem::path& path) {
  const auto file = ranks.together_make([&] { return PetscBinaryFile(path); });
  const Partition rows = Partition::even(file.shape().rows, ranks.size());
  const Offset begin = rows.begin(ranks.rank()), end = rows.end(ranks.rank());
  const Offset own = ranks.together_make([&] {
    const std::vector<Offset> lengths = file.row_lengths(begin, end);
    return std::accumulate(lengths.begin(), lengths.end(), Offset{0});
  });
  const Offset before = ranks.sum_before(own);
  const Offset all = ranks.sum(own);
  return ranks.together_make([&] {
    if (all != file.entries()) {
      throw InvalidMatrix(fmt::format("{}: rows of {} entries in all, and the file says {}",
                                      path.string(), all, file.entries()));
    }
    return DistributedMatrix<V, I>{rows, Partition::even(file.shape().cols, ranks.size()),
                                   file.template read_rows<V, I>(begin, end, before)};
  });
}

}  // namespace

template <Value V, Index I>
DistributedMatrix<V, I> read_distributed(const Communicator& ranks,
                                         const std::filesystem::path& path) {
  ranks.require_same("the name of a file", path.string());
  const bool binary = ranks.together_make([&] { return is_petsc_binary(path); });
  // Files may be there on some ranks alone.
  ranks.together([&] {
    if (!std::filesystem::exists(path)) throw FileError(path.string(), "there is no such file");
  });
  ranks.require_same("the kind of a file", binary ? "binary" : "text");
  if (binary) return read_petsc<V, I>(ranks, path);

  std::vector<Entry<V, I>> entries;
  MatrixMarketHeader header;
  Offset stored = 0;
  ranks.together([&] {
    const ThreadCountScope threads(ranks.threads_per_rank());
    const MatrixPart<V, I> part = read_matrix_market_part<V, I>(path, ranks.rank(), ranks.size());
    header = part.header;
    stored = part.stored_entries;
    entries.resize(part.values.size());
    parallel_for(std::ssize(entries), [&](Offset k) {
      entries[static_cast<std::size_t>(k)] = {part.rows[k], part.columns[k], part.values[k]};
    });
  });
  const Offset all = ranks.sum(stored);
  ranks.together([&] { require_all_entries(path, header, all); });
  return assemble(ranks, Partition::even(header.rows, ranks.size()),
                  Partition::even(header.cols, ranks.size()), std::move(entries));
}

#define STRATA_INSTANTIATE(V, I)                                                                \
  template DistributedMatrix<V, I> read_distributed(const Communicator&,                        \
                                                    const std::filesystem::path&);              \
  template DistributedMatrix<V, I> generate_distributed(const Communicator&, std::string_view); \
  template DistributedMatrix<V, I> assemble(const Communicator&, const Partition&,              \
                                            const Partition&, std::vector<Entry<V, I>>);        \
  template DistributedMatrix<V, I> by_nonzeros(const Communicator&, DistributedMatrix<V, I>);   \
  template DistributedMatrix<V, I> redistributed(                                               \
      const Communicator&, const DistributedMatrix<V, I>&, const Partition&, const Partition&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::distributed
