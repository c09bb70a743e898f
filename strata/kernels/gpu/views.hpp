// Matrices as the kernels on a GPU see them: pointers into device memory, in the layouts of
// formats/csr.hpp, ell.hpp, sell.hpp and packed_sell.hpp. Rows and columns have 32 bits,
// offsets 64.
#pragma once

#include <cstddef>
#include <cstdint>

#include "strata/formats/packed_sell.hpp"
#include "strata/kernels/gpu/simt.hpp"

namespace strata::gpu {

template <class T>
struct CsrView {
  const std::int64_t* row_offsets = nullptr;
  const std::int32_t* columns = nullptr;
  const T* values = nullptr;
  std::int32_t rows = 0;
};

// The parts of a CSR matrix, see csr_parts.hpp: entries and rows from here to the next part's.
struct alignas(16) CsrPart {
  std::int64_t first_entry;
  std::int32_t first_row;
  std::int32_t partial;  // where the sum of a piece of a row goes; negative for whole rows: −1, or
                         // how the stream adds them up, see StreamWay
};
// Partial sums from here to the next long row's.
struct LongRow {
  std::int32_t row;
  std::int32_t first_partial;
};
// All that a piece of a long row has to know to end the row, in one load.
struct alignas(16) RowPieces {
  std::int32_t number;  // of the long row, and of its counter
  std::int32_t first_partial;
  std::int32_t end_partial;
};
// Entries that a thread has in flight in a part of several rows.
inline constexpr int kEntriesPerThread = 8;
// The most entries of such a part, and the values that its warp needs in shared memory.
STRATA_HOST_DEVICE constexpr int products_of_part(int warp_size) {
  return kEntriesPerThread * warp_size;
}

template <class T>
struct CsrPartsView {
  CsrView<T> csr;
  const CsrPart* parts = nullptr;      // one more than there are
  const LongRow* long_rows = nullptr;  // likewise
  T* partials = nullptr;               // of one step at a time; an element per vector each
  // Of each partial sum, and a counter per long row, 0 between steps. Null: a second launch, of
  // csr_long_rows_step, ends the long rows.
  const RowPieces* pieces = nullptr;
  std::uint32_t* counters = nullptr;
};

// How a part of the stream (csr_stream.hpp) with several rows adds them up.
struct StreamWay {
  int log_threads = 0;      // 2^this threads per row
  bool by_entries = false;  // whoever has read an entry multiplies it

  STRATA_HOST_DEVICE std::int32_t code() const { return ~(log_threads | (by_entries ? 16 : 0)); }
  STRATA_HOST_DEVICE static StreamWay of(std::int32_t code) {
    return {~code & 15, (~code & 16) != 0};
  }
};

template <class T>
struct CsrStreamView {
  CsrPartsView<T> split;
  // Of parts with several rows: entries from the part's first one to the end of each row.
  const std::uint16_t* row_ends = nullptr;
};

// Parts [begin, end), or long rows.
struct PartRange {
  std::int32_t begin = 0;
  std::int32_t end = 0;
};

template <class T>
struct EllView {
  const std::int32_t* columns = nullptr;
  const T* values = nullptr;
  const std::int32_t* row_lengths = nullptr;
  std::int32_t rows = 0;
  std::int32_t width = 0;
};

template <class T>
struct SellView {
  const std::int64_t* slice_offsets = nullptr;
  const std::int32_t* columns = nullptr;
  const T* values = nullptr;
  const std::int32_t* row_lengths = nullptr;  // by slot
  const std::int32_t* row_of_slot = nullptr;  // null when nothing is sorted
  std::int32_t rows = 0;
};

// The length of runs of columns, and which run an entry is in, by a multiplication: exact for fewer
// than 2^29 entries and runs of at most kLongestRun.
struct RunLength {
  int length = 1;
  std::uint32_t inverse = 0;  // 2^32 / length + 1

  STRATA_HOST_DEVICE int of(int entry) const {
    const auto product = static_cast<std::uint64_t>(static_cast<std::uint32_t>(entry)) * inverse;
    return length == 1 ? entry : static_cast<int>(product >> 32);
  }
};
// Where every entry is a run of its own.
struct NoRuns {
  static constexpr int length = 1;
  STRATA_HOST_DEVICE static int of(int entry) { return entry; }
};
inline RunLength run_length(Offset length) {
  return {static_cast<int>(length), static_cast<std::uint32_t>((std::uint64_t{1} << 32) /
                                                               static_cast<std::uint64_t>(length)) +
                                        1};
}

// What the kernels for encoded values of packed SELL are made for. Those for diagonals take nothing
// else: a loop that can do both runs at two thirds of the speed.
enum class EncodedKind {
  constants,            // ValueEncoding::constant and masked, on diagonals
  one_full,             // constants and one full column, on diagonals
  codes8,               // dict8, with or without a full column, on diagonals
  scattered_constants,  // the first and the last of these with any columns
  scattered_codes8,
  codes16,  // dict16 of a table that fits in shared memory, with any columns
  other,    // any values
};
constexpr bool on_diagonals(EncodedKind kind) {
  return kind == EncodedKind::constants || kind == EncodedKind::one_full ||
         kind == EncodedKind::codes8;
}
// The lowest slices with kernels but for other values: lower ones are for matrices whose bytes are
// indices and padding.
inline constexpr int kLowestEncoded = 16;
// The most values of a table in shared memory.
inline constexpr int kLargestNearTable = 2048;

// All that a warp has to know of a slice of packed SELL, in one load of 16 bytes. Places are in
// units of kCodeUnit.
struct alignas(16) SliceHeader {
  std::uint32_t data;    // where its value data begin
  std::uint32_t codes;   // where its code block begins
  std::uint32_t values;  // where its value block begins, among the codes
  std::uint32_t shape;   // width · 64 + value encoding · 8 + encoding of the columns

  // Of mixed values that have kernels: codes of the value encoding beyond those of the format.
  static constexpr std::uint32_t kOneFull = 6;      // constants and one full column
  static constexpr std::uint32_t kCodedButOne = 7;  // dict8, of all columns but one full one

  STRATA_HOST_DEVICE int width() const { return static_cast<int>(shape >> 6); }
  STRATA_HOST_DEVICE SliceEncoding encoding() const {
    return static_cast<SliceEncoding>(shape & 7);
  }
  STRATA_HOST_DEVICE std::uint32_t value_code() const { return shape >> 3 & 7; }
  STRATA_HOST_DEVICE bool coded_but_one() const { return value_code() == kCodedButOne; }
  STRATA_HOST_DEVICE ValueEncoding value_encoding() const {
    return value_code() >= kOneFull ? ValueEncoding::mixed
                                    : static_cast<ValueEncoding>(value_code());
  }
  // Whether the kernel for such values takes the slice.
  STRATA_HOST_DEVICE bool is(EncodedKind kind) const {
    const ValueEncoding values_are = value_encoding();
    const bool dia = encoding() == SliceEncoding::dia;
    const bool constant =
        values_are == ValueEncoding::constant || values_are == ValueEncoding::masked;
    const bool coded = values_are == ValueEncoding::dict8 || coded_but_one();
    switch (kind) {
      case EncodedKind::constants: return dia && constant;
      case EncodedKind::one_full: return dia && value_code() == kOneFull;
      case EncodedKind::codes8: return dia && coded;
      case EncodedKind::scattered_constants: return constant;
      case EncodedKind::scattered_codes8: return coded;
      case EncodedKind::codes16: return values_are == ValueEncoding::dict16;
      default: return true;
    }
  }
};
inline constexpr std::int64_t kCodeUnit = 16;

// Slices with one description, which warps multiply together: all that they have to know of them.
// The last slice is repeated in the places that are left.
struct alignas(16) SliceGroup {
  static constexpr int kMost = 4;

  std::uint32_t codes;  // of all, like the next two: as in SliceHeader
  std::uint32_t values;
  std::uint32_t shape;
  std::int32_t count;
  std::int32_t numbers[kMost];  // of the slices
  std::uint32_t data[kMost];    // as in SliceHeader

  STRATA_HOST_DEVICE SliceHeader header() const { return {data[0], codes, values, shape}; }
};

// What decides how the kernels for encoded values are launched.
struct EncodedTraits {
  EncodedKind kind = EncodedKind::other;  // of most entries
  std::int32_t reach = 0;  // so many columns from its first slot on the slice in the middle ends;
                           // 0: there is no telling
};

template <class T>
struct PackedSellView {
  const std::byte* data = nullptr;
  const std::byte* codes = nullptr;
  const SliceHeader* slices = nullptr;
  const T* table = nullptr;                   // of values
  std::int32_t table_size = 0;                // 0 without codes
  const std::uint64_t* presence = nullptr;    // null when every stored value is an entry
  const std::uint64_t* positions = nullptr;   // of the slices' first values among these
  const std::int32_t* row_of_slot = nullptr;  // null when nothing is sorted
  std::int32_t rows = 0;
  RunLength run = {};
};

// Slices [begin, end): a range of rows of a sliced format.
struct SliceRange {
  std::int32_t begin = 0;
  std::int32_t end = 0;
};

}  // namespace strata::gpu
