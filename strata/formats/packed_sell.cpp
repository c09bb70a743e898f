#include "strata/formats/packed_sell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/internal/collect.hpp"
#include "strata/formats/internal/slice_columns.hpp"
#include "strata/formats/internal/slice_encoder.hpp"
#include "strata/formats/internal/slice_layout.hpp"
#include "strata/formats/internal/slices.hpp"
#include "strata/formats/packed_sell_conversion.hpp"

namespace strata {

namespace {

template <Index I>
SliceShape<I> packed_shape(const PackedSellOptions& options, I rows, I cols) {
  const Offset height = options.slice_height;
  if (!kPackedSliceHeights.contain(height)) {
    throw InvalidArgument(
        fmt::format("packed SELL has slices of {} rows, not {}", kPackedSliceHeights.text, height));
  }
  if (cols > Offset{1} << 31) {
    throw OverflowError(fmt::format(
        "packed SELL needs column indices below 2^31, the matrix has {} columns", cols));
  }
  const std::span<const Offset> groups = options.groups;
  if (!groups.empty() &&
      (groups.front() != 0 || groups.back() != cols || !std::ranges::is_sorted(groups))) {
    throw InvalidArgument(fmt::format("groups do not cut the {} columns of the matrix", cols));
  }
  return SliceShape<I>(height, options.sort_window, rows);
}

// What tells where a slice is and how it is stored.
constexpr Offset kBytesPerSlice =
    3 * sizeof(Offset) + sizeof(SliceEncoding) + sizeof(ValueEncoding);

// What a packed matrix stores but its values.
template <Index I>
struct PackedPattern {
  I rows;
  Offset height;
  Offset run;
  std::span<const Offset> entry_offsets;
  std::span<const Offset> code_offsets;
  std::span<const SliceEncoding> encodings;
  std::span<const std::byte> codes;
  std::span<const I> row_of_slot;
  const PresenceBits& presence;
};

// The entries of one lane are exactly these columns.
template <class ColumnOf, Index I>
void require_lane(const PackedPattern<I>& packed, Offset slice, Offset lane,
                  const ColumnOf& column_of, I row, std::span<const I> columns) {
  const Offset begin = packed.entry_offsets[slice];
  const Offset width = (packed.entry_offsets[slice + 1] - begin) / packed.height;
  std::size_t next = 0;
  for (Offset entry = 0; entry < width; ++entry) {
    if (!packed.presence.has(begin + entry * packed.height + lane)) continue;
    if (next == columns.size()) throw_other_length(row);
    if (columns[next++] != column_of(entry, lane)) throw_other_columns(row);
  }
  if (next != columns.size()) throw_other_length(row);
}

// Throws, naming the row, unless all rows have the columns of the pattern.
template <Index I>
void require_columns(const PackedPattern<I>& packed, const PatternView<I>& pattern) {
  parallel_dynamic(std::ssize(packed.encodings), 64, [&](Offset begin, Offset end) {
    for (Offset slice = begin; slice < end; ++slice) {
      const Offset first = slice * packed.height;
      const Offset lanes = std::min<Offset>(packed.height, packed.rows - first);
      const Offset width =
          (packed.entry_offsets[slice + 1] - packed.entry_offsets[slice]) / packed.height;
      with_slice_columns(
          packed.encodings[slice], packed.codes.data() + packed.code_offsets[slice], first,
          packed.height, width, packed.run, [&](const auto& column_of) {
            for (Offset lane = 0; lane < lanes; ++lane) {
              const Offset slot = first + lane;
              const I row =
                  packed.row_of_slot.empty() ? static_cast<I>(slot) : packed.row_of_slot[slot];
              require_lane(packed, slice, lane, column_of, row, pattern.columns_of(row));
            }
          });
    }
  });
}

template <Index I, class Encoding, std::size_t count>
std::array<I, count> count_encodings(std::span<const Encoding> encodings,
                                     const std::array<Encoding, count>&) {
  std::array<I, count> counts{};
  for (const Encoding encoding : encodings) ++counts[static_cast<std::size_t>(encoding)];
  return counts;
}

}  // namespace

AllowedValues PackedSellOptions::allowed_values() const {
  if (!kStoredValueNumbers.contain(stored_values)) {
    throw InvalidArgument(fmt::format("values of packed SELL are {}, not {}",
                                      kStoredValueNumbers.text, stored_values));
  }
  const AllowedValues of_level = AllowedValues::of(static_cast<StoredValues>(stored_values));
  return {.constant = values.constant && of_level.constant,
          .dict8 = values.dict8 && of_level.dict8,
          .dict16 = values.dict16 && of_level.dict16,
          .most_codes = std::min(values.most_codes, of_level.most_codes)};
}

// What a matrix becomes: first its slices, then what is stored of them.
template <Value V, Index I>
class PackedSellBuilder {
 public:
  using Slices = PackedSellSlices<V, I>;

  PackedSellBuilder(const Csr<V, I>& matrix, const PackedSellOptions& options)
      : PackedSellBuilder(matrix, matrix.rows(), matrix.cols(), options) {
    made_.row_of_slot_ = sort_rows_by_length(matrix.pattern(), made_.sort_window_);
    if (options.allowed.runs) {
      made_.run_length_ = run_length_of(made_.rows_, [&](Offset row) {
        return matrix.pattern().columns_of(static_cast<I>(row));
      });
    }
    choose_all();
  }
  // Of rows that are made when they are needed.
  PackedSellBuilder(const Csr<V, I>& matrix, I rows, const ReadRows<V, I>& read,
                    const PackedSellOptions& options)
      : PackedSellBuilder(matrix, rows, rows, options) {
    read_ = &read;
    if (made_.sort_window_ > 1) {
      throw InvalidArgument("rows that are not stored are not sorted");
    }
    if (options.allowed.runs) {
      RowBlock<V, I> row_alone{.needs_values = false};
      made_.run_length_ = run_length_of(rows, [&](Offset row) {
        read({static_cast<I>(row), static_cast<I>(row + 1)}, row_alone);
        return std::span<const I>(row_alone.columns);
      });
    }
    choose_all();
  }
  // With the columns of another matrix of the same pattern.
  PackedSellBuilder(const Csr<V, I>& matrix, const PackedSell<V, I>& other)
      : PackedSellBuilder(matrix, matrix.rows(), matrix.cols(),
                          {.slice_height = other.slice_height_,
                           .sort_window = other.sort_window_,
                           .allowed = other.allowed_,
                           .values = other.allowed_values_}) {
    made_.run_length_ = other.run_length_;
    made_.row_of_slot_ = other.row_of_slot_;
    lay_out([&](SliceEncoder<V, I>& encoder, Offset slice) {
      const auto number = static_cast<I>(slice);
      return encoder.choose_values(slice, other.encoding(number), other.width(number));
    });
    finish_slices();
  }

  const Slices& slices() const { return made_; }
  Offset codes_before(Offset slice) const { return layout_.codes_before[slice]; }
  Offset data_before(Offset slice) const { return layout_.data_before[slice]; }
  PresenceBits no_presence() const {
    return PresenceBits(made_.entry_offsets_.back(), matrix_.nnz());
  }
  void require_bearable_fill() const {
    require_fill(made_.footprint(), options_.max_fill, "packed SELL");
  }

  // Writes what belongs to these slices to places for the first of it; null: not wanted.
  struct Places {
    std::byte* codes = nullptr;
    std::byte* data = nullptr;
    PresenceBits* presence = nullptr;
  };
  void write(Offset begin, Offset end, const Places& to) const {
    auto encoder = make_encoder(matrix_.values(), {matrix_.pattern(), made_.row_of_slot_});
    write_with(encoder, begin, end, to);
  }

  PackedSell<V, I> stored() const {
    PackedSell<V, I> packed = stored_parts();
    static_cast<Slices&>(packed) = made_;
    return packed;
  }
  PackedSell<V, I> store() && {
    PackedSell<V, I> packed = stored_parts();
    static_cast<Slices&>(packed) = std::move(made_);
    return packed;
  }

 private:
  PackedSellBuilder(const Csr<V, I>& matrix, I rows, I cols, const PackedSellOptions& options)
      : matrix_(matrix), options_(options), paying_values_(options.allowed_values()) {
    const SliceShape<I> shape = packed_shape(options, rows, cols);
    made_.rows_ = rows;
    made_.cols_ = cols;
    made_.nnz_ = matrix.nnz();
    made_.slice_height_ = shape.slice_height;
    made_.sort_window_ = shape.sort_window;
    made_.allowed_ = options.allowed;
    made_.allowed_values_ = paying_values_;
  }

  // All but what is known of the slices.
  PackedSell<V, I> stored_parts() const {
    require_bearable_fill();
    PackedSell<V, I> packed;
    packed.codes_.resize(layout_.code_bytes());
    packed.data_.resize(layout_.data_bytes());
    packed.presence_ = no_presence();
    for_each_slice(true, [&](SliceEncoder<V, I>& encoder, Offset slice) {
      write_with(encoder, slice, slice + 1,
                 {packed.codes_.data() + codes_before(slice),
                  packed.data_.data() + data_before(slice), &packed.presence_});
    });
    return packed;
  }

  Offset height() const { return made_.slice_height_; }
  Offset slice_count() const { return ceil_div(made_.rows_, made_.slice_height_); }

  void choose_all() {
    const auto choose = [](SliceEncoder<V, I>& encoder, Offset slice) {
      return encoder.choose(slice);
    };
    lay_out(choose);
    if (made_.run_length_ > 1 && !runs_save()) {
      made_.run_length_ = 1;
      // What has no runs is the same for any length of theirs.
      if (layout_.any_runs()) {
        paying_values_ = made_.allowed_values_;
        lay_out(choose);
      }
    }
    finish_slices();
  }

  template <class Choose>
  void lay_out(const Choose& choose) {
    const auto lay = [&] {
      layout_ = layout_of<V, I>(
          slice_count(), height(),
          [&](const auto& body) { for_each_slice(paying_values_.any(), body); }, choose);
    };
    const AllowedValues& allowed = made_.allowed_values_;
    if (allowed.codes()) {
      made_.table_ = ValueTable<V>(matrix_.values(), allowed.most_codes);
      lay();
      const Offset saved = layout_.saved_by_codes;
      if (saved > bytes_of<V>(made_.table_.size())) return decline(lay);
      made_.table_ = {};
      if (saved == 0) return decline(lay);
      paying_values_.dict8 = false;
      paying_values_.dict16 = false;
    }
    lay();
    decline(lay);
  }

  // Whether columns one by one would take noticeably more bytes beside full values: not where
  // slices share them.
  bool runs_save() const {
    constexpr double kWorthwhile = 0.02;
    const Offset columns = layout_.code_bytes() - layout_.value_block_bytes;
    return static_cast<double>(columns * (made_.run_length_ - 1)) >
           kWorthwhile * static_cast<double>(layout_.bytes_with_full_values());
  }

  // Full values have the simpler kernels: what hardly saves anything is not worth others.
  template <class Lay>
  void decline(const Lay& lay) {
    constexpr double kWorthwhile = 0.95;
    const Offset table = made_.table_.size();
    if (!paying_values_.any() || layout_.value_block_bytes + table == 0) return;
    const Offset bytes = layout_.code_bytes() + layout_.data_bytes() + bytes_of<V>(table);
    if (static_cast<double>(bytes) <=
        kWorthwhile * static_cast<double>(layout_.bytes_with_full_values())) {
      return;
    }
    paying_values_ = AllowedValues::of(StoredValues::full);
    made_.table_ = {};
    lay();
  }

  // What is known of the slices; what belongs to each of them is still needed to write them.
  void finish_slices() {
    made_.entry_offsets_ = std::move(layout_.entry_offsets);
    made_.code_offsets_ = std::move(layout_.code_offsets);
    made_.data_offsets_ = std::move(layout_.data_offsets);
    made_.encodings_ = std::move(layout_.encodings);
    made_.value_encodings_ = std::move(layout_.value_encodings);
    made_.code_bytes_ = layout_.code_bytes();
    made_.value_block_bytes_ = layout_.value_block_bytes;
  }

  SliceEncoder<V, I> make_encoder(std::span<const V> entries,
                                  const SlottedPattern<I>& slots) const {
    return SliceEncoder<V, I>(entries, slots, made_.slice_height_, made_.run_length_, options_,
                              paying_values_, made_.table_);
  }

  // Slices that a thread takes at a time: those of a sample may be few and have long rows.
  Offset slices_at_a_time() const {
    constexpr Offset kEntries = Offset{1} << 15;
    constexpr Offset kMost = 256;
    // Fewer where there are few, as of the samples by which formats are chosen.
    constexpr Offset kFew = 8;
    const Offset share = std::max(slice_count() / (4 * thread_count()), kFew);
    const Offset mean = matrix_.nnz() / std::max<Offset>(slice_count(), 1);
    return std::clamp<Offset>(kEntries / std::max<Offset>(mean, 1), 1, std::min(share, kMost));
  }

  // body(encoder, slice), which may ask for values or not.
  template <class Body>
  void for_each_slice(bool with_values, const Body& body) const {
    if (read_ != nullptr) return for_each_slice_of_blocks(with_values, body);
    parallel_dynamic(slice_count(), slices_at_a_time(), [&](Offset begin, Offset end) {
      auto encoder = make_encoder(matrix_.values(), {matrix_.pattern(), made_.row_of_slot_});
      for (Offset slice = begin; slice < end; ++slice) body(encoder, slice);
    });
  }
  template <class Body>
  void for_each_slice_of_blocks(bool with_values, const Body& body) const {
    // Which stay in a cache, of rows that are not too long.
    constexpr Offset kBlockRows = 1024;
    parallel_dynamic(slice_count(), kBlockRows / height(), [&](Offset begin, Offset end) {
      RowBlock<V, I> block{.needs_values = with_values};
      (*read_)({static_cast<I>(begin * height()),
                static_cast<I>(std::min<Offset>(end * height(), made_.rows_))},
               block);
      auto encoder = make_encoder(block.values, {block.pattern(made_.cols_), {}, begin * height()});
      for (Offset slice = begin; slice < end; ++slice) body(encoder, slice);
    });
  }

  void write_with(SliceEncoder<V, I>& encoder, Offset begin, Offset end, const Places& to) const {
    for (Offset slice = begin; slice < end; ++slice) {
      const Offset entries = made_.entry_offsets_[slice];
      const Offset width = (made_.entry_offsets_[slice + 1] - entries) / height();
      const bool has_block = to.codes != nullptr && layout_.has_own_codes(slice);
      std::byte* const data = to.data != nullptr && layout_.has_own_data(slice)
                                  ? to.data + data_before(slice) - data_before(begin)
                                  : nullptr;
      if (width == 0 || (!has_block && data == nullptr && to.presence == nullptr)) continue;
      const SliceChoice<V> choice = encoder.recall(slice, made_.encodings_[slice], width,
                                                   made_.value_encodings_[slice], has_block);
      if (has_block) {
        std::byte* const block = to.codes + codes_before(slice) - codes_before(begin);
        const Offset written = choice.columns_bytes(height()) + choice.values.block_bytes;
        const Offset bytes = codes_before(slice + 1) - codes_before(slice);
        encoder.write_block(slice, choice, block);
        std::memset(block + written, 0, static_cast<std::size_t>(bytes - written));
      }
      if (data != nullptr || to.presence != nullptr) {
        encoder.write_data(slice, choice, data, entries, to.presence);
      }
    }
  }

  const Csr<V, I>& matrix_;
  const ReadRows<V, I>* read_ = nullptr;  // makes its rows; null: they are as they are
  PackedSellOptions options_;
  AllowedValues paying_values_;  // those of the allowed ones that save something
  Slices made_;
  SliceLayout<V> layout_;
};

template <Value V, Index I>
PackedSellConversion<V, I>::PackedSellConversion(const Csr<V, I>& matrix,
                                                 const PackedSellOptions& options)
    : builder_(std::make_unique<const PackedSellBuilder<V, I>>(matrix, options)) {
  builder_->require_bearable_fill();
}

template <Value V, Index I>
PackedSellConversion<V, I>::~PackedSellConversion() = default;
template <Value V, Index I>
PackedSellConversion<V, I>::PackedSellConversion(PackedSellConversion&&) noexcept = default;
template <Value V, Index I>
PackedSellConversion<V, I>& PackedSellConversion<V, I>::operator=(PackedSellConversion&&) noexcept =
    default;

template <Value V, Index I>
const PackedSellSlices<V, I>& PackedSellConversion<V, I>::slices() const {
  return builder_->slices();
}

template <Value V, Index I>
Offset PackedSellConversion<V, I>::codes_before(I slice) const {
  return builder_->codes_before(slice);
}

template <Value V, Index I>
Offset PackedSellConversion<V, I>::data_before(I slice) const {
  return builder_->data_before(slice);
}

template <Value V, Index I>
void PackedSellConversion<V, I>::write_codes(I begin, I end, std::byte* to) const {
  builder_->write(begin, end, {.codes = to});
}

template <Value V, Index I>
void PackedSellConversion<V, I>::write_data(I begin, I end, std::byte* to,
                                            PresenceBits& presence) const {
  builder_->write(begin, end,
                  {.data = to, .presence = presence.words().empty() ? nullptr : &presence});
}

template <Value V, Index I>
PresenceBits PackedSellConversion<V, I>::no_presence() const {
  return builder_->no_presence();
}

template <Value V, Index I>
PackedSell<V, I> PackedSellConversion<V, I>::stored() const {
  return builder_->stored();
}

template <Value V, Index I>
typename PackedSell<V, I>::Forecast PackedSell<V, I>::forecast(const Csr<V, I>& matrix,
                                                               const PackedSellOptions& options) {
  const PackedSellBuilder<V, I> builder(matrix, options);
  const PackedSellSlices<V, I>& slices = builder.slices();
  return {slices.footprint(), slices.encoding_counts(), slices.value_encoding_counts()};
}

template <Value V, Index I>
PackedSell<V, I> PackedSell<V, I>::from_csr(const Csr<V, I>& matrix,
                                            const PackedSellOptions& options) {
  return PackedSellBuilder<V, I>(matrix, options).store();
}

template <Value V, Index I>
PackedSell<V, I> PackedSell<V, I>::from_rows(const Csr<V, I>& matrix, I rows, ReadRows<V, I> read,
                                             const PackedSellOptions& options) {
  return PackedSellBuilder<V, I>(matrix, rows, read, options).store();
}

template <Value V, Index I>
void PackedSell<V, I>::assign_values(const Csr<V, I>& matrix) {
  require_same_shape(*this, matrix);
  // Nothing is written before all rows are known to be the same.
  require_columns<I>({rows_, slice_height_, run_length_, entry_offsets_, code_offsets_, encodings_,
                      codes_, row_of_slot_, presence_},
                     matrix.pattern());
  *this = PackedSellBuilder<V, I>(matrix, *this).store();
}

template <Value V, Index I>
Csr<V, I> PackedSell<V, I>::to_csr() const {
  return collect_rows<V, I>(rows_, cols_, [&](I slot, RowEntries<V, I>& entries) {
    for (I entry = 0; entry < width(slot / slice_height_); ++entry) {
      if (presence_.has(position(slot, entry))) {
        entries.add(column(slot, entry), value(slot, entry));
      }
    }
    return row_at(slot);
  });
}

template <Value V, Index I>
I PackedSell<V, I>::column(Offset slot, Offset entry) const {
  const auto slice = static_cast<I>(slot / slice_height_);
  const Offset first = slice * Offset{slice_height_};
  Offset column = 0;
  with_slice_columns(encoding(slice), codes_.data() + code_offsets_[slice], first, slice_height_,
                     width(slice), run_length_,
                     [&](const auto& column_of) { column = column_of(entry, slot - first); });
  return static_cast<I>(column);
}

template <Value V, Index I>
V PackedSell<V, I>::value(Offset slot, Offset entry) const {
  const auto slice = static_cast<I>(slot / slice_height_);
  const std::byte* block =
      codes_.data() + code_offsets_[slice] +
      value_block_begin(encoding(slice), slice_height_, width(slice), run_length_);
  const SliceValues<V> values{value_encoding(slice),
                              slice_height_,
                              width(slice),
                              block,
                              data_.data() + data_offsets_[slice],
                              table_.values().data()};
  return values.at(entry, slot - slice * Offset{slice_height_});
}

template <Value V, Index I>
std::array<I, kSliceEncodings.size()> PackedSellSlices<V, I>::encoding_counts() const {
  return count_encodings<I>(std::span<const SliceEncoding>(encodings_), kSliceEncodings);
}

template <Value V, Index I>
std::array<I, kValueEncodings.size()> PackedSellSlices<V, I>::value_encoding_counts() const {
  return count_encodings<I>(std::span<const ValueEncoding>(value_encodings_), kValueEncodings);
}

template <Value V, Index I>
MixedHeader PackedSell<V, I>::mixed_header(I slice) const {
  const Offset columns =
      value_block_begin(encoding(slice), slice_height_, width(slice), run_length_);
  return number_at<MixedHeader>(codes_.data() + code_offsets_[slice] + columns, 0);
}

template <Value V, Index I>
Offset PackedSell<V, I>::block_bytes(I slice) const {
  const ValueEncoding values = value_encoding(slice);
  const MixedHeader mixed = values == ValueEncoding::mixed ? mixed_header(slice) : MixedHeader{};
  const Offset alignment = code_alignment(slice_height_);
  const Offset block = value_block_bytes(values, width(slice), sizeof(V), mixed);
  return value_block_begin(encoding(slice), slice_height_, width(slice), run_length_) +
         ceil_div<Offset>(block, alignment) * alignment;
}

template <Value V, Index I>
std::span<const std::byte> PackedSell<V, I>::data_of(I slice) const {
  const ValueEncoding values = value_encoding(slice);
  const MixedHeader mixed = values == ValueEncoding::mixed ? mixed_header(slice) : MixedHeader{};
  const Offset bytes = value_data_bytes(values, slice_height_, width(slice), sizeof(V), mixed);
  const Offset alignment = data_alignment(slice_height_, sizeof(V));
  return std::span<const std::byte>(data_).subspan(data_offsets_[slice],
                                                   ceil_div<Offset>(bytes, alignment) * alignment);
}

template <Value V, Index I>
std::span<const V> PackedSell<V, I>::full_values() const {
  if (!has_full_values()) throw InvalidArgument("the values of this packed SELL are encoded");
  return {reinterpret_cast<const V*>(data_.data()),
          static_cast<std::size_t>(entry_offsets_.back())};
}

template <Value V, Index I>
Footprint PackedSellSlices<V, I>::footprint() const {
  return {.value_bytes = data_offsets_.back() + value_block_bytes_ + bytes_of<V>(table_.size()),
          .index_bytes = code_bytes_ - value_block_bytes_ + kBytesPerSlice * slices() +
                         2 * Offset{sizeof(Offset)} + (sorted() ? bytes_of<I>(rows_) : 0),
          .stored_entries = entry_offsets_.back(),
          .entries = nnz_};
}

template <Value V, Index I>
Array<Offset> PackedSell<V, I>::bytes_before_slices() const {
  Array<Offset> before(static_cast<std::size_t>(slices()) + 1);
  Offset codes = 0;
  Offset data = 0;
  for (I slice = 0; slice < slices(); ++slice) {
    // What is of their own lies in the order of the slices.
    codes = std::max(codes, code_offsets_[slice]);
    data = std::max(data, data_offsets_[slice]);
    before[slice] = data + codes + slice * kBytesPerSlice;
  }
  before.back() = data_offsets_.back() + std::ssize(codes_) + slices() * kBytesPerSlice;
  return before;
}

#define STRATA_INSTANTIATE(V, I)         \
  template class PackedSellSlices<V, I>; \
  template class PackedSell<V, I>;       \
  template class PackedSellConversion<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
