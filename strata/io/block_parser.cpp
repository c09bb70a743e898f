#include "strata/io/internal/block_parser.hpp"

#include <fmt/format.h>

#include <cstring>

#include "strata/base/instantiate.hpp"
#include "strata/io/internal/scan.hpp"

namespace strata::detail {

using Field = MatrixMarketHeader::Field;

namespace {

template <Value V>
struct RealOf {
  using Type = V;
};
template <class Real>
struct RealOf<std::complex<Real>> {
  using Type = Real;
};

}  // namespace

template <Value V, Index I>
BlockParser<V, I>::BlockParser(const MatrixMarketHeader& header)
    : header_(header),
      rows_(static_cast<I>(header.rows)),
      cols_(static_cast<I>(header.cols)),
      coordinates_(header.layout == MatrixMarketHeader::Layout::coordinate),
      vector_(header.object == MatrixMarketHeader::Object::vector) {}

template <Value V, Index I>
EntryBlock<V, I> BlockParser<V, I>::parse(std::span<const char> text) {
  // The shortest line with an entry is one digit and the newline.
  const std::size_t most_entries = text.size() / 2;
  if (values_.size() < most_entries) {
    row_indices_.resize(coordinates_ ? most_entries : 0);
    column_indices_.resize(coordinates_ ? most_entries : 0);
    values_.resize(most_entries);
  }
  count_ = 0;
  EntryBlock<V, I> block;
  try {
    parse_lines(text, block);
  } catch (const LineError& error) {
    block.error = error.what();
  }
  const Offset indices = coordinates_ ? count_ : 0;
  block.rows.assign(row_indices_.begin(), row_indices_.begin() + indices);
  block.columns.assign(column_indices_.begin(), column_indices_.begin() + indices);
  block.values.assign(values_.begin(), values_.begin() + count_);
  return block;
}

template <Value V, Index I>
void BlockParser<V, I>::parse_lines(std::span<const char> text, EntryBlock<V, I>& block) {
  const char* cursor = text.data();
  const char* const end = cursor + text.size();
  block.bytes = static_cast<Offset>(text.size());
  while (cursor < end) {
    ++block.lines;
    block.last_line = cursor - text.data();
    cursor = skip_blanks(cursor);
    if (*cursor == '\n') {
      ++cursor;
      skip_line(block);
    } else if (*cursor == '%') {
      const auto* newline = static_cast<const char*>(
          std::memchr(cursor, '\n', static_cast<std::size_t>(end - cursor)));
      require_no_nul({cursor, newline});
      cursor = newline + 1;
      skip_line(block);
    } else {
      cursor = parse_entry(cursor, end);
    }
  }
}

template <Value V, Index I>
void BlockParser<V, I>::skip_line(EntryBlock<V, I>& block) const {
  if (block.gaps.empty() || block.gaps.back().entries_before != count_) {
    block.gaps.push_back({count_, 0});
  }
  ++block.gaps.back().lines;
}

template <Value V, Index I>
const char* BlockParser<V, I>::parse_entry(const char* cursor, const char* end) {
  if (!coordinates_) {
    values_[count_] = parse_value(cursor, end);
    cursor = finish_line(cursor);
    ++count_;
    return cursor;
  }
  const I row = scan_index(cursor, rows_, "row");
  const I column = vector_ ? I{0} : scan_index(cursor, cols_, "column");
  const V value = parse_value(cursor, end);
  cursor = finish_line(cursor);
  if (header_.symmetry != Symmetry::general) require_symmetry(row, column, value);
  row_indices_[count_] = row;
  column_indices_[count_] = column;
  values_[count_] = value;
  ++count_;
  return cursor;
}

template <Value V, Index I>
V BlockParser<V, I>::parse_value(const char*& cursor, const char* end) const {
  using Real = typename RealOf<V>::Type;
  switch (header_.field) {
    case Field::real: return V(scan_real<Real>(cursor, end));
    case Field::integer: return V(static_cast<Real>(scan_integer<std::int64_t>(cursor)));
    case Field::unsigned_integer: return V(static_cast<Real>(scan_integer<std::uint64_t>(cursor)));
    case Field::pattern: return V{1};
    case Field::complex: break;
  }
  if constexpr (is_complex<V>) {
    const Real real = scan_real<Real>(cursor, end);
    const Real imaginary = scan_real<Real>(cursor, end);
    return V(real, imaginary);
  } else {
    throw InvalidMatrix("a complex matrix cannot be read as a real one");
  }
}

template <Value V, Index I>
void BlockParser<V, I>::require_symmetry(I row, I column, V value) const {
  if (column > row) {
    throw LineError(fmt::format("the entry ({}, {}) is above the diagonal of a {} matrix",
                                Offset{row} + 1, Offset{column} + 1, name_of(header_.symmetry)));
  }
  if (row == column && !fits_diagonal(value, header_.symmetry)) {
    throw LineError(fmt::format("the entry ({}, {}) on the diagonal of a {} matrix is not {}",
                                Offset{row} + 1, Offset{row} + 1, name_of(header_.symmetry),
                                header_.symmetry == Symmetry::hermitian ? "real" : "zero"));
  }
}

LineCounts count_lines(std::span<const char> text) {
  LineCounts counts;
  const char* cursor = text.data();
  for (const char* const end = cursor + text.size(); cursor < end; ++counts.lines) {
    cursor = skip_blanks(cursor);
    counts.entries += *cursor != '\n' && *cursor != '%';
    cursor = static_cast<const char*>(
                 std::memchr(cursor, '\n', static_cast<std::size_t>(end - cursor))) +
             1;
  }
  return counts;
}

#define STRATA_INSTANTIATE(V, I) template class BlockParser<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
