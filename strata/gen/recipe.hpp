// Generators in two steps: a function per generator turns a specification into a recipe, checking
// all of it, and the recipe makes the matrix. Each family's .cpp defines its own functions; the
// table in generate.cpp names them.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/gen/spec.hpp"

namespace strata {

template <Value V, Index I>
using Recipe = std::function<Csr<V, I>()>;

// Throws like generate, but neither reads files nor makes the matrix.
template <Value V, Index I>
Recipe<V, I> prepare(std::string_view spec);

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

}  // namespace strata
