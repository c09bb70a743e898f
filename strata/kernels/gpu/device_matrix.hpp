// Matrices in the memory of a GPU, and one step of a recurrence with them,
//
//   out = α (A − θI) x + β previous
//
// as kernels/cpu/step.hpp has it. A matrix is uploaded when it is made and stays, and no step
// writes to it: it may serve several streams at once. Vectors are given on the device, and so is
// what a step needs besides: scratch (scratch.hpp), of one stream at a time. Steps run in the
// order of their stream and do not synchronise.
//
// Kernels count rows, columns and slots with 31 bits: larger matrices throw OverflowError.
#pragma once

#include <optional>

#include "strata/base/types.hpp"
#include "strata/device/array.hpp"
#include "strata/device/stream.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/ell.hpp"
#include "strata/formats/packed_sell.hpp"
#include "strata/formats/packed_sell_conversion.hpp"
#include "strata/formats/sell.hpp"
#include "strata/kernels/cpu/step.hpp"
#include "strata/kernels/gpu/csr_options.hpp"
#include "strata/kernels/gpu/csr_split.hpp"
#include "strata/kernels/gpu/group_rules.hpp"
#include "strata/kernels/gpu/scratch.hpp"
#include "strata/kernels/gpu/slice_groups.hpp"
#include "strata/kernels/gpu/value.hpp"
#include "strata/kernels/gpu/views.hpp"

namespace strata::gpu {

template <Value V>
using StepCoefficients = cpu::StepCoefficients<V>;

// Interleaved vectors: element v of row r is at r·count + v. x has at least as many elements as the
// matrix columns, the others as rows, each times `count`.
template <Value V>
struct DeviceVectors {
  DeviceSpan<const V> x;
  DeviceSpan<const V> previous;  // may be the same as out; not read where β is 0
  DeviceSpan<V> out;             // shares nothing with x
  int count = 1;                 // 1 … kMaxVectors
  ScratchSpan<V> scratch = {};   // at least scratch_elements(count) of the matrix
};

struct DeviceShape {
  std::int32_t rows = 0;
  std::int32_t cols = 0;
  Offset nnz = 0;
  int warp = 32;  // of the device it is on
  int multiprocessors = 1;
};

template <Value V>
class DeviceCsr {
 public:
  using value_type = V;

  DeviceCsr() = default;
  // Throws InvalidArgument for parameters that no kernel has.
  template <Index I>
  DeviceCsr(const Csr<V, I>& matrix, Stream& stream, const DeviceCsrOptions& options = {});

  std::int32_t rows() const { return shape_.rows; }
  std::int32_t cols() const { return shape_.cols; }
  Offset nnz() const { return shape_.nnz; }
  RowRange<std::int32_t> all_rows() const { return {0, shape_.rows}; }
  const DeviceShape& shape() const { return shape_; }
  // What was chosen, never `automatic`.
  CsrKernel kernel() const { return options_.kernel; }
  // Of the kernels scalar and classical.
  int threads_per_row() const { return options_.threads_per_row; }
  const StreamShape& stream_shape() const { return options_.stream; }
  const RegulyParameters& reguly() const { return options_.reguly; }
  // Of the next steps; results keep their bits. Throws InvalidArgument for others than
  // require_valid allows, and leaves all as it was.
  void set_reguly(const RegulyParameters& parameters);
  const CsrParts& split() const { return split_; }
  // Of a step with so many vectors: partial sums of rows that several warps or blocks share.
  Offset scratch_elements(int count) const {
    return split_.parts.empty() ? 0 : Offset{split_.partials()} * count;
  }
  // On the device.
  Offset bytes() const;
  // What a product reads of them.
  Offset product_bytes() const;

  CsrView<DeviceValue<V>> view() const;
  CsrPartsView<DeviceValue<V>> parts_view(ScratchSpan<V> scratch) const;
  CsrStreamView<DeviceValue<V>> stream_view(ScratchSpan<V> scratch) const;

 private:
  DeviceShape shape_;
  DeviceCsrOptions options_ = {.kernel = CsrKernel::classical, .threads_per_row = 1};
  DeviceArray<Offset> row_offsets_;
  DeviceArray<std::int32_t> columns_;
  DeviceArray<V> values_;
  CsrParts split_;
  DeviceArray<CsrPart> parts_;
  DeviceArray<LongRow> long_rows_;
  DeviceArray<RowPieces> pieces_;
  DeviceArray<std::uint16_t> row_ends_;
};

struct DeviceEllOptions {
  std::optional<EllGroups> groups;  // how rows are shared out; none: by ell_groups()
};

template <Value V>
class DeviceEll {
 public:
  using value_type = V;

  DeviceEll() = default;
  template <Index I>
  DeviceEll(const Ell<V, I>& matrix, Stream& stream, const DeviceEllOptions& options = {});

  std::int32_t rows() const { return shape_.rows; }
  std::int32_t cols() const { return shape_.cols; }
  Offset nnz() const { return shape_.nnz; }
  RowRange<std::int32_t> all_rows() const { return {0, shape_.rows}; }
  const DeviceShape& shape() const { return shape_; }
  std::int32_t width() const { return width_; }
  const EllGroups& groups() const { return groups_; }
  // Of a step with so many vectors: the partial sums of rows that several blocks share.
  Offset scratch_elements(int count) const {
    return groups_.blocks_per_row == 1 ? 0 : Offset{rows()} * groups_.blocks_per_row * count;
  }
  Offset bytes() const;

  EllView<DeviceValue<V>> view() const;

 private:
  DeviceShape shape_;
  std::int32_t width_ = 0;
  EllGroups groups_;
  DeviceArray<std::int32_t> columns_;
  DeviceArray<V> values_;
  DeviceArray<std::int32_t> row_lengths_;
};

template <Value V>
class DeviceSell {
 public:
  using value_type = V;

  DeviceSell() = default;
  // Throws InvalidArgument if slices have another height than a power of two up to the warp.
  template <Index I>
  DeviceSell(const Sell<V, I>& matrix, Stream& stream);

  std::int32_t rows() const { return shape_.rows; }
  std::int32_t cols() const { return shape_.cols; }
  Offset nnz() const { return shape_.nnz; }
  RowRange<std::int32_t> all_rows() const { return {0, shape_.rows}; }
  const DeviceShape& shape() const { return shape_; }
  std::int32_t slice_height() const { return slice_height_; }
  int threads_per_row() const { return threads_per_row_; }
  // Ranges of rows begin and end on multiples of this.
  std::int32_t row_alignment() const { return row_alignment_; }
  Offset scratch_elements(int) const { return 0; }
  Offset bytes() const;

  SellView<DeviceValue<V>> view() const;

 private:
  DeviceShape shape_;
  std::int32_t slice_height_ = 1;
  int threads_per_row_ = 1;
  std::int32_t row_alignment_ = 1;
  DeviceArray<Offset> slice_offsets_;
  DeviceArray<std::int32_t> columns_;
  DeviceArray<V> values_;
  DeviceArray<std::int32_t> row_lengths_;
  DeviceArray<std::int32_t> row_of_slot_;
};

// The groups of SliceGroups, on the device.
struct DeviceGroups {
  DeviceArray<SliceGroup> groups;
  GroupPlaces places;

  std::span<const SliceGroup> of(SliceRange range) const;
};

template <Value V>
class DevicePackedSell {
 public:
  using value_type = V;

  DevicePackedSell() = default;
  template <Index I>
  DevicePackedSell(const PackedSell<V, I>& matrix, Stream& stream);
  // Full values and all codes are written on their way to the device and never in the host's memory
  // as a whole, unless a slice has more than fits into a piece of an upload. Bits are those of a
  // matrix that was stored there.
  template <Index I>
  DevicePackedSell(const PackedSellConversion<V, I>& conversion, Stream& stream);

  std::int32_t rows() const { return shape_.rows; }
  std::int32_t cols() const { return shape_.cols; }
  Offset nnz() const { return shape_.nnz; }
  RowRange<std::int32_t> all_rows() const { return {0, shape_.rows}; }
  const DeviceShape& shape() const { return shape_; }
  std::int32_t slice_height() const { return slice_height_; }
  // Ranges of rows begin and end on multiples of this.
  std::int32_t row_alignment() const { return row_alignment_; }
  Offset scratch_elements(int) const { return 0; }
  Offset bytes() const;
  // Whether all values are stored as they are.
  bool has_full_values() const { return full_; }
  const EncodedTraits& traits() const { return traits_; }
  // The groups with slices of a range, of those that the kernel for most of them takes or leaves
  // out. Others may be among them.
  std::span<const SliceGroup> groups(SliceRange range) const { return groups_.of(range); }
  std::span<const SliceGroup> left_out(SliceRange range) const { return left_out_.of(range); }
  std::int32_t table_size() const { return static_cast<std::int32_t>(table_.size()); }

  PackedSellView<DeviceValue<V>> view() const;

 private:
  // What is known of the slices before they are stored.
  template <Index I>
  DevicePackedSell(const PackedSellSlices<V, I>& slices, Stream& stream);

  DeviceShape shape_;
  std::int32_t slice_height_ = 4;
  std::int32_t row_alignment_ = 4;
  bool full_ = true;
  EncodedTraits traits_;
  RunLength run_;
  DeviceGroups groups_;
  DeviceGroups left_out_;
  DeviceArray<SliceHeader> slices_;
  DeviceArray<std::byte> codes_;
  DeviceArray<std::byte> data_;
  DeviceArray<V> table_;
  DeviceArray<std::uint64_t> presence_;
  DeviceArray<std::uint64_t> positions_;
  DeviceArray<std::int32_t> row_of_slot_;
};

template <class T>
using Given = std::type_identity_t<T>;

// When the matrix data of a step is read again. Only kernels of one vector distinguish the cases;
// with several vectors that would double the number of kernels to compile.
enum class Reuse {
  none,  // after all the rest of the matrix: the caches need not keep it
  soon,  // it should stay in the L2 cache
};

// Vectors or scratch that are too short, a range outside the matrix or across its slices, and more
// than kMaxVectors vectors throw InvalidArgument.
template <Value V>
void step(const DeviceCsr<V>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<DeviceVectors<V>>& vectors, RowRange<std::int32_t> rows, Stream& stream,
          Reuse reuse = Reuse::none);
template <Value V>
void step(const DeviceEll<V>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<DeviceVectors<V>>& vectors, RowRange<std::int32_t> rows, Stream& stream,
          Reuse reuse = Reuse::none);
template <Value V>
void step(const DeviceSell<V>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<DeviceVectors<V>>& vectors, RowRange<std::int32_t> rows, Stream& stream,
          Reuse reuse = Reuse::none);
template <Value V>
void step(const DevicePackedSell<V>& matrix, const Given<StepCoefficients<V>>& coefficients,
          const Given<DeviceVectors<V>>& vectors, RowRange<std::int32_t> rows, Stream& stream,
          Reuse reuse = Reuse::none);

}  // namespace strata::gpu
