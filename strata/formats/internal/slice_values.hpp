// ValueAnalysis: the cheapest encoding of the values of a slice (value_encoding.hpp), and writing
// it. Goes through a slice a few columns at a time, so that one full row takes no memory of its
// own.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/internal/row_examples.hpp"
#include "strata/formats/internal/slices.hpp"
#include "strata/formats/internal/value_counter.hpp"
#include "strata/formats/presence.hpp"
#include "strata/formats/value_encoding.hpp"

namespace strata {

// Where the entries of a slice's rows go: each to the column of its offset from the diagonal, or
// from the left on.
struct SliceArrangement {
  Offset first_slot;
  Offset height;
  Offset width;
  std::span<const std::int32_t> offsets;  // empty for the latter
};

template <Value V>
struct ValueChoice {
  ValueEncoding encoding = ValueEncoding::full;
  MixedHeader mixed;
  Offset block_bytes = 0;
  Offset data_bytes = 0;  // up to where the next slice's may begin

  // How long a product takes, in bytes from memory. So many entries, holes and padding included,
  // take time even where they have no bytes: about as long as some eighths of a value each, by the
  // figures of an H200 (4.5 TB/s, and 3 to 1.3 Tflop/s in double precision). Several full columns
  // among constants are told apart one by one, which takes a quarter of a value besides their
  // bytes.
  Offset cost(const SliceArrangement& slice) const {
    const bool coded = mixed.dict8 + mixed.dict16 > 0;
    Offset eighths = 0;
    Offset besides = 0;
    switch (encoding) {
      case ValueEncoding::constant:
      case ValueEncoding::masked: eighths = 3; break;
      case ValueEncoding::dict8: eighths = 5; break;
      case ValueEncoding::dict16: eighths = 6; break;
      case ValueEncoding::mixed:
        eighths = is_dict8_but_one(mixed, slice.width) ? 5 : coded ? 7 : 4;
        besides = !coded && mixed.full > 1 ? 2 : 0;
        break;
      case ValueEncoding::full: break;
    }
    const auto bytes_of = [&](Offset each) {
      return each * slice.width * slice.height * Offset{sizeof(V)} / 8;
    };
    return std::max(block_bytes + data_bytes + bytes_of(besides), bytes_of(eighths));
  }
};

template <Value V, Index I>
class ValueAnalysis {
 public:
  // `entries`: the values of the pattern's entries.
  ValueAnalysis(std::span<const V> entries, const SlottedPattern<I>& slots,
                const AllowedValues& allowed, const ValueTable<V>& table)
      : entries_(entries), slots_(slots), allowed_(allowed), table_(table) {
    zero_code_ = table.code_of(V{});
  }

  ValueChoice<V> choose(const SliceArrangement& slice) {
    if (!allowed_.any()) return choice_of(ValueEncoding::full, slice, {});
    columns_.assign(static_cast<std::size_t>(slice.width), Column{});
    counts_ = {};
    ValueEncoding widest_code = ValueEncoding::dict8;
    bool all_constant = allowed_.constant;
    bool masked = false;
    for_each_column(slice, [&](Offset entry, std::uint32_t mask, const V* values) {
      Column& column = columns_[entry];
      column = analyse(values, mask, slice.height);
      widest_code = std::max(widest_code, column.code);
      all_constant &= is_constant(column.best);
      masked |= column.best == ValueEncoding::masked;
      next_number(counts_, column.best);
    });
    if (all_constant) {
      return choice_of(masked ? ValueEncoding::masked : ValueEncoding::constant, slice, {});
    }
    ValueChoice<V> best = choice_of(ValueEncoding::full, slice, {});
    const auto consider = [&](const ValueChoice<V>& choice) {
      if (choice.cost(slice) < best.cost(slice)) best = choice;
    };
    consider(choice_of(widest_code, slice, {}));
    consider(choice_of(ValueEncoding::mixed, slice, counts_));
    const auto coded_by = [&](ValueEncoding code) {
      return std::ranges::count(columns_, code, &Column::code);
    };
    if (coded_by(ValueEncoding::full) == 1 && coded_by(ValueEncoding::dict8) == slice.width - 1) {
      consider(choice_of(ValueEncoding::mixed, slice, dict8_but_one(slice.width)));
    }
    return best;
  }

  // Whether a slice has to be given to choose() again before it is written in an encoding that was
  // chosen before: which column has which encoding, and which constant, is not kept.
  static constexpr bool must_choose(ValueEncoding encoding, bool with_block) {
    return encoding == ValueEncoding::mixed || (with_block && is_constant(encoding));
  }
  // In this encoding; the header of a mixed slice.
  ValueChoice<V> choice_of(ValueEncoding encoding, const SliceArrangement& slice,
                           const MixedHeader& mixed) const {
    constexpr Offset kSize = sizeof(V);
    const Offset alignment = data_alignment(slice.height, kSize);
    const Offset data = value_data_bytes(encoding, slice.height, slice.width, kSize, mixed);
    return {encoding, mixed, value_block_bytes(encoding, slice.width, kSize, mixed),
            ceil_div<Offset>(data, alignment) * alignment};
  }

  // Whether the slice has no holes and no padding, and its rows follow one another.
  bool is_whole(Offset first_slot, Offset height, Offset width) const {
    return slots_.uniform_length(first_slot, height) == width;
  }

  // The value block of the slice that was last given to choose().
  void write_block(const ValueChoice<V>& choice, std::byte* block) const {
    if (choice.block_bytes == 0) return;
    std::memset(block, 0, static_cast<std::size_t>(choice.block_bytes));
    const auto width = static_cast<Offset>(columns_.size());
    const bool mixed = choice.encoding == ValueEncoding::mixed;
    std::byte* constants =
        mixed ? block + mixed_constants_begin(width, choice.mixed.constants) : block;
    std::byte* masks =
        mixed ? block + sizeof(MixedHeader) + 4 * width : block + width * Offset{sizeof(V)};
    if (mixed) put(block, 0, choice.mixed);
    MixedHeader numbers;
    for (Offset entry = 0; entry < width; ++entry) {
      const Column& column = columns_[entry];
      const NumberedColumn place = numbered(choice, entry, numbers);
      const std::uint32_t number = place.number;
      if (mixed) put(block + sizeof(MixedHeader), entry, mixed_column(place.encoding, number));
      if (!is_constant(place.encoding)) continue;
      put(constants, number, column.constant);
      if (choice.encoding != ValueEncoding::constant) put(masks, number, column.mask);
    }
  }

  // The value data of a slice, of a mixed one the last that was given to choose(), and which of its
  // positions are entries; either may be null.
  void write_data(const SliceArrangement& slice, const ValueChoice<V>& choice, std::byte* data,
                  SlicePresence* presence) {
    const bool full = choice.encoding == ValueEncoding::full;
    if (full && is_whole(slice.first_slot, slice.height, slice.width)) {
      if (presence != nullptr) presence->set_all(slice.width * slice.height);
      if (data != nullptr) write_all(slice, choice, data);
      return;
    }
    // Codes are put into words that have to be 0; columns of full values are written as a whole.
    if (data != nullptr) {
      const Offset written = full ? bytes_of_all(slice) : 0;
      std::memset(data + written, 0, static_cast<std::size_t>(choice.data_bytes - written));
    }
    MixedHeader numbers;
    for_each_column(slice, [&](Offset entry, std::uint32_t mask, const V* values) {
      if (presence != nullptr) presence->set_bits(entry * slice.height, mask);
      if (data == nullptr || is_constant(choice.encoding)) return;
      const NumberedColumn place = numbered(choice, entry, numbers);
      if (is_constant(place.encoding)) return;
      write_column(place.encoding, place.number, slice.height, values,
                   data + mixed_data_begin<V>(place.encoding, slice.height, choice.mixed));
    });
  }

 private:
  static constexpr Offset kChunk = 32;  // columns at a time

  struct Column {
    ValueEncoding best = ValueEncoding::full;
    ValueEncoding code = ValueEncoding::full;  // dict8, dict16, or full if it cannot be coded
    std::uint32_t mask = 0;                    // the lanes with an entry
    V constant{};                              // the value of the first of them
  };

  static constexpr bool is_constant(ValueEncoding encoding) {
    return encoding == ValueEncoding::constant || encoding == ValueEncoding::masked;
  }

  template <class T>
  static void put(std::byte* to, Offset element, const T& number) {
    std::memcpy(to + element * Offset{sizeof(T)}, &number, sizeof number);
  }

  // How a column is stored, and its number among those that are stored likewise, which are counted.
  struct NumberedColumn {
    ValueEncoding encoding;
    std::uint32_t number;
  };
  NumberedColumn numbered(const ValueChoice<V>& choice, Offset entry, MixedHeader& counted) const {
    const auto own = static_cast<std::uint32_t>(entry);
    const bool mixed = choice.encoding == ValueEncoding::mixed;
    if (!mixed && !is_constant(choice.encoding)) return {choice.encoding, own};
    const Column& column = columns_[entry];
    if (!mixed) return {column.best, own};
    if (is_dict8_but_one(choice.mixed, std::ssize(columns_))) {
      return {column.code, column.code == ValueEncoding::full ? 0 : own};
    }
    return {column.best, next_number(counted, column.best)};
  }

  // The number of the next column with this encoding, which is counted.
  static std::uint32_t next_number(MixedHeader& numbers, ValueEncoding encoding) {
    switch (encoding) {
      case ValueEncoding::dict8: return numbers.dict8++;
      case ValueEncoding::dict16: return numbers.dict16++;
      case ValueEncoding::full: return numbers.full++;
      default: return numbers.constants++;
    }
  }

  Column analyse(const V* values, std::uint32_t mask, Offset height) const {
    const bool holes = std::popcount(mask) != height;
    const int first_lane = std::countr_zero(mask);
    const auto first = bits_of(values[first_lane]);
    bool constant = true;
    for (Offset lane = 0; lane < height && constant; ++lane) {
      constant = (mask >> lane & 1) == 0 || bits_of(values[lane]) == first;
    }
    Column column{.mask = mask, .constant = values[first_lane]};
    column.code =
        code_encoding(values, constant ? first_lane : 0, constant ? first_lane + 1 : height, holes);
    column.best = column.code;
    if (constant && allowed_.constant) {
      column.best = holes ? ValueEncoding::masked : ValueEncoding::constant;
    }
    return column;
  }

  // Which codes the lanes [begin, end) and, if there are any, the holes need.
  ValueEncoding code_encoding(const V* values, Offset begin, Offset end, bool holes) const {
    if (!allowed_.codes()) return ValueEncoding::full;
    std::int32_t largest = holes ? zero_code_ : 0;
    for (Offset lane = begin; lane < end; ++lane) {
      const std::int32_t code = table_.code_of(values[lane]);
      if (code < 0) return ValueEncoding::full;
      largest = std::max(largest, code);
    }
    if (largest <= 0xff && allowed_.dict8) return ValueEncoding::dict8;
    return allowed_.dict16 ? ValueEncoding::dict16 : ValueEncoding::full;
  }

  void write_column(ValueEncoding encoding, Offset number, Offset height, const V* values,
                    std::byte* data) const {
    if (encoding == ValueEncoding::full) {
      const std::size_t bytes = static_cast<std::size_t>(height) * sizeof(V);
      std::memcpy(data + number * static_cast<Offset>(bytes), values, bytes);
      return;
    }
    const Offset per_word = encoding == ValueEncoding::dict8 ? 4 : 2;
    const Offset bits = 32 / per_word;
    for (Offset lane = 0; lane < height; ++lane) {
      std::byte* place = data + (number / per_word * height + lane) * 4;
      const auto word = number_at<std::uint32_t>(place, 0) |
                        static_cast<std::uint32_t>(table_.code_of(values[lane]))
                            << (number % per_word * bits);
      std::memcpy(place, &word, sizeof word);
    }
  }

  static Offset bytes_of_all(const SliceArrangement& slice) {
    return slice.width * slice.height * Offset{sizeof(V)};
  }

  // The full values of a slice without holes, whose rows follow one another.
  void write_all(const SliceArrangement& slice, const ValueChoice<V>& choice,
                 std::byte* data) const {
    const V* source = entries_.data() + slots_.source(slice.first_slot);
    for (Offset entry = 0; entry < slice.width; ++entry) {
      for (Offset lane = 0; lane < slice.height; ++lane) {
        put(data, entry * slice.height + lane, source[lane * slice.width + entry]);
      }
    }
    const Offset written = bytes_of_all(slice);
    std::memset(data + written, 0, static_cast<std::size_t>(choice.data_bytes - written));
  }

  // visit(entry, mask, values) for each column: which lanes have an entry there, and all values,
  // those of the others 0.
  template <class Visit>
  void for_each_column(const SliceArrangement& slice, const Visit& visit) {
    next_.fill(0);
    examples_.clear();
    for (Offset first = 0; first < slice.width; first += kChunk) {
      const Offset columns = std::min(kChunk, slice.width - first);
      std::array<std::uint32_t, kChunk> masks{};
      std::fill_n(values_.begin(), columns * kTallest, V{});
      for (Offset lane = 0; lane < slice.height; ++lane) {
        take(slice, lane, first, columns, masks);
      }
      for (Offset column = 0; column < columns; ++column) {
        visit(first + column, masks[column], values_.data() + column * kTallest);
      }
    }
  }

  // The values of one lane in the columns [first, first + columns).
  void take(const SliceArrangement& slice, Offset lane, Offset first, Offset columns,
            std::array<std::uint32_t, kChunk>& masks) {
    const Offset slot = slice.first_slot + lane;
    const Offset length = slots_.length(slot);
    const V* source = entries_.data() + slots_.source(slot);
    Offset& next = next_[lane];
    const auto put_at = [&](Offset column) {
      values_[column * kTallest + lane] = source[next++];
      masks[column] |= std::uint32_t{1} << lane;
    };
    // Mostly nothing is missing: of a row with as many entries as the slice is wide, nowhere.
    if (slice.offsets.empty() || length == slice.width) {
      const Offset taken = std::min(columns, length - next);
      for (Offset column = 0; column < taken; ++column) put_at(column);
      return;
    }
    const std::vector<std::int32_t>& places = places_of(slice, slot);
    while (next < length && places[next] < first + columns) put_at(places[next] - first);
  }

  // Which of the offsets each entry of a row has.
  const std::vector<std::int32_t>& places_of(const SliceArrangement& slice, Offset slot) {
    const std::span<const I> columns = slots_.columns(slot);
    const int like = examples_.find(columns, slot);
    if (like >= 0) return places_[like];
    std::vector<std::int32_t>& places = places_[examples_.add(columns, slot)];
    places.clear();
    auto offset = slice.offsets.begin();
    for (const I column : columns) {
      while (*offset != column - slot) ++offset;
      places.push_back(static_cast<std::int32_t>(offset - slice.offsets.begin()));
    }
    return places;
  }

  static constexpr Offset kTallest = 32;  // C

  std::span<const V> entries_;
  SlottedPattern<I> slots_;
  AllowedValues allowed_;
  const ValueTable<V>& table_;
  std::int32_t zero_code_;
  std::vector<Column> columns_;
  MixedHeader counts_;
  std::array<Offset, kTallest> next_{};
  RowExamples<I> examples_;  // rows of the slice, and which offsets each has
  std::array<std::vector<std::int32_t>, RowExamples<I>::kMost> places_;
  std::array<V, kChunk * kTallest> values_{};
};

}  // namespace strata
