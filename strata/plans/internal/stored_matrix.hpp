// StoredMatrix: the matrix of a plan in whichever format was chosen, with what a sweep asks of it.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/format.hpp"
#include "strata/formats/loaded_columns.hpp"
#include "strata/formats/packed_sell.hpp"
#include "strata/formats/sell.hpp"
#include "strata/kernels/cpu/step.hpp"
#include "strata/order/padded_order.hpp"
#include "strata/plans/candidate.hpp"

namespace strata::detail {

// A copy whose memory each thread of the team touches first where it will multiply: its share of
// the entries. On machines with several memories (NUMA) it is then in that of the thread, which
// stays there if the plan has an affinity.
template <Value V, Index I>
Csr<V, I> copied_by_threads(const Csr<V, I>& matrix);

template <Value V, Index I>
class StoredMatrix {
 public:
  StoredMatrix() = default;
  // `groups` (groups + 1 rows, or none) is how a sweep will cut the rows: no row loads from a group
  // that its slice has no entries in.
  StoredMatrix(const Csr<V, I>& matrix, const StoredFormat& stored, std::span<const I> groups = {});
  // The same of rows and columns in another order. CSR in the given order is that of the caller
  // until take_over().
  StoredMatrix(const Csr<V, I>& matrix, const PaddedOrder<I>& order, const StoredFormat& stored,
               std::span<const I> groups = {});

  I rows() const;
  Offset nnz() const;
  I row_alignment() const;
  // Of matrix data, padding included, that a product reads; with the values that it was made with,
  // as sweeps are cut by them.
  Offset bytes() const { return bytes_before_.back(); }
  // The same before each row; rows + 1 elements. The bytes of a slice are shared out to its rows.
  std::span<const Offset> bytes_before() const { return bytes_before_; }
  // How packed SELL stores its values now.
  std::optional<ValueStorage> value_storage() const;
  // Whether steps of one vector make use of upcoming rows.
  bool asks_ahead() const;
  // What the kernel loads, padding included. Valid as long as this matrix is where it is.
  LoadedColumns<I> loaded_columns() const;

  // The kernel of the format, on rows of one thread, which will read the upcoming ones next.
  void step(const cpu::StepCoefficients<V>& coefficients, const cpu::StepVectors<V>& vectors,
            RowRange<I> rows, RowRange<I> upcoming = {}) const;

  // Copies what is the caller's.
  void take_over();

  // Takes over the values of a matrix with the pattern that this one was made from. Throws
  // InvalidArgument and leaves all values as they are if it has another.
  void assign_values(const Csr<V, I>& matrix);

 private:
  std::variant<Csr<V, I>, Sell<V, I>, PackedSell<V, I>> matrix_;
  Array<Offset> bytes_before_ = Array<Offset>(1, 0);
};

}  // namespace strata::detail
