#include "strata/kernels/cpu/line_windows.hpp"

#include <algorithm>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"

namespace strata::cpu {

namespace {

constexpr Offset kLeastEntries = 1024;  // of a part

template <Value V, Index I>
RowRange<Offset> window_of(const Csr<V, I>& matrix, const Chunk& lines, Touched touched) {
  Offset first = matrix.cols();
  Offset last = -1;
  for (Offset line = lines.begin; line < lines.end; ++line) {
    const Offset begin = matrix.row_offsets()[line];
    const Offset end = matrix.row_offsets()[line + 1];
    if (begin < end) {
      first = std::min<Offset>(first, matrix.columns()[begin]);
      last = std::max<Offset>(last, matrix.columns()[end - 1]);
    }
    if (touched == Touched::columns_and_line) {
      first = std::min(first, line);
      last = std::max(last, line);
    }
  }
  return last < first ? RowRange<Offset>{} : RowRange<Offset>{first, last + 1};
}

template <Value V, Index I>
LineWindows cut(const Csr<V, I>& matrix, int parts, Touched touched) {
  LineWindows result;
  result.parts.resize(static_cast<std::size_t>(parts));
  parallel_dynamic(parts, 1, [&](Offset begin, Offset end) {
    for (Offset part = begin; part < end; ++part) {
      const Chunk lines = balanced_chunk_of(matrix.row_offsets(), static_cast<int>(part), parts);
      result.parts[part] = {{lines.begin, lines.end}, window_of(matrix, lines, touched)};
    }
  });
  for (const LineWindows::Part& part : result.parts) {
    result.window_rows += part.rows.end - part.rows.begin;
  }
  return result;
}

}  // namespace

template <Value V, Index I>
LineWindows line_windows_of(const Csr<V, I>& matrix, Touched touched) {
  const Offset allowed = std::max<Offset>(Offset{2} * matrix.cols(), matrix.nnz());
  LineWindows best = cut(matrix, 1, touched);
  for (int parts = 2; parts <= kMostLineParts && matrix.nnz() / parts >= kLeastEntries;
       parts *= 2) {
    LineWindows finer = cut(matrix, parts, touched);
    if (finer.window_rows > allowed) break;
    best = std::move(finer);
  }
  return best;
}

#define STRATA_INSTANTIATE(V, I) template LineWindows line_windows_of(const Csr<V, I>&, Touched)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::cpu
