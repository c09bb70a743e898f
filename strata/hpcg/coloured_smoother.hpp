// ColouredSmoother: symmetric Gauss–Seidel on all threads, with the same bits for any number of
// them.
//
// Rows have colours, and no entry off the diagonal joins two of one colour. A sweep takes the
// colours in their order and then back; the rows of a colour do not depend on each other. That is
// Gauss–Seidel for the rows in the order of their colours.
//
// With A = D(I − L − U), L what leads to earlier colours and U what leads to later ones, b' = D⁻¹b,
// and x the guess, the sweeps are
//
//   forward    w = b' + Lx,  x = w + Ux      colour by colour
//   backward   x = w + Ux                    from the last colour to the first
//
// for a row's sum over earlier colours is the same on the way back, as they have not changed since:
// three passes over half of the matrix instead of four. A guess of 0 leaves two of them: x = b' +
// Lx, and back x = x + Ux.
//
// L and U are packed SELL (formats/packed_sell.hpp) with rows and columns in the order of the
// colours, each beginning on a multiple of the slice height; x is written in place. The rows that
// are added there have no entries, and vectors are 0 there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/packed_sell.hpp"
#include "strata/formats/stored_values.hpp"
#include "strata/order/padded_order.hpp"

namespace strata::hpcg {

struct SmootherOptions {
  StoredValues values = StoredValues::full;  // whether values that repeat are stored once
  Offset slice_height = 16;
};

class ColouredSmoother {
 public:
  using Row = std::int32_t;
  using Matrix = Csr<double, Row>;

  ColouredSmoother() = default;
  // colour_of[row] = 0 … colours − 1. Throws InvalidArgument for matrices that are not square, rows
  // without a diagonal that is not zero, colours beyond the last, and two rows of one colour that
  // an entry joins.
  ColouredSmoother(const Matrix& matrix, std::span<const std::uint8_t> colour_of, int colours,
                   const SmootherOptions& options = {});

  // Where rows are in vectors; there are padded_rows() of them.
  const PaddedOrder<Row>& order() const { return order_; }
  Row rows() const { return order_.padded_rows(); }
  int colours() const { return static_cast<int>(colour_begin_.size()) - 1; }
  RowRange<Row> rows_of(int colour) const;
  // Whether a colour has enough rows to wake threads for.
  bool uses_threads(int colour) const;
  // D, 1 in padded rows.
  std::span<const double> diagonal() const { return diagonal_; }

  // One sweep forward and one back. `b` is D⁻¹b; `x` is the guess, or was anything where that is 0;
  // `scratch` is as long.
  void smooth(std::span<const double> b, std::span<double> x, std::span<double> scratch) const;
  void smooth_from_zero(std::span<const double> b, std::span<double> x) const;
  // D⁻¹(b − Ax) in the rows of one colour; the other elements of `out` stay as they are.
  void residual(int colour, std::span<const double> b, std::span<const double> x,
                std::span<double> out) const;

  // L and U, for other devices.
  const PackedSell<double, Row>& lower() const { return lower_; }
  const PackedSell<double, Row>& upper() const { return upper_; }

  // Of matrix data that a pass over a colour of L or of U reads.
  Offset lower_bytes(int colour) const { return bytes(lower_bytes_before_, colour, colour + 1); }
  Offset upper_bytes(int colour) const { return bytes(upper_bytes_before_, colour, colour + 1); }
  Offset lower_bytes() const { return bytes(lower_bytes_before_, 0, colours()); }
  Offset upper_bytes() const { return bytes(upper_bytes_before_, 0, colours()); }
  Offset entries() const { return lower_.nnz() + upper_.nnz(); }  // without the diagonal

 private:
  // out = previous + (part of the matrix) x, in the rows of a colour.
  void add(const PackedSell<double, Row>& part, int colour, const double* x, const double* previous,
           double* out) const;
  static Offset bytes(const std::vector<Offset>& before, int begin, int end) {
    return before[end] - before[begin];
  }

  PaddedOrder<Row> order_;
  std::vector<Row> colour_begin_;  // colours + 1
  Array<double> diagonal_;
  PackedSell<double, Row> lower_;
  PackedSell<double, Row> upper_;
  std::vector<Offset> lower_bytes_before_;  // each colour; colours + 1
  std::vector<Offset> upper_bytes_before_;
};

}  // namespace strata::hpcg
