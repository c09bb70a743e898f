#include "strata/kernels/cpu/team_product.hpp"

#include <algorithm>
#include <array>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/kernels/cpu/internal/kernels_for.hpp"

namespace strata::cpu {

namespace {

void require_room(bool enough_scratch, int count) {
  require_vector_count(count);
  if (!enough_scratch) throw InvalidArgument("the product needs more scratch memory");
}

template <Value V, Index I>
auto part_kernel(const Csr<V, I>&) {
  const SharedKernels<V>& kernels = shared_kernels_for<V>();
  if constexpr (sizeof(I) == 4) {
    return kernels.csr_part32;
  } else {
    return kernels.csr_part64;
  }
}
template <Value V, Index I>
auto part_kernel(const Coo<V, I>&) {
  const SharedKernels<V>& kernels = shared_kernels_for<V>();
  if constexpr (sizeof(I) == 4) {
    return kernels.coo_part32;
  } else {
    return kernels.coo_part64;
  }
}

template <Value V, Index I>
CooView<V, I> view_of(const Coo<V, I>& matrix) {
  return {matrix.row_indices().data(), matrix.column_indices().data(), matrix.values().data(),
          false};
}

template <Value V, Index I>
auto csr_kernel(CsrWay way) {
  const StepKernels<V>& kernels = kernels_for<V>();
  if constexpr (sizeof(I) == 4) {
    return way == CsrWay::gathers ? kernels.csr_gathers32 : kernels.csr_loop32;
  } else {
    return way == CsrWay::gathers ? kernels.csr_gathers64 : kernels.csr_loop64;
  }
}

// The parts on all threads, then the rows that they share.
template <Value V, class Matrix, class View>
void run_parts(const Matrix& matrix, const View& view, const EntryParts& parts,
               const StepCoefficients<V>& coefficients, const StepVectors<V>& vectors, V* pieces) {
  const auto kernel = part_kernel(matrix);
  const Offset count = vectors.count;
  // Whoever is free takes the next one: rows with scattered columns take longer than others, and
  // who computes a part does not matter to its bits.
  parallel_own_first(parts.count(), [&](Offset begin, Offset end) {
    for (Offset part = begin; part < end; ++part) {
      V* first = pieces + 2 * part * count;
      kernel(view, coefficients, vectors, parts.cuts[part], parts.cuts[part + 1], first,
             first + count);
    }
  });
  shared_kernels_for<V>().finish_cut_rows(coefficients, vectors, parts.cuts.data(), parts.count(),
                                          pieces);
}

}  // namespace

template <Value V, Index I, CsrWay way>
void CsrProduct<V, I, way>::run(const StepCoefficients<V>& coefficients,
                                const StepVectors<V>& vectors, std::span<V>) const {
  require_vector_count(vectors.count);
  const auto kernel = csr_kernel<V, I>(way);
  const CsrView<V, I> view = view_of(*matrix_);
  run_on_threads(thread_count(), [&](int thread, int team) {
    const RowRange<I> rows = balanced_rows(*matrix_, thread, team);
    kernel(view, coefficients, vectors, rows.begin, rows.end);
  });
}

template <class Matrix>
void EntriesProduct<Matrix>::run(const StepCoefficients<V>& coefficients,
                                 const StepVectors<V>& vectors, std::span<V> scratch) const {
  require_room(std::ssize(scratch) >= scratch_elements(vectors.count), vectors.count);
  run_parts(*matrix_, view_of(*matrix_), parts_, coefficients, vectors, scratch.data());
}

template <class Matrix>
void EntriesProduct<Matrix>::add(V alpha, const StepVectors<V>& vectors, std::span<V> scratch) const
  requires std::same_as<Matrix, Coo<V, typename Matrix::index_type>>
{
  require_room(std::ssize(scratch) >= scratch_elements(vectors.count), vectors.count);
  if (matrix_->nnz() == 0) return;
  auto view = view_of(*matrix_);
  view.skips_empty_rows = true;
  run_parts(*matrix_, view, parts_, {.alpha = alpha, .beta = V{1}},
            {vectors.x, vectors.out, vectors.out, vectors.count}, scratch.data());
}

template <Value V, Index I>
Offset LinesProduct<V, I>::scratch_elements(int vectors) const {
  return checked_multiply(windows_.window_rows, vectors, "the windows of a product");
}

template <Value V, Index I>
void LinesProduct<V, I>::run(const StepCoefficients<V>& coefficients, const StepVectors<V>& vectors,
                             std::span<V> scratch) const {
  require_room(std::ssize(scratch) >= scratch_elements(vectors.count), vectors.count);
  const SharedKernels<V>& kernels = shared_kernels_for<V>();
  const CsrView<V, I> view = view_of(*lines_);
  const Offset count = vectors.count;
  std::array<Window<V>, kMostLineParts> windows;
  V* elements = scratch.data();
  for (int part = 0; part < windows_.count(); ++part) {
    const RowRange<Offset>& rows = windows_.parts[part].rows;
    windows[part] = {elements, rows};
    elements += (rows.end - rows.begin) * count;
  }
  const auto add_lines = [&] {
    if constexpr (sizeof(I) == 4) {
      return kind_ == Kind::symmetric ? kernels.symmetric32 : kernels.scatter32;
    } else {
      return kind_ == Kind::symmetric ? kernels.symmetric64 : kernels.scatter64;
    }
  }();
  parallel_own_first(windows_.count(), [&](Offset begin, Offset end) {
    for (Offset part = begin; part < end; ++part) {
      const Window<V>& window = windows[part];
      std::fill_n(window.elements, (window.rows.end - window.rows.begin) * count, V{});
      const RowRange<Offset>& lines = windows_.parts[part].lines;
      add_lines(view, mirror_, vectors.x, vectors.count, lines.begin, lines.end, window);
    }
  });
  run_on_threads(thread_count(), [&](int thread, int team) {
    const Chunk rows = chunk_of(lines_->cols(), thread, team);
    kernels.finish_windows(coefficients, vectors, windows.data(), windows_.count(), rows.begin,
                           rows.end);
  });
}

#define STRATA_INSTANTIATE(V, I)                    \
  template class CsrProduct<V, I, CsrWay::gathers>; \
  template class CsrProduct<V, I, CsrWay::loop>;    \
  template class EntriesProduct<Csr<V, I>>;         \
  template class EntriesProduct<Coo<V, I>>;         \
  template class LinesProduct<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::cpu
