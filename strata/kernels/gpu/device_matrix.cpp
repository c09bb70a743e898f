#include "strata/kernels/gpu/device_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/kernels/gpu/group_rules.hpp"
#include "strata/kernels/gpu/internal/upload.hpp"
#include "strata/kernels/gpu/sell.hpp"
#include "strata/kernels/gpu/slice_headers.hpp"
#include "strata/kernels/gpu/step.hpp"

namespace strata::gpu {

namespace {

// Rows that are much longer than the others keep their warps at work alone.
template <Value V, Index I>
bool has_outliers(const Csr<V, I>& matrix) {
  const auto offsets = matrix.row_offsets();
  const Offset longest = parallel_reduce(
      matrix.rows(), Offset{0},
      [&](Offset begin, Offset end) {
        Offset most = 0;
        for (Offset row = begin; row < end; ++row) {
          most = std::max(most, offsets[row + 1] - offsets[row]);
        }
        return most;
      },
      [](Offset a, Offset b) { return std::max(a, b); });
  return longest > 64 + 4 * matrix.nnz() / std::max<Offset>(1, matrix.rows());
}

int threads_for(Offset nnz, Offset rows, int warp) {
  // Every thread has a few gathers in flight at once.
  constexpr Offset kGathers = 4;
  const Offset mean = nnz / std::max<Offset>(1, rows);
  const auto threads = std::bit_ceil(static_cast<std::uint64_t>(ceil_div(mean, kGathers)));
  return static_cast<int>(std::clamp<std::uint64_t>(threads, 1, static_cast<std::uint64_t>(warp)));
}

// Kernels count the entries of a row with 31 bits, and some steps too far.
template <Value V, Index I>
std::int32_t width_of(const Ell<V, I>& matrix) {
  constexpr Offset kMost = Offset{1} << 30;
  if (matrix.width() > kMost) {
    throw OverflowError(fmt::format("rows of {} entries in ELLPACK; a GPU takes {} at most",
                                    matrix.width(), kMost));
  }
  return static_cast<std::int32_t>(matrix.width());
}

// As cpu::row_alignment(); in 64 bits, because σ may be as large as the matrix.
template <class Matrix>
std::int32_t alignment_of(const Matrix& matrix) {
  const Offset height = matrix.slice_height();
  const Offset whole =
      matrix.sorted() ? std::lcm<Offset, Offset>(height, matrix.sort_window()) : height;
  const Offset alignment = std::min<Offset>(whole, matrix.rows());
  return static_cast<std::int32_t>(std::max<Offset>(1, alignment));
}

}  // namespace

// ---- CSR

template <Value V>
template <Index I>
DeviceCsr<V>::DeviceCsr(const Csr<V, I>& matrix, Stream& stream, const DeviceCsrOptions& options)
    : shape_(shape_of(matrix)),
      kernel_(options.kernel),
      threads_per_row_(options.threads_per_row),
      row_offsets_(to_device(matrix.row_offsets(), stream)),
      columns_(upload_indices(matrix.columns(), stream)),
      values_(to_device(matrix.values(), stream)) {
  if (threads_per_row_ == 0) threads_per_row_ = threads_for(nnz(), rows(), shape_.warp);
  if (threads_per_row_ < 0 || threads_per_row_ > shape_.warp ||
      !std::has_single_bit(static_cast<unsigned>(threads_per_row_))) {
    throw InvalidArgument(
        fmt::format("{} threads per row, for warps of {}: a power of two is needed",
                    threads_per_row_, shape_.warp));
  }
  if (kernel_ == CsrKernel::automatic) {
    kernel_ = has_outliers(matrix) ? CsrKernel::parts : CsrKernel::rows;
  }
  if (kernel_ != CsrKernel::parts) return;
  split_ = split_csr(matrix.row_offsets(), shape_.warp);
  parts_ = upload(split_.parts, stream);
  long_rows_ = upload(split_.long_rows, stream);
}

template <Value V>
Offset DeviceCsr<V>::bytes() const {
  return row_offsets_.bytes() + columns_.bytes() + values_.bytes() + parts_.bytes() +
         long_rows_.bytes();
}

template <Value V>
CsrView<DeviceValue<V>> DeviceCsr<V>::view() const {
  return {row_offsets_.data(), columns_.data(), device_values(values_), rows()};
}

template <Value V>
CsrPartsView<DeviceValue<V>> DeviceCsr<V>::parts_view(DeviceSpan<V> scratch) const {
  return {view(), parts_.data(), long_rows_.data(),
          reinterpret_cast<DeviceValue<V>*>(scratch.data())};
}

// ---- ELL

template <Value V>
template <Index I>
DeviceEll<V>::DeviceEll(const Ell<V, I>& matrix, Stream& stream, const DeviceEllOptions& options)
    : shape_(shape_of(matrix)),
      width_(width_of(matrix)),
      groups_(options.groups.value_or(ell_groups(width_, rows(), kCoreWarps))),
      columns_(upload_indices(matrix.columns(), stream)),
      values_(to_device(matrix.values(), stream)),
      row_lengths_(upload_indices(matrix.row_lengths(), stream)) {
  require_ell_groups(groups_);
}

template <Value V>
Offset DeviceEll<V>::bytes() const {
  return columns_.bytes() + values_.bytes() + row_lengths_.bytes();
}

template <Value V>
EllView<DeviceValue<V>> DeviceEll<V>::view() const {
  return {columns_.data(), device_values(values_), row_lengths_.data(), rows(), width_};
}

// ---- SELL

template <Value V>
template <Index I>
DeviceSell<V>::DeviceSell(const Sell<V, I>& matrix, Stream& stream) : shape_(shape_of(matrix)) {
  require_device_size(matrix);
  const Offset height = matrix.slice_height();
  if (height > shape_.warp || !std::has_single_bit(static_cast<std::uint64_t>(height))) {
    throw InvalidArgument(fmt::format(
        "slices of {} rows, for warps of {}: a power of two is needed", height, shape_.warp));
  }
  slice_height_ = static_cast<std::int32_t>(height);
  const auto most = static_cast<int>(shape_.warp / height);
  threads_per_row_ = height < kLowestWholeWarpSlice
                         ? row_threads(std::ssize(matrix.values()), rows(), most)
                         : most;
  row_alignment_ = alignment_of(matrix);
  slice_offsets_ = to_device(matrix.slice_offsets(), stream);
  columns_ = upload_indices(matrix.columns(), stream);
  values_ = to_device(matrix.values(), stream);
  row_lengths_ = upload_indices(matrix.row_lengths(), stream);
  row_of_slot_ = upload_indices(matrix.row_of_slot(), stream);
}

template <Value V>
Offset DeviceSell<V>::bytes() const {
  return slice_offsets_.bytes() + columns_.bytes() + values_.bytes() + row_lengths_.bytes() +
         row_of_slot_.bytes();
}

template <Value V>
SellView<DeviceValue<V>> DeviceSell<V>::view() const {
  return {slice_offsets_.data(),      columns_.data(), device_values(values_), row_lengths_.data(),
          data_or_null(row_of_slot_), rows()};
}

// ---- packed SELL

namespace {

template <Value V, Index I>
Array<std::uint64_t> positions_of(const PackedSell<V, I>& matrix) {
  return {matrix.entry_offsets().begin(), matrix.entry_offsets().end() - 1};
}

}  // namespace

std::span<const SliceGroup> DeviceGroups::of(SliceRange range) const {
  const auto [begin, end] = places.of(range);
  return {groups.data() + begin, groups.data() + end};
}

template <Value V>
template <Index I>
DevicePackedSell<V>::DevicePackedSell(const PackedSell<V, I>& matrix, Stream& stream)
    : shape_(shape_of(matrix)),
      slice_height_(static_cast<std::int32_t>(matrix.slice_height())),
      row_alignment_(alignment_of(matrix)),
      full_(matrix.has_full_values()),
      run_(run_length(matrix.run_length())),
      codes_(to_device(matrix.codes(), stream)),
      data_(to_device(matrix.data(), stream)),
      table_(to_device(matrix.table().values(), stream)),
      presence_(to_device(matrix.presence().words(), stream)),
      positions_(full_ ? DeviceArray<std::uint64_t>() : upload(positions_of(matrix), stream)),
      row_of_slot_(upload_indices(matrix.row_of_slot(), stream)) {
  const Array<SliceHeader> headers = slice_headers(matrix);
  slices_ = to_device(std::span<const SliceHeader>(headers), stream);
  if (full_) return;
  traits_ = encoded_traits(matrix, headers);
  const auto upload_groups = [&](bool taken) {
    SliceGroups found = slice_groups(headers, traits_.kind, taken);
    return DeviceGroups{to_device(std::span<const SliceGroup>(found.groups), stream),
                        std::move(found.places)};
  };
  groups_ = upload_groups(true);
  left_out_ = upload_groups(false);
}

template <Value V>
Offset DevicePackedSell<V>::bytes() const {
  return slices_.bytes() + codes_.bytes() + data_.bytes() + table_.bytes() + presence_.bytes() +
         positions_.bytes() + row_of_slot_.bytes() + groups_.groups.bytes() +
         left_out_.groups.bytes();
}

template <Value V>
PackedSellView<DeviceValue<V>> DevicePackedSell<V>::view() const {
  return {data_.data(),
          codes_.data(),
          slices_.data(),
          device_values(table_),
          table_size(),
          data_or_null(presence_),
          data_or_null(positions_),
          data_or_null(row_of_slot_),
          rows(),
          run_};
}

#define STRATA_INSTANTIATE(V, I)                                                        \
  template DeviceCsr<V>::DeviceCsr(const Csr<V, I>&, Stream&, const DeviceCsrOptions&); \
  template DeviceEll<V>::DeviceEll(const Ell<V, I>&, Stream&, const DeviceEllOptions&); \
  template DeviceSell<V>::DeviceSell(const Sell<V, I>&, Stream&);                       \
  template DevicePackedSell<V>::DevicePackedSell(const PackedSell<V, I>&, Stream&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

#define STRATA_INSTANTIATE_CLASSES(V, unused) \
  template class DeviceCsr<V>;                \
  template class DeviceEll<V>;                \
  template class DeviceSell<V>;               \
  template class DevicePackedSell<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_CLASSES, );

}  // namespace strata::gpu
