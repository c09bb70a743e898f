// The generators that start from a matrix file.

#include <filesystem>
#include <limits>
#include <memory>

#include "strata/base/instantiate.hpp"
#include "strata/gen/recipe.hpp"
#include "strata/io/matrix_market.hpp"
#include "strata/io/petsc_binary.hpp"

namespace strata {

namespace {

MatrixShape shape_of_file(const std::filesystem::path& path) {
  if (is_petsc_binary(path)) return PetscBinaryFile(path).shape();
  const MatrixMarketHeader header = read_matrix_market_header(path);
  return {header.rows, header.cols};
}

template <Value V, Index I>
std::shared_ptr<const Csr<V, I>> read_base(const std::filesystem::path& path) {
  return std::make_shared<const Csr<V, I>>(is_petsc_binary(path) ? read_petsc_binary<V, I>(path)
                                                                 : read_matrix_market<V, I>(path));
}

}  // namespace

template <Value V, Index I>
Recipe<V, I> extrude_recipe(Spec& spec) {
  const std::filesystem::path path = spec.argument();
  const Offset layers = spec.integer("layers", 1, std::numeric_limits<Offset>::max());
  return {.shape = [=] { return extruded_shape(shape_of_file(path), layers); },
          .open = [=] { return extruded_rows(read_base<V, I>(path), layers); }};
}

template <Value V, Index I>
Recipe<V, I> blocks_recipe(Spec& spec) {
  const std::filesystem::path path = spec.argument();
  const Offset dof = spec.integer("dof", 1, std::numeric_limits<Offset>::max());
  const std::uint64_t seed = seed_of(spec);
  return {.shape = [=] { return shape_with_blocks(shape_of_file(path), dof); },
          .open = [=] { return rows_with_blocks(read_base<V, I>(path), dof, seed); }};
}

#define STRATA_INSTANTIATE(V, I)                     \
  template Recipe<V, I> extrude_recipe<V, I>(Spec&); \
  template Recipe<V, I> blocks_recipe<V, I>(Spec&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
