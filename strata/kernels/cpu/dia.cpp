// Diagonals as one slice of all rows, of which as many lanes as there are registers for run at a
// time, in tiles of rows and with elements of x that are neighbours. Diagonals that do not pass the
// lanes' rows are left out; where one begins or ends among them, the rows are run one by one.
#include "strata/base/instantiate.hpp"
#include "strata/kernels/cpu/internal/level_functions.hpp"
#include "strata/kernels/cpu/internal/slice.hpp"

namespace strata::cpu::STRATA_CPU_LEVEL {

namespace {

// The diagonals [begin, end) that pass all of some rows, found from those of the rows before, which
// are mostly the same.
template <Value V, Index I>
class PassingDiagonals {
 public:
  explicit PassingDiagonals(const DiaView<V, I>& matrix)
      : matrix_(matrix), begin_(matrix.diagonals), end_(matrix.diagonals) {}

  void move_to(Offset first, Offset rows) {
    const auto from = [&](Offset diagonal) { return first + matrix_.offsets[diagonal]; };
    while (begin_ > 0 && from(begin_ - 1) >= 0) --begin_;
    while (begin_ < matrix_.diagonals && from(begin_) < 0) ++begin_;
    while (end_ > 0 && from(end_ - 1) + rows > matrix_.cols) --end_;
    while (end_ < matrix_.diagonals && from(end_) + rows <= matrix_.cols) ++end_;
  }
  // Whether none of the others passes one of the rows.
  bool are_all(Offset first, Offset rows) const {
    return begin_ <= end_ && (begin_ == 0 || first + rows + matrix_.offsets[begin_ - 1] <= 0) &&
           (end_ == matrix_.diagonals || first + matrix_.offsets[end_] >= matrix_.cols);
  }

  Slice<V> slice(Offset first, Offset rows) const {
    if (begin_ >= end_) return {matrix_.values, 0, matrix_.rows, first, rows};
    return {matrix_.values + begin_ * matrix_.rows + first, end_ - begin_, matrix_.rows, first,
            rows};
  }
  DiaColumns<I> columns(Offset first) const { return {matrix_.offsets + begin_, first}; }

 private:
  const DiaView<V, I>& matrix_;
  Offset begin_;
  Offset end_;
};

template <Value V, Index I>
struct Rows {
  const DiaView<V, I>& matrix;
  DiaColumns<I> columns;

  static bool sorted() { return false; }
  static Offset row_at(Offset slot) { return slot; }
  [[gnu::noinline]] void sum_entries(const Slice<V>& slice, Offset lane, const V* x, int count,
                                     Number<V>* sums) const {
    const Offset first = slice.values - matrix.values + lane;
    sum_lane(
        slice, lane, columns, x, count,
        [&](Offset entry) { return is_present(matrix.presence, first + entry * slice.height); },
        sums);
  }
};

template <int count, Value V, Index I>
void step_row(const DiaView<V, I>& matrix, const Step<V>& step, const StepVectors<V>& vectors,
              PassingDiagonals<V, I>& diagonals, Offset row) {
  diagonals.move_to(row, 1);
  const DiaColumns<I> columns = diagonals.columns(row);
  step_slice_rowwise<count>(step, vectors, diagonals.slice(row, 1), columns,
                            Rows<V, I>{matrix, columns});
}

template <Value V, Index I>
void step_lanes(const DiaView<V, I>& matrix, const Step<V>& step, const StepVectors<V>& vectors,
                Offset begin, Offset end) {
  PassingDiagonals<V, I> diagonals(matrix);
  const auto by_row = [&](Offset row) { step_row<1>(matrix, step, vectors, diagonals, row); };
  for_each_tile<1, V>(
      begin, end,
      [&]<int lanes>(EntryRange entries, Offset first, Lanes<V, lanes>& sums) STRATA_INLINE {
        diagonals.move_to(first, lanes);
        if (!diagonals.are_all(first, lanes)) return false;
        return multiply_some(diagonals.slice(first, lanes), diagonals.columns(first), entries,
                             vectors.x, sums);
      },
      [&]<int lanes>(Offset first, Lanes<V, lanes>& sums) STRATA_INLINE {
        diagonals.move_to(first, lanes);
        if (diagonals.are_all(first, lanes)) {
          finish_slice(step, vectors, diagonals.slice(first, lanes),
                       Rows<V, I>{matrix, diagonals.columns(first)}, sums);
        } else {
          for (Offset row = first; row < first + lanes; ++row) by_row(row);
        }
      },
      by_row);
}

}  // namespace

template <Value V, Index I>
void step_dia(const DiaView<V, I>& matrix, const StepCoefficients<V>& coefficients,
              const StepVectors<V>& vectors, Offset begin, Offset end) {
  const Step<V> step = step_of(coefficients);
  if (vectors.count == 1) {
    step_lanes(matrix, step, vectors, begin, end);
    return;
  }
  with_vector_count<2>(vectors.count, [&]<int count>(Constant<count>) {
    PassingDiagonals<V, I> diagonals(matrix);
    for (Offset row = begin; row < end; ++row) {
      step_row<count>(matrix, step, vectors, diagonals, row);
    }
  });
}

#define STRATA_INSTANTIATE(V, I)                                                                  \
  template void step_dia(const DiaView<V, I>&, const StepCoefficients<V>&, const StepVectors<V>&, \
                         Offset, Offset)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::cpu::STRATA_CPU_LEVEL
