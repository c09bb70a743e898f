#include "strata/kernels/gpu/device_bcsr.hpp"

#include <algorithm>

#include "strata/base/instantiate.hpp"
#include "strata/kernels/gpu/group_rules.hpp"
#include "strata/kernels/gpu/internal/upload.hpp"

namespace strata::gpu {

namespace {

// A thread takes whole rows of blocks, and of small blocks several for as many gathers as rows of
// other formats have.
template <Value V, Index I>
int threads_for(const Bcsr<V, I>& matrix, int warp) {
  const Offset block_rows = std::ssize(matrix.block_row_offsets()) - 1;
  const Offset entries = matrix.blocks() * std::min<Offset>(matrix.block_cols(), 4);
  return row_threads(entries, block_rows, warp);
}

}  // namespace

template <Value V>
template <Index I>
DeviceBcsr<V>::DeviceBcsr(const Bcsr<V, I>& matrix, Stream& stream)
    : shape_(shape_of(matrix)),
      block_rows_(narrow<std::int32_t>(matrix.block_rows(), "the rows of a block on a GPU")),
      block_cols_(narrow<std::int32_t>(matrix.block_cols(), "the columns of a block on a GPU")),
      threads_per_row_(threads_for(matrix, shape_.warp)),
      block_row_offsets_(to_device(matrix.block_row_offsets(), stream)),
      block_columns_(upload_indices(matrix.block_columns(), stream)),
      values_(to_device(matrix.values(), stream)),
      presence_(to_device(matrix.presence().words(), stream)) {}

template <Value V>
Offset DeviceBcsr<V>::bytes() const {
  return block_row_offsets_.bytes() + block_columns_.bytes() + values_.bytes() + presence_.bytes();
}

template <Value V>
BcsrView<DeviceValue<V>> DeviceBcsr<V>::view() const {
  return {block_row_offsets_.data(),
          block_columns_.data(),
          device_values(values_),
          {data_or_null(presence_)},
          rows(),
          cols(),
          block_rows_,
          block_cols_};
}

#define STRATA_INSTANTIATE(V, I) template DeviceBcsr<V>::DeviceBcsr(const Bcsr<V, I>&, Stream&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

#define STRATA_INSTANTIATE_CLASSES(V, unused) template class DeviceBcsr<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_CLASSES, );

}  // namespace strata::gpu
