// The `width` diagonals around the main one. Entries off the diagonal are random in (−1, 0],
// symmetric; the diagonal is `width`, more than the sum of the others.

#include <fmt/format.h>

#include <algorithm>

#include "strata/base/instantiate.hpp"
#include "strata/base/random.hpp"
#include "strata/gen/recipe.hpp"
#include "strata/gen/rowwise.hpp"

namespace strata {

template <Index I>
Recipe<double, I> band_recipe(Spec& spec) {
  const Offset size = spec.size();
  const Offset width = spec.integer("width", 1, 2 * std::min(size, Offset{1} << 40) - 1);
  if (width % 2 == 0) throw InvalidArgument(fmt::format("width is {}, but must be odd", width));
  const I order = checked_order<double, I>(size, width);
  const Random random(seed_of(spec));
  const auto row = [=](Offset i, auto&& emit) {
    const Offset dependency_distance = width / 2;
    for (Offset j = std::max<Offset>(i - dependency_distance, 0);
         j < std::min(i + dependency_distance + 1, size); ++j) {
      const Offset distance = i < j ? j - i : i - j;
      const auto counter = static_cast<std::uint64_t>(std::min(i, j) * width + distance);
      emit(j, distance == 0 ? static_cast<double>(width) : -random.uniform(counter));
    }
  };
  return row_recipe<I>(order, ValueCharacter::positive, row);
}

#define STRATA_INSTANTIATE(I) template Recipe<double, I> band_recipe<I>(Spec&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
