// Generators in three steps: a function per generator turns a specification into a recipe, checking
// all of it; opening the recipe does what needs no row (a file is read, a mesh finds its radius);
// then any selection of rows can be made. Each family's .cpp defines its own functions; the table
// in generate.cpp names them.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string_view>

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/matrix_shape.hpp"
#include "strata/gen/coefficients.hpp"
#include "strata/gen/row_selection.hpp"
#include "strata/gen/rowwise.hpp"
#include "strata/gen/spec.hpp"

namespace strata {

// What rows are made from.
template <Value V, Index I>
struct RowSource {
  MatrixShape shape;
  // Of the whole matrix, as `coefficients` keep it. Asked for only where there are some.
  std::function<ValueCharacter()> character;
  // The selected rows, with the columns of the matrix.
  std::function<Csr<V, I>(const RowSelection<I>&)> make;
};

template <Value V, Index I>
struct Recipe {
  std::function<MatrixShape()> shape;  // reads no more than the header of a file
  std::function<RowSource<V, I>()> open;
};

// Throws like generate, but neither reads files nor makes the matrix.
template <Value V, Index I>
Recipe<V, I> prepare(std::string_view spec);

// Of square matrices that need nothing but their rows: `make(selection)` makes them.
template <Index I, class Make>
Recipe<double, I> square_recipe(I order, ValueCharacter character, const Make& make) {
  const MatrixShape shape{order, order};
  return {.shape = [shape] { return shape; },
          .open =
              [=] {
                return RowSource<double, I>{
                    .shape = shape, .character = [character] { return character; }, .make = make};
              }};
}

// The same, where `row` emits the entries of a row (rowwise.hpp).
template <Index I, class Row>
Recipe<double, I> row_recipe(I order, ValueCharacter character, const Row& row) {
  return square_recipe<I>(order, character, [order, row](const RowSelection<I>& selection) {
    return build_rows<double, I>(selection, order, row);
  });
}

// The keys that several generators have.
inline std::uint64_t seed_of(Spec& spec) {
  return static_cast<std::uint64_t>(
      spec.integer_or("seed", 1, 0, std::numeric_limits<Offset>::max()));
}
inline Offset dof_of(Spec& spec) {
  return spec.integer_or("dof", 1, 1, std::numeric_limits<Offset>::max());
}

// Most generators know numbers only: their recipes make doubles, and `generate` converts.
#define STRATA_RECIPE(name) \
  template <Index I>        \
  Recipe<double, I> name(Spec& spec)
STRATA_RECIPE(stencil5_recipe);
STRATA_RECIPE(stencil7_recipe);
STRATA_RECIPE(stencil9_recipe);
STRATA_RECIPE(stencil27_recipe);
STRATA_RECIPE(hpcg_recipe);
STRATA_RECIPE(band_recipe);
STRATA_RECIPE(fem_recipe);
STRATA_RECIPE(graphene_recipe);
STRATA_RECIPE(topi_recipe);
STRATA_RECIPE(anderson_recipe);
STRATA_RECIPE(random_recipe);
STRATA_RECIPE(rmat_recipe);
STRATA_RECIPE(arrow_recipe);
STRATA_RECIPE(mesh_recipe);
#undef STRATA_RECIPE

// Those that start from a file keep its kind of values.
template <Value V, Index I>
Recipe<V, I> extrude_recipe(Spec& spec);
template <Value V, Index I>
Recipe<V, I> blocks_recipe(Spec& spec);

// The rows of `extruded` (extrude.hpp) and `with_dense_blocks` (blocks.hpp), and their shapes by
// that of the matrix. They throw like these.
MatrixShape extruded_shape(const MatrixShape& base, Offset layers);
template <Value V, Index I>
RowSource<V, I> extruded_rows(std::shared_ptr<const Csr<V, I>> base, Offset layers);
MatrixShape shape_with_blocks(const MatrixShape& base, Offset dof);
template <Value V, Index I>
RowSource<V, I> rows_with_blocks(std::shared_ptr<const Csr<V, I>> base, Offset dof,
                                 std::uint64_t seed);

// The caller's matrix as a base, for as long as the caller has it.
template <Value V, Index I>
std::shared_ptr<const Csr<V, I>> borrowed(const Csr<V, I>& matrix) {
  return {std::shared_ptr<const void>(), &matrix};
}

}  // namespace strata
