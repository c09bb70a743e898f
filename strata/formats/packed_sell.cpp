#include "strata/formats/packed_sell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/base/random.hpp"
#include "strata/formats/internal/collect.hpp"
#include "strata/formats/internal/slice_columns.hpp"
#include "strata/formats/internal/slice_values.hpp"
#include "strata/formats/internal/slices.hpp"

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

// How one slice is stored.
template <Value V>
struct SliceChoice {
  SliceEncoding encoding = SliceEncoding::index32;
  Offset width = 0;
  Offset run = 1;  // of the matrix
  ValueChoice<V> values;

  bool has_runs() const { return strata::has_runs(encoding); }
  Offset columns_bytes(Offset height) const { return code_bytes(encoding, height, width, run); }
  Offset bytes_with_full_values(Offset height) const {
    return columns_bytes(height) + width * height * Offset{sizeof(V)};
  }

  // What leads to other columns in every slice, or is large, is not compared.
  bool may_be_shared(Offset height) const {
    constexpr Offset kLargestShared = 8192;
    return encoding != SliceEncoding::index32 && width > 0 &&
           columns_bytes(height) + values.block_bytes <= kLargestShared;
  }
  // Codes repeat where regular matrices do; full values hardly ever.
  bool data_may_be_shared() const {
    constexpr Offset kLargestShared = 16384;
    return values.encoding != ValueEncoding::full && values.mixed.full == 0 &&
           values.data_bytes > 0 && values.data_bytes <= kLargestShared;
  }
};

// Two code blocks with the same digest are the same, but for a chance of 2^−128.
using Digest = std::array<std::uint64_t, 2>;

Digest digest_of(std::span<const std::byte> block, std::uint64_t kind) {
  Digest digest{mix_bits(kind), mix_bits(~kind)};
  for (std::size_t at = 0; at < block.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, block.data() + at, std::min<std::size_t>(8, block.size() - at));
    digest[0] = mix_bits(digest[0] ^ word);
    digest[1] = mix_bits(digest[1] + word * 0x9e3779b97f4a7c15ULL + 1);
  }
  return digest;
}

// Encodes one slice after the other.
template <Value V, Index I>
class SliceEncoder {
 public:
  SliceEncoder(std::span<const V> entries, const SlottedPattern<I>& slots, I slice_height,
               Offset run_length, const PackedSellOptions& options, const AllowedValues& values,
               const ValueTable<V>& table)
      : height_(slice_height),
        run_(run_length),
        columns_(slots, slice_height, sizeof(V), run_length, options),
        values_(entries, slots, values, table) {}

  // Columns are chosen by the pattern alone, as for full values: where entries lie decides which
  // thread of a GPU adds them, and sums must not depend on how values are stored.
  SliceChoice<V> choose(Offset slice) {
    const Offset first = slice * height_;
    const Offset width = columns_.width(first);
    if (width == 0) return {};
    // Nothing takes less than one offset for each entry of the longest row.
    const SliceChoice<V> least{SliceEncoding::dia, width, run_, {}};
    if (!columns_.diagonals(first, least.bytes_with_full_values(height_)).empty()) {
      return choose_values(slice, least.encoding, width);
    }
    SliceChoice<V> left{SliceEncoding::index32, width, run_, {}};
    const bool aligned = columns_.left_aligned(first, width, left.encoding);
    // Runs have no say in it: whether they pay depends on what slices share, and that on values.
    SliceChoice<V> one_by_one = left;
    if (left.has_runs()) one_by_one.encoding = columns_.without_runs();
    const Offset limit =
        aligned ? one_by_one.bytes_with_full_values(height_) : std::numeric_limits<Offset>::max();
    const SliceChoice<V> dia{
        SliceEncoding::dia, std::ssize(columns_.diagonals(first, limit)), run_, {}};
    const bool is_left = dia.width == 0;
    if (!aligned && is_left) {
      throw InvalidArgument(fmt::format("slice {}: no allowed encoding fits", slice));
    }
    return choose_values(slice, is_left ? left.encoding : dia.encoding,
                         is_left ? left.width : dia.width);
  }

  // With the columns as they are stored already.
  SliceChoice<V> choose_values(Offset slice, SliceEncoding encoding, Offset width) {
    SliceChoice<V> choice{encoding, width, run_, {}};
    if (width > 0) choice.values = values_.choose(arrangement(slice * height_, choice));
    return choice;
  }

  // The code block of the slice that was chosen last.
  void write_block(Offset slice, const SliceChoice<V>& choice, std::byte* block) {
    const Offset first = slice * height_;
    columns_.write(choice.encoding, first, choice.width, arrangement(first, choice).offsets, block);
    values_.write_block(choice.values, block + choice.columns_bytes(height_));
  }
  // The value data of the slice, of a mixed one the last that was chosen, unless they are null, and
  // which of the positions from `first` on are entries.
  void write_data(Offset slice, const SliceChoice<V>& choice, std::byte* data, Offset first,
                  PresenceBits& presence) {
    presence_.start(first, choice.width * height_);
    values_.write_data(arrangement(slice * height_, choice), choice.values, data, &presence_);
    presence_.finish(presence);
  }

  // Of the slice that was chosen last.
  Digest digest(Offset slice, const SliceChoice<V>& choice) {
    block_.resize(choice.columns_bytes(height_) + choice.values.block_bytes);
    write_block(slice, choice, block_.data());
    return digest_of(block_, static_cast<std::uint64_t>(choice.width) * 64 +
                                 static_cast<std::uint64_t>(choice.encoding) * 8 +
                                 static_cast<std::uint64_t>(choice.values.encoding));
  }

  // Of the slice that was chosen last.
  Digest data_digest(Offset slice, const SliceChoice<V>& choice) {
    block_.resize(choice.values.data_bytes);
    values_.write_data(arrangement(slice * height_, choice), choice.values, block_.data(), nullptr);
    return digest_of(block_, static_cast<std::uint64_t>(choice.values.data_bytes));
  }

 private:
  SliceArrangement arrangement(Offset first, const SliceChoice<V>& choice) {
    const bool dia = choice.encoding == SliceEncoding::dia;
    return {first, height_, choice.width,
            dia ? columns_.diagonals_of(first) : std::span<const std::int32_t>()};
  }

  Offset height_;
  Offset run_;
  ColumnAnalysis<I> columns_;
  ValueAnalysis<V, I> values_;
  SlicePresence presence_;
  std::vector<std::byte> block_;
};

// The slices and where they go, known before anything is stored.
template <Value V>
struct Layout {
  std::vector<SliceChoice<V>> slices;
  std::vector<bool> shares;       // another's code block
  std::vector<bool> shares_data;  // another's value data
  Array<Offset> entry_offsets;
  Array<Offset> code_offsets;
  Array<Offset> data_offsets;
  Offset code_bytes = 0;
  Offset value_block_bytes = 0;  // of those
  Offset data_bytes() const { return data_offsets.back(); }

  // What all would take with full values on the same columns.
  Offset bytes_with_full_values() const {
    return code_bytes - value_block_bytes + entry_offsets.back() * Offset{sizeof(V)};
  }
  // What codes save of the bytes of the values, without the table.
  Offset saved_by_codes(Offset height) const {
    Offset saved = 0;
    for (const SliceChoice<V>& slice : slices) {
      const ValueChoice<V>& values = slice.values;
      const bool coded =
          values.encoding == ValueEncoding::dict8 || values.encoding == ValueEncoding::dict16 ||
          (values.encoding == ValueEncoding::mixed && values.mixed.dict8 + values.mixed.dict16 > 0);
      if (coded) saved += slice.width * height * Offset{sizeof(V)} - values.data_bytes;
    }
    return saved;
  }
};

// Which slice is the first with each digest.
class FirstWithDigest {
 public:
  explicit FirstWithDigest(Offset slices) {
    std::size_t size = 64;
    while (size < 2 * static_cast<std::size_t>(slices)) size *= 2;
    slots_.assign(size, -1);
  }
  Offset find(std::span<const Digest> digests, Offset slice) {
    std::size_t at = digests[slice][0] & (slots_.size() - 1);
    while (slots_[at] >= 0 && digests[slots_[at]] != digests[slice]) {
      at = (at + 1) & (slots_.size() - 1);
    }
    if (slots_[at] < 0) slots_[at] = slice;
    return slots_[at];
  }

 private:
  std::vector<Offset> slots_;
};

// choose(encoder, slice) says how a slice is stored; for_each_slice(body) calls body(encoder,
// slice).
template <Value V, Index I, class ForEachSlice, class Choose>
Layout<V> layout_of(Offset slices, Offset height, const ForEachSlice& for_each_slice,
                    const Choose& choose) {
  Layout<V> layout;
  layout.slices.resize(slices);
  layout.shares.resize(slices);
  layout.shares_data.resize(slices);
  layout.entry_offsets = Array<Offset>(slices + 1, 0);
  layout.code_offsets = Array<Offset>(slices, 0);
  layout.data_offsets = Array<Offset>(slices + 1, 0);
  std::vector<Digest> digests(slices);
  std::vector<Digest> data_digests(slices);
  for_each_slice([&](SliceEncoder<V, I>& encoder, Offset slice) {
    const SliceChoice<V> choice = choose(encoder, slice);
    layout.slices[slice] = choice;
    layout.entry_offsets[slice] = choice.width * height;
    if (choice.may_be_shared(height)) digests[slice] = encoder.digest(slice, choice);
    if (choice.data_may_be_shared()) data_digests[slice] = encoder.data_digest(slice, choice);
  });
  exclusive_scan(layout.entry_offsets);

  FirstWithDigest first_with(slices);
  FirstWithDigest first_with_data(slices);
  Offset data = 0;
  for (Offset slice = 0; slice < slices; ++slice) {
    const SliceChoice<V>& choice = layout.slices[slice];
    const auto sharer = [&](bool may, FirstWithDigest& firsts, std::span<const Digest> of) {
      return may ? firsts.find(of, slice) : slice;
    };
    const Offset with_data = sharer(choice.data_may_be_shared(), first_with_data, data_digests);
    layout.shares_data[slice] = with_data != slice;
    layout.data_offsets[slice] = with_data != slice ? layout.data_offsets[with_data] : data;
    if (with_data == slice) data += choice.values.data_bytes;

    const Offset with_block = sharer(choice.may_be_shared(height), first_with, digests);
    layout.shares[slice] = with_block != slice;
    layout.code_offsets[slice] =
        with_block != slice ? layout.code_offsets[with_block] : layout.code_bytes;
    if (with_block != slice) continue;
    const Offset block = code_alignment(height) *
                         ceil_div<Offset>(choice.values.block_bytes, code_alignment(height));
    layout.value_block_bytes += block;
    layout.code_bytes += choice.columns_bytes(height) + block;
  }
  layout.data_offsets.back() = data;
  return layout;
}

template <Value V, Index I>
Footprint footprint_from(I rows, bool sorted, Offset slices, Offset stored, Offset entries,
                         Offset codes, Offset value_blocks, Offset data, Offset table) {
  return {.value_bytes = data + value_blocks + bytes_of<V>(table),
          .index_bytes = codes - value_blocks + kBytesPerSlice * slices +
                         2 * Offset{sizeof(Offset)} + (sorted ? bytes_of<I>(rows) : 0),
          .stored_entries = stored,
          .entries = entries};
}

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

// What a matrix becomes: first its layout, then what is stored.
template <Value V, Index I>
class PackedSell<V, I>::Builder {
 public:
  Builder(const Csr<V, I>& matrix, const PackedSellOptions& options)
      : matrix_(matrix),
        options_(options),
        allowed_values_(options.allowed_values()),
        rows_(matrix.rows()),
        cols_(matrix.cols()),
        shape_(packed_shape(options, rows_, cols_)),
        row_of_slot_(sort_rows_by_length(matrix.pattern(), shape_.sort_window)) {
    if (options.allowed.runs) {
      run_length_ = run_length_of(
          rows_, [&](Offset row) { return matrix.pattern().columns_of(static_cast<I>(row)); });
    }
    choose_all();
  }
  // Of rows that are made when they are needed.
  Builder(const Csr<V, I>& matrix, I rows, const ReadRows<V, I>& read,
          const PackedSellOptions& options)
      : matrix_(matrix),
        read_(&read),
        options_(options),
        allowed_values_(options.allowed_values()),
        rows_(rows),
        cols_(rows),
        shape_(packed_shape(options, rows_, cols_)) {
    if (shape_.sort_window > 1) throw InvalidArgument("rows that are not stored are not sorted");
    if (options.allowed.runs) {
      RowBlock<V, I> row_alone{.needs_values = false};
      run_length_ = run_length_of(rows_, [&](Offset row) {
        read({static_cast<I>(row), static_cast<I>(row + 1)}, row_alone);
        return std::span<const I>(row_alone.columns);
      });
    }
    choose_all();
  }
  // With the columns of another matrix of the same pattern.
  Builder(const Csr<V, I>& matrix, const PackedSell& other)
      : matrix_(matrix),
        options_{.slice_height = other.slice_height_,
                 .sort_window = other.sort_window_,
                 .allowed = other.allowed_,
                 .values = other.allowed_values_},
        allowed_values_(other.allowed_values_),
        run_length_(other.run_length_),
        rows_(matrix.rows()),
        cols_(matrix.cols()),
        shape_(packed_shape(options_, rows_, cols_)),
        row_of_slot_(other.row_of_slot_) {
    lay_out([&](SliceEncoder<V, I>& encoder, Offset slice) {
      const auto number = static_cast<I>(slice);
      return encoder.choose_values(slice, other.encoding(number), other.width(number));
    });
  }

  Forecast forecast() const {
    Forecast forecast{footprint(), {}, {}};
    for (const SliceChoice<V>& slice : layout_.slices) {
      ++forecast.encoding_counts[static_cast<std::size_t>(slice.encoding)];
      ++forecast.value_encoding_counts[static_cast<std::size_t>(slice.values.encoding)];
    }
    return forecast;
  }

  PackedSell build() && {
    require_fill(footprint(), options_.max_fill, "packed SELL");
    PackedSell packed;
    packed.rows_ = rows_;
    packed.cols_ = cols_;
    packed.nnz_ = matrix_.nnz();
    packed.slice_height_ = shape_.slice_height;
    packed.sort_window_ = shape_.sort_window;
    packed.run_length_ = run_length_;
    packed.allowed_ = options_.allowed;
    packed.allowed_values_ = allowed_values_;

    packed.value_block_bytes_ = layout_.value_block_bytes;
    packed.codes_.resize(layout_.code_bytes);
    packed.data_.resize(layout_.data_bytes());
    packed.presence_ = PresenceBits(layout_.entry_offsets.back(), matrix_.nnz());
    packed.encodings_.resize(layout_.slices.size());
    packed.value_encodings_.resize(layout_.slices.size());
    for_each_slice(
        true, [&](SliceEncoder<V, I>& encoder, Offset slice) { write(slice, encoder, packed); });
    packed.entry_offsets_ = std::move(layout_.entry_offsets);
    packed.code_offsets_ = std::move(layout_.code_offsets);
    packed.data_offsets_ = std::move(layout_.data_offsets);
    packed.row_of_slot_ = std::move(row_of_slot_);
    packed.table_ = std::move(table_);
    return packed;
  }

 private:
  void choose_all() {
    const auto choose = [](SliceEncoder<V, I>& encoder, Offset slice) {
      return encoder.choose(slice);
    };
    lay_out(choose);
    if (run_length_ == 1 || runs_save()) return;
    run_length_ = 1;
    // What has no runs is the same for any length of theirs.
    if (std::ranges::none_of(layout_.slices, &SliceChoice<V>::has_runs)) {
      for (SliceChoice<V>& slice : layout_.slices) slice.run = 1;
      return;
    }
    paying_values_ = allowed_values_;
    lay_out(choose);
  }

  template <class Choose>
  void lay_out(const Choose& choose) {
    const auto lay = [&] {
      layout_ = layout_of<V, I>(
          slices(), shape_.slice_height,
          [&](const auto& body) { for_each_slice(paying_values_.any(), body); }, choose);
    };
    if (allowed_values_.codes()) {
      table_ = ValueTable<V>(matrix_.values(), allowed_values_.most_codes);
      lay();
      const Offset saved = layout_.saved_by_codes(shape_.slice_height);
      if (saved > bytes_of<V>(table_.size())) return decline(lay);
      table_ = {};
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
    const Offset columns = layout_.code_bytes - layout_.value_block_bytes;
    return static_cast<double>(columns * (run_length_ - 1)) >
           kWorthwhile * static_cast<double>(layout_.bytes_with_full_values());
  }

  // Full values have the simpler kernels: what hardly saves anything is not worth others.
  template <class Lay>
  void decline(const Lay& lay) {
    constexpr double kWorthwhile = 0.95;
    if (!paying_values_.any() || layout_.value_block_bytes + table_.size() == 0) return;
    const Offset bytes = layout_.code_bytes + layout_.data_bytes() + bytes_of<V>(table_.size());
    if (static_cast<double>(bytes) <=
        kWorthwhile * static_cast<double>(layout_.bytes_with_full_values())) {
      return;
    }
    paying_values_ = AllowedValues::of(StoredValues::full);
    table_ = {};
    lay();
  }

  Offset slices() const { return ceil_div(rows_, shape_.slice_height); }

  SliceEncoder<V, I> make_encoder(std::span<const V> entries,
                                  const SlottedPattern<I>& slots) const {
    return SliceEncoder<V, I>(entries, slots, shape_.slice_height, run_length_, options_,
                              paying_values_, table_);
  }

  // body(encoder, slice), which may ask for values or not.
  template <class Body>
  void for_each_slice(bool with_values, const Body& body) const {
    if (read_ != nullptr) return for_each_slice_of_blocks(with_values, body);
    parallel_dynamic(slices(), 256, [&](Offset begin, Offset end) {
      auto encoder = make_encoder(matrix_.values(), {matrix_.pattern(), row_of_slot_});
      for (Offset slice = begin; slice < end; ++slice) body(encoder, slice);
    });
  }
  template <class Body>
  void for_each_slice_of_blocks(bool with_values, const Body& body) const {
    // Which stay in a cache, of rows that are not too long.
    constexpr Offset kBlockRows = 1024;
    const Offset height = shape_.slice_height;
    parallel_dynamic(slices(), kBlockRows / height, [&](Offset begin, Offset end) {
      RowBlock<V, I> block{.needs_values = with_values};
      (*read_)(
          {static_cast<I>(begin * height), static_cast<I>(std::min<Offset>(end * height, rows_))},
          block);
      auto encoder = make_encoder(block.values, {block.pattern(cols_), {}, begin * height});
      for (Offset slice = begin; slice < end; ++slice) body(encoder, slice);
    });
  }

  Footprint footprint() const {
    return footprint_from<V>(rows_, !row_of_slot_.empty(), std::ssize(layout_.slices),
                             layout_.entry_offsets.back(), matrix_.nnz(), layout_.code_bytes,
                             layout_.value_block_bytes, layout_.data_bytes(), table_.size());
  }

  void write(Offset slice, SliceEncoder<V, I>& encoder, PackedSell& packed) const {
    const SliceChoice<V>& choice = layout_.slices[slice];
    packed.encodings_[slice] = choice.encoding;
    packed.value_encodings_[slice] = choice.values.encoding;
    if (choice.width == 0) return;
    const bool own_block = !layout_.shares[slice];
    const bool mixed = choice.values.encoding == ValueEncoding::mixed;
    // Which column has which encoding, and which constant, is not kept.
    if (mixed || (own_block && choice.values.block_bytes > 0)) {
      encoder.choose_values(slice, choice.encoding, choice.width);
    }
    if (own_block) {
      encoder.write_block(slice, choice, packed.codes_.data() + layout_.code_offsets[slice]);
    }
    std::byte* data =
        layout_.shares_data[slice] ? nullptr : packed.data_.data() + layout_.data_offsets[slice];
    encoder.write_data(slice, choice, data, layout_.entry_offsets[slice], packed.presence_);
  }

  const Csr<V, I>& matrix_;
  const ReadRows<V, I>* read_ = nullptr;  // makes its rows; null: they are as they are
  PackedSellOptions options_;
  AllowedValues allowed_values_;
  AllowedValues paying_values_ = allowed_values_;  // those of them that save something
  Offset run_length_ = 1;
  I rows_;
  I cols_;
  SliceShape<I> shape_;
  Array<I> row_of_slot_;
  ValueTable<V> table_;
  Layout<V> layout_;
};

template <Value V, Index I>
typename PackedSell<V, I>::Forecast PackedSell<V, I>::forecast(const Csr<V, I>& matrix,
                                                               const PackedSellOptions& options) {
  return Builder(matrix, options).forecast();
}

template <Value V, Index I>
PackedSell<V, I> PackedSell<V, I>::from_csr(const Csr<V, I>& matrix,
                                            const PackedSellOptions& options) {
  return Builder(matrix, options).build();
}

template <Value V, Index I>
PackedSell<V, I> PackedSell<V, I>::from_rows(const Csr<V, I>& matrix, I rows, ReadRows<V, I> read,
                                             const PackedSellOptions& options) {
  return Builder(matrix, rows, read, options).build();
}

template <Value V, Index I>
void PackedSell<V, I>::assign_values(const Csr<V, I>& matrix) {
  require_same_shape(*this, matrix);
  // Nothing is written before all rows are known to be the same.
  require_columns<I>({rows_, slice_height_, run_length_, entry_offsets_, code_offsets_, encodings_,
                      codes_, row_of_slot_, presence_},
                     matrix.pattern());
  *this = Builder(matrix, *this).build();
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
std::array<I, kSliceEncodings.size()> PackedSell<V, I>::encoding_counts() const {
  return count_encodings<I>(std::span<const SliceEncoding>(encodings_), kSliceEncodings);
}

template <Value V, Index I>
std::array<I, kValueEncodings.size()> PackedSell<V, I>::value_encoding_counts() const {
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
Footprint PackedSell<V, I>::footprint() const {
  return footprint_from<V>(rows_, sorted(), slices(), entry_offsets_.back(), nnz_,
                           std::ssize(codes_), value_block_bytes_, data_offsets_.back(),
                           table_.size());
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

#define STRATA_INSTANTIATE(V, I) template class PackedSell<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
