#include "strata/formats/packed_sell.hpp"

#include <fmt/format.h>

#include <cstring>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/internal/collect.hpp"
#include "strata/formats/internal/slices.hpp"

namespace strata {

namespace {

template <class T>
void store(std::byte* codes, Offset element, Offset value) {
  const auto narrowed = static_cast<T>(value);
  std::memcpy(codes + element * Offset{sizeof(T)}, &narrowed, sizeof(T));
}

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

// Finds the best encoding of a slice. Keeps its scratch memory from slice to slice.
template <Index I>
class SliceAnalysis {
 public:
  SliceAnalysis(const SlottedPattern<I>& slots, I slice_height, std::size_t value_size,
                const PackedSellOptions& options)
      : slots_(slots),
        slice_height_(slice_height),
        value_size_(static_cast<Offset>(value_size)),
        allowed_(options.allowed),
        groups_(options.groups) {}

  struct Choice {
    SliceEncoding encoding = SliceEncoding::index32;
    Offset width = 0;
    Offset bytes = std::numeric_limits<Offset>::max();
  };

  Choice choose(Offset slice) {
    const Offset first = slice * slice_height_;
    const Offset width = slots_.widest(first, slice_height_);
    Choice best;
    const auto consider = [&](SliceEncoding encoding, Offset encoded_width) {
      const Offset bytes = slice_bytes(encoding, encoded_width);
      if (allowed_.contain(encoding) && bytes < best.bytes) best = {encoding, encoded_width, bytes};
    };
    if (allowed_.dia && find_offsets(first, width) && holes_stay_in_groups(first)) {
      consider(SliceEncoding::dia, static_cast<Offset>(offsets_.size()));
    }
    const I spread = widest_spread(first, width);
    if (spread <= 0xff) consider(SliceEncoding::delta8, width);
    if (spread <= 0xffff) consider(SliceEncoding::delta16, width);
    consider(SliceEncoding::index32, width);
    if (best.bytes == std::numeric_limits<Offset>::max()) {
      throw InvalidArgument(fmt::format("slice {}: no allowed encoding fits", slice));
    }
    return best;
  }

  // The distinct offsets of a slice that choose() made `dia`, increasing.
  std::span<const std::int32_t> offsets_of(Offset first_slot) {
    find_offsets(first_slot, slots_.widest(first_slot, slice_height_));
    return offsets_;
  }

 private:
  Offset slice_bytes(SliceEncoding encoding, Offset width) const {
    return width * slice_height_ * value_size_ + code_bytes(encoding, slice_height_, width);
  }

  // False if the slice cannot be `dia`, or has so many distinct offsets that index32 is cheaper:
  // stopping there keeps the work linear in the entries.
  bool find_offsets(Offset first, Offset width) {
    const Offset limit = allowed_.index32 ? slice_bytes(SliceEncoding::index32, width)
                                          : std::numeric_limits<Offset>::max();
    offsets_.clear();
    for (Offset slot = first; slot < first + slice_height_; ++slot) {
      const auto columns = slots_.columns(slot);
      if (columns.empty()) continue;
      const Offset lowest = columns.front() - slot;
      const Offset highest = columns.back() - slot;
      const bool inside =
          first + lowest >= 0 && first + slice_height_ - 1 + highest < slots_.pattern.cols;
      if (!inside || !std::in_range<std::int32_t>(lowest)) return false;
      add_offsets(columns, slot);
      if (slice_bytes(SliceEncoding::dia, static_cast<Offset>(offsets_.size())) > limit) {
        return false;
      }
    }
    return true;
  }

  // Every offset has an entry, so that only those whose columns are in several groups may have
  // holes that lead elsewhere.
  bool holes_stay_in_groups(Offset first) const {
    if (groups_.empty()) return true;
    for (const std::int32_t offset : offsets_) {
      auto group = std::prev(std::ranges::upper_bound(groups_, first + offset));
      if (first + offset + slice_height_ <= *std::next(group)) continue;
      for (; *group < first + offset + slice_height_; ++group) {
        if (*group < *std::next(group) && !lead_to(first, *group, *std::next(group))) return false;
      }
    }
    return true;
  }

  // Whether an entry of the slice is in the columns [begin, end).
  bool lead_to(Offset first, Offset begin, Offset end) const {
    for (Offset slot = first; slot < first + slice_height_; ++slot) {
      const auto columns = slots_.columns(slot);
      const auto column = std::ranges::lower_bound(columns, static_cast<I>(begin));
      if (column != columns.end() && *column < end) return true;
    }
    return false;
  }

  // Neighbouring rows mostly have the same offsets, so that there is nothing to merge.
  void add_offsets(std::span<const I> columns, Offset slot) {
    row_.clear();
    for (const I column : columns) row_.push_back(static_cast<std::int32_t>(column - slot));
    if (std::ranges::includes(offsets_, row_)) return;
    merged_.clear();
    std::ranges::set_union(offsets_, row_, std::back_inserter(merged_));
    offsets_.swap(merged_);
  }

  // The largest distance of two columns that share an entry number.
  I widest_spread(Offset first, Offset width) {
    lowest_.assign(width, std::numeric_limits<I>::max());
    highest_.assign(width, 0);
    for (Offset slot = first; slot < first + slice_height_; ++slot) {
      const auto columns = slots_.columns(slot);
      for (std::size_t entry = 0; entry < columns.size(); ++entry) {
        lowest_[entry] = std::min(lowest_[entry], columns[entry]);
        highest_[entry] = std::max(highest_[entry], columns[entry]);
      }
    }
    I spread = 0;
    for (Offset entry = 0; entry < width; ++entry) {
      spread = std::max<I>(spread, highest_[entry] - lowest_[entry]);
    }
    return spread;
  }

  SlottedPattern<I> slots_;
  I slice_height_;
  Offset value_size_;
  AllowedEncodings allowed_;
  std::span<const Offset> groups_;
  std::vector<std::int32_t> offsets_;
  std::vector<std::int32_t> row_;
  std::vector<std::int32_t> merged_;
  std::vector<I> lowest_;
  std::vector<I> highest_;
};

// The slices' descriptors, known before any value or code is stored.
struct Layout {
  Array<Offset> value_offsets;
  Array<Offset> code_offsets;
  Array<SliceEncoding> encodings;
};

template <Index I>
Layout layout_of(const SlottedPattern<I>& slots, I slice_height, std::size_t value_size,
                 const PackedSellOptions& options) {
  const Offset slices = ceil_div(slots.pattern.rows, slice_height);
  Layout layout{Array<Offset>(slices + 1), Array<Offset>(slices + 1), Array<SliceEncoding>(slices)};
  layout.value_offsets[slices] = 0;
  layout.code_offsets[slices] = 0;
  parallel_dynamic(slices, 256, [&](Offset begin, Offset end) {
    SliceAnalysis<I> analysis(slots, slice_height, value_size, options);
    for (Offset slice = begin; slice < end; ++slice) {
      const auto choice = analysis.choose(slice);
      layout.encodings[slice] = choice.encoding;
      layout.value_offsets[slice] = choice.width * slice_height;
      layout.code_offsets[slice] = code_bytes(choice.encoding, slice_height, choice.width);
    }
  });
  exclusive_scan(layout.value_offsets);
  exclusive_scan(layout.code_offsets);
  return layout;
}

template <Value V, Index I>
Footprint footprint_from(I rows, bool sorted, Offset slices, Offset stored, Offset codes,
                         Offset entries) {
  return {.value_bytes = bytes_of<V>(stored),
          .index_bytes = codes + bytes_of<Offset>(2 * (slices + 1)) +
                         bytes_of<SliceEncoding>(slices) + (sorted ? bytes_of<I>(rows) : 0),
          .stored_entries = stored,
          .entries = entries};
}

// Where one slice of the matrix goes. Slots are filled one by one: a slice fits into the fastest
// cache, so that its strided writes cost little.
template <Value V, Index I>
struct SliceTarget {
  const Csr<V, I>& matrix;
  const SlottedPattern<I>& slots;
  Offset first_slot;
  Offset height;
  Offset width;
  std::byte* codes;
  V* values;
  SlicePresence& presence;
};

// Whether no lane has padding: then entry j of every row is entry j of its slice.
template <Value V, Index I>
bool is_full(const SliceTarget<V, I>& target) {
  for (Offset lane = 0; lane < target.height; ++lane) {
    if (target.slots.length(target.first_slot + lane) != target.width) return false;
  }
  return true;
}

template <Value V, Index I>
void copy_full_slice(const SliceTarget<V, I>& target) {
  for (Offset lane = 0; lane < target.height; ++lane) {
    const V* source = target.matrix.values().data() + target.slots.source(target.first_slot + lane);
    for (Offset entry = 0; entry < target.width; ++entry) {
      target.values[entry * target.height + lane] = source[entry];
    }
  }
  target.presence.set_all(target.width * target.height);
}

template <Value V, Index I>
void fill_dia(const SliceTarget<V, I>& target, std::span<const std::int32_t> offsets) {
  for (Offset entry = 0; entry < target.width; ++entry) {
    store<std::int32_t>(target.codes, entry, offsets[entry]);
  }
  if (is_full(target)) {
    copy_full_slice(target);
    return;
  }
  for (Offset lane = 0; lane < target.height; ++lane) {
    const Offset slot = target.first_slot + lane;
    const auto columns = target.slots.columns(slot);
    const V* source = target.matrix.values().data() + target.slots.source(slot);
    std::size_t next = 0;
    for (Offset entry = 0; entry < target.width; ++entry) {
      const Offset place = entry * target.height + lane;
      const bool hole = next == columns.size() || columns[next] - slot != offsets[entry];
      target.values[place] = hole ? V{} : source[next];
      if (hole) continue;
      target.presence.set(place);
      ++next;
    }
  }
}

// The encodings whose rows start at the left. Padding gets the smallest column of its entry number,
// which is a delta of 0.
template <class Code, Value V, Index I>
void fill_left_aligned(const SliceTarget<V, I>& target, bool delta, std::vector<I>& lowest) {
  std::byte* codes = target.codes + (delta ? delta_begin(target.height, target.width) : 0);
  lowest.assign(target.width, std::numeric_limits<I>::max());
  for (Offset lane = 0; lane < target.height; ++lane) {
    const auto columns = target.slots.columns(target.first_slot + lane);
    for (std::size_t entry = 0; entry < columns.size(); ++entry) {
      lowest[entry] = std::min(lowest[entry], columns[entry]);
    }
  }
  for (Offset entry = 0; delta && entry < target.width; ++entry) {
    store<std::int32_t>(target.codes, entry, lowest[entry]);
  }
  for (Offset lane = 0; lane < target.height; ++lane) {
    const Offset slot = target.first_slot + lane;
    const auto columns = target.slots.columns(slot);
    const V* source = target.matrix.values().data() + target.slots.source(slot);
    const auto length = static_cast<Offset>(columns.size());
    for (Offset entry = 0; entry < target.width; ++entry) {
      const Offset place = entry * target.height + lane;
      const bool real = entry < length;
      const I column = real ? columns[entry] : lowest[entry];
      store<Code>(codes, place, delta ? column - lowest[entry] : column);
      target.values[place] = real ? source[entry] : V{};
      if (real) target.presence.set(place);
    }
  }
}

template <Value V, Index I>
void fill_slice(const SliceTarget<V, I>& target, SliceEncoding encoding, Offset code_size,
                SliceAnalysis<I>& analysis, std::vector<I>& lowest) {
  std::memset(target.codes, 0, static_cast<std::size_t>(code_size));
  switch (encoding) {
    case SliceEncoding::dia: fill_dia(target, analysis.offsets_of(target.first_slot)); break;
    case SliceEncoding::delta8: fill_left_aligned<std::uint8_t>(target, true, lowest); break;
    case SliceEncoding::delta16: fill_left_aligned<std::uint16_t>(target, true, lowest); break;
    case SliceEncoding::index32: fill_left_aligned<std::int32_t>(target, false, lowest); break;
  }
}

// What a packed matrix stores but its values.
template <Index I>
struct PackedPattern {
  I rows;
  Offset height;
  std::span<const Offset> value_offsets;
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
  const Offset begin = packed.value_offsets[slice];
  const Offset width = (packed.value_offsets[slice + 1] - begin) / packed.height;
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
          (packed.value_offsets[slice + 1] - packed.value_offsets[slice]) / packed.height;
      with_slice_columns(
          packed.encodings[slice], packed.codes.data() + packed.code_offsets[slice], first,
          packed.height, width, [&](const auto& column_of) {
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

template <Index I>
std::array<I, kSliceEncodings.size()> count_encodings(std::span<const SliceEncoding> encodings) {
  std::array<I, kSliceEncodings.size()> counts{};
  for (const SliceEncoding encoding : encodings) ++counts[static_cast<std::size_t>(encoding)];
  return counts;
}

}  // namespace

template <Value V, Index I>
typename PackedSell<V, I>::Forecast PackedSell<V, I>::forecast(const Csr<V, I>& matrix,
                                                               const PackedSellOptions& options) {
  const SliceShape<I> shape = packed_shape(options, matrix.rows(), matrix.cols());
  const Array<I> row_of_slot = sort_rows_by_length(matrix.pattern(), shape.sort_window);
  const Layout layout =
      layout_of<I>({matrix.pattern(), row_of_slot}, shape.slice_height, sizeof(V), options);
  return {footprint_from<V>(matrix.rows(), !row_of_slot.empty(), std::ssize(layout.encodings),
                            layout.value_offsets.back(), layout.code_offsets.back(), matrix.nnz()),
          count_encodings<I>(layout.encodings)};
}

template <Value V, Index I>
PackedSell<V, I> PackedSell<V, I>::from_csr(const Csr<V, I>& matrix,
                                            const PackedSellOptions& options) {
  const SliceShape<I> shape = packed_shape(options, matrix.rows(), matrix.cols());
  PackedSell packed;
  packed.rows_ = matrix.rows();
  packed.cols_ = matrix.cols();
  packed.nnz_ = matrix.nnz();
  packed.slice_height_ = shape.slice_height;
  packed.sort_window_ = shape.sort_window;
  packed.row_of_slot_ = sort_rows_by_length(matrix.pattern(), shape.sort_window);
  const SlottedPattern<I> slots{matrix.pattern(), packed.row_of_slot_};
  Layout layout = layout_of(slots, shape.slice_height, sizeof(V), options);
  packed.value_offsets_ = std::move(layout.value_offsets);
  packed.code_offsets_ = std::move(layout.code_offsets);
  packed.encodings_ = std::move(layout.encodings);
  require_fill(packed.footprint(), options.max_fill, "packed SELL");

  const Offset stored = packed.value_offsets_.back();
  packed.codes_.resize(packed.code_offsets_.back());
  packed.values_.resize(stored);
  packed.presence_ = PresenceBits(stored, matrix.nnz());
  parallel_dynamic(packed.slices(), 256, [&](Offset begin, Offset end) {
    SliceAnalysis<I> analysis(slots, shape.slice_height, sizeof(V), options);
    SlicePresence presence;
    std::vector<I> lowest;
    for (Offset slice = begin; slice < end; ++slice) {
      const Offset width = packed.width(static_cast<I>(slice));
      if (width == 0) continue;
      const Offset first_value = packed.value_offsets_[slice];
      presence.start(first_value, width * shape.slice_height);
      const SliceTarget<V, I> target{matrix,
                                     slots,
                                     slice * shape.slice_height,
                                     shape.slice_height,
                                     width,
                                     packed.codes_.data() + packed.code_offsets_[slice],
                                     packed.values_.data() + first_value,
                                     presence};
      fill_slice(target, packed.encodings_[slice],
                 packed.code_offsets_[slice + 1] - packed.code_offsets_[slice], analysis, lowest);
      presence.finish(packed.presence_);
    }
  });
  return packed;
}

template <Value V, Index I>
void PackedSell<V, I>::assign_values(const Csr<V, I>& matrix) {
  require_same_shape(*this, matrix);
  // Nothing is written before all rows are known to be the same.
  require_columns<I>({rows_, slice_height_, value_offsets_, code_offsets_, encodings_, codes_,
                      row_of_slot_, presence_},
                     matrix.pattern());
  parallel_dynamic(slices(), 64, [&](Offset begin, Offset end) {
    const Offset last = std::min<Offset>(end * slice_height_, rows_);
    for (Offset slot = begin * slice_height_; slot < last; ++slot) {
      const Offset width = this->width(static_cast<I>(slot / slice_height_));
      const V* value = matrix.values().data() + matrix.row_offsets()[row_at(static_cast<I>(slot))];
      for (Offset entry = 0; entry < width; ++entry) {
        const Offset place = position(slot, entry);
        if (presence_.has(place)) values_[place] = *value++;
      }
    }
  });
}

template <Value V, Index I>
Csr<V, I> PackedSell<V, I>::to_csr() const {
  return collect_rows<V, I>(rows_, cols_, [&](I slot, RowEntries<V, I>& entries) {
    for (I entry = 0; entry < width(slot / slice_height_); ++entry) {
      const Offset k = position(slot, entry);
      if (presence_.has(k)) entries.add(column(slot, entry), values_[k]);
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
                     width(slice),
                     [&](const auto& column_of) { column = column_of(entry, slot - first); });
  return static_cast<I>(column);
}

template <Value V, Index I>
std::array<I, kSliceEncodings.size()> PackedSell<V, I>::encoding_counts() const {
  return count_encodings<I>(encodings_);
}

template <Value V, Index I>
Footprint PackedSell<V, I>::footprint() const {
  return footprint_from<V>(rows_, sorted(), slices(), value_offsets_.back(), code_offsets_.back(),
                           nnz_);
}

#define STRATA_INSTANTIATE(V, I) template class PackedSell<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
