// Stencils of finite differences on a box with Dirichlet boundaries, points in natural order.
//
// 5 and 7 points: the discrete Laplacian, 2d on the diagonal and −1 for every neighbour along an
// axis. 9 and 27 points: the operator of HPCG (Heroux, Dongarra, Luszczek: HPCG Technical
// Specification, Sandia report SAND2013-8752), which couples all neighbours, diagonals included, by
// −1 and has on the diagonal the number of them that an inner point has.

#include <algorithm>

#include "strata/base/instantiate.hpp"
#include "strata/gen/grid.hpp"
#include "strata/gen/recipe.hpp"
#include "strata/gen/rowwise.hpp"

namespace strata {

namespace {

auto star(const Grid& grid, double diagonal) {
  return [grid, diagonal](Offset point, auto&& emit) {
    const Grid::Site site = grid.site(point);
    const auto neighbour = [&](int, Offset other) { emit(other, -1.0); };
    grid.visit_below(point, site, neighbour);
    emit(point, diagonal);
    grid.visit_above(point, site, neighbour);
  };
}

auto full(const Grid& grid, double diagonal) {
  return [grid, diagonal](Offset point, auto&& emit) {
    const auto [x, y, z] = grid.site(point);
    for (Offset k = std::max<Offset>(z - 1, 0); k < std::min(z + 2, grid.nz); ++k) {
      for (Offset j = std::max<Offset>(y - 1, 0); j < std::min(y + 2, grid.ny); ++j) {
        for (Offset i = std::max<Offset>(x - 1, 0); i < std::min(x + 2, grid.nx); ++i) {
          const Offset other = (k * grid.ny + j) * grid.nx + i;
          emit(other, other == point ? diagonal : -1.0);
        }
      }
    }
  };
}

template <Index I, class Row>
Recipe<double, I> box_recipe(const Grid& grid, Offset dof, Offset links, const Row& row) {
  const Offset rows = checked_multiply(grid.points(), dof, "the number of rows");
  const I order =
      checked_order<double, I>(rows, checked_multiply(links, dof, "the number of entries"));
  return row_recipe<I>(order, ValueCharacter::positive, with_blocks(row, dof));
}

}  // namespace

template <Index I>
Recipe<double, I> stencil5_recipe(Spec& spec) {
  const Grid grid(spec.sizes<2>());
  return box_recipe<I>(grid, dof_of(spec), 5, star(grid, 4));
}

template <Index I>
Recipe<double, I> stencil7_recipe(Spec& spec) {
  const Grid grid(spec.sizes<3>());
  return box_recipe<I>(grid, dof_of(spec), 7, star(grid, 6));
}

template <Index I>
Recipe<double, I> stencil9_recipe(Spec& spec) {
  const Grid grid(spec.sizes<2>());
  return box_recipe<I>(grid, dof_of(spec), 9, full(grid, 8));
}

template <Index I>
Recipe<double, I> stencil27_recipe(Spec& spec) {
  const Grid grid(spec.sizes<3>());
  return box_recipe<I>(grid, dof_of(spec), 27, full(grid, 26));
}

template <Index I>
Recipe<double, I> hpcg_recipe(Spec& spec) {
  const Grid grid(spec.sizes<3>());
  return box_recipe<I>(grid, 1, 27, full(grid, 26));
}

#define STRATA_INSTANTIATE(I)                            \
  template Recipe<double, I> stencil5_recipe<I>(Spec&);  \
  template Recipe<double, I> stencil7_recipe<I>(Spec&);  \
  template Recipe<double, I> stencil9_recipe<I>(Spec&);  \
  template Recipe<double, I> stencil27_recipe<I>(Spec&); \
  template Recipe<double, I> hpcg_recipe<I>(Spec&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
