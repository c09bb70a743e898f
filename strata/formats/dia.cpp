#include "strata/formats/dia.hpp"

#include <fmt/format.h>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/internal/collect.hpp"
#include "strata/formats/internal/distinct.hpp"
#include "strata/formats/internal/validation.hpp"

namespace strata {

namespace {

template <Value V, Index I>
Footprint footprint_from(I rows, Offset diagonals, Offset entries) {
  const Offset stored = checked_multiply<Offset>(rows, diagonals, "the size of a DIA matrix");
  return {.value_bytes = bytes_of<V>(stored),
          .index_bytes = bytes_of<I>(diagonals),
          .stored_entries = stored,
          .entries = entries};
}

// The offsets of all diagonals with an entry.
template <Index I>
Array<I> find_diagonals(const PatternView<I>& pattern) {
  if (pattern.entries() == 0) return {};
  const Offset lowest = 1 - Offset{pattern.rows};
  const Offset possible = checked_add<Offset>(pattern.rows, pattern.cols, "rows and columns");
  Array<I> offsets;
  for_each_distinct(
      pattern.entries(), possible,
      [&](const auto& take) {
        parallel_for(pattern.rows, [&](Offset row) {
          for (Offset k = pattern.row_offsets[row]; k < pattern.row_offsets[row + 1]; ++k) {
            take(k, pattern.columns[k] - row - lowest);
          }
        });
      },
      [&](Offset diagonal) { offsets.push_back(static_cast<I>(diagonal + lowest)); });
  return offsets;
}

}  // namespace

template <Value V, Index I>
Dia<V, I>::Dia(I rows, I cols, Array<I> offsets, Array<V> values)
    : rows_(rows), cols_(cols), offsets_(std::move(offsets)), values_(std::move(values)) {
  validate();
  nnz_ = count_nonzeros<V>(values_);
  presence_ = presence_of_nonzeros<V>(values_, nnz_);
}

template <Value V, Index I>
void Dia<V, I>::validate() const {
  require_shape(rows_, cols_);
  require_size("values", values_.size(), footprint().stored_entries);
  for (Offset d = 0; d < diagonals(); ++d) {
    const I offset = offsets_[d];
    if (offset <= -rows_ || offset >= cols_) {
      throw InvalidMatrix(fmt::format("diagonal {}: offset {} is outside a {} x {} matrix", d,
                                      offset, rows_, cols_));
    }
    if (d > 0 && offset <= offsets_[d - 1]) {
      throw InvalidMatrix(fmt::format("diagonal {}: offsets {} and {} are not in increasing order",
                                      d, offsets_[d - 1], offset));
    }
    parallel_for(rows_, [&](Offset row) {
      const bool inside = row + offset >= 0 && row + offset < cols_;
      if (!inside && values_[position(d, static_cast<I>(row))] != V{}) {
        throw InvalidMatrix(
            fmt::format("diagonal {}: row {} lies outside the matrix and is not zero", d, row));
      }
    });
  }
}

template <Value V, Index I>
Footprint Dia<V, I>::footprint_of(const Csr<V, I>& matrix, const DiaOptions&) {
  const auto diagonals = static_cast<Offset>(find_diagonals(matrix.pattern()).size());
  return footprint_from<V>(matrix.rows(), diagonals, matrix.nnz());
}

template <Value V, Index I>
Dia<V, I> Dia<V, I>::from_csr(const Csr<V, I>& matrix, const DiaOptions& options) {
  const PatternView<I> pattern = matrix.pattern();
  Dia dia;
  dia.rows_ = matrix.rows();
  dia.cols_ = matrix.cols();
  dia.nnz_ = matrix.nnz();
  dia.offsets_ = find_diagonals(pattern);
  const Footprint footprint = dia.footprint();
  require_fill(footprint, options.max_fill, "DIA");

  dia.values_.resize(footprint.stored_entries);
  dia.presence_ = PresenceBits(footprint.stored_entries, matrix.nnz());
  parallel_for(matrix.rows(), [&](Offset row) {
    Offset k = pattern.row_offsets[row];
    for (Offset d = 0; d < dia.diagonals(); ++d) {
      const Offset place = dia.position(d, static_cast<I>(row));
      const bool entry =
          k < pattern.row_offsets[row + 1] && pattern.columns[k] - row == Offset{dia.offsets_[d]};
      dia.values_[place] = entry ? matrix.values()[k] : V{};
      if (!entry) continue;
      dia.presence_.set(place);
      ++k;
    }
  });
  return dia;
}

template <Value V, Index I>
Csr<V, I> Dia<V, I>::to_csr() const {
  return collect_rows<V, I>(rows_, cols_, [&](I row, RowEntries<V, I>& entries) {
    for (Offset d = 0; d < diagonals(); ++d) {
      const Offset k = position(d, row);
      if (presence_.has(k)) entries.add(row + offsets_[d], values_[k]);
    }
    return row;
  });
}

template <Value V, Index I>
Footprint Dia<V, I>::footprint() const {
  return footprint_from<V>(rows_, diagonals(), nnz_);
}

#define STRATA_INSTANTIATE(V, I) template class Dia<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
