// Rows of K entries in columns drawn at random, all sets of K columns equally likely; values
// uniform in [−1, 1).

#include <algorithm>
#include <vector>

#include "strata/base/instantiate.hpp"
#include "strata/base/random.hpp"
#include "strata/gen/recipe.hpp"
#include "strata/gen/rowwise.hpp"

namespace strata {

namespace {

// The first `count` distinct numbers of a random sequence in {0, …, bound − 1}, sorted.
void draw_distinct(const Random& random, Offset bound, Offset count, std::vector<Offset>& drawn) {
  drawn.clear();
  std::uint64_t counter = 0;
  while (static_cast<Offset>(drawn.size()) < count) {
    for (Offset missing = count - static_cast<Offset>(drawn.size()); missing > 0; --missing) {
      drawn.push_back(
          static_cast<Offset>(random.below(counter++, static_cast<std::uint64_t>(bound))));
    }
    std::ranges::sort(drawn);
    drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
  }
}

}  // namespace

template <Index I>
Recipe<double, I> random_recipe(Spec& spec) {
  const Offset size = spec.size();
  const Offset per_row = spec.integer("nnzr", 1, size);
  const I order = checked_order<double, I>(size, per_row);
  const std::uint64_t seed = seed_of(spec);
  // More than half of the columns are found by drawing those left out.
  const bool draw_absent = per_row > size / 2;
  const auto row = [=, drawn = std::vector<Offset>()](Offset i, auto&& emit) mutable {
    const auto stream = 2 * static_cast<std::uint64_t>(i);
    draw_distinct(Random(seed, stream), size, draw_absent ? size - per_row : per_row, drawn);
    const Random values(seed, stream + 1);
    const auto emit_column = [&](Offset column) {
      emit(column, 2 * values.uniform(static_cast<std::uint64_t>(column)) - 1);
    };
    if (!draw_absent) {
      for (const Offset column : drawn) emit_column(column);
      return;
    }
    auto absent = drawn.begin();
    for (Offset column = 0; column < size; ++column) {
      if (absent != drawn.end() && *absent == column) {
        ++absent;
      } else {
        emit_column(column);
      }
    }
  };
  return square_recipe<I>(order, ValueCharacter::general, [=](const RowSelection<I>& selection) {
    return build_rows<double, I>(selection, order, [=](Offset) { return per_row; }, row);
  });
}

#define STRATA_INSTANTIATE(I) template Recipe<double, I> random_recipe<I>(Spec&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
