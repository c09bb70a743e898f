// Anderson's model of localisation in three dimensions (P. W. Anderson, Phys. Rev. 109, 1492,
// 1958), as in the ScaMaC collection: an electron hops between neighbours on an open box and feels
// a random potential,
//
//   H = −Σ over neighbours of |n⟩⟨m|  +  Σ over sites of v(n) |n⟩⟨n|,  v uniform in [−W/2, W/2).
//
// (The box is bipartite: the sign of the hopping only changes the signs of half the basis.) The
// states in the middle of the spectrum localise at W ≈ 16.5.

#include "strata/base/instantiate.hpp"
#include "strata/base/random.hpp"
#include "strata/gen/grid.hpp"
#include "strata/gen/recipe.hpp"
#include "strata/gen/rowwise.hpp"

namespace strata {

template <Index I>
Recipe<double, I> anderson_recipe(Spec& spec) {
  const Grid grid(spec.sizes<3>());
  const I order = checked_order<double, I>(grid.points(), 7);
  const double disorder = spec.real_or("disorder", 16.5);
  const Random random(seed_of(spec));
  const auto row = [=](Offset point, auto&& emit) {
    const Grid::Site site = grid.site(point);
    const auto hop = [&](int, Offset neighbour) { emit(neighbour, -1.0); };
    grid.visit_below(point, site, hop);
    emit(point, disorder * (random.uniform(static_cast<std::uint64_t>(point)) - 0.5));
    grid.visit_above(point, site, hop);
  };
  return row_recipe<I>(order, ValueCharacter::mirrored, row);
}

#define STRATA_INSTANTIATE(I) template Recipe<double, I> anderson_recipe<I>(Spec&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
