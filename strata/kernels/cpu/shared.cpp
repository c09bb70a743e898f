// Kernels of products whose threads share rows: parts of entries (entry_parts.hpp), and lines that
// add to windows of the result (line_windows.hpp).
#include "strata/kernels/cpu/internal/level_functions.hpp"
#include "strata/kernels/cpu/internal/numbers.hpp"

namespace strata::cpu::STRATA_CPU_LEVEL {

namespace {

template <class R>
inline R conjugated(R number) {
  return number;
}
template <class R>
inline Complex<R> conjugated(Complex<R> number) {
  return {number.real, -number.imaginary};
}

// ---- parts of entries

template <Value V, Index I>
void step_csr_part(const CsrView<V, I>& matrix, const StepCoefficients<V>& coefficients,
                   const StepVectors<V>& vectors, const PartCut& from, const PartCut& to, V* first,
                   V* last) {
  Offset row = from.row;
  if (from.inside && to.row > row) {
    ++row;
    sum_csr(matrix, vectors.x, vectors.count, from.entry, matrix.row_offsets[row], first);
  }
  step_csr_loop(matrix, coefficients, vectors, row, to.row);  // lengths differ, or why parts?
  if (!to.inside) return;
  const Offset begin = to.row == from.row ? from.entry : matrix.row_offsets[to.row];
  sum_csr(matrix, vectors.x, vectors.count, begin, to.entry, last);
}

// Adds the entries of the row from `entry` on to the sums; returns the first that is not of it.
template <int count, Value V, Index I>
inline Offset sum_coo_row(const CooView<V, I>& matrix, Offset row, Offset entry, Offset end,
                          const V* x, Number<V> (&sums)[count]) {
  for (; entry < end && matrix.rows[entry] == row; ++entry) {
    const V* factors = x + static_cast<Offset>(matrix.columns[entry]) * count;
    const Number<V> value = loaded(matrix.values + entry);
    for (int v = 0; v < count; ++v) sums[v] = multiply_add(value, loaded(factors + v), sums[v]);
  }
  return entry;
}

template <int count, Value V>
inline void store_all(V* to, const Number<V> (&sums)[count]) {
  for (int v = 0; v < count; ++v) store(to + v, sums[v]);
}

template <int count, Value V, Index I>
void step_coo_rows(const CooView<V, I>& matrix, const Step<V>& step, const StepVectors<V>& vectors,
                   const PartCut& from, const PartCut& to, V* first, V* last) {
  Offset row = from.row;
  Offset entry = from.entry;
  if (from.inside && to.row > row) {
    Number<V> sums[count] = {};
    entry = sum_coo_row<count>(matrix, row, entry, to.entry, vectors.x, sums);
    store_all<count>(first, sums);
    ++row;
  }
  for (; row < to.row; ++row) {
    Number<V> sums[count] = {};
    const Offset begin = entry;
    entry = sum_coo_row<count>(matrix, row, entry, to.entry, vectors.x, sums);
    if (entry > begin || !matrix.skips_empty_rows) finish_row(step, vectors, row * count, sums);
  }
  if (!to.inside) return;
  Number<V> sums[count] = {};
  sum_coo_row<count>(matrix, row, entry, to.entry, vectors.x, sums);
  store_all<count>(last, sums);
}

template <Value V, Index I>
void step_coo_part(const CooView<V, I>& matrix, const StepCoefficients<V>& coefficients,
                   const StepVectors<V>& vectors, const PartCut& from, const PartCut& to, V* first,
                   V* last) {
  const Step<V> step = step_of(coefficients);
  with_vector_count<1>(vectors.count, [&]<int count>(Constant<count>) {
    step_coo_rows<count>(matrix, step, vectors, from, to, first, last);
  });
}

template <Value V>
void finish_cut_rows(const StepCoefficients<V>& coefficients, const StepVectors<V>& vectors,
                     const PartCut* cuts, Offset parts, const V* pieces) {
  const Step<V> step = step_of(coefficients);
  const int count = vectors.count;
  Number<V> sums[kMaxVectors] = {};
  const auto add = [&](const V* piece) {
    for (int v = 0; v < count; ++v) sums[v] = added(sums[v], loaded(piece + v));
  };
  for (Offset part = 0; part < parts; ++part) {
    const PartCut& from = cuts[part];
    const PartCut& to = cuts[part + 1];
    const V* first = pieces + 2 * part * count;
    if (to.row > from.row) {
      if (from.inside) {
        add(first);
        for (int v = 0; v < count; ++v) finish(step, vectors, from.row * count + v, sums[v]);
      }
      for (int v = 0; v < count; ++v) sums[v] = {};
    }
    if (to.inside) add(first + count);
  }
}

// ---- lines that add to windows

template <int count, bool conjugate, Value V, Index I>
void scatter_lines(const CsrView<V, I>& matrix, const V* x, Offset begin, Offset end,
                   const Window<V>& window) {
  for (Offset line = begin; line < end; ++line) {
    Number<V> factors[count];
    for (int v = 0; v < count; ++v) factors[v] = loaded(x + line * count + v);
    for (Offset k = matrix.row_offsets[line]; k < matrix.row_offsets[line + 1]; ++k) {
      V* to = window.elements + (matrix.columns[k] - window.rows.begin) * count;
      const Number<V> entry = loaded(matrix.values + k);
      const Number<V> value = conjugate ? conjugated(entry) : entry;
      for (int v = 0; v < count; ++v) {
        store(to + v, multiply_add(value, factors[v], loaded(to + v)));
      }
    }
  }
}

template <Value V, Index I>
void scatter(const CsrView<V, I>& matrix, Mirror entries, const V* x, int count, Offset begin,
             Offset end, const Window<V>& window) {
  with_vector_count<1>(count, [&]<int number>(Constant<number>) {
    if (entries == Mirror::conjugate) {
      scatter_lines<number, true>(matrix, x, begin, end, window);
    } else {
      scatter_lines<number, false>(matrix, x, begin, end, window);
    }
  });
}

template <Mirror mirror, class T>
inline T mirrored(T value) {
  if constexpr (mirror == Mirror::negative) return negated(value);
  if constexpr (mirror == Mirror::conjugate) return conjugated(value);
  return value;
}

// Columns increase, so that an entry on the diagonal is the last of its row.
template <int count, Mirror mirror, Value V, Index I>
void add_symmetric_rows(const CsrView<V, I>& matrix, const V* x, Offset begin, Offset end,
                        const Window<V>& window) {
  for (Offset row = begin; row < end; ++row) {
    const Offset first = matrix.row_offsets[row];
    const Offset last = matrix.row_offsets[row + 1];
    const bool diagonal = last > first && matrix.columns[last - 1] == row;
    Number<V> factors[count];
    for (int v = 0; v < count; ++v) factors[v] = loaded(x + row * count + v);
    Number<V> sums[count] = {};
    for (Offset k = first; k < last - (diagonal ? 1 : 0); ++k) {
      const Offset column = matrix.columns[k];
      const V* from = x + column * count;
      V* to = window.elements + (column - window.rows.begin) * count;
      const Number<V> value = loaded(matrix.values + k);
      const Number<V> opposite = mirrored<mirror>(value);
      for (int v = 0; v < count; ++v) {
        sums[v] = multiply_add(value, loaded(from + v), sums[v]);
        store(to + v, multiply_add(opposite, factors[v], loaded(to + v)));
      }
    }
    if (diagonal) {
      const Number<V> value = loaded(matrix.values + last - 1);
      for (int v = 0; v < count; ++v) sums[v] = multiply_add(value, factors[v], sums[v]);
    }
    V* own = window.elements + (row - window.rows.begin) * count;
    for (int v = 0; v < count; ++v) store(own + v, added(loaded(own + v), sums[v]));
  }
}

template <Value V, Index I>
void add_symmetric(const CsrView<V, I>& matrix, Mirror entries, const V* x, int count, Offset begin,
                   Offset end, const Window<V>& window) {
  with_vector_count<1>(count, [&]<int number>(Constant<number>) {
    switch (entries) {
      case Mirror::same:
        return add_symmetric_rows<number, Mirror::same>(matrix, x, begin, end, window);
      case Mirror::negative:
        return add_symmetric_rows<number, Mirror::negative>(matrix, x, begin, end, window);
      case Mirror::conjugate:
        return add_symmetric_rows<number, Mirror::conjugate>(matrix, x, begin, end, window);
    }
  });
}

// Rows by so many, whose sums stay in the first-level cache while windows are added to them.
constexpr Offset kRowsAtOnce = 128;

template <Value V>
void finish_windows(const StepCoefficients<V>& coefficients, const StepVectors<V>& vectors,
                    const Window<V>* windows, Offset number, Offset begin, Offset end) {
  const Step<V> step = step_of(coefficients);
  const Offset count = vectors.count;
  for (Offset from = begin; from < end; from += kRowsAtOnce) {
    const Offset to = from + kRowsAtOnce < end ? from + kRowsAtOnce : end;
    Number<V> sums[kRowsAtOnce * kMaxVectors];
    for (Offset i = 0; i < (to - from) * count; ++i) sums[i] = {};
    for (Offset w = 0; w < number; ++w) {
      const RowRange<Offset>& rows = windows[w].rows;
      const Offset first = rows.begin > from ? rows.begin : from;
      const Offset last = rows.end < to ? rows.end : to;
      if (first >= last) continue;
      const V* elements = windows[w].elements + (first - rows.begin) * count;
      Number<V>* into = sums + (first - from) * count;
      for (Offset i = 0; i < (last - first) * count; ++i) {
        into[i] = added(into[i], loaded(elements + i));
      }
    }
    for (Offset i = 0; i < (to - from) * count; ++i) {
      finish(step, vectors, from * count + i, sums[i]);
    }
  }
}

}  // namespace

template <Value V>
constinit const SharedKernels<V> SharedKernelsOf<V>::table{
    step_csr_part<V, std::int32_t>,
    step_csr_part<V, std::int64_t>,
    step_coo_part<V, std::int32_t>,
    step_coo_part<V, std::int64_t>,
    finish_cut_rows<V>,
    scatter<V, std::int32_t>,
    scatter<V, std::int64_t>,
    add_symmetric<V, std::int32_t>,
    add_symmetric<V, std::int64_t>,
    finish_windows<V>,
};

template struct SharedKernelsOf<float>;
template struct SharedKernelsOf<double>;
template struct SharedKernelsOf<std::complex<float>>;
template struct SharedKernelsOf<std::complex<double>>;

}  // namespace strata::cpu::STRATA_CPU_LEVEL
