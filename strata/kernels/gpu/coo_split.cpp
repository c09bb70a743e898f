#include "strata/kernels/gpu/coo_split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/kernels/gpu/arrivals.hpp"

namespace strata::gpu {

int coo_oversubscription(GpuVendor vendor, Offset nnz) {
  if (vendor == GpuVendor::amd) return nnz < 100'000 ? 2 : nnz < 10'000'000 ? 8 : 32;
  return nnz < 200'000 ? 8 : nnz < 2'000'000 ? 32 : 128;
}

Offset coo_chunk(Offset nnz, int oversubscription, int warp_size) {
  if (oversubscription < 1) {
    throw InvalidArgument(
        fmt::format("cores cannot be oversubscribed by {} warps", oversubscription));
  }
  const Offset entries = ceil_div<Offset>(nnz, kCoreWarps * oversubscription);
  return std::max<Offset>(1, ceil_div<Offset>(entries, warp_size)) * warp_size;
}

namespace {

Array<std::int32_t> cut_rows_by_chunk(const CooSplit& split) {
  const auto count = std::ssize(split.cut_rows);
  if (count == 0 || count > kRowCounters) return {};
  Array<std::int32_t> cut_into(static_cast<std::size_t>(split.chunks) + 1);
  std::ranges::fill(cut_into, -1);
  for (std::int32_t number = 0; number < count; ++number) {
    const CutRow& cut = split.cut_rows[number];
    std::fill(cut_into.begin() + cut.first_chunk + 1, cut_into.begin() + cut.last_chunk + 1,
              number);
  }
  return cut_into;
}

}  // namespace

template <Index I>
CooSplit split_coo(std::span<const I> row_indices, I rows, Offset chunk) {
  const Offset entries = std::ssize(row_indices);
  CooSplit split;
  split.chunk = chunk;
  split.chunks = narrow<std::int32_t>(ceil_div<Offset>(entries, chunk), "the number of chunks");
  for (std::int32_t number = 1; number < split.chunks; ++number) {
    const I row = row_indices[number * chunk];
    if (row_indices[number * chunk - 1] != row) continue;
    if (split.cut_rows.empty() || split.cut_rows.back().row != row) {
      split.cut_rows.push_back({narrow<std::int32_t>(row, "a row on a GPU"), number - 1, number});
    } else {
      split.cut_rows.back().last_chunk = number;
    }
    const CutRow& cut = split.cut_rows.back();
    split.most_pieces = std::max(split.most_pieces, cut.last_chunk - cut.first_chunk + 1);
  }
  split.cut_into = cut_rows_by_chunk(split);
  I next = 0;  // the rows before it have entries or are in the list
  const auto add_until = [&](I row) {
    for (; next < row; ++next) split.empty_rows.push_back(static_cast<std::int32_t>(next));
  };
  for (const I row : row_indices) {
    if (row < next) continue;
    add_until(row);
    next = row + 1;
  }
  add_until(rows);
  return split;
}

template <Index I>
bool in_row_order(std::span<const I> row_indices) {
  return std::ranges::is_sorted(row_indices);
}

template <Value V, Index I>
Coo<V, I> sorted_by_rows(const Coo<V, I>& matrix) {
  Array<Offset> order(matrix.values().size());
  std::iota(order.begin(), order.end(), Offset{0});
  std::ranges::stable_sort(order, {}, [&](Offset k) { return matrix.row_indices()[k]; });
  const auto ordered = [&]<class T>(std::span<const T> data) {
    Array<T> sorted(data.size());
    parallel_for(std::ssize(order), [&](Offset k) { sorted[k] = data[order[k]]; });
    return sorted;
  };
  return Coo<V, I>(matrix.rows(), matrix.cols(), ordered(matrix.row_indices()),
                   ordered(matrix.column_indices()), ordered(matrix.values()));
}

#define STRATA_INSTANTIATE_INDEX(I)                              \
  template CooSplit split_coo<I>(std::span<const I>, I, Offset); \
  template bool in_row_order<I>(std::span<const I>)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE_INDEX);

#define STRATA_INSTANTIATE(V, I) template Coo<V, I> sorted_by_rows(const Coo<V, I>&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::gpu
