// A full first row and column and the diagonal: one row that is as long as all others together, and
// one vertex that is a neighbour of all others. Symmetric; entries of the arms are random in (−1,
// 0], the diagonal outweighs them.

#include "strata/base/instantiate.hpp"
#include "strata/base/random.hpp"
#include "strata/gen/recipe.hpp"
#include "strata/gen/rowwise.hpp"

namespace strata {

template <Index I>
Recipe<double, I> arrow_recipe(Spec& spec) {
  const Offset size = spec.size();
  const I order = checked_order<double, I>(size, 3);
  const Random random(seed_of(spec));
  const auto row = [=](Offset i, auto&& emit) {
    const auto arm = [&](Offset j) { return -random.uniform(static_cast<std::uint64_t>(j)); };
    if (i > 0) {
      emit(0, arm(i));
      emit(i, 2.0);
      return;
    }
    emit(0, static_cast<double>(size));
    for (Offset j = 1; j < size; ++j) emit(j, arm(j));
  };
  return row_recipe<I>(order, ValueCharacter::positive, row);
}

#define STRATA_INSTANTIATE(I) template Recipe<double, I> arrow_recipe<I>(Spec&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
