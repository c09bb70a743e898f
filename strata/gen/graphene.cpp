// Tight binding on the honeycomb lattice of graphene with first, second and third neighbours, open
// boundaries and a random potential on the sites: 13 entries in an inner row.
//
// The honeycomb is drawn as a brick wall of NX × NY sites, x fastest. Every site is bonded to its
// neighbours in x and to one in y: upwards where x + y is even, downwards where it is odd. Two
// bonds lead to the second neighbours (x ± 2, y), (x ± 1, y ± 1), three across a hexagon to the
// third ones: on the bonded side (x ± 2), on the other side straight ahead.
//
// Transfer integrals in eV: Reich, Maultzsch, Thomsen, Ordejón: Tight-binding description of
// graphene, Phys. Rev. B 66, 035412 (2002), table I; the overlaps are left out.

#include <array>

#include "strata/base/instantiate.hpp"
#include "strata/base/random.hpp"
#include "strata/gen/grid.hpp"
#include "strata/gen/recipe.hpp"
#include "strata/gen/rowwise.hpp"

namespace strata {

namespace {

constexpr double kFirst = -2.97;
constexpr double kSecond = -0.073;
constexpr double kThird = -0.33;
constexpr double kDisorder = 1;  // width of the distribution of the potential, around 0

}  // namespace

template <Index I>
Recipe<double, I> graphene_recipe(Spec& spec) {
  const Grid grid(spec.sizes<2>());
  const I order = checked_order<double, I>(grid.points(), 13);
  const Random random(seed_of(spec));
  const auto row = [=](Offset i, auto&& emit) {
    const Grid::Site site = grid.site(i);
    const auto line = [&](Offset y, int dependency_distance, const std::array<double, 5>& weights) {
      if (y < 0 || y >= grid.ny) return;
      for (int dx = -dependency_distance; dx <= dependency_distance; ++dx) {
        const Offset x = site.x + dx;
        if (x >= 0 && x < grid.nx) emit(y * grid.nx + x, weights[dx + 2]);
      }
    };
    const std::array<double, 5> bonded{kThird, kSecond, kFirst, kSecond, kThird};
    const std::array<double, 5> opposite{0, kSecond, kThird, kSecond, 0};
    const double potential = kDisorder * (random.uniform(static_cast<std::uint64_t>(i)) - 0.5);
    const bool up = (site.x + site.y) % 2 == 0;
    line(site.y - 1, up ? 1 : 2, up ? opposite : bonded);
    line(site.y, 2, {kSecond, kFirst, potential, kFirst, kSecond});
    line(site.y + 1, up ? 2 : 1, up ? bonded : opposite);
  };
  return row_recipe<I>(order, ValueCharacter::mirrored, row);
}

#define STRATA_INSTANTIATE(I) template Recipe<double, I> graphene_recipe<I>(Spec&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
