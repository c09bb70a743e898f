// TeamProduct: a whole step out = α (A − θI) x + β previous (step.hpp) on all threads, for every
// format that has kernels on processors.
//
//   const cpu::TeamProduct product(matrix);   // looks at the pattern, and refers to the matrix
//   std::vector<double> scratch(product.scratch_elements(1));
//   product.run({}, {x.data(), nullptr, y.data(), 1}, scratch);   // y = Ax on thread_count()
//   threads
//
// Formats whose rows can be shared out are (parts.hpp). Where they cannot, threads share entries or
// lines, and what they leave in scratch memory is added up afterwards in a fixed order: no result
// depends on the number of threads. A product may run from several threads at once, with scratch
// memory for each. The matrix must live as long as its product.
#pragma once

#include <span>
#include <utility>

#include "strata/base/parallel.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/coo.hpp"
#include "strata/formats/csc.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/hyb.hpp"
#include "strata/formats/symmetric_csr.hpp"
#include "strata/kernels/cpu/entry_parts.hpp"
#include "strata/kernels/cpu/line_windows.hpp"
#include "strata/kernels/cpu/parts.hpp"
#include "strata/kernels/cpu/step.hpp"

namespace strata::cpu {

// Not defined for formats without kernels.
template <class Matrix>
class TeamProduct;

// A thread has whole rows.
template <HasStep Matrix>
class RowsProduct {
 public:
  using V = typename Matrix::value_type;

  explicit RowsProduct(const Matrix& matrix) : matrix_(&matrix) {}

  Offset scratch_elements(int) const { return 0; }
  void run(const StepCoefficients<V>& coefficients, const StepVectors<V>& vectors,
           std::span<V>) const {
    run_on_threads(thread_count(), [&](int thread, int team) {
      step(*matrix_, coefficients, vectors, balanced_rows(*matrix_, thread, team));
    });
  }

 private:
  const Matrix* matrix_;
};

// Other ways to go through the rows of CSR than that of RowsProduct, which has four sums for each.
// The last bits differ.
enum class CsrWay {
  gathers,  // x comes in registers of the processor; long rows have eight sums
  loop      // one sum for every row that is not long
};

// The same as RowsProduct in another way.
template <Value V, Index I, CsrWay way>
class CsrProduct {
 public:
  explicit CsrProduct(const Csr<V, I>& matrix) : matrix_(&matrix) {}

  Offset scratch_elements(int) const { return 0; }
  void run(const StepCoefficients<V>& coefficients, const StepVectors<V>& vectors,
           std::span<V> scratch) const;

 private:
  const Csr<V, I>* matrix_;
};

// A thread has entries, and may have a part of a row (entry_parts.hpp). Of CSR and COO.
template <class Matrix>
class EntriesProduct {
 public:
  using V = typename Matrix::value_type;

  // COO: throws InvalidArgument unless its entries are in row order.
  explicit EntriesProduct(const Matrix& matrix)
      : matrix_(&matrix), parts_(entry_parts_of(matrix)) {}

  Offset scratch_elements(int vectors) const { return Offset{2} * parts_.count() * vectors; }
  void run(const StepCoefficients<V>& coefficients, const StepVectors<V>& vectors,
           std::span<V> scratch) const;
  // out += α A x, without touching rows that have no entries. Of COO.
  void add(V alpha, const StepVectors<V>& vectors, std::span<V> scratch) const
    requires std::same_as<Matrix, Coo<V, typename Matrix::index_type>>;

 private:
  const Matrix* matrix_;
  EntryParts parts_;
};

// Which elements of the result the lines of a matrix add to, and how (line_windows.hpp).
template <Value V, Index I>
class LinesProduct {
 public:
  enum class Kind { transposed, conjugate_transposed, symmetric };

  LinesProduct(const Csr<V, I>& lines, Kind kind, Mirror mirror = Mirror::same)
      : lines_(&lines),
        kind_(kind),
        mirror_(kind == Kind::conjugate_transposed ? Mirror::conjugate : mirror),
        windows_(line_windows_of(
            lines, kind == Kind::symmetric ? Touched::columns_and_line : Touched::columns)) {}

  Offset scratch_elements(int vectors) const;
  void run(const StepCoefficients<V>& coefficients, const StepVectors<V>& vectors,
           std::span<V> scratch) const;

 private:
  const Csr<V, I>* lines_;
  Kind kind_;
  Mirror mirror_;
  LineWindows windows_;
};

template <HasStep Matrix>
class TeamProduct<Matrix> : public RowsProduct<Matrix> {
 public:
  using RowsProduct<Matrix>::RowsProduct;
};

template <Value V, Index I>
class TeamProduct<Coo<V, I>> : public EntriesProduct<Coo<V, I>> {
 public:
  using EntriesProduct<Coo<V, I>>::EntriesProduct;
};

// ELLPACK first, then what it leaves.
template <Value V, Index I>
  requires HasStep<Ell<V, I>>
class TeamProduct<Hyb<V, I>> {
 public:
  explicit TeamProduct(const Hyb<V, I>& matrix) : ell_(matrix.ell()), rest_(matrix.rest()) {}

  Offset scratch_elements(int vectors) const { return rest_.scratch_elements(vectors); }
  void run(const StepCoefficients<V>& coefficients, const StepVectors<V>& vectors,
           std::span<V> scratch) const {
    ell_.run(coefficients, vectors, {});
    rest_.add(coefficients.alpha, vectors, scratch);
  }

 private:
  RowsProduct<Ell<V, I>> ell_;
  EntriesProduct<Coo<V, I>> rest_;
};

// The columns of CSC are the rows of its transpose.
template <Value V, Index I>
class TeamProduct<Csc<V, I>> : public LinesProduct<V, I> {
 public:
  explicit TeamProduct(const Csc<V, I>& matrix)
      : LinesProduct<V, I>(matrix.transpose(), LinesProduct<V, I>::Kind::transposed) {}
};

constexpr Mirror mirror_of(Symmetry symmetry) {
  if (symmetry == Symmetry::skew_symmetric) return Mirror::negative;
  return symmetry == Symmetry::hermitian ? Mirror::conjugate : Mirror::same;
}

template <Value V, Index I>
class TeamProduct<SymmetricCsr<V, I>> : public LinesProduct<V, I> {
 public:
  explicit TeamProduct(const SymmetricCsr<V, I>& matrix)
      : LinesProduct<V, I>(matrix.lower(), LinesProduct<V, I>::Kind::symmetric,
                           mirror_of(matrix.symmetry())) {}
};

template <class Matrix>
TeamProduct(const Matrix&) -> TeamProduct<Matrix>;

// Formats with kernels on processors.
template <class Matrix>
concept HasTeamProduct = requires(const Matrix& matrix) { TeamProduct<Matrix>(matrix); };

}  // namespace strata::cpu
