// The hopping of a topological insulator with four orbitals per site on an open box, as in the
// ScaMaC collection (Alvermann et al., https://bitbucket.org/essex/matrixcollection):
//
//   H = Σ over sites n and axes j of  ψ†(n + e_j) (Γ1 − iΓ_{j+1})/2 ψ(n) + h.c.
//
// with hermitian Γ1 … Γ4, Γ_a Γ_b + Γ_b Γ_a = 2 δ_ab; the terms on the sites are absent. It is made
// real by two changes of basis that keep the spectrum. The gauge ψ(n) → (−i)^(n_x + n_y + n_z) ψ(n)
// turns the hop into T_j = (iΓ1 + Γ_{j+1})/2, which is real for an imaginary Γ1 and real others:
//
//   Γ1 = σy⊗σx,  Γ2 = (σx⊗1 + σy⊗σy)/√2,  Γ3 = σz⊗1,  Γ4 = (σx⊗1 − σy⊗σy)/√2.
//
// Each row and column of a T_j then has exactly two entries: 12 in an inner row of the matrix. Row
// 4n + a belongs to orbital a of site n, x fastest.

#include <array>

#include "strata/base/instantiate.hpp"
#include "strata/gen/grid.hpp"
#include "strata/gen/recipe.hpp"
#include "strata/gen/rowwise.hpp"

namespace strata {

namespace {

using Hop = std::array<std::array<double, 4>, 4>;

constexpr Offset kOrbitals = 4;
constexpr double kRootHalf = 0.70710678118654752440;  // √½
constexpr double kSmall = 0.5 * kRootHalf;
constexpr double kMinus = 0.5 * (1 - kRootHalf);
constexpr double kPlus = 0.5 * (1 + kRootHalf);

// T_x, T_y, T_z.
constexpr std::array<Hop, 3> kHops{{
    {{{0, 0, kSmall, kMinus},
      {0, 0, kPlus, kSmall},
      {kSmall, -kMinus, 0, 0},
      {-kPlus, kSmall, 0, 0}}},
    {{{0.5, 0, 0, 0.5}, {0, 0.5, 0.5, 0}, {0, -0.5, -0.5, 0}, {-0.5, 0, 0, -0.5}}},
    {{{0, 0, kSmall, kPlus},
      {0, 0, kMinus, kSmall},
      {kSmall, -kPlus, 0, 0},
      {-kMinus, kSmall, 0, 0}}},
}};

}  // namespace

template <Index I>
Recipe<double, I> topi_recipe(Spec& spec) {
  const Grid grid(spec.sizes<3>());
  const I order = checked_order<double, I>(
      checked_multiply(grid.points(), kOrbitals, "the number of rows"), 12);
  const auto row = [grid](Offset i, auto&& emit) {
    const Offset site = i / kOrbitals;
    const Offset own = i % kOrbitals;
    const Grid::Site place = grid.site(site);
    const auto emit_entry = [&](Offset neighbour, Offset orbital, double value) {
      if (value != 0) emit(neighbour * kOrbitals + orbital, value);
    };
    grid.visit_below(site, place, [&](int axis, Offset neighbour) {
      for (Offset b = 0; b < kOrbitals; ++b) emit_entry(neighbour, b, kHops[axis][own][b]);
    });
    grid.visit_above(site, place, [&](int axis, Offset neighbour) {
      for (Offset b = 0; b < kOrbitals; ++b) emit_entry(neighbour, b, kHops[axis][b][own]);
    });
  };
  return row_recipe<I>(order, ValueCharacter::mirrored, row);
}

#define STRATA_INSTANTIATE(I) template Recipe<double, I> topi_recipe<I>(Spec&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
