// SliceLayout: where the slices of packed SELL go, known before anything is stored. All of it is
// made by all threads: a large matrix has a million slices, which one thread takes longer to go
// through than all of them to look at every entry.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "strata/base/array.hpp"
#include "strata/base/parallel.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/internal/slice_encoder.hpp"
#include "strata/formats/packed_sell.hpp"

namespace strata {

// The first slice with each digest.
class FirstWithDigest {
 public:
  explicit FirstWithDigest(std::span<const Digest> digests) : digests_(digests), slots_(64, -1) {}

  Offset find(Offset slice) {
    const std::size_t at = place_of(slice);
    if (slots_[at] >= 0) return slots_[at];
    slots_[at] = slice;
    if (2 * ++count_ > slots_.size()) grow();
    return slice;
  }

 private:
  std::size_t place_of(Offset slice) const {
    std::size_t at = digests_[slice][0] & (slots_.size() - 1);
    while (slots_[at] >= 0 && digests_[slots_[at]] != digests_[slice]) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return at;
  }
  void grow() {
    const std::vector<Offset> before = std::exchange(slots_, {});
    slots_.assign(4 * before.size(), -1);
    for (const Offset slice : before) {
      if (slice >= 0) slots_[place_of(slice)] = slice;
    }
  }

  std::span<const Digest> digests_;
  std::vector<Offset> slots_;
  std::size_t count_ = 0;
};

// Which slices share what the first of them has.
class SharedParts {
 public:
  explicit SharedParts(Offset slices) : digests_(slices), may_(slices) {}

  // Every slice has to say that it may share something, or that it does not.
  void add(Offset slice, const Digest& digest) {
    digests_[slice] = digest;
    may_[slice] = 1;
  }
  void add_own(Offset slice) { may_[slice] = 0; }

  // Every thread owns some of the digests and goes through the whole list, in order: so the first
  // slice with a digest is the first for any number of threads.
  void find() {
    if (std::ranges::find(may_, 1) == may_.end()) return;
    const Offset slices = std::ssize(may_);
    const Offset owners = slices < kSerialBelow ? 1 : thread_count();
    first_.resize(slices);
    parallel_dynamic(owners, 1, [&](Offset begin, Offset end) {
      for (Offset owner = begin; owner < end; ++owner) find_of(owner, owners);
    });
  }
  Offset first_of(Offset slice) const { return is_shared(slice) ? first_[slice] : slice; }
  bool is_shared(Offset slice) const { return may_[slice] != 0 && first_[slice] != slice; }

 private:
  void find_of(Offset owner, Offset owners) {
    FirstWithDigest first_with(digests_);
    for (Offset slice = 0; slice < std::ssize(may_); ++slice) {
      if (may_[slice] == 0) continue;
      // A share of the upper 32 bits: dividing would take as long as all the rest.
      const auto upper = static_cast<Offset>(digests_[slice][1] >> 32);
      if ((upper * owners) >> 32 == owner) first_[slice] = first_with.find(slice);
    }
  }

  Array<Digest> digests_;
  Array<std::uint8_t> may_;
  Array<Offset> first_;  // of those that may
};

template <Value V>
struct SliceLayout {
  Array<SliceEncoding> encodings;
  Array<ValueEncoding> value_encodings;
  Array<Offset> entry_offsets;
  Array<Offset> code_offsets;
  Array<Offset> data_offsets;
  // The bytes of the code blocks, and of the value data, that belong to slices before this one:
  // what several share belongs to the first of them.
  Array<Offset> codes_before;
  Array<Offset> data_before;
  Offset value_block_bytes = 0;  // of the code blocks
  Offset saved_by_codes = 0;     // of the bytes of the values, without the table

  Offset code_bytes() const { return codes_before.back(); }
  Offset data_bytes() const { return data_before.back(); }
  bool has_own_codes(Offset slice) const { return codes_before[slice] < codes_before[slice + 1]; }
  bool has_own_data(Offset slice) const { return data_before[slice] < data_before[slice + 1]; }
  bool any_runs() const { return std::ranges::any_of(encodings, has_runs); }

  // What all would take with full values on the same columns.
  Offset bytes_with_full_values() const {
    return code_bytes() - value_block_bytes + entry_offsets.back() * Offset{sizeof(V)};
  }
};

// The sizes of the slices' parts become those of all parts before them; returned is where the parts
// begin: those of slices that share where those of the first do. Both with one behind the last.
inline Array<Offset> places_of_parts(Array<Offset>& sizes, const SharedParts& shared) {
  const Offset slices = std::ssize(sizes) - 1;
  parallel_for(slices, [&](Offset slice) {
    if (shared.is_shared(slice)) sizes[slice] = 0;
  });
  sizes.back() = 0;
  exclusive_scan(sizes);
  Array<Offset> places(sizes.size());
  parallel_for(slices, [&](Offset slice) { places[slice] = sizes[shared.first_of(slice)]; });
  places.back() = sizes.back();
  return places;
}

// choose(encoder, slice) says how a slice is stored; for_each_slice(body) calls body(encoder,
// slice).
template <Value V, Index I, class ForEachSlice, class Choose>
SliceLayout<V> layout_of(Offset slices, Offset height, const ForEachSlice& for_each_slice,
                         const Choose& choose) {
  SliceLayout<V> layout;
  layout.encodings.resize(slices);
  layout.value_encodings.resize(slices);
  layout.entry_offsets.resize(slices + 1);
  layout.codes_before.resize(slices + 1);
  layout.data_before.resize(slices + 1);
  Array<Offset> value_blocks(slices);
  Array<Offset> saved(slices);
  SharedParts codes(slices);
  SharedParts data(slices);
  const Offset alignment = code_alignment(height);
  for_each_slice([&](SliceEncoder<V, I>& encoder, Offset slice) {
    const SliceChoice<V> choice = choose(encoder, slice);
    layout.encodings[slice] = choice.encoding;
    layout.value_encodings[slice] = choice.values.encoding;
    layout.entry_offsets[slice] = choice.width * height;
    value_blocks[slice] = alignment * ceil_div<Offset>(choice.values.block_bytes, alignment);
    layout.codes_before[slice] = choice.columns_bytes(height) + value_blocks[slice];
    layout.data_before[slice] = choice.values.data_bytes;
    saved[slice] = choice.saved_by_codes(height);
    if (choice.may_be_shared(height)) {
      codes.add(slice, encoder.digest(slice, choice));
    } else {
      codes.add_own(slice);
    }
    if (choice.data_may_be_shared()) {
      data.add(slice, encoder.data_digest(slice, choice));
    } else {
      data.add_own(slice);
    }
  });
  layout.entry_offsets.back() = 0;
  exclusive_scan(layout.entry_offsets);
  codes.find();
  data.find();
  layout.code_offsets = places_of_parts(layout.codes_before, codes);
  layout.code_offsets.pop_back();
  layout.data_offsets = places_of_parts(layout.data_before, data);
  const auto sum_of = [&](const auto& of_slice) {
    return parallel_reduce(
        slices, Offset{0},
        [&](Offset begin, Offset end) {
          Offset sum = 0;
          for (Offset slice = begin; slice < end; ++slice) sum += of_slice(slice);
          return sum;
        },
        std::plus<>{});
  };
  layout.value_block_bytes =
      sum_of([&](Offset slice) { return codes.is_shared(slice) ? 0 : value_blocks[slice]; });
  layout.saved_by_codes = sum_of([&](Offset slice) { return saved[slice]; });
  return layout;
}

}  // namespace strata
