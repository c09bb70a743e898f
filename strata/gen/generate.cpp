#include "strata/gen/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <optional>
#include <utility>

#include "strata/base/instantiate.hpp"
#include "strata/gen/coefficients.hpp"
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

template <Value V, Index I, Recipe<double, I> (*recipe_of)(Spec&)>
Recipe<V, I> in_doubles(Spec& spec) {
  Recipe<double, I> recipe = recipe_of(spec);
  if constexpr (std::same_as<V, double>) {
    return recipe;
  } else {
    return [recipe = std::move(recipe)] { return converted<V, I>(recipe()); };
  }
}

// All of them; a new one needs a line here, a line in recipe.hpp and a section in docs/matrices.md.
template <Value V, Index I>
constexpr auto kGenerators = std::to_array<Generator<V, I>>({
    {"stencil5", "stencil5:NXxNY[,dof=D]", "5-point Laplacian on a rectangle",
     in_doubles<V, I, stencil5_recipe<I>>},
    {"stencil7", "stencil7:NXxNYxNZ[,dof=D]", "7-point Laplacian on a box",
     in_doubles<V, I, stencil7_recipe<I>>},
    {"stencil9", "stencil9:NXxNY[,dof=D]", "9-point operator on a rectangle",
     in_doubles<V, I, stencil9_recipe<I>>},
    {"stencil27", "stencil27:NXxNYxNZ[,dof=D]", "27-point operator on a box",
     in_doubles<V, I, stencil27_recipe<I>>},
    {"band", "band:N,width=W", "W diagonals around the main one", in_doubles<V, I, band_recipe<I>>},
    {"hpcg", "hpcg:NXxNYxNZ", "the 27-point operator of the HPCG benchmark",
     in_doubles<V, I, hpcg_recipe<I>>},
    {"fem", "fem:NXxNY,degree=1..4", "Poisson's equation on NX x NY finite elements",
     in_doubles<V, I, fem_recipe<I>>},
    {"graphene", "graphene:NXxNY", "tight binding on a honeycomb, third neighbours",
     in_doubles<V, I, graphene_recipe<I>>},
    {"topi", "topi:NXxNYxNZ", "topological insulator, four orbitals per site",
     in_doubles<V, I, topi_recipe<I>>},
    {"anderson", "anderson:NXxNYxNZ[,disorder=W]", "Anderson's model of localisation",
     in_doubles<V, I, anderson_recipe<I>>},
    {"random", "random:N,nnzr=K", "K random columns in each row",
     in_doubles<V, I, random_recipe<I>>},
    {"rmat", "rmat:SCALE,edges=E", "R-MAT graph of 2^SCALE vertices, E edges each",
     in_doubles<V, I, rmat_recipe<I>>},
    {"arrow", "arrow:N", "one dense row and column, and the diagonal",
     in_doubles<V, I, arrow_recipe<I>>},
    {"mesh", "mesh:N,dim=2|3,nnzr=K[,dof=D][,aspect=AxBxC]",
     "unstructured mesh of N points, about K neighbours each", in_doubles<V, I, mesh_recipe<I>>},
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
  const std::optional<Offset> distinct = distinct_coefficients_of(spec);
  const bool shuffle = spec.integer_or("shuffle", 0, 0, 1) == 1;
  spec.refuse_unread_keys();
  return [recipe, seed, distinct, shuffle] {
    Csr<V, I> matrix = recipe();
    if (distinct) draw_coefficients(matrix, seed);
    if (distinct && *distinct != kAllDistinct) round_to_few_values(matrix, *distinct, seed);
    if (!shuffle) return matrix;
    return reordered(matrix, Permutation<I>::random(matrix.rows(), seed));
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
