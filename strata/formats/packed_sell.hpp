// Packed SELL: SELL-C-σ whose column indices and values are stored, slice by slice, in the cheapest
// of several lossless encodings. Sparse products run at memory speed, so fewer bytes are all that
// can make them faster.
//
// Slots and slices are those of SELL-C-σ (sell.hpp) with C = 4, 8, 16 or 32. The width of slice k
// is its number of entries per slot, holes and padding included; entry j of slot s has the position
// entry_offsets[k] + j·C + (s − kC). The slice is described by its code block, which begins at byte
// code_offsets[k] of `codes`: first its columns, then, from value_block_begin() on, what its values
// have in common (value_encoding.hpp). What else there is of its values begins at byte
// data_offsets[k] of `data`.
//
//   dia      int32 offset[width]; the column of entry j is slot + offset[j]. Offsets increase; a
//            row without an entry on one of them has a hole there, not only at its end.
//   delta8   int32 base[width], then uint8 delta[width][C]; the column is kC + base[j] +
//            delta[j][lane].
//   delta16  int32 base[width], then uint16 delta[width][C], likewise.
//   run8     for D unknowns per node, run_length() of the matrix: the entries of every row come in
//            runs of D columns one after another, and a run has one delta. int32 base[width / D],
//            then uint8 delta[width / D][C]; the column is kC + base[⌊j/D⌋] + delta[⌊j/D⌋][lane] +
//            j mod D.
//   run16    likewise with uint16.
//   index32  int32 column[width][C].
//
// Slices with equal code blocks share one, and so do slices with equal codes for value data. All
// but index32 are relative to the slice, so that the slices inside a stencil differ in nothing but
// their value data, if in anything.
//
// Numbers are in the machine's byte order. Every code block, and the deltas inside one, starts at a
// multiple of max(16, C) bytes from the beginning of `codes`, value data at a multiple of
// data_alignment(); both arrays are aligned to a cache line. So the C deltas of one entry are
// aligned to their own size up to 16 bytes, those of delta8 always.
//
// Holes and padding, the slots after the last row included, have value 0 and decode to columns
// inside the matrix: a kernel may load and multiply them without a branch. A slice whose offsets
// lead outside the matrix for any of its C slots is therefore never `dia`. Padding repeats a column
// of its slice, but a hole of a `dia` slice may lead to one that no row of the slice has: whoever
// writes x meanwhile has to know (loaded_columns.hpp). Presence bits tell holes from explicit
// zeros.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "strata/base/array.hpp"
#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/footprint.hpp"
#include "strata/formats/format_parameters.hpp"
#include "strata/formats/presence.hpp"
#include "strata/formats/row_block.hpp"
#include "strata/formats/value_encoding.hpp"
#include "strata/formats/value_table.hpp"

namespace strata {

enum class SliceEncoding : std::uint8_t { dia, delta8, delta16, index32, run8, run16 };
inline constexpr std::array kSliceEncodings{SliceEncoding::dia,     SliceEncoding::delta8,
                                            SliceEncoding::delta16, SliceEncoding::index32,
                                            SliceEncoding::run8,    SliceEncoding::run16};

constexpr std::string_view name_of(SliceEncoding encoding) {
  constexpr std::array<std::string_view, kSliceEncodings.size()> names{
      "dia", "delta8", "delta16", "index32", "run8", "run16"};
  return names[static_cast<std::size_t>(encoding)];
}

// The layout of a code block, for kernels and for counting bytes.
constexpr Offset code_alignment(Offset slice_height) {
  return std::max<Offset>(16, slice_height);
}
constexpr bool has_runs(SliceEncoding encoding) {
  return encoding == SliceEncoding::run8 || encoding == SliceEncoding::run16;
}
// How many bases, and deltas of each lane, a slice has; `run` is run_length() of the matrix.
constexpr Offset bases_of(SliceEncoding encoding, Offset width, Offset run) {
  return has_runs(encoding) ? width / run : width;
}
// Where the deltas start in the code block of a slice with so many bases.
constexpr Offset delta_begin(Offset slice_height, Offset bases) {
  const Offset alignment = code_alignment(slice_height);
  return ceil_div<Offset>(bases * 4, alignment) * alignment;
}
constexpr Offset code_bytes(SliceEncoding encoding, Offset slice_height, Offset width, Offset run) {
  const Offset alignment = code_alignment(slice_height);
  const Offset bases = bases_of(encoding, width, run);
  Offset bytes = 0;
  switch (encoding) {
    case SliceEncoding::dia: bytes = width * 4; break;
    case SliceEncoding::run8:
    case SliceEncoding::delta8:
      bytes = delta_begin(slice_height, bases) + bases * slice_height;
      break;
    case SliceEncoding::run16:
    case SliceEncoding::delta16:
      bytes = delta_begin(slice_height, bases) + bases * slice_height * 2;
      break;
    case SliceEncoding::index32: bytes = width * slice_height * 4; break;
  }
  return ceil_div<Offset>(bytes, alignment) * alignment;
}

// Where the value block begins in a code block.
constexpr Offset value_block_begin(SliceEncoding encoding, Offset slice_height, Offset width,
                                   Offset run) {
  return code_bytes(encoding, slice_height, width, run);
}
// Calls body(column_of), where column_of(entry, lane) are the columns of a slice, holes and padding
// included, read from its code block.
template <class Body>
void with_slice_columns(SliceEncoding encoding, const std::byte* codes, Offset first_slot,
                        Offset slice_height, Offset width, Offset run, Body&& body) {
  const std::byte* deltas = codes + delta_begin(slice_height, bases_of(encoding, width, run));
  const auto by_delta = [&]<class Delta>(Delta) {
    if (has_runs(encoding)) {
      body([=](Offset entry, Offset lane) {
        return first_slot + number_at<std::int32_t>(codes, entry / run) +
               number_at<Delta>(deltas, entry / run * slice_height + lane) + entry % run;
      });
      return;
    }
    body([=](Offset entry, Offset lane) {
      return first_slot + number_at<std::int32_t>(codes, entry) +
             number_at<Delta>(deltas, entry * slice_height + lane);
    });
  };
  switch (encoding) {
    case SliceEncoding::dia:
      body([=](Offset entry, Offset lane) {
        return first_slot + lane + number_at<std::int32_t>(codes, entry);
      });
      break;
    case SliceEncoding::run8:
    case SliceEncoding::delta8: by_delta(std::uint8_t{}); break;
    case SliceEncoding::run16:
    case SliceEncoding::delta16: by_delta(std::uint16_t{}); break;
    case SliceEncoding::index32:
      body([=](Offset entry, Offset lane) {
        return Offset{number_at<std::int32_t>(codes, entry * slice_height + lane)};
      });
      break;
  }
}

// Unknowns per node, of which a matrix may have runs.
inline constexpr Offset kLongestRun = 8;

// Which encodings of columns a conversion may use.
struct AllowedEncodings {
  bool dia = true;
  bool delta8 = true;
  bool delta16 = true;
  bool index32 = true;  // fits every slice: without it a conversion may fail
  bool runs = true;     // run8 and run16, where delta8 and delta16 are allowed

  constexpr bool contain(SliceEncoding encoding) const {
    switch (encoding) {
      case SliceEncoding::dia: return dia;
      case SliceEncoding::run8: return runs && delta8;
      case SliceEncoding::delta8: return delta8;
      case SliceEncoding::run16: return runs && delta16;
      case SliceEncoding::delta16: return delta16;
      case SliceEncoding::index32: return index32;
    }
    return false;
  }
};

inline constexpr AllowedNumbers kPackedSliceHeights{
    "4, 8, 16 or 32",
    [](Offset height) { return height == 4 || height == 8 || height == 16 || height == 32; }};

struct PackedSellOptions {
  Offset slice_height = 32;           // C, the rows of a slice: 4, 8, 16 or 32
  Offset sort_window = 1;             // σ: rows are sorted by length inside windows of this many
  double max_fill = kDefaultMaxFill;  // refuse to store more values than this per nonzero
  AllowedEncodings allowed{};         // to compare encodings; all of them by default
  AllowedValues values{};             // likewise, of values
  Offset stored_values = static_cast<Offset>(StoredValues::all);  // how far values are encoded
  // Where groups of columns begin, the number of columns included. Slices whose holes lead to a
  // group that none of their entries leads to are then not `dia`: what is computed group by group
  // waits for no more groups than the pattern says. Without, holes may lead anywhere.
  std::span<const Offset> groups{};

  static constexpr std::array kParameters{
      FormatParameter{"slice_height", &PackedSellOptions::slice_height, kPackedSliceHeights},
      FormatParameter{"sort_window", &PackedSellOptions::sort_window},
      FormatParameter{"values", &PackedSellOptions::stored_values, kStoredValueNumbers,
                      ParameterDefault::number, stored_values_label}};
  // With values encoded and, to compare, as they are.
  static std::vector<PackedSellOptions> usual() {
    std::vector<PackedSellOptions> usual;
    for (const StoredValues values : {StoredValues::all, StoredValues::full}) {
      for (const Offset height : {4, 8, 16, 32}) {
        usual.push_back({.slice_height = height, .stored_values = static_cast<Offset>(values)});
      }
    }
    return usual;
  }

  // Which encodings both `stored_values` and `values` allow. Throws InvalidArgument unless the
  // former is one of StoredValues.
  AllowedValues allowed_values() const;
};

template <Value V, Index I>
class PackedSellBuilder;

// The slices of a matrix in packed SELL: where each is and how it is stored, which is known before
// anything is stored, and whoever stores it.
template <Value V, Index I>
class PackedSellSlices {
 public:
  using value_type = V;
  using index_type = I;

  I rows() const { return rows_; }
  I cols() const { return cols_; }
  Offset nnz() const { return nnz_; }
  RowRange<I> all_rows() const { return {0, rows_}; }

  I slice_height() const { return slice_height_; }
  I sort_window() const { return sort_window_; }
  Offset run_length() const { return run_length_; }  // D of run8 and run16, else 1
  I slices() const { return static_cast<I>(encodings_.size()); }
  bool sorted() const { return !row_of_slot_.empty(); }
  I width(I slice) const {
    return static_cast<I>((entry_offsets_[slice + 1] - entry_offsets_[slice]) / slice_height_);
  }
  SliceEncoding encoding(I slice) const { return encodings_[slice]; }
  ValueEncoding value_encoding(I slice) const { return value_encodings_[slice]; }
  // How many slices have each encoding.
  std::array<I, kSliceEncodings.size()> encoding_counts() const;
  std::array<I, kValueEncodings.size()> value_encoding_counts() const;
  // Whether all values are stored as they are, in the order of their positions.
  bool has_full_values() const { return value_block_bytes_ == 0 && table_.size() == 0; }

  std::span<const Offset> entry_offsets() const { return entry_offsets_; }  // in positions
  std::span<const Offset> code_offsets() const { return code_offsets_; }    // in bytes, by slice
  std::span<const Offset> data_offsets() const { return data_offsets_; }    // in bytes
  Offset code_bytes() const { return code_bytes_; }                         // of all slices
  std::span<const SliceEncoding> encodings() const { return encodings_; }
  std::span<const ValueEncoding> value_encodings() const { return value_encodings_; }
  const ValueTable<V>& table() const { return table_; }            // empty without codes
  std::span<const I> row_of_slot() const { return row_of_slot_; }  // empty when nothing is sorted

  I row_at(I slot) const { return sorted() ? row_of_slot_[slot] : slot; }
  Offset position(Offset slot, Offset entry) const {
    return entry_offsets_[slot / slice_height_] + entry * slice_height_ + slot % slice_height_;
  }

  Footprint footprint() const;

 protected:
  friend class PackedSellBuilder<V, I>;

  I rows_ = 0;
  I cols_ = 0;
  Offset nnz_ = 0;
  I slice_height_ = 4;
  I sort_window_ = 1;
  Offset run_length_ = 1;
  AllowedEncodings allowed_;
  AllowedValues allowed_values_;
  Array<Offset> entry_offsets_ = Array<Offset>(1, 0);
  Array<Offset> code_offsets_;
  Array<Offset> data_offsets_ = Array<Offset>(1, 0);
  Array<SliceEncoding> encodings_;
  Array<ValueEncoding> value_encodings_;
  Offset code_bytes_ = 0;
  Offset value_block_bytes_ = 0;  // of the codes
  ValueTable<V> table_;
  Array<I> row_of_slot_;
};

template <Value V, Index I>
class PackedSell : public PackedSellSlices<V, I> {
 public:
  using Options = PackedSellOptions;
  using Slices = PackedSellSlices<V, I>;

  PackedSell() = default;

  // Throws OverflowError if the matrix has more than 2^31 columns, and InvalidArgument, naming the
  // slice, where no allowed encoding fits.
  static PackedSell from_csr(const Csr<V, I>& matrix, const PackedSellOptions& options = {});
  // The same of rows that are made when they are needed, some at a time and each of them two or
  // three times: so many, of a square matrix, with the entries of this one in another order. Throws
  // InvalidArgument if they are to be sorted.
  static PackedSell from_rows(const Csr<V, I>& matrix, I rows, ReadRows<V, I> read,
                              const PackedSellOptions& options = {});
  static Footprint footprint_of(const Csr<V, I>& matrix, const PackedSellOptions& options = {}) {
    return forecast(matrix, options).footprint;
  }
  // What from_csr would build, without building it.
  struct Forecast {
    Footprint footprint;
    std::array<I, kSliceEncodings.size()> encoding_counts;
    std::array<I, kValueEncodings.size()> value_encoding_counts;
  };
  static Forecast forecast(const Csr<V, I>& matrix, const PackedSellOptions& options = {});
  Csr<V, I> to_csr() const;

  // Takes over the values of a matrix with the pattern that this one was made from, encoded anew in
  // as many bytes as they need; columns stay where they are. Throws InvalidArgument, naming the
  // row, and leaves all values as they are if it has another pattern.
  void assign_values(const Csr<V, I>& matrix);

  using Slices::cols;
  using Slices::encoding;
  using Slices::entry_offsets;
  using Slices::has_full_values;
  using Slices::position;
  using Slices::row_at;
  using Slices::rows;
  using Slices::slices;
  using Slices::value_encoding;
  using Slices::width;

  std::span<const std::byte> codes() const { return codes_; }
  std::span<const std::byte> data() const { return data_; }
  const PresenceBits& presence() const { return presence_; }

  // Of a slice whose values are mixed.
  MixedHeader mixed_header(I slice) const;
  // The bytes of a slice's code block, which other slices may share.
  Offset block_bytes(I slice) const;
  // A slice's value data, which other slices may share.
  std::span<const std::byte> data_of(I slice) const;
  // Throws InvalidArgument unless has_full_values().
  std::span<const V> full_values() const;
  // Decodes one column or value, also of holes and padding.
  I column(Offset slot, Offset entry) const;
  V value(Offset slot, Offset entry) const;

  // What of the footprint lies before each slice, and behind the last: a shared code block belongs
  // to the first slice that has it. The table belongs to none.
  Array<Offset> bytes_before_slices() const;

 private:
  friend class PackedSellBuilder<V, I>;

  using Slices::allowed_;
  using Slices::allowed_values_;
  using Slices::code_offsets_;
  using Slices::cols_;
  using Slices::data_offsets_;
  using Slices::encodings_;
  using Slices::entry_offsets_;
  using Slices::row_of_slot_;
  using Slices::rows_;
  using Slices::run_length_;
  using Slices::slice_height_;
  using Slices::table_;

  Array<std::byte> codes_;
  Array<std::byte> data_;
  PresenceBits presence_;
};

}  // namespace strata
