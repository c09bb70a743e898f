// The generators that start from a matrix file.

#include <filesystem>
#include <limits>

#include "strata/base/instantiate.hpp"
#include "strata/gen/blocks.hpp"
#include "strata/gen/extrude.hpp"
#include "strata/gen/recipe.hpp"
#include "strata/io/matrix_market.hpp"

namespace strata {

template <Value V, Index I>
Recipe<V, I> extrude_recipe(Spec& spec) {
  const std::filesystem::path path = spec.argument();
  const Offset layers = spec.integer("layers", 1, std::numeric_limits<Offset>::max());
  return [=] { return extruded(read_matrix_market<V, I>(path), layers); };
}

template <Value V, Index I>
Recipe<V, I> blocks_recipe(Spec& spec) {
  const std::filesystem::path path = spec.argument();
  const Offset dof = spec.integer("dof", 1, std::numeric_limits<Offset>::max());
  const std::uint64_t seed = seed_of(spec);
  return [=] { return with_dense_blocks(read_matrix_market<V, I>(path), dof, seed); };
}

#define STRATA_INSTANTIATE(V, I)                     \
  template Recipe<V, I> extrude_recipe<V, I>(Spec&); \
  template Recipe<V, I> blocks_recipe<V, I>(Spec&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
