// Csr with other types: apart from csr.cpp, so that the 64 pairs of types call the constructor
// there instead of each compiling a copy of it.
#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/csr.hpp"

namespace strata {

namespace {

template <Value To, Value From>
To convert_value(From value) {
  if constexpr (is_complex<From> && !is_complex<To>) {
    if (value.imag() != 0) {
      throw InvalidMatrix("a matrix with imaginary parts cannot become a real one");
    }
    return static_cast<To>(value.real());
  } else if constexpr (is_complex<From>) {
    using Real = typename To::value_type;
    return To(static_cast<Real>(value.real()), static_cast<Real>(value.imag()));
  } else if constexpr (is_complex<To>) {
    return To(static_cast<typename To::value_type>(value));
  } else {
    return static_cast<To>(value);
  }
}

// Indices and values apart, so that each pair of types is compiled once and not with all pairs of
// the others.
template <Index To, Index From>
Array<To> converted_indices(std::span<const From> indices) {
  Array<To> result(indices.size());
  parallel_for(static_cast<Offset>(indices.size()),
               [&](Offset k) { result[k] = static_cast<To>(indices[k]); });
  return result;
}
template <Value To, Value From>
Array<To> converted_values(std::span<const From> values) {
  Array<To> result(values.size());
  parallel_for(static_cast<Offset>(values.size()),
               [&](Offset k) { result[k] = convert_value<To>(values[k]); });
  return result;
}

}  // namespace

template <Value ToV, Index ToI, Value V, Index I>
Csr<ToV, ToI> converted(const Csr<V, I>& matrix) {
  const ToI rows = narrow<ToI>(matrix.rows(), "the number of rows");
  const ToI cols = narrow<ToI>(matrix.cols(), "the number of columns");
  const auto offsets = matrix.row_offsets();
  return Csr<ToV, ToI>(rows, cols, Array<Offset>(offsets.begin(), offsets.end()),
                       converted_indices<ToI>(matrix.columns()),
                       converted_values<ToV>(matrix.values()));
}

#define STRATA_CONVERT_TO(V, I, ToV)                                \
  template Csr<ToV, std::int32_t> converted<ToV>(const Csr<V, I>&); \
  template Csr<ToV, std::int64_t> converted<ToV>(const Csr<V, I>&)
#define STRATA_INSTANTIATE(V, I)                \
  STRATA_CONVERT_TO(V, I, float);               \
  STRATA_CONVERT_TO(V, I, double);              \
  STRATA_CONVERT_TO(V, I, std::complex<float>); \
  STRATA_CONVERT_TO(V, I, std::complex<double>)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
