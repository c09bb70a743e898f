#include "strata/plans/internal/stored_matrix.hpp"

#include <algorithm>
#include <limits>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"

namespace strata::detail {

namespace {

template <Value V, Index I>
Array<Offset> bytes_before_rows(const Csr<V, I>& matrix) {
  constexpr Offset kPerEntry = sizeof(V) + sizeof(I);
  Array<Offset> before(static_cast<std::size_t>(matrix.rows()) + 1);
  parallel_for(static_cast<Offset>(before.size()), [&](Offset row) {
    before[row] = matrix.row_offsets()[row] * kPerEntry + row * Offset{sizeof(Offset)};
  });
  return before;
}

// begin_of(slice) is where the slice's data begin.
template <class Sliced, class BeginOf>
Array<Offset> bytes_before_rows(const Sliced& matrix, const BeginOf& begin_of) {
  const Offset height = matrix.slice_height();
  Array<Offset> before(static_cast<std::size_t>(matrix.rows()) + 1);
  parallel_for(static_cast<Offset>(before.size()), [&](Offset row) {
    const Offset slice = row / height;
    const Offset begin = begin_of(slice);
    const Offset lane = row % height;
    before[row] = begin;
    if (lane != 0) before[row] += (begin_of(slice + 1) - begin) * lane / height;
  });
  // The last slice may be partly empty; all of it is read.
  before.back() = begin_of(matrix.slices());
  return before;
}
template <Value V, Index I>
Array<Offset> bytes_before_rows(const Sell<V, I>& matrix) {
  constexpr Offset kPerEntry = sizeof(V) + sizeof(I);
  return bytes_before_rows(matrix, [&](Offset slice) {
    return matrix.slice_offsets()[slice] * kPerEntry + slice * Offset{sizeof(Offset)};
  });
}
template <Value V, Index I>
Array<Offset> bytes_before_rows(const PackedSell<V, I>& matrix) {
  const Array<Offset> before = matrix.bytes_before_slices();
  return bytes_before_rows(matrix, [&](Offset slice) { return before[slice]; });
}

template <class T>
Array<T> copied_by_threads(std::span<const T> numbers) {
  Array<T> copy(numbers.size());
  parallel_chunks(std::ssize(numbers), [&](Offset begin, Offset end) {
    std::copy(numbers.begin() + begin, numbers.begin() + end, copy.begin() + begin);
  });
  return copy;
}

// The values alone: the indices that are here are the same.
template <Value V, Index I>
void assign(Csr<V, I>& held, const Csr<V, I>& matrix) {
  if (held.rows() != matrix.rows() || held.cols() != matrix.cols() ||
      !std::ranges::equal(held.row_offsets(), matrix.row_offsets()) ||
      !std::ranges::equal(held.columns(), matrix.columns())) {
    throw InvalidArgument("new values come with a matrix of another pattern");
  }
  parallel_chunks(matrix.nnz(), [&](Offset begin, Offset end) {
    std::copy(matrix.values().begin() + begin, matrix.values().begin() + end,
              held.mutable_values().begin() + begin);
  });
}
template <class Sliced, Value V, Index I>
void assign(Sliced& held, const Csr<V, I>& matrix) {
  held.assign_values(matrix);
}

}  // namespace

template <Value V, Index I>
Csr<V, I> copied_by_threads(const Csr<V, I>& matrix) {
  return {matrix.rows(), matrix.cols(), copied_by_threads(matrix.row_offsets()),
          copied_by_threads(matrix.columns()), copied_by_threads(matrix.values())};
}

namespace {

// Fill is part of the bytes by which a format is chosen; nothing needs refusing here.
constexpr double kAnyFill = std::numeric_limits<double>::infinity();

template <Value V, Index I>
std::variant<Csr<V, I>, Sell<V, I>, PackedSell<V, I>> converted(const Csr<V, I>& matrix,
                                                                const PaddedOrder<I>& order,
                                                                const StoredFormat& stored,
                                                                std::span<const I> groups) {
  const bool as_given = order.is_identity();
  switch (stored.format) {
    case Format::sell: {
      const SellOptions options{.slice_height = stored.slice_height, .max_fill = kAnyFill};
      return as_given ? Sell<V, I>::from_csr(matrix, options)
                      : Sell<V, I>::from_csr(reordered(matrix, order), options);
    }
    case Format::packed_sell: {
      const Array<Offset> wide_groups(groups.begin(), groups.end());
      const PackedSellOptions options{.slice_height = stored.slice_height,
                                      .max_fill = kAnyFill,
                                      .stored_values = static_cast<Offset>(stored.values),
                                      .groups = wide_groups};
      if (as_given) return PackedSell<V, I>::from_csr(matrix, options);
      // A copy of the matrix in that order would take more memory than the result.
      ReorderedRows<V, I> reordered_rows(matrix, order);
      const auto read = [&](RowRange<I> rows, RowBlock<V, I>& block) {
        reordered_rows.read(rows, block);
      };
      return PackedSell<V, I>::from_rows(matrix, order.padded_rows(), read, options);
    }
    case Format::csr:
      return as_given ? Csr<V, I>::borrow(matrix.rows(), matrix.cols(), matrix.row_offsets(),
                                          matrix.columns(), matrix.values())
                      : detail::copied_by_threads(reordered(matrix, order));
    default: throw InvalidArgument("processors have no kernels for this format");
  }
}

}  // namespace

template <Value V, Index I>
StoredMatrix<V, I>::StoredMatrix(const Csr<V, I>& matrix, const StoredFormat& stored,
                                 std::span<const I> groups)
    : StoredMatrix(matrix, PaddedOrder<I>::identity(matrix.rows()), stored, groups) {}

template <Value V, Index I>
StoredMatrix<V, I>::StoredMatrix(const Csr<V, I>& matrix, const PaddedOrder<I>& order,
                                 const StoredFormat& stored, std::span<const I> groups)
    : matrix_(converted(matrix, order, stored, groups)) {
  bytes_before_ = std::visit([](const auto& held) { return bytes_before_rows(held); }, matrix_);
}

template <Value V, Index I>
I StoredMatrix<V, I>::rows() const {
  return std::visit([](const auto& matrix) { return matrix.rows(); }, matrix_);
}

template <Value V, Index I>
Offset StoredMatrix<V, I>::nnz() const {
  return std::visit([](const auto& matrix) { return matrix.nnz(); }, matrix_);
}

template <Value V, Index I>
I StoredMatrix<V, I>::row_alignment() const {
  return std::visit([](const auto& matrix) { return cpu::row_alignment(matrix); }, matrix_);
}

template <Value V, Index I>
void StoredMatrix<V, I>::step(const cpu::StepCoefficients<V>& coefficients,
                              const cpu::StepVectors<V>& vectors, RowRange<I> rows,
                              RowRange<I> upcoming) const {
  if (const auto* packed = std::get_if<PackedSell<V, I>>(&matrix_)) {
    cpu::step(*packed, coefficients, vectors, rows, upcoming);
    return;
  }
  std::visit([&](const auto& matrix) { cpu::step(matrix, coefficients, vectors, rows); }, matrix_);
}

template <Value V, Index I>
LoadedColumns<I> StoredMatrix<V, I>::loaded_columns() const {
  return std::visit([](const auto& matrix) { return LoadedColumns<I>(matrix); }, matrix_);
}

template <Value V, Index I>
bool StoredMatrix<V, I>::asks_ahead() const {
  const auto* packed = std::get_if<PackedSell<V, I>>(&matrix_);
  return packed != nullptr && packed->has_full_values() &&
         packed->slice_height() >= cpu::kFewestLanesAhead;
}

template <Value V, Index I>
std::optional<ValueStorage> StoredMatrix<V, I>::value_storage() const {
  const auto* packed = std::get_if<PackedSell<V, I>>(&matrix_);
  if (packed == nullptr) return std::nullopt;
  ValueStorage storage = value_storage_of<V>(packed->footprint(), slice_encodings(*packed));
  storage.distinct = std::max<Offset>(packed->table().distinct(), 0);
  return storage;
}

template <Value V, Index I>
void StoredMatrix<V, I>::take_over() {
  auto* csr = std::get_if<Csr<V, I>>(&matrix_);
  if (csr != nullptr && csr->borrows()) *csr = copied_by_threads(*csr);
}

template <Value V, Index I>
void StoredMatrix<V, I>::assign_values(const Csr<V, I>& matrix) {
  std::visit([&](auto& held) { assign(held, matrix); }, matrix_);
}

#define STRATA_INSTANTIATE(V, I)                                 \
  template Csr<V, I> copied_by_threads(const Csr<V, I>& matrix); \
  template class StoredMatrix<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
