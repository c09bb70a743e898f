#include "strata/gen/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <mutex>
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
    return {.shape = recipe.shape, .open = [open = recipe.open] {
              RowSource<double, I> source = open();
              return RowSource<V, I>{
                  .shape = source.shape,
                  .character = source.character,
                  .make = [make = source.make](const RowSelection<I>& selection) {
                    return converted<V, I>(make(selection));
                  }};
            }};
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

// A recipe with the keys that all generators have.
template <Value V, Index I>
struct ParsedSpec {
  Recipe<V, I> recipe;
  std::uint64_t seed = 0;
  std::optional<Offset> distinct;  // coefficients
  bool shuffle = false;
};

template <Value V, Index I>
ParsedSpec<V, I> parse(std::string_view text) {
  Spec spec(text);
  const auto found = std::ranges::find(kGenerators<V, I>, spec.name(), &Generator<V, I>::name);
  if (found == kGenerators<V, I>.end()) {
    throw InvalidArgument(fmt::format("there is no generator '{}'", spec.name()));
  }
  ParsedSpec<V, I> parsed{.recipe = found->recipe(spec),
                          .seed = seed_of(spec),
                          .distinct = distinct_coefficients_of(spec),
                          .shuffle = spec.integer_or("shuffle", 0, 0, 1) == 1};
  spec.refuse_unread_keys();
  return parsed;
}

// What the pieces of a pass over all rows have at least: enough for all threads.
constexpr Offset kPieceEntries = Offset{1} << 22;
constexpr Offset kFirstPieceRows = Offset{1} << 12;

}  // namespace

template <Value V, Index I>
class RowGenerator<V, I>::State {
 public:
  explicit State(std::string_view spec) : spec_(spec) {
    naming_spec(spec_, [&] {
      ParsedSpec<V, I> parsed = parse<V, I>(spec_);
      source_ = parsed.recipe.open();
      seed_ = parsed.seed;
      distinct_ = parsed.distinct;
      if (distinct_) character_ = source_.character();
      if (parsed.shuffle) draw_shuffle();
    });
  }

  const MatrixShape& shape() const { return source_.shape; }

  Csr<V, I> make_rows(Offset begin, Offset end) const {
    return naming_spec(spec_, [&] {
      if (begin < 0 || begin > end || end > shape().rows) {
        throw InvalidArgument(
            fmt::format("there are no rows [{}, {}) of {}", begin, end, shape().rows));
      }
      const RowSelection<I> selection(begin, end, shuffle_ ? &*shuffle_ : nullptr);
      Csr<V, I> rows = drawn(selection);
      if (distinct_ && *distinct_ != kAllDistinct) few_values(rows, begin).round(rows, selection);
      return shuffle_ ? renumbered_columns(rows, shuffle_->new_of_old) : std::move(rows);
    });
  }

 private:
  void draw_shuffle() {
    if (shape().rows != shape().cols) {
      throw InvalidArgument(fmt::format("a {} x {} matrix cannot be reordered symmetrically",
                                        shape().rows, shape().cols));
    }
    shuffle_.emplace(Permutation<I>::random(narrow<I>(shape().rows, "the number of rows"), seed_));
  }

  // With all coefficients, in the order of the matrix.
  Csr<V, I> drawn(const RowSelection<I>& selection) const {
    Csr<V, I> rows = source_.make(selection);
    if (distinct_) draw_coefficients(rows, selection, character_, seed_);
    return rows;
  }

  // `rows` are those drawn from row `first` on; shuffled ones are of no use unless they are all.
  const FewValues<V, I>& few_values(const Csr<V, I>& rows, Offset first) const {
    const std::lock_guard lock(mutex_);
    if (few_values_) return *few_values_;
    const bool complete = first == 0 && rows.rows() == shape().rows && !shuffle_;
    const auto pass = [&](typename FewValues<V, I>::Visit visit) {
      if (complete) {
        visit(rows, 0);
      } else {
        visit_pieces(std::max(rows.nnz(), kPieceEntries), visit);
      }
    };
    return few_values_.emplace(pass, *distinct_, seed_);
  }

  // All rows, in pieces of about `entries` entries by the length of the rows before.
  void visit_pieces(Offset entries, typename FewValues<V, I>::Visit visit) const {
    Offset count = kFirstPieceRows;
    for (Offset begin = 0; begin < shape().rows;) {
      const Offset end = begin + std::min(count, shape().rows - begin);
      const Csr<V, I> rows = drawn({begin, end});
      visit(rows, begin);
      const double per_row =
          static_cast<double>(std::max<Offset>(rows.nnz(), 1)) / static_cast<double>(end - begin);
      const double fitting =
          std::min(static_cast<double>(entries) / per_row, 4 * static_cast<double>(end - begin));
      count = std::max<Offset>(static_cast<Offset>(fitting), 1);
      begin = end;
    }
  }

  std::string spec_;
  RowSource<V, I> source_;
  std::uint64_t seed_ = 0;
  std::optional<Offset> distinct_;
  ValueCharacter character_ = ValueCharacter::general;
  std::optional<Shuffle<I>> shuffle_;
  mutable std::mutex mutex_;
  mutable std::optional<FewValues<V, I>> few_values_;
};

bool is_generator_spec(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  return name.size() < text.size() &&
         std::ranges::any_of(
             kGeneratorNames, [&](const auto& known) { return known.name == name; });
}

template <Value V, Index I>
Recipe<V, I> prepare(std::string_view spec) {
  return naming_spec(spec, [&] { return parse<V, I>(spec).recipe; });
}

MatrixShape generated_shape(std::string_view spec) {
  return naming_spec(spec, [&] { return parse<double, Offset>(spec).recipe.shape(); });
}

template <Value V, Index I>
RowGenerator<V, I>::RowGenerator(std::string_view spec)
    : state_(std::make_shared<const State>(spec)) {}

template <Value V, Index I>
MatrixShape RowGenerator<V, I>::shape() const {
  return state_->shape();
}

template <Value V, Index I>
Csr<V, I> RowGenerator<V, I>::make_rows(Offset begin, Offset end) const {
  return state_->make_rows(begin, end);
}

template <Value V, Index I>
Csr<V, I> generate(std::string_view spec) {
  const RowGenerator<V, I> generator(spec);
  return generator.make_rows(0, generator.rows());
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
  template class RowGenerator<V, I>;                     \
  template Csr<V, I> generate<V, I>(std::string_view)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
