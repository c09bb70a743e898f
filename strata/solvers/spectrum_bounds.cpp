#include "strata/solvers/spectrum_bounds.hpp"

#include <complex>
#include <limits>

#include "strata/base/instantiate.hpp"

namespace strata::solvers {

template <Value V, Index I>
SpectrumBounds gershgorin_bounds(const Csr<V, I>& matrix, Offset first_row) {
  if (matrix.rows() == 0) return {};
  SpectrumBounds bounds{.low = std::numeric_limits<double>::infinity(),
                        .high = -std::numeric_limits<double>::infinity()};
  for (I row = 0; row < matrix.rows(); ++row) {
    double centre = 0, radius = 0;
    const auto begin = static_cast<std::size_t>(matrix.row_offsets()[row]);
    const auto end = static_cast<std::size_t>(matrix.row_offsets()[row + 1]);
    for (std::size_t k = begin; k < end; ++k) {
      const V value = matrix.values()[k];
      if (matrix.columns()[k] == first_row + row) {
        centre = static_cast<double>(std::real(value));
      } else {
        radius += static_cast<double>(std::abs(value));
      }
    }
    bounds.low = std::min(bounds.low, centre - radius);
    bounds.high = std::max(bounds.high, centre + radius);
  }
  bounds.smallest = bounds.low;
  bounds.largest = bounds.high;
  return bounds;
}

#define STRATA_INSTANTIATE(V, I) template SpectrumBounds gershgorin_bounds(const Csr<V, I>&, Offset)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);
#undef STRATA_INSTANTIATE

}  // namespace strata::solvers
