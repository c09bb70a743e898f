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
};

// One step on the rows [begin, end) of the matrix.
template <class View, Value V>
using Kernel = void (*)(const View& matrix, const StepCoefficients<V>& coefficients,
                        const StepVectors<V>& vectors, Offset begin, Offset end);

template <Value V>
struct StepKernels {
  Kernel<CsrView<V, std::int32_t>, V> csr32;
  Kernel<CsrView<V, std::int64_t>, V> csr64;
  Kernel<SellView<V, std::int32_t>, V> sell32;
  Kernel<SellView<V, std::int64_t>, V> sell64;
  Kernel<PackedSellView<V>, V> packed_sell;
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
