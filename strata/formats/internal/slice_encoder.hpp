// SliceEncoder: chooses how one slice of packed SELL after the other is stored, and writes it
// (packed_sell.hpp).
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/base/random.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/internal/slice_columns.hpp"
#include "strata/formats/internal/slice_values.hpp"
#include "strata/formats/internal/slices.hpp"
#include "strata/formats/packed_sell.hpp"
#include "strata/formats/presence.hpp"

namespace strata {

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
  // What codes save of the bytes of the values, without the table.
  Offset saved_by_codes(Offset height) const {
    const bool coded =
        values.encoding == ValueEncoding::dict8 || values.encoding == ValueEncoding::dict16 ||
        (values.encoding == ValueEncoding::mixed && values.mixed.dict8 + values.mixed.dict16 > 0);
    return coded ? width * height * Offset{sizeof(V)} - values.data_bytes : 0;
  }
};

// Two code blocks with the same digest are the same, but for a chance of 2^−128.
using Digest = std::array<std::uint64_t, 2>;

inline Digest digest_of(std::span<const std::byte> block, std::uint64_t kind) {
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
  // A choice that was made before, of which no more is left; of values that lie in the code block
  // only if that is to be written.
  SliceChoice<V> recall(Offset slice, SliceEncoding encoding, Offset width, ValueEncoding values,
                        bool with_block) {
    SliceChoice<V> choice{encoding, width, run_, {}};
    const Offset first = slice * height_;
    choice.values = ValueAnalysis<V, I>::must_choose(values, with_block)
                        ? values_.choose(arrangement(first, choice))
                        : values_.choice_of(values, {first, height_, width, {}}, {});
    return choice;
  }
  // The value data of the slice, of a mixed one the last that was chosen, unless they are null, and
  // which of the positions from `first` on are entries, unless nobody asks.
  void write_data(Offset slice, const SliceChoice<V>& choice, std::byte* data, Offset first,
                  PresenceBits* presence) {
    const Offset first_slot = slice * height_;
    // What has no holes is told without its columns.
    const bool whole = values_.is_whole(first_slot, height_, choice.width);
    const SliceArrangement arranged = whole
                                          ? SliceArrangement{first_slot, height_, choice.width, {}}
                                          : arrangement(first_slot, choice);
    if (presence == nullptr) {
      values_.write_data(arranged, choice.values, data, nullptr);
      return;
    }
    presence_.start(first, choice.width * height_);
    values_.write_data(arranged, choice.values, data, &presence_);
    presence_.finish(*presence);
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

}  // namespace strata
