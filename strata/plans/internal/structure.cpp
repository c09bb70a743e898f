#include "strata/plans/internal/structure.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/base/random.hpp"
#include "strata/formats/symmetry.hpp"

namespace strata::detail {

namespace {

constexpr Offset kSampledRows = 64;

// Calls visit(row) for some rows, at places that no regularity of a matrix can match, that are
// multiples of the alignment, until it returns false.
template <Index I, class Visit>
void for_some_rows(const PatternView<I>& pattern, Offset alignment, const Visit& visit) {
  const Offset steps = pattern.rows / alignment;
  const Random random(5);
  for (Offset i = 0; i < std::min(kSampledRows, steps); ++i) {
    const auto step = static_cast<Offset>(random.below(i, static_cast<std::size_t>(steps)));
    if (!visit(static_cast<I>(step * alignment))) return;
  }
}

}  // namespace

template <Value V, Index I>
bool looks_symmetric(const Csr<V, I>& matrix) {
  if (matrix.rows() != matrix.cols()) return false;
  const PatternView<I> pattern = matrix.pattern();
  std::vector<Symmetry> possible{Symmetry::symmetric, Symmetry::skew_symmetric,
                                 Symmetry::hermitian};
  for_some_rows(pattern, 1, [&](I row) {
    for (Offset k = pattern.row_offsets[row]; k < pattern.row_offsets[row + 1]; ++k) {
      const I column = pattern.columns[k];
      const auto others = pattern.columns_of(column);
      const auto mirror = std::ranges::lower_bound(others, row);
      if (mirror == others.end() || *mirror != row) {
        possible.clear();
        break;
      }
      const V value = matrix.values()[k];
      const V image = matrix.values()[pattern.row_offsets[column] + (mirror - others.begin())];
      std::erase_if(possible,
                    [&](Symmetry symmetry) { return image != mirrored(value, symmetry); });
    }
    return !possible.empty();
  });
  return !possible.empty();
}

template <Index I>
double sampled_fill(const PatternView<I>& pattern, Offset block) {
  Offset entries = 0;
  Offset blocks = 0;
  std::vector<I> touched;
  for_some_rows(pattern, block, [&](I first) {
    touched.clear();
    for (I row = first; row < first + block; ++row) {
      for (const I column : pattern.columns_of(row)) {
        touched.push_back(static_cast<I>(column / block));
      }
    }
    entries += std::ssize(touched);
    std::ranges::sort(touched);
    blocks += std::ranges::unique(touched).begin() - touched.begin();
    return true;
  });
  return entries == 0 ? 1
                      : static_cast<double>(blocks * block * block) / static_cast<double>(entries);
}

template <Index I>
Offset diagonals_seen(const PatternView<I>& pattern) {
  std::vector<Offset> seen;
  for_some_rows(pattern, 1, [&](I row) {
    for (const I column : pattern.columns_of(row)) seen.push_back(Offset{column} - row);
    return true;
  });
  std::ranges::sort(seen);
  return std::ranges::unique(seen).begin() - seen.begin();
}

template <Index I>
bool has_long_rows(const PatternView<I>& pattern) {
  constexpr Offset kLong = 64;  // times the mean
  const Offset longest = parallel_reduce(
      Offset{pattern.rows}, Offset{0},
      [&](Offset begin, Offset end) {
        Offset most = 0;
        for (Offset row = begin; row < end; ++row) {
          most = std::max<Offset>(most, pattern.row_length(static_cast<I>(row)));
        }
        return most;
      },
      [](Offset a, Offset b) { return std::max(a, b); });
  return longest * pattern.rows > kLong * pattern.entries();
}

#define STRATA_INSTANTIATE(I)                                  \
  template double sampled_fill(const PatternView<I>&, Offset); \
  template Offset diagonals_seen(const PatternView<I>&);       \
  template bool has_long_rows(const PatternView<I>&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);
#undef STRATA_INSTANTIATE
#define STRATA_INSTANTIATE(V, I) template bool looks_symmetric(const Csr<V, I>&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
