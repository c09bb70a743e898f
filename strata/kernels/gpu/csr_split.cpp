#include "strata/kernels/gpu/csr_split.hpp"

#include <algorithm>

#include "strata/base/checked.hpp"

namespace strata::gpu {

namespace {

// Part of a sorted list that has the rows, by the first row of its elements.
template <class Element>
std::int32_t first_from(std::span<const Element> list, std::int32_t row, auto row_of) {
  return static_cast<std::int32_t>(std::ranges::lower_bound(list, row, {}, row_of) - list.begin());
}

class Splitter {
 public:
  Splitter(std::span<const Offset> row_offsets, int warp_size)
      : offsets_(row_offsets),
        rows_(narrow<std::int32_t>(std::ssize(row_offsets) - 1, "the number of rows")),
        most_(products_of_part(warp_size)) {}

  CsrParts split() {
    for (std::int32_t row = 0; row < rows_;) {
      row = length(row) > most_ * kPiece ? add_pieces(row) : add_rows(row);
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
    for (Offset entry = offsets_[row]; entry < offsets_[row + 1]; entry += most_ * kPiece) {
      result_.parts.push_back({entry, row, partials_});
      partials_ = checked_add(partials_, 1, "the number of partial sums");
    }
    return row + 1;
  }

  // As many rows as fit, at least one. Returns the row after them.
  std::int32_t add_rows(std::int32_t first) {
    result_.parts.push_back({offsets_[first], first, -1});
    const Offset last = std::min<Offset>(rows_, Offset{first} + most_);
    std::int32_t row = first + 1;
    while (row < last && offsets_[row + 1] - offsets_[first] <= most_) ++row;
    return row;
  }

  std::span<const Offset> offsets_;
  std::int32_t rows_;
  Offset most_;
  CsrParts result_;
  std::int32_t partials_ = 0;
};

}  // namespace

CsrParts split_csr(std::span<const Offset> row_offsets, int warp_size) {
  return Splitter(row_offsets, warp_size).split();
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
