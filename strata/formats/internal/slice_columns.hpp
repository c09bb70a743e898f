// ColumnAnalysis: how the columns of a slice of packed SELL may be encoded (packed_sell.hpp), and
// writing them.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/internal/row_examples.hpp"
#include "strata/formats/internal/slices.hpp"
#include "strata/formats/packed_sell.hpp"

namespace strata {

// Whether a row comes in runs of so many columns, each one after another.
template <Index I>
bool consists_of_runs(std::span<const I> columns, Offset run) {
  if (std::ssize(columns) % run != 0) return false;
  for (std::size_t entry = 0; entry < columns.size(); entry += run) {
    if (columns[entry + run - 1] - columns[entry] != run - 1) return false;
  }
  return true;
}

// The length of runs that saves most indices, by some of the rows; 1 if less than half of those
// consist of runs. columns_of(row) are the columns of one of so many rows.
template <class ColumnsOf>
Offset run_length_of(Offset rows, const ColumnsOf& columns_of) {
  constexpr Offset kSample = 4096;
  const Offset step = std::max<Offset>(rows / kSample, 1);
  Offset sampled = 0;
  std::array<Offset, kLongestRun + 1> of_runs{};  // by their length
  for (Offset row = 0; row < rows; row += step) {
    const auto columns = columns_of(row);
    if (columns.empty()) continue;
    ++sampled;
    for (Offset run = 2; run <= kLongestRun; ++run) {
      of_runs[run] += consists_of_runs(columns, run) ? 1 : 0;
    }
  }
  Offset best = 1;
  double most = 0;
  for (Offset run = 2; run <= kLongestRun; ++run) {
    const double saved = static_cast<double>(of_runs[run]) * (1 - 1 / static_cast<double>(run));
    if (2 * of_runs[run] <= sampled || saved <= most) continue;
    most = saved;
    best = run;
  }
  return best;
}

// Keeps its scratch memory from slice to slice.
template <Index I>
class ColumnAnalysis {
 public:
  ColumnAnalysis(const SlottedPattern<I>& slots, I slice_height, std::size_t value_size,
                 Offset run_length, const PackedSellOptions& options)
      : slots_(slots),
        slice_height_(slice_height),
        run_(run_length),
        value_size_(static_cast<Offset>(value_size)),
        allowed_(options.allowed),
        groups_(options.groups) {}

  // The distinct offsets, increasing, of the slice if it may be `dia` and then takes no more bytes
  // than this, with values as they are; else nothing.
  std::span<const std::int32_t> diagonals(Offset first, Offset most_bytes) {
    if (!allowed_.dia || !find_offsets(first, most_bytes) || !holes_stay_in_groups(first)) {
      return {};
    }
    return offsets_;
  }
  // The same for a slice that is `dia`.
  std::span<const std::int32_t> diagonals_of(Offset first) {
    find_offsets(first, std::numeric_limits<Offset>::max());
    return offsets_;
  }

  Offset width(Offset first) const { return slots_.widest(first, slice_height_); }

  // The encoding with a delta for every column that reaches as far as the runs of the slice that
  // was last given to left_aligned().
  SliceEncoding without_runs() const {
    return spread_ <= 0xff ? SliceEncoding::delta8 : SliceEncoding::delta16;
  }

  // The smallest encoding whose rows start at the left. False if none is allowed.
  bool left_aligned(Offset first, Offset width, SliceEncoding& best) {
    const bool near = widest_spread(first, width);
    Offset least = std::numeric_limits<Offset>::max();
    const auto consider = [&](SliceEncoding encoding, bool fits) {
      const Offset bytes = code_bytes(encoding, slice_height_, width, run_);
      if (!fits || !allowed_.contain(encoding) || bytes >= least) return;
      best = encoding;
      least = bytes;
    };
    const bool runs = run_ > 1 && near && has_runs(first);
    consider(SliceEncoding::run8, runs && spread_ <= 0xff);
    consider(SliceEncoding::delta8, near && spread_ <= 0xff);
    consider(SliceEncoding::run16, runs && spread_ <= 0xffff);
    consider(SliceEncoding::delta16, near && spread_ <= 0xffff);
    consider(SliceEncoding::index32, true);
    return least < std::numeric_limits<Offset>::max();
  }

  // Writes the columns; of those whose rows start at the left, padding gets the smallest column of
  // its entry number, which is a delta of 0.
  void write(SliceEncoding encoding, Offset first, Offset width,
             std::span<const std::int32_t> offsets, std::byte* codes) {
    std::memset(codes, 0,
                static_cast<std::size_t>(code_bytes(encoding, slice_height_, width, run_)));
    switch (encoding) {
      case SliceEncoding::dia:
        for (Offset entry = 0; entry < width; ++entry) {
          store<std::int32_t>(codes, entry, offsets[entry]);
        }
        break;
      case SliceEncoding::run8: write_deltas<std::uint8_t>(first, width, run_, codes); break;
      case SliceEncoding::delta8: write_deltas<std::uint8_t>(first, width, 1, codes); break;
      case SliceEncoding::run16: write_deltas<std::uint16_t>(first, width, run_, codes); break;
      case SliceEncoding::delta16: write_deltas<std::uint16_t>(first, width, 1, codes); break;
      case SliceEncoding::index32:
        write_left_aligned<std::int32_t>(first, width, 1, codes, [](Offset) { return Offset{0}; });
        break;
    }
  }

 private:
  template <class T>
  static void store(std::byte* codes, Offset element, Offset value) {
    const auto narrowed = static_cast<T>(value);
    std::memcpy(codes + element * Offset{sizeof(T)}, &narrowed, sizeof(T));
  }

  // Of the first entry of every run of so many.
  template <class Delta>
  void write_deltas(Offset first, Offset width, Offset run, std::byte* codes) {
    widest_spread(first, width);
    for (Offset entry = 0; entry < width; entry += run) {
      store<std::int32_t>(codes, entry / run, lowest_[entry] - first);
    }
    write_left_aligned<Delta>(first, width, run, codes + delta_begin(slice_height_, width / run),
                              [&](Offset entry) { return Offset{lowest_[entry]}; });
  }

  template <class Code, class BaseOf>
  void write_left_aligned(Offset first, Offset width, Offset run, std::byte* codes,
                          const BaseOf& base_of) {
    if constexpr (sizeof(Code) == 4) widest_spread(first, width);
    for (Offset lane = 0; lane < slice_height_; ++lane) {
      const auto columns = slots_.columns(first + lane);
      const auto length = static_cast<Offset>(columns.size());
      for (Offset entry = 0; entry < width; entry += run) {
        const Offset column = entry < length ? columns[entry] : lowest_[entry];
        store<Code>(codes, entry / run * slice_height_ + lane, column - base_of(entry));
      }
    }
  }

  // Whether the rows of a slice consist of runs.
  bool has_runs(Offset first) const {
    for (Offset slot = first; slot < first + slice_height_; ++slot) {
      if (!consists_of_runs(slots_.columns(slot), run_)) return false;
    }
    return true;
  }

  // With values as they are.
  Offset slice_bytes(SliceEncoding encoding, Offset width) const {
    return width * slice_height_ * value_size_ + code_bytes(encoding, slice_height_, width, run_);
  }

  // False if the slice cannot be `dia`, or has so many distinct offsets that it would take more
  // bytes than this: stopping there keeps the work linear in the entries.
  bool find_offsets(Offset first, Offset limit) {
    if (offsets_of_ == first) return true;
    offsets_of_ = -1;
    offsets_.clear();
    examples_.clear();
    const Offset most = most_diagonals(limit);
    const Offset different = share_offsets(first) ? 1 : slice_height_;
    for (Offset slot = first; slot < first + different; ++slot) {
      const auto columns = slots_.columns(slot);
      if (columns.empty() || examples_.find(columns, slot) >= 0) continue;
      if (!stay_inside(first, columns, slot) || !add_offsets(columns, slot, most)) return false;
      examples_.add(columns, slot);
    }
    offsets_of_ = first;
    return true;
  }

  // How many distinct offsets a slice may have that takes no more bytes than this.
  Offset most_diagonals(Offset limit) const {
    constexpr Offset kMany = Offset{1} << 40;
    Offset most = std::min(limit / (slice_height_ * value_size_ + Offset{sizeof(std::int32_t)}),
                           kMany);  // without what aligns it
    while (most > 0 && slice_bytes(SliceEncoding::dia, most) > limit) --most;
    return most;
  }

  // Whether rows that follow one another have the same offsets, which most do and which is soon
  // found out; false of others, whatever they have.
  bool share_offsets(Offset first) const {
    const Offset length = slots_.uniform_length(first, slice_height_);
    if (length < 0) return false;
    const I* columns = slots_.columns(first).data();
    const auto entries = static_cast<std::size_t>(length * (slice_height_ - 1));
    return is_shifted<I>({columns, entries}, {columns + length, entries}, 1);
  }

  // Whether the offsets of a row lead to columns of the matrix from all rows of the slice.
  bool stay_inside(Offset first, std::span<const I> columns, Offset slot) const {
    const Offset lowest = columns.front() - slot;
    const Offset highest = columns.back() - slot;
    return first + lowest >= 0 && highest < slots_.pattern.cols - (first + slice_height_ - 1) &&
           std::in_range<std::int32_t>(lowest) && std::in_range<std::int32_t>(highest);
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

  // False if that makes them more than `most`.
  bool add_offsets(std::span<const I> columns, Offset slot, Offset most) {
    row_.resize(columns.size());
    for (std::size_t entry = 0; entry < columns.size(); ++entry) {
      row_[entry] = static_cast<std::int32_t>(columns[entry] - slot);
    }
    if (offsets_.empty()) {
      offsets_.swap(row_);
    } else {
      merged_.resize(offsets_.size() + row_.size());
      const auto end = std::set_union(offsets_.begin(), offsets_.end(), row_.begin(), row_.end(),
                                      merged_.begin());
      merged_.resize(end - merged_.begin());
      offsets_.swap(merged_);
    }
    return std::ssize(offsets_) <= most;
  }

  // The largest distance of two columns that share an entry number. False if a column is too far
  // from the slice to be told by its distance from it.
  bool widest_spread(Offset first, Offset width) {
    if (std::exchange(spread_of_, first) == first) return near_;
    lowest_.assign(width, std::numeric_limits<I>::max());
    highest_.assign(width, 0);
    for (Offset slot = first; slot < first + slice_height_; ++slot) {
      const auto columns = slots_.columns(slot);
      for (std::size_t entry = 0; entry < columns.size(); ++entry) {
        lowest_[entry] = std::min(lowest_[entry], columns[entry]);
        highest_[entry] = std::max(highest_[entry], columns[entry]);
      }
    }
    spread_ = 0;
    near_ = true;
    for (Offset entry = 0; entry < width; ++entry) {
      spread_ = std::max<Offset>(spread_, highest_[entry] - lowest_[entry]);
      near_ &= std::in_range<std::int32_t>(lowest_[entry] - first);
    }
    return near_;
  }

  SlottedPattern<I> slots_;
  I slice_height_;
  Offset run_;
  Offset value_size_;
  AllowedEncodings allowed_;
  std::span<const Offset> groups_;
  std::vector<std::int32_t> offsets_;
  Offset offsets_of_ = -1;   // the slice that has exactly these, by its first row; −1: none
  RowExamples<I> examples_;  // rows of the slice whose offsets are among them
  std::vector<std::int32_t> row_;
  std::vector<std::int32_t> merged_;
  std::vector<I> lowest_;
  std::vector<I> highest_;
  Offset spread_of_ = -1;  // the slice that these three are of, by its first row; −1: none
  Offset spread_ = 0;
  bool near_ = true;
};

}  // namespace strata
