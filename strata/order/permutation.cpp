#include "strata/order/permutation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/base/random.hpp"

namespace strata {

namespace {

template <Index I>
[[noreturn]] void throw_occurs_twice(std::span<const I> indices) {
  Array<unsigned char> seen(indices.size(), 0);
  const auto twice =
      std::ranges::find_if(indices, [&](I index) { return std::exchange(seen[index], 1) != 0; });
  throw InvalidArgument(fmt::format("{} occurs twice in a permutation", *twice));
}

}  // namespace

template <Index I>
Permutation<I>::Permutation(Array<I> old_of_new) : old_of_new_(std::move(old_of_new)) {
  Array<unsigned char> seen(old_of_new_.size());
  parallel_for(std::ssize(seen), [&](Offset i) { seen[i] = 0; });
  parallel_for(static_cast<Offset>(old_of_new_.size()), [&](Offset i) {
    const I old = old_of_new_[i];
    if (old < 0 || old >= size()) {
      throw InvalidArgument(
          fmt::format("position {} of a permutation of {} holds {}", i, old_of_new_.size(), old));
    }
    // No exchange, which would wait for each of these places in memory.
    std::atomic_ref(seen[old]).store(1, std::memory_order_relaxed);
  });
  // As many places as indices: one that is missing stands for another that occurs twice.
  const auto missing = parallel_reduce(
      size(), Offset{0},
      [&](Offset begin, Offset end) {
        return std::count(seen.begin() + begin, seen.begin() + end, 0);
      },
      std::plus<>());
  if (missing > 0) throw_occurs_twice<I>(old_of_new_);
}

template <Index I>
Permutation<I> Permutation<I>::identity(I size) {
  Array<I> old_of_new(size);
  parallel_for(size, [&](Offset i) { old_of_new[i] = static_cast<I>(i); });
  return Permutation(std::move(old_of_new));
}

template <Index I>
Permutation<I> Permutation<I>::random(I size, std::uint64_t seed) {
  // Fisher and Yates' shuffle.
  const Random random(seed, 0x7065726d);
  Array<I> old_of_new(size);
  std::iota(old_of_new.begin(), old_of_new.end(), I{0});
  for (I i = size; i > 1; --i) {
    const auto other =
        static_cast<I>(random.below(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(i)));
    std::swap(old_of_new[i - 1], old_of_new[other]);
  }
  return Permutation(std::move(old_of_new));
}

template <Index I>
Permutation<I> Permutation<I>::inverse() const {
  Array<I> result(old_of_new_.size());
  parallel_for(size(), [&](Offset i) { result[old_of_new_[i]] = static_cast<I>(i); });
  return Permutation(std::move(result));
}

template <Index I>
Permutation<I> Permutation<I>::then(const Permutation& next) const {
  if (next.size() != size()) {
    throw InvalidArgument(
        fmt::format("permutations of {} and {} cannot be composed", size(), next.size()));
  }
  Array<I> result(old_of_new_.size());
  parallel_for(size(), [&](Offset i) { result[i] = old_of_new_[next.old_of_new_[i]]; });
  return Permutation(std::move(result));
}

namespace {

void require_length(std::size_t length, Offset size) {
  if (length != static_cast<std::size_t>(size)) {
    throw InvalidArgument(
        fmt::format("a permutation of {} does not fit a vector of {}", size, length));
  }
}

// Row i is row old_row(i) of the matrix, every column c replaced by column_of(c).
template <Value V, Index I, class OldRow, class ColumnOf>
Csr<V, I> gather_rows(const Csr<V, I>& matrix, OldRow&& old_row, ColumnOf&& column_of) {
  const PatternView<I> pattern = matrix.pattern();
  Array<Offset> offsets(static_cast<std::size_t>(matrix.rows()) + 1);
  offsets[matrix.rows()] = 0;
  parallel_for(matrix.rows(), [&](Offset row) {
    offsets[row] = pattern.row_length(old_row(static_cast<I>(row)));
  });
  exclusive_scan(offsets);
  Array<I> columns(matrix.nnz());
  Array<V> values(matrix.nnz());
  parallel_dynamic(matrix.rows(), 1024, [&](Offset begin, Offset end) {
    std::vector<std::pair<I, V>> entries;
    for (Offset row = begin; row < end; ++row) {
      const Offset source = pattern.row_offsets[old_row(static_cast<I>(row))];
      const Offset target = offsets[row];
      entries.resize(offsets[row + 1] - target);
      for (std::size_t k = 0; k < entries.size(); ++k) {
        entries[k] = {column_of(pattern.columns[source + k]), matrix.values()[source + k]};
      }
      std::ranges::sort(entries, {}, &std::pair<I, V>::first);
      for (std::size_t k = 0; k < entries.size(); ++k) {
        columns[target + k] = entries[k].first;
        values[target + k] = entries[k].second;
      }
    }
  });
  return Csr<V, I>(matrix.rows(), matrix.cols(), std::move(offsets), std::move(columns),
                   std::move(values));
}

}  // namespace

template <Index I>
template <Value V>
void Permutation<I>::gather(std::span<const V> old_values, std::span<V> new_values) const {
  require_length(old_values.size(), size());
  require_length(new_values.size(), size());
  parallel_for(size(), [&](Offset i) { new_values[i] = old_values[old_of_new_[i]]; });
}

template <Index I>
template <Value V>
void Permutation<I>::scatter(std::span<const V> new_values, std::span<V> old_values) const {
  require_length(old_values.size(), size());
  require_length(new_values.size(), size());
  parallel_for(size(), [&](Offset i) { old_values[old_of_new_[i]] = new_values[i]; });
}

template <Value V, Index I>
Csr<V, I> reordered(const Csr<V, I>& matrix, const Permutation<I>& order) {
  if (matrix.rows() != matrix.cols()) {
    throw InvalidArgument(fmt::format("a {} x {} matrix cannot be reordered symmetrically",
                                      matrix.rows(), matrix.cols()));
  }
  require_length(matrix.rows(), order.size());
  const Permutation<I> new_of_old = order.inverse();
  return gather_rows(
      matrix, [&](I row) { return order.old_of(row); },
      [&](I column) { return new_of_old.old_of(column); });
}

template <Value V, Index I>
Csr<V, I> reordered_rows(const Csr<V, I>& matrix, const Permutation<I>& order) {
  require_length(matrix.rows(), order.size());
  return gather_rows(
      matrix, [&](I row) { return order.old_of(row); }, [](I column) { return column; });
}

template <Value V, Index I>
Csr<V, I> renumbered_columns(const Csr<V, I>& matrix, const Permutation<I>& new_of_old) {
  require_length(matrix.cols(), new_of_old.size());
  return gather_rows(
      matrix, [](I row) { return row; }, [&](I column) { return new_of_old.old_of(column); });
}

#define STRATA_INSTANTIATE(V, I)                                                 \
  template void Permutation<I>::gather(std::span<const V>, std::span<V>) const;  \
  template void Permutation<I>::scatter(std::span<const V>, std::span<V>) const; \
  template Csr<V, I> reordered(const Csr<V, I>&, const Permutation<I>&);         \
  template Csr<V, I> reordered_rows(const Csr<V, I>&, const Permutation<I>&);    \
  template Csr<V, I> renumbered_columns(const Csr<V, I>&, const Permutation<I>&)
#define STRATA_INSTANTIATE_INDEX(I) template class Permutation<I>
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE_INDEX);
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
