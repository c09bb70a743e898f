#include "strata/kernels/gpu/device_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/device/upload.hpp"
#include "strata/kernels/gpu/group_rules.hpp"
#include "strata/kernels/gpu/internal/upload.hpp"
#include "strata/kernels/gpu/sell.hpp"
#include "strata/kernels/gpu/slice_headers.hpp"
#include "strata/kernels/gpu/step.hpp"

namespace strata::gpu {

namespace {

int threads_for(Offset nnz, Offset rows, int warp) {
  // Every thread has a few gathers in flight at once.
  constexpr Offset kGathers = 4;
  const Offset mean = nnz / std::max<Offset>(1, rows);
  const auto threads = std::bit_ceil(static_cast<std::uint64_t>(ceil_div(mean, kGathers)));
  return static_cast<int>(std::clamp<std::uint64_t>(threads, 1, static_cast<std::uint64_t>(warp)));
}

void require_threads_per_row(int threads, int warp) {
  if (threads >= 1 && threads <= warp && std::has_single_bit(static_cast<unsigned>(threads))) {
    return;
  }
  throw InvalidArgument(
      fmt::format("{} threads per row, for warps of {}: a power of two is needed", threads, warp));
}

void require_stream_shape(const StreamShape& shape) {
  if (std::ranges::find(kStreamShapes, shape) != kStreamShapes.end()) return;
  throw InvalidArgument(fmt::format("no CSR stream of {} threads with {} entries each",
                                    shape.threads, shape.entries_per_thread));
}

// The options with all that is left to choose.
template <Value V, Index I>
DeviceCsrOptions chosen(const DeviceCsrOptions& options, const Csr<V, I>& matrix, int warp) {
  DeviceCsrOptions result = options;
  if (result.kernel == CsrKernel::automatic) {
    result.kernel = automatic_choice(csr_rows(matrix.row_offsets()));
  }
  if (result.threads_per_row == 0) {
    result.threads_per_row = threads_for(matrix.nnz(), matrix.rows(), warp);
  }
  if (result.kernel == CsrKernel::scalar) result.threads_per_row = 1;
  if (result.reguly.coop == 0) result.reguly = reguly_rule(matrix.rows(), matrix.nnz(), warp);
  require_threads_per_row(result.threads_per_row, warp);
  require_stream_shape(result.stream);
  require_valid(result.reguly, {warp, sizeof(V)});
  return result;
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
      options_(chosen(options, matrix, shape_.warp)),
      row_offsets_(to_device(matrix.row_offsets(), stream)),
      columns_(upload_indices(matrix.columns(), stream)),
      values_(to_device(matrix.values(), stream)) {
  const auto offsets = matrix.row_offsets();
  if (kernel() == CsrKernel::balanced) {
    split_ = split_csr(offsets, shape_.warp);
  } else if (kernel() == CsrKernel::stream) {
    split_ = split_csr_stream(offsets, options_.stream, options_.gather, shape_.warp);
    row_ends_ = upload(stream_row_ends(offsets, split_), stream);
  } else {
    return;
  }
  parts_ = upload(split_.parts, stream);
  long_rows_ = upload(split_.long_rows, stream);
  pieces_ = upload(split_.pieces, stream);
}

template <Value V>
void DeviceCsr<V>::set_reguly(const RegulyParameters& parameters) {
  require_valid(parameters, {shape_.warp, sizeof(V)});
  options_.reguly = parameters;
}

template <Value V>
Offset DeviceCsr<V>::bytes() const {
  return row_offsets_.bytes() + columns_.bytes() + values_.bytes() + parts_.bytes() +
         long_rows_.bytes() + pieces_.bytes() + row_ends_.bytes();
}

template <Value V>
Offset DeviceCsr<V>::product_bytes() const {
  return kernel() == CsrKernel::stream ? bytes() - row_offsets_.bytes() : bytes();
}

template <Value V>
CsrView<DeviceValue<V>> DeviceCsr<V>::view() const {
  return {row_offsets_.data(), columns_.data(), device_values(values_), rows()};
}

template <Value V>
CsrPartsView<DeviceValue<V>> DeviceCsr<V>::parts_view(ScratchSpan<V> scratch) const {
  return {view(),
          parts_.data(),
          long_rows_.data(),
          reinterpret_cast<DeviceValue<V>*>(scratch.data()),
          pieces_.data(),
          pieces_.empty() ? nullptr : scratch.counters()};
}

template <Value V>
CsrStreamView<DeviceValue<V>> DeviceCsr<V>::stream_view(ScratchSpan<V> scratch) const {
  return {parts_view(scratch), row_ends_.data()};
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
DevicePackedSell<V>::DevicePackedSell(const PackedSellSlices<V, I>& slices, Stream& stream)
    : shape_(shape_of(slices)),
      slice_height_(static_cast<std::int32_t>(slices.slice_height())),
      row_alignment_(alignment_of(slices)),
      full_(slices.has_full_values()),
      run_(run_length(slices.run_length())),
      table_(to_device(slices.table().values(), stream)),
      row_of_slot_(upload_indices(slices.row_of_slot(), stream)) {}

template <Value V>
template <Index I>
DevicePackedSell<V>::DevicePackedSell(const PackedSell<V, I>& matrix, Stream& stream)
    : DevicePackedSell(static_cast<const PackedSellSlices<V, I>&>(matrix), stream) {
  codes_ = to_device(matrix.codes(), stream);
  data_ = to_device(matrix.data(), stream);
  presence_ = to_device(matrix.presence().words(), stream);
  if (!full_) positions_ = upload(positions_of(matrix), stream);
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

namespace {

// Whether no slice has more bytes than a piece of an upload can have.
template <Value V, Index I>
bool slices_are_pieces(const PackedSellConversion<V, I>& conversion) {
  const auto most = [&](const auto& before) {
    return parallel_reduce(
        Offset{conversion.slices().slices()}, Offset{0},
        [&](Offset begin, Offset end) {
          Offset bytes = 0;
          for (auto slice = static_cast<I>(begin); slice < end; ++slice) {
            bytes = std::max(bytes, before(slice + 1) - before(slice));
          }
          return bytes;
        },
        [](Offset a, Offset b) { return std::max(a, b); });
  };
  return most([&](I slice) { return conversion.codes_before(slice); }) <= kMostPieceBytes &&
         most([&](I slice) { return conversion.data_before(slice); }) <= kMostPieceBytes;
}

// What belongs to slices, of which `before` says where it begins.
template <Index I>
DeviceArray<std::byte> upload_slices(I slices, FunctionRef<Offset(I)> before,
                                     FunctionRef<void(I, I, std::byte*)> write, Stream& stream) {
  DeviceArray<std::byte> to(before(slices));
  upload_pieces(
      {.count = slices,
       .begin_of = [&](Offset slice) { return before(static_cast<I>(slice)); },
       .write = [&](Offset first, Offset end,
                    std::byte* part) { write(static_cast<I>(first), static_cast<I>(end), part); }},
      to.span(), stream);
  return to;
}

}  // namespace

template <Value V>
template <Index I>
DevicePackedSell<V>::DevicePackedSell(const PackedSellConversion<V, I>& conversion,
                                      Stream& stream) {
  const PackedSellSlices<V, I>& slices = conversion.slices();
  if (!slices.has_full_values() || !slices_are_pieces(conversion)) {
    *this = DevicePackedSell(conversion.stored(), stream);
    return;
  }
  *this = DevicePackedSell(slices, stream);
  const Array<SliceHeader> headers = slice_headers_of_full(slices);
  slices_ = to_device(std::span<const SliceHeader>(headers), stream);
  PresenceBits presence = conversion.no_presence();
  data_ = upload_slices<I>(
      slices.slices(), [&](I slice) { return conversion.data_before(slice); },
      [&](I begin, I end, std::byte* to) { conversion.write_data(begin, end, to, presence); },
      stream);
  codes_ = upload_slices<I>(
      slices.slices(), [&](I slice) { return conversion.codes_before(slice); },
      [&](I begin, I end, std::byte* to) { conversion.write_codes(begin, end, to); }, stream);
  presence_ = to_device(presence.words(), stream);
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
  template DevicePackedSell<V>::DevicePackedSell(const PackedSell<V, I>&, Stream&);     \
  template DevicePackedSell<V>::DevicePackedSell(const PackedSellConversion<V, I>&, Stream&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

#define STRATA_INSTANTIATE_CLASSES(V, unused) \
  template class DeviceCsr<V>;                \
  template class DeviceEll<V>;                \
  template class DeviceSell<V>;               \
  template class DevicePackedSell<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_CLASSES, );

}  // namespace strata::gpu
