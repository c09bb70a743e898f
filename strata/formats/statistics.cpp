#include "strata/formats/statistics.hpp"

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <mutex>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/internal/distinct.hpp"

namespace strata {

namespace {

// Rows taken at a time by loops over rows whose work differs.
constexpr Offset kRowGrain = 1024;
constexpr Offset kMaxBins = 16;

// counts[l] is the number of rows with l entries, for l up to the longest row.
template <Index I>
Array<Offset> count_lengths(const PatternView<I>& pattern) {
  const auto length = [&](Offset row) {
    return pattern.row_offsets[row + 1] - pattern.row_offsets[row];
  };
  const Offset longest = parallel_reduce(
      pattern.rows, Offset{0},
      [&](Offset begin, Offset end) {
        Offset most = 0;
        for (Offset row = begin; row < end; ++row) most = std::max(most, length(row));
        return most;
      },
      [](Offset a, Offset b) { return std::max(a, b); });

  Array<Offset> counts(longest + 1, 0);
  // Runs of equal rows are added at once: on a stencil all threads would otherwise fight for the
  // same counter, row after row.
  parallel_chunks(pattern.rows, [&](Offset begin, Offset end) {
    for (Offset row = begin; row < end;) {
      const Offset first = row;
      while (row < end && length(row) == length(first)) ++row;
      std::atomic_ref(counts[length(first)]).fetch_add(row - first, std::memory_order_relaxed);
    }
  });
  return counts;
}

// The length at position `rank` when all rows stand in order of length.
Offset length_at_rank(const Array<Offset>& counts, Offset rank) {
  Offset length = 0;
  for (Offset before = counts[0]; before <= rank; before += counts[length]) ++length;
  return length;
}

std::vector<LengthBin> bin_lengths(const Array<Offset>& counts, Offset min, Offset max,
                                   Offset typical) {
  std::vector<LengthBin> bins;
  const Offset range = max - min + 1;
  const bool equal_widths = range <= kMaxBins || max <= 8 * typical;
  const Offset width = ceil_div(range, kMaxBins);
  for (Offset first = min; first <= max;) {
    const auto power = static_cast<Offset>(std::bit_floor(static_cast<std::uint64_t>(first)));
    const Offset bin_width = equal_widths ? width : std::max<Offset>(2 * power - first, 1);
    LengthBin bin{.first = first, .last = std::min(first + bin_width - 1, max)};
    for (Offset length = bin.first; length <= bin.last; ++length) bin.rows += counts[length];
    bins.push_back(bin);
    first = bin.last + 1;
  }
  return bins;
}

RowLengths summarise(const Array<Offset>& counts, Offset rows, Offset entries) {
  RowLengths lengths;
  if (rows == 0) return lengths;
  lengths.min = length_at_rank(counts, 0);
  lengths.lower_quartile = length_at_rank(counts, (rows - 1) / 4);
  lengths.median = length_at_rank(counts, (rows - 1) / 2);
  lengths.upper_quartile = length_at_rank(counts, rows - 1 - (rows - 1) / 4);
  lengths.max = static_cast<Offset>(counts.size()) - 1;
  lengths.mean = static_cast<double>(entries) / static_cast<double>(rows);
  double squares = 0;
  for (std::size_t length = 0; length < counts.size(); ++length) {
    const double difference = static_cast<double>(length) - lengths.mean;
    squares += static_cast<double>(counts[length]) * difference * difference;
  }
  lengths.stddev = std::sqrt(squares / static_cast<double>(rows));
  lengths.histogram = bin_lengths(counts, lengths.min, lengths.max, lengths.median);
  return lengths;
}

template <Index I>
Offset count_empty_columns(const PatternView<I>& pattern) {
  Offset empty = pattern.cols;
  for_each_distinct(
      pattern.entries(), pattern.cols,
      [&](const auto& take) {
        parallel_for(pattern.entries(), [&](Offset k) { take(k, pattern.columns[k]); });
      },
      [&](Offset) { --empty; });
  return empty;
}

template <Value V>
bool is_finite(V value) {
  if constexpr (is_complex<V>) {
    return std::isfinite(value.real()) && std::isfinite(value.imag());
  } else {
    return std::isfinite(value);
  }
}

template <Value V>
void count_values(std::span<const V> values, MatrixStatistics& statistics) {
  struct Counts {
    Offset zeros = 0;
    Offset non_finite = 0;
  };
  const Counts counts = parallel_reduce(
      static_cast<Offset>(values.size()), Counts{},
      [&](Offset begin, Offset end) {
        Counts piece;
        for (Offset k = begin; k < end; ++k) {
          piece.zeros += values[k] == V{};
          piece.non_finite += !is_finite(values[k]);
        }
        return piece;
      },
      [](Counts a, Counts b) { return Counts{a.zeros + b.zeros, a.non_finite + b.non_finite}; });
  statistics.zeros = counts.zeros;
  statistics.non_finite = counts.non_finite;
}

// Where the entries of some rows lie, and which symmetries they leave possible.
struct MirrorCounts {
  Offset lower_bandwidth = 0;
  Offset upper_bandwidth = 0;
  Offset diagonal = 0;        // entries on the diagonal
  Offset diagonal_zeros = 0;  // those of them whose value is 0
  Offset lower_mirrored = 0;  // entries below it that have a mirror image above
  bool symmetric = true;
  bool skew_symmetric = true;
  bool hermitian = true;

  void add(const MirrorCounts& other) {
    lower_bandwidth = std::max(lower_bandwidth, other.lower_bandwidth);
    upper_bandwidth = std::max(upper_bandwidth, other.upper_bandwidth);
    diagonal += other.diagonal;
    diagonal_zeros += other.diagonal_zeros;
    lower_mirrored += other.lower_mirrored;
    symmetric &= other.symmetric;
    skew_symmetric &= other.skew_symmetric;
    hermitian &= other.hermitian;
  }

  template <Value V>
  void compare(V value, V mirror) {
    symmetric &= mirror == mirrored(value, Symmetry::symmetric);
    skew_symmetric &= mirror == mirrored(value, Symmetry::skew_symmetric);
    hermitian &= mirror == mirrored(value, Symmetry::hermitian);
  }
};

// Every entry below the diagonal looks for its mirror image. Those above need not look: they have
// a partner exactly if one from below has found them.
template <Value V, Index I>
MirrorCounts count_mirrors_of_row(const Csr<V, I>& matrix, I row) {
  MirrorCounts counts;
  const PatternView<I> pattern = matrix.pattern();
  const std::span<const I> columns = pattern.columns_of(row);
  if (columns.empty()) return counts;
  counts.lower_bandwidth = std::max<Offset>(Offset{row} - columns.front(), 0);
  counts.upper_bandwidth = std::max<Offset>(Offset{columns.back()} - row, 0);
  const V* values = matrix.values().data() + pattern.row_offsets[row];
  for (std::size_t k = 0; k < columns.size() && columns[k] <= row; ++k) {
    const I column = columns[k];
    if (column == row) {
      counts.diagonal = 1;
      counts.diagonal_zeros = values[k] == V{};
      counts.compare(values[k], values[k]);
      break;
    }
    if (column >= pattern.rows || row >= pattern.cols) continue;
    const std::span<const I> others = pattern.columns_of(column);
    const auto mirror = std::lower_bound(others.begin(), others.end(), row);
    if (mirror == others.end() || *mirror != row) continue;
    ++counts.lower_mirrored;
    counts.compare(values[k],
                   matrix.values()[pattern.row_offsets[column] + (mirror - others.begin())]);
  }
  return counts;
}

template <Value V, Index I>
void find_symmetry(const Csr<V, I>& matrix, MatrixStatistics& statistics) {
  MirrorCounts counts;
  std::mutex mutex;
  parallel_dynamic(matrix.rows(), kRowGrain, [&](Offset begin, Offset end) {
    MirrorCounts piece;
    for (Offset row = begin; row < end; ++row) {
      piece.add(count_mirrors_of_row(matrix, static_cast<I>(row)));
    }
    const std::lock_guard lock(mutex);
    counts.add(piece);
  });
  statistics.lower_bandwidth = counts.lower_bandwidth;
  statistics.upper_bandwidth = counts.upper_bandwidth;
  statistics.diagonal_entries = counts.diagonal;
  statistics.diagonal_zeros = counts.diagonal_zeros;
  statistics.mirrored_entries = counts.diagonal + 2 * counts.lower_mirrored;
  statistics.pattern_symmetric =
      matrix.rows() == matrix.cols() && statistics.mirrored_entries == matrix.nnz();
  if (!statistics.pattern_symmetric) return;
  if (counts.symmetric) {
    statistics.value_symmetry = Symmetry::symmetric;
  } else if (counts.skew_symmetric) {
    statistics.value_symmetry = Symmetry::skew_symmetric;
  } else if (counts.hermitian) {
    statistics.value_symmetry = Symmetry::hermitian;
  }
}

}  // namespace

template <Value V, Index I>
MatrixStatistics statistics_of(const Csr<V, I>& matrix) {
  MatrixStatistics statistics{
      .rows = matrix.rows(), .cols = matrix.cols(), .entries = matrix.nnz()};
  const Array<Offset> counts = count_lengths(matrix.pattern());
  statistics.row_lengths = summarise(counts, matrix.rows(), matrix.nnz());
  statistics.empty_rows = matrix.rows() == 0 ? 0 : counts[0];
  statistics.empty_cols = count_empty_columns(matrix.pattern());
  count_values(matrix.values(), statistics);
  find_symmetry(matrix, statistics);
  return statistics;
}

#define STRATA_INSTANTIATE(V, I) template MatrixStatistics statistics_of(const Csr<V, I>&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
