#include "strata/formats/registry.hpp"

#include "strata/base/instantiate.hpp"

namespace strata {

namespace {

template <class Matrix, Value V, Index I>
Footprint footprint_in(const Csr<V, I>& csr, const FormatSpec& spec) {
  if constexpr (std::same_as<Matrix, Csr<V, I>>) {
    return csr.footprint();
  } else if constexpr (HasOptions<Matrix>) {
    return Matrix::footprint_of(csr, options_of<typename Matrix::Options>(spec));
  } else {
    return Matrix::footprint_of(csr);
  }
}

}  // namespace

template <Value V, Index I>
AnyFormat<V, I> convert(const Csr<V, I>& csr, const FormatSpec& spec, double max_fill) {
  return with_format(
      csr, spec, []<class M>(M&& matrix) { return AnyFormat<V, I>(std::forward<M>(matrix)); },
      max_fill);
}

template <Value V, Index I>
Footprint footprint(const Csr<V, I>& csr, const FormatSpec& spec) {
  switch (spec.format()) {
#define STRATA_CASE(enumerator, type, name, label) \
  case Format::enumerator: return footprint_in<type<V, I>>(csr, spec);
    STRATA_FOR_EACH_FORMAT(STRATA_CASE)
#undef STRATA_CASE
    case Format::automatic: break;
  }
  throw InvalidArgument("no matrix is in a format that is to be chosen");
}

#define STRATA_INSTANTIATE(V, I)                                                 \
  template AnyFormat<V, I> convert(const Csr<V, I>&, const FormatSpec&, double); \
  template Footprint footprint(const Csr<V, I>&, const FormatSpec&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
