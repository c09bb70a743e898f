#include "strata/kernels/gpu/device_scatter.hpp"

#include <complex>
#include <utility>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/kernels/gpu/internal/upload.hpp"

namespace strata::gpu {

namespace {

Mirror mirror_of(Symmetry symmetry) {
  switch (symmetry) {
    case Symmetry::skew_symmetric: return Mirror::negative;
    case Symmetry::hermitian: return Mirror::conjugate;
    default: return Mirror::same;
  }
}

template <Value V, Index I>
Csr<V, I> transposed_on_host(const Csr<V, I>& matrix, bool conjugate) {
  Csr<V, I> result = strata::transposed(matrix);
  if constexpr (is_complex<V>) {
    if (conjugate) {
      Array<V> values(result.values().begin(), result.values().end());
      parallel_for(std::ssize(values), [&](Offset k) { values[k] = std::conj(values[k]); });
      return Csr<V, I>(result.rows(), result.cols(),
                       Array<Offset>(result.row_offsets().begin(), result.row_offsets().end()),
                       Array<I>(result.columns().begin(), result.columns().end()),
                       std::move(values));
    }
  }
  return result;
}

}  // namespace

template <Value V>
template <Index I>
DeviceScatter<V>::DeviceScatter(const Csr<V, I>& matrix, ScatterTargets targets, Mirror mirror,
                                Stream& stream)
    : rows_(narrow<std::int32_t>(matrix.rows(), "the number of rows on a GPU")),
      outputs_(
          narrow<std::int32_t>(targets == ScatterTargets::columns ? matrix.cols() : matrix.rows(),
                               "the elements of y on a GPU")),
      mirror_(mirror),
      split_(split_scatter(matrix.pattern(), targets)),
      row_offsets_(to_device(matrix.row_offsets(), stream)),
      columns_(upload_indices(matrix.columns(), stream)),
      values_(to_device(matrix.values(), stream)),
      parts_(upload(split_.parts, stream)),
      tiles_(upload(split_.tiles, stream)),
      tile_parts_(upload(split_.tile_parts, stream)) {}

template <Value V>
Offset DeviceScatter<V>::bytes() const {
  return row_offsets_.bytes() + columns_.bytes() + values_.bytes() + parts_.bytes() +
         tiles_.bytes() + tile_parts_.bytes();
}

template <Value V>
ScatterView<DeviceValue<V>> DeviceScatter<V>::view(DeviceSpan<V> scratch) const {
  return {{row_offsets_.data(), columns_.data(), device_values(values_), rows_},
          parts_.data(),
          split_.count(),
          tiles_.data(),
          tile_parts_.data(),
          outputs_,
          mirror_,
          reinterpret_cast<DeviceValue<V>*>(scratch.data())};
}

template <Value V>
template <Index I>
DeviceSymmetricCsr<V>::DeviceSymmetricCsr(const SymmetricCsr<V, I>& matrix, Stream& stream)
    : shape_(shape_of(matrix)),
      lower_(matrix.lower(), ScatterTargets::columns_and_rows, mirror_of(matrix.symmetry()),
             stream) {}

template <Value V>
template <Index I>
DeviceTransposedCsr<V>::DeviceTransposedCsr(const Csr<V, I>& matrix,
                                            const DeviceTransposedOptions& options, Stream& stream)
    : shape_(shape_of(matrix)) {
  std::swap(shape_.rows, shape_.cols);
  if (!options.transpose_first && can_scatter(matrix.pattern(), ScatterTargets::columns)) {
    scattered_.emplace(matrix, ScatterTargets::columns,
                       options.conjugate ? Mirror::conjugate : Mirror::same, stream);
  } else {
    transposed_.emplace(transposed_on_host(matrix, options.conjugate), stream);
  }
}

#define STRATA_INSTANTIATE(V, I)                                                               \
  template DeviceScatter<V>::DeviceScatter(const Csr<V, I>&, ScatterTargets, Mirror, Stream&); \
  template DeviceSymmetricCsr<V>::DeviceSymmetricCsr(const SymmetricCsr<V, I>&, Stream&);      \
  template DeviceTransposedCsr<V>::DeviceTransposedCsr(const Csr<V, I>&,                       \
                                                       const DeviceTransposedOptions&, Stream&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

#define STRATA_INSTANTIATE_CLASSES(V, unused) \
  template class DeviceScatter<V>;            \
  template class DeviceSymmetricCsr<V>;       \
  template class DeviceTransposedCsr<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_CLASSES, );

}  // namespace strata::gpu
