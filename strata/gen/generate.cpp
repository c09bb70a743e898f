#include "strata/gen/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "strata/base/instantiate.hpp"
#include "strata/gen/recipe.hpp"
#include "strata/order/permutation.hpp"

namespace strata {

namespace {

template <Value V, Index I>
struct Generator {
  std::string_view name;
  std::string_view usage;
  std::string_view summary;
  Recipe<V, I> (*recipe)(Spec&);
};

// All of them; a new one needs a line here, a line in recipe.hpp and a section in docs/matrices.md.
template <Value V, Index I>
constexpr auto kGenerators = std::to_array<Generator<V, I>>({
    {"stencil5", "stencil5:NXxNY[,dof=D]", "5-point Laplacian on a rectangle",
     stencil5_recipe<V, I>},
    {"stencil7", "stencil7:NXxNYxNZ[,dof=D]", "7-point Laplacian on a box", stencil7_recipe<V, I>},
    {"stencil9", "stencil9:NXxNY[,dof=D]", "9-point operator on a rectangle",
     stencil9_recipe<V, I>},
    {"stencil27", "stencil27:NXxNYxNZ[,dof=D]", "27-point operator on a box",
     stencil27_recipe<V, I>},
    {"band", "band:N,width=W", "W diagonals around the main one", band_recipe<V, I>},
    {"hpcg", "hpcg:NXxNYxNZ", "the 27-point operator of the HPCG benchmark", hpcg_recipe<V, I>},
    {"fem", "fem:NXxNY,degree=1..4", "Poisson's equation on NX x NY finite elements",
     fem_recipe<V, I>},
    {"graphene", "graphene:NXxNY", "tight binding on a honeycomb, third neighbours",
     graphene_recipe<V, I>},
    {"topi", "topi:NXxNYxNZ", "topological insulator, four orbitals per site", topi_recipe<V, I>},
    {"anderson", "anderson:NXxNYxNZ[,disorder=W]", "Anderson's model of localisation",
     anderson_recipe<V, I>},
    {"random", "random:N,nnzr=K", "K random columns in each row", random_recipe<V, I>},
    {"rmat", "rmat:SCALE,edges=E", "R-MAT graph of 2^SCALE vertices, E edges each",
     rmat_recipe<V, I>},
    {"arrow", "arrow:N", "one dense row and column, and the diagonal", arrow_recipe<V, I>},
    {"mesh", "mesh:N,dim=2|3,nnzr=K[,dof=D][,aspect=AxBxC]",
     "unstructured mesh of N points, about K neighbours each", mesh_recipe<V, I>},
    {"extrude", "extrude:PATH,layers=L", "L layers of a matrix file, coupled along a path",
     extrude_recipe<V, I>},
    {"blocks", "blocks:PATH,dof=D", "a matrix file with a dense D x D block per entry",
     blocks_recipe<V, I>},
});

// For what does not depend on the types.
constexpr const auto& kGeneratorNames = kGenerators<double, std::int32_t>;

// Errors about numbers and sizes say which specification they mean; those about files name them.
template <class Action>
auto naming_spec(std::string_view spec, Action&& action) {
  try {
    return action();
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("{}: {}", spec, error.what()));
  } catch (const OverflowError& error) {
    throw OverflowError(fmt::format("{}: {}", spec, error.what()));
  }
}

template <Value V, Index I>
Recipe<V, I> parse(std::string_view text) {
  Spec spec(text);
  const auto found = std::ranges::find(kGenerators<V, I>, spec.name(), &Generator<V, I>::name);
  if (found == kGenerators<V, I>.end()) {
    throw InvalidArgument(fmt::format("there is no generator '{}'", spec.name()));
  }
  Recipe<V, I> recipe = found->recipe(spec);
  const std::uint64_t seed = seed_of(spec);
  const bool shuffle = spec.integer_or("shuffle", 0, 0, 1) == 1;
  spec.refuse_unread_keys();
  if (!shuffle) return recipe;
  return [recipe, seed] {
    const Csr<V, I> matrix = recipe();
    return permuted(matrix, Permutation<I>::random(matrix.rows(), seed));
  };
}

}  // namespace

bool is_generator_spec(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  return name.size() < text.size() &&
         std::ranges::any_of(
             kGeneratorNames, [&](const auto& known) { return known.name == name; });
}

template <Value V, Index I>
Recipe<V, I> prepare(std::string_view spec) {
  return naming_spec(spec, [&] { return parse<V, I>(spec); });
}

template <Value V, Index I>
Csr<V, I> generate(std::string_view spec) {
  const Recipe<V, I> recipe = prepare<V, I>(spec);
  return naming_spec(spec, [&] { return recipe(); });
}

std::vector<GeneratorHelp> generator_help() {
  std::vector<GeneratorHelp> help;
  for (const auto& generator : kGeneratorNames) {
    help.push_back({std::string(generator.name), std::string(generator.usage),
                    std::string(generator.summary)});
  }
  return help;
}

#define STRATA_INSTANTIATE(V, I)                         \
  template Recipe<V, I> prepare<V, I>(std::string_view); \
  template Csr<V, I> generate<V, I>(std::string_view)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
