// Code balance: the bytes that a product moves per flop. Sparse products run at memory speed, so
// bandwidth divided by balance is the performance to expect.
//
// A product has 2 flops per entry, padding never counted. The published formulas are for 8-byte
// values and 4-byte indices; here both sizes are free. Sources:
//   Panzlaff       M. Panzlaff: Matrix Power Kernels on GPUs, Erlangen 2024
//   Hager/Wellein  Application Knowledge Required: Analytical Performance Modeling and its
//                  application to SpMV, NHR@FAU
//   Reguly         I. Reguly, M. Giles: Efficient sparse matrix-vector multiplication on
//                  cache-based GPUs, InPar 2012
#pragma once

#include "strata/base/types.hpp"
#include "strata/formats/footprint.hpp"
#include "strata/formats/pattern.hpp"

namespace strata {

struct ElementSizes {
  double value = 8;  // bytes of a value of the matrix or of a vector
  double index = 4;  // bytes of a column index, and of an offset in the published formulas
};

// SELL-C without padding, x and y once, C = `slice_height` (Panzlaff 4.5; for fp64 and int32
// 4/(C·nnzr) + 6 + 8/nnzr). Per slice its offset and its length, an index each.
double sell_balance(double slice_height, double entries_per_row, const ElementSizes& sizes = {});

// CRS where every entry loads α elements of x from memory, y loaded and stored (Hager/Wellein
// B_C(α); for fp64 and int32 6 + 4α + 10/nnzr). x is loaded α·nnzr times: α = 0 if it stays in
// cache, 1/nnzr if it is loaded once, 1 without a cache, up to a whole line per entry.
double crs_balance(double entries_per_row, double alpha, const ElementSizes& sizes = {});

// The same with x loaded once (Hager/Wellein B_C,min; for fp64 and int32 6 + 14/nnzr).
double minimum_crs_balance(double entries_per_row, const ElementSizes& sizes = {});

// α of B_C(α) from the memory traffic that was measured or simulated for one product. Negative
// where less was moved than the matrix has bytes.
double alpha_of(double measured_bytes, double entries, double entries_per_row,
                const ElementSizes& sizes = {});

// The vectors of one product.
struct VectorTraffic {
  Offset rows = 0;
  Offset cols = 0;
  double value_bytes = 8;
  double x_loads = 1;          // how often x comes from memory
  bool write_allocate = true;  // a store to y loads its line first, as on most CPUs

  double bytes() const;
};

// What a plain product in a format really moves: the arrays it reads, padding included, and the
// vectors. The balance divides by the flops of the entries alone.
double product_bytes(const Footprint& matrix, const VectorTraffic& vectors);
double product_balance(const Footprint& matrix, const VectorTraffic& vectors);

// No format that stores values as they are moves less: the values, x in and y out, and no index.
double minimum_balance(double entries_per_row, const ElementSizes& sizes = {});

// Bytes of a CSR product by what a cache is assumed to do (Reguly). Divided by the time of a
// product they give the bandwidths of the same names.
struct CsrTraffic {
  double entries = 0;
  double rows = 0;
  ElementSizes sizes{};

  double effective_bytes() const;               // x from memory for every entry (eq. 2)
  double worst_bytes(double line_bytes) const;  // a whole line for every access (eq. 3)
  double minimum_bytes() const;                 // x once (eq. 4)
};

// Between the two (section 5.5): the minimum, but x in whole lines, each loaded once by every block
// of `block_rows` rows that touches it.
template <Index I>
double caching_bytes(const PatternView<I>& pattern, Offset block_rows, Offset line_bytes,
                     const ElementSizes& sizes = {});

}  // namespace strata
