// The kernels of a level as a table of functions, and the matrices as they see them: pointers and
// sizes, so that packed SELL, whose codes are the same for any index type, is compiled per value
// type only.
//
// Everything here is data. The files of a level are compiled with instructions that the rest of the
// program must not use, and a function with external linkage that they shared with it (even one
// that is inline, even one of std::) might be taken from them by the linker. What a level's files
// call is therefore a member of the level's namespace, or a built-in function.
#pragma once

#include <cstddef>
#include <cstdint>

#include "strata/base/types.hpp"
#include "strata/kernels/cpu/step_arguments.hpp"

namespace strata {
enum class SliceEncoding : std::uint8_t;
enum class ValueEncoding : std::uint8_t;
}  // namespace strata

namespace strata::cpu {

template <Value V, Index I>
struct CsrView {
  const Offset* row_offsets;
  const I* columns;
  const V* values;
};

template <Value V, Index I>
struct SellView {
  const Offset* slice_offsets;
  const I* columns;
  const V* values;
  const I* row_lengths;  // by slot
  const I* row_of_slot;  // null if nothing is sorted
  Offset slice_height;
  Offset rows;
};

// One of the two if slots are sorted, else none.
struct RowOfSlot {
  const std::int32_t* narrow;
  const std::int64_t* wide;
};

template <Value V>
struct PackedSellView {
  const Offset* entry_offsets;
  const Offset* code_offsets;
  const Offset* data_offsets;
  const SliceEncoding* encodings;
  const ValueEncoding* value_encodings;
  const std::byte* codes;
  const std::byte* data;
  const V* table;
  Offset table_size;
  const std::uint64_t* presence;  // see PresenceBits::words(); null if every value is an entry
  RowOfSlot row_of_slot;
  Offset slice_height;
  Offset run_length;  // D of slices with runs
  bool full_values;   // in every slice
  Offset rows;
  // Of `data`, what the thread reads next. Kernels ask for it meanwhile, or do not.
  const std::byte* upcoming;
  Offset upcoming_bytes;
};

template <Value V>
struct BlockedCooView {
  const Offset* block_offsets;
  const std::uint16_t* rows;
  const std::uint16_t* columns;
  const V* values;
  Offset block_rows;
  Offset block_cols;
  Offset blocks_across;
};

template <Value V, Index I>
struct CooView {
  const I* rows;
  const I* columns;
  const V* values;
  bool skips_empty_rows;  // leave their elements as they are
};

template <Value V, Index I>
struct EllView {
  const I* columns;
  const V* values;
  const I* row_lengths;
  Offset rows;
};

template <Value V, Index I>
struct DiaView {
  const I* offsets;
  const V* values;
  const std::uint64_t* presence;  // as above
  Offset diagonals;
  Offset rows;
  Offset cols;
};

template <Value V, Index I>
struct JdsView {
  const I* row_of_slot;
  const Offset* diagonal_offsets;
  const I* columns;
  const V* values;
  Offset diagonals;
};

template <Value V, Index I>
struct BcsrView {
  const Offset* block_row_offsets;
  const I* block_columns;
  const V* values;
  const std::uint64_t* presence;  // as above
  Offset block_rows;
  Offset block_cols;
  Offset rows;
  Offset cols;
};

// One step on the rows [begin, end) of the matrix, or on the slots of a sorted one.
template <class View, Value V>
using Kernel = void (*)(const View& matrix, const StepCoefficients<V>& coefficients,
                        const StepVectors<V>& vectors, Offset begin, Offset end);

// One step on a part (entry_parts.hpp). The sums of row from.row, where the cut is inside it and
// the part completes it, go to `first`; those of row to.row, where that cut is inside, to `last`.
template <class View, Value V>
using PartKernel = void (*)(const View& matrix, const StepCoefficients<V>& coefficients,
                            const StepVectors<V>& vectors, const PartCut& from, const PartCut& to,
                            V* first, V* last);

// Adds the products of the entries of the lines [begin, end) and their elements of x to the
// elements of the window that their columns name.
template <class View, Value V>
using ScatterKernel = void (*)(const View& matrix, Mirror entries, const V* x, int count,
                               Offset begin, Offset end, const Window<V>& window);

template <Value V>
struct SharedKernels {
  PartKernel<CsrView<V, std::int32_t>, V> csr_part32;
  PartKernel<CsrView<V, std::int64_t>, V> csr_part64;
  PartKernel<CooView<V, std::int32_t>, V> coo_part32;
  PartKernel<CooView<V, std::int64_t>, V> coo_part64;
  // The step for rows that are cut, from the pieces of all parts: `first` and `last` of part p are
  // at pieces + (2p and 2p + 1)·count.
  void (*finish_cut_rows)(const StepCoefficients<V>& coefficients, const StepVectors<V>& vectors,
                          const PartCut* cuts, Offset parts, const V* pieces);
  // Entries as they are, or their conjugates.
  ScatterKernel<CsrView<V, std::int32_t>, V> scatter32;
  ScatterKernel<CsrView<V, std::int64_t>, V> scatter64;
  // Of a lower triangle; `entries` says what those above the diagonal are. All elements of the
  // window that the rows themselves have are added to as well.
  ScatterKernel<CsrView<V, std::int32_t>, V> symmetric32;
  ScatterKernel<CsrView<V, std::int64_t>, V> symmetric64;
  // The step for the rows [begin, end) from the windows, added up in their order.
  void (*finish_windows)(const StepCoefficients<V>& coefficients, const StepVectors<V>& vectors,
                         const Window<V>* windows, Offset number, Offset begin, Offset end);
};

template <Value V>
struct StepKernels {
  Kernel<CsrView<V, std::int32_t>, V> csr32;
  Kernel<CsrView<V, std::int64_t>, V> csr64;
  Kernel<CsrView<V, std::int32_t>, V> csr_gathers32;
  Kernel<CsrView<V, std::int64_t>, V> csr_gathers64;
  Kernel<CsrView<V, std::int32_t>, V> csr_loop32;
  Kernel<CsrView<V, std::int64_t>, V> csr_loop64;
  Kernel<SellView<V, std::int32_t>, V> sell32;
  Kernel<SellView<V, std::int64_t>, V> sell64;
  Kernel<PackedSellView<V>, V> packed_sell;
  Kernel<EllView<V, std::int32_t>, V> ell32;
  Kernel<EllView<V, std::int64_t>, V> ell64;
  Kernel<DiaView<V, std::int32_t>, V> dia32;
  Kernel<DiaView<V, std::int64_t>, V> dia64;
  Kernel<JdsView<V, std::int32_t>, V> jds32;
  Kernel<JdsView<V, std::int64_t>, V> jds64;
  Kernel<BcsrView<V, std::int32_t>, V> bcsr32;
  Kernel<BcsrView<V, std::int64_t>, V> bcsr64;
  Kernel<BlockedCooView<V>, V> blocked_coo;
  const SharedKernels<V>* shared;
};

// The loops by which a machine is measured, as fast as steps may be. Lengths are multiples of
// kStreamSums, the number of independent sums, so that additions never wait for each other.
inline constexpr int kStreamSums = 32;
struct StreamKernels {
  double (*read)(const double* data, Offset length, Offset sweeps);  // the sum of all sweeps
  void (*copy)(const double* a, double* c, Offset length);
  void (*scale)(double factor, const double* c, double* b, Offset length);
  void (*add)(const double* a, const double* b, double* c, Offset length);
  void (*triad)(double factor, const double* b, const double* c, double* a, Offset length);
  double (*dot)(const double* a, const double* b, Offset length);
  // a·b is added to each of kStreamSums sums, `rounds` times, in registers alone.
  double (*multiply_adds)(double a, double b, Offset rounds);
};

struct KernelTable {
  StepKernels<float> floats;
  StepKernels<double> doubles;
  StepKernels<std::complex<float>> complex_floats;
  StepKernels<std::complex<double>> complex_doubles;
  const StreamKernels* stream;
};

// Those of level().
const KernelTable& kernels();

}  // namespace strata::cpu
