#include "strata/kernels/gpu/csr_split.hpp"

#include <algorithm>
#include <bit>

#include "strata/base/checked.hpp"
#include "strata/base/parallel.hpp"
#include "strata/kernels/gpu/arrivals.hpp"

namespace strata::gpu {

namespace {

// Part of a sorted list that has the rows, by the first row of its elements.
template <class Element>
std::int32_t first_from(std::span<const Element> list, std::int32_t row, auto row_of) {
  return static_cast<std::int32_t>(std::ranges::lower_bound(list, row, {}, row_of) - list.begin());
}

class Splitter {
 public:
  // Rows of more than whole_row · most_entries are cut.
  Splitter(std::span<const Offset> row_offsets, Offset most_entries, Offset most_rows,
           Offset whole_row)
      : offsets_(row_offsets),
        rows_(narrow<std::int32_t>(std::ssize(row_offsets) - 1, "the number of rows")),
        most_(most_entries),
        most_rows_(most_rows),
        longest_(most_entries * whole_row) {}

  // how_many(first, end) of the rows that fit into a part become one, and way_of(first, end) says
  // how it adds them up.
  CsrParts split(auto how_many, auto way_of) {
    for (std::int32_t row = 0; row < rows_;) {
      if (length(row) > longest_) {
        row = add_pieces(row);
      } else {
        const std::int32_t end = row + how_many(row, fitting(row));
        result_.parts.push_back({offsets_[row], row, way_of(row, end)});
        row = end;
      }
    }
    result_.parts.push_back({offsets_.back(), rows_, -1});
    result_.long_rows.push_back({rows_, partials_});
    narrow<std::int32_t>(std::ssize(result_.parts), "the number of parts");
    return std::move(result_);
  }

 private:
  Offset length(std::int32_t row) const { return offsets_[row + 1] - offsets_[row]; }

  std::int32_t add_pieces(std::int32_t row) {
    result_.long_rows.push_back({row, partials_});
    const Offset of_row = ceil_div(length(row), most_ * kPieces);
    const Offset of_matrix = offsets_.back() / (most_ * kPiecesOfMatrix);
    const Offset piece = most_ * std::clamp<Offset>(std::max(of_row, of_matrix), 1, kPiece);
    for (Offset entry = offsets_[row]; entry < offsets_[row + 1]; entry += piece) {
      result_.parts.push_back({entry, row, partials_});
      partials_ = checked_add(partials_, 1, "the number of partial sums");
    }
    return row + 1;
  }

  // The row after those that fit, at least one. Mostly they are as many as in the part before.
  std::int32_t fitting(std::int32_t first) {
    const auto last =
        static_cast<std::int32_t>(std::min<Offset>(rows_, Offset{first} + most_rows_));
    const Offset end = offsets_[first] + most_;
    auto row = static_cast<std::int32_t>(std::min<Offset>(Offset{first} + fitted_, last));
    if (offsets_[row] > end || (row < last && offsets_[row + 1] <= end)) {
      const auto later = offsets_.subspan(static_cast<std::size_t>(first) + 1,
                                          static_cast<std::size_t>(last - first));
      row = first + static_cast<std::int32_t>(std::ranges::upper_bound(later, end) - later.begin());
    }
    row = std::max(row, first + 1);
    fitted_ = row - first;
    return row;
  }

  std::span<const Offset> offsets_;
  std::int32_t rows_;
  Offset most_;
  Offset most_rows_;
  Offset longest_;
  CsrParts result_;
  std::int32_t partials_ = 0;
  std::int32_t fitted_ = 1;  // rows that fitted into the last part
};

// What pieces need to end their rows themselves, unless there are too many rows to count arrivals.
void list_pieces(CsrParts& split) {
  const auto count = static_cast<std::int32_t>(std::ssize(split.long_rows) - 1);
  if (count > kRowCounters) return;
  for (std::int32_t number = 0; number < count; ++number) {
    const std::int32_t first = split.long_rows[number].first_partial;
    const std::int32_t end = split.long_rows[number + 1].first_partial;
    for (std::int32_t k = first; k < end; ++k) split.pieces.push_back({number, first, end});
  }
}

// A power of two of rows keeps all threads of a block at work and its results on whole lines; it is
// taken where it leaves no more than a quarter of the entries to the next part. The last rows stay
// together.
std::int32_t rows_for_all_threads(std::span<const Offset> row_offsets, std::int32_t first,
                                  std::int32_t end) {
  const auto fitting = end - first;
  if (end + 1 == std::ssize(row_offsets)) return fitting;
  const auto power = static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(fitting)));
  const Offset of_power = row_offsets[first + power] - row_offsets[first];
  const Offset of_all = row_offsets[end] - row_offsets[first];
  return 4 * of_power >= 3 * of_all ? power : fitting;
}

// As many threads per row as there are for the part's rows, of one warp.
int log_threads_per_row(int threads, int warp_size, std::int32_t rows) {
  return std::countr_zero(std::bit_floor(
      static_cast<std::uint32_t>(std::min(std::max(threads / std::max(rows, 1), 1), warp_size))));
}

// The rows that a part can have without one of them keeping its threads far longer than the others:
// a long row among short ones has few threads there. The first row is always one of them.
constexpr Offset kMostSummed = 64;  // products of a row that one thread adds up

// No row of the matrix is longer than `most`, which mostly tells enough.
std::int32_t rows_of_bearable_length(std::span<const Offset> row_offsets, std::int32_t first,
                                     std::int32_t end, Offset most, const StreamShape& shape,
                                     int warp_size) {
  if (most >> log_threads_per_row(shape.threads, warp_size, end - first) <= kMostSummed) {
    return end - first;
  }
  Offset longest = row_offsets[first + 1] - row_offsets[first];
  for (std::int32_t row = first + 1; row < end; ++row) {
    longest = std::max(longest, row_offsets[row + 1] - row_offsets[row]);
    if (longest >> log_threads_per_row(shape.threads, warp_size, row + 1 - first) > kMostSummed) {
      return row - first;
    }
  }
  return end - first;
}

StreamWay way_of_rows(std::span<const Offset> row_offsets, std::int32_t first, std::int32_t end,
                      Offset most, const StreamShape& shape, StreamGather gather, int warp_size) {
  const int log_threads = log_threads_per_row(shape.threads, warp_size, end - first);
  if (gather != StreamGather::automatic) return {log_threads, gather == StreamGather::by_entries};
  // Rows that are alike leave a thread at most twice what it has read.
  const auto is_much = [&](Offset entries) {
    return entries >> log_threads > 2 * Offset{shape.entries_per_thread};
  };
  if (!is_much(most)) return {log_threads, false};
  Offset longest = 0;
  for (std::int32_t row = first; row < end; ++row) {
    longest = std::max(longest, row_offsets[row + 1] - row_offsets[row]);
  }
  return {log_threads, is_much(longest)};
}

}  // namespace

CsrParts split_csr(std::span<const Offset> row_offsets, int warp_size) {
  const Offset most = products_of_part(warp_size);
  return Splitter(row_offsets, most, most, kWholeRow)
      .split([](std::int32_t first, std::int32_t end) { return end - first; },
             [](std::int32_t, std::int32_t) { return -1; });
}

CsrParts split_csr_stream(std::span<const Offset> row_offsets, const StreamShape& shape,
                          StreamGather gather, int warp_size) {
  const Offset most = csr_rows(row_offsets).longest;
  const auto rows_of_part = [&](std::int32_t first, std::int32_t end) {
    const std::int32_t bearable =
        rows_of_bearable_length(row_offsets, first, end, most, shape, warp_size);
    return rows_for_all_threads(row_offsets, first, first + bearable);
  };
  const auto way_of = [&](std::int32_t first, std::int32_t end) {
    return way_of_rows(row_offsets, first, end, most, shape, gather, warp_size).code();
  };
  CsrParts split = Splitter(row_offsets, shape.entries(), shape.threads, kWholeStreamRow)
                       .split(rows_of_part, way_of);
  list_pieces(split);
  return split;
}

Array<std::uint16_t> stream_row_ends(std::span<const Offset> row_offsets, const CsrParts& split) {
  Array<std::uint16_t> ends(row_offsets.size() - 1);
  parallel_for(std::ssize(split.parts) - 1, [&](Offset number) {
    const CsrPart& part = split.parts[number];
    const CsrPart& next = split.parts[number + 1];
    // A row alone is read from its first to its last entry, and may be longer than 16 bits.
    const bool alone = next.first_row - part.first_row <= 1;
    for (std::int32_t row = part.first_row; row < next.first_row; ++row) {
      const Offset end = alone ? 0 : row_offsets[row + 1] - part.first_entry;
      ends[row] = static_cast<std::uint16_t>(end);
    }
  });
  return ends;
}

PartRange CsrParts::parts_of(RowRange<std::int32_t> rows) const {
  if (rows.begin >= rows.end) return {};
  const auto from = [&](std::int32_t row) {
    return first_from(std::span(std::as_const(parts)), row, &CsrPart::first_row);
  };
  std::int32_t begin = from(rows.begin);
  // The first row may be inside the part before.
  if (parts[begin].first_row > rows.begin) --begin;
  return {begin, from(rows.end)};
}

PartRange CsrParts::long_rows_of(RowRange<std::int32_t> rows) const {
  const auto from = [&](std::int32_t row) {
    return first_from(std::span(std::as_const(long_rows)), row, &LongRow::row);
  };
  return {from(rows.begin), from(rows.end)};
}

}  // namespace strata::gpu
