#include "strata/model/balance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"

namespace strata {

namespace {

constexpr double kFlopsPerEntry = 2;

void require_entries(double entries_per_row) {
  if (!(entries_per_row > 0)) {
    throw InvalidArgument(
        fmt::format("a product with {} entries per row has no balance", entries_per_row));
  }
}

}  // namespace

double sell_balance(double slice_height, double entries_per_row, const ElementSizes& sizes) {
  require_entries(entries_per_row);
  if (!(slice_height >= 1)) {
    throw InvalidArgument(fmt::format("a slice of {} rows", slice_height));
  }
  // Panzlaff 4.3: offset and length of the slice, y, values, columns, x.
  const double row_bytes = 2 * sizes.index / slice_height + sizes.value +
                           entries_per_row * (sizes.value + sizes.index) + sizes.value;
  return row_bytes / (kFlopsPerEntry * entries_per_row);
}

double crs_balance(double entries_per_row, double alpha, const ElementSizes& sizes) {
  require_entries(entries_per_row);
  const double row_bytes = sizes.index + 2 * sizes.value;
  return (sizes.value + sizes.index + row_bytes / entries_per_row + sizes.value * alpha) /
         kFlopsPerEntry;
}

double minimum_crs_balance(double entries_per_row, const ElementSizes& sizes) {
  return crs_balance(entries_per_row, 1 / entries_per_row, sizes);
}

double alpha_of(double measured_bytes, double entries, double entries_per_row,
                const ElementSizes& sizes) {
  const double measured = measured_bytes / (kFlopsPerEntry * entries);
  return (measured - crs_balance(entries_per_row, 0, sizes)) * kFlopsPerEntry / sizes.value;
}

double VectorTraffic::bytes() const {
  return value_bytes * (x_loads * static_cast<double>(cols) +
                        (write_allocate ? 2 : 1) * static_cast<double>(rows));
}

double product_bytes(const Footprint& matrix, const VectorTraffic& vectors) {
  return static_cast<double>(matrix.bytes()) + vectors.bytes();
}

double product_balance(const Footprint& matrix, const VectorTraffic& vectors) {
  require_entries(static_cast<double>(matrix.entries));
  return product_bytes(matrix, vectors) / (kFlopsPerEntry * static_cast<double>(matrix.entries));
}

double minimum_balance(double entries_per_row, const ElementSizes& sizes) {
  require_entries(entries_per_row);
  return sizes.value * (1 + 2 / entries_per_row) / kFlopsPerEntry;
}

double CsrTraffic::effective_bytes() const {
  return entries * (2 * sizes.value + sizes.index) + rows * (sizes.value + sizes.index);
}

double CsrTraffic::worst_bytes(double line_bytes) const {
  return line_bytes * (3 * entries + 2 * rows);
}

double CsrTraffic::minimum_bytes() const {
  return entries * (sizes.value + sizes.index) + rows * (2 * sizes.value + sizes.index);
}

template <Index I>
double caching_bytes(const PatternView<I>& pattern, Offset block_rows, Offset line_bytes,
                     const ElementSizes& sizes) {
  if (block_rows < 1 || !(sizes.value > 0) || static_cast<double>(line_bytes) < sizes.value) {
    throw InvalidArgument(fmt::format("blocks of {} rows, lines of {} bytes, values of {}",
                                      block_rows, line_bytes, sizes.value));
  }
  const auto per_line = static_cast<Offset>(static_cast<double>(line_bytes) / sizes.value);
  std::vector<Offset> last_user(ceil_div<Offset>(pattern.cols, per_line), -1);  // by line of x
  Offset loaded = 0;
  for (Offset begin = 0, end = 0; begin < pattern.rows; begin = end) {
    end = begin + std::min<Offset>(block_rows, pattern.rows - begin);
    for (Offset k = pattern.row_offsets[begin]; k < pattern.row_offsets[end]; ++k) {
      Offset& user = last_user[pattern.columns[k] / per_line];
      loaded += user != begin;
      user = begin;
    }
  }
  const auto rows = static_cast<double>(pattern.rows);
  const CsrTraffic traffic{static_cast<double>(pattern.entries()), rows, sizes};
  return traffic.minimum_bytes() - rows * sizes.value + static_cast<double>(loaded * line_bytes);
}

#define STRATA_INSTANTIATE(I) \
  template double caching_bytes(const PatternView<I>&, Offset, Offset, const ElementSizes&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
