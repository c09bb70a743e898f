// R-MAT, the graphs with skewed degrees of Graph500 (Chakrabarti, Zhan, Faloutsos: R-MAT: a
// recursive model for graph mining, SDM 2004). An edge descends SCALE times into one of the four
// quarters of the adjacency matrix, with probabilities 0.57, 0.19, 0.19, 0.05.
//
// An edge is a function of its number, and which numbers lead to a row is not known: some rows take
// the time of all edges, but the memory of their own. The threads drop the edges' columns into the
// buckets of their rows in any order; sorting makes the buckets equal again. Every copy of edge
// (i, j) has the same random weight in [0.5, 1.5), and an entry is the sum over its copies.

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "strata/base/instantiate.hpp"
#include "strata/base/random.hpp"
#include "strata/gen/recipe.hpp"
#include "strata/gen/rowwise.hpp"

namespace strata {

namespace {

constexpr std::uint32_t threshold(double probability) {
  return static_cast<std::uint32_t>(probability * 4294967296.0);
}
constexpr std::uint32_t kTopLeft = threshold(0.57);
constexpr std::uint32_t kTop = threshold(0.57 + 0.19);
constexpr std::uint32_t kTopAndBottomLeft = threshold(0.57 + 0.19 + 0.19);

struct Edge {
  std::uint64_t row = 0;
  std::uint64_t column = 0;
};

struct Edges {
  Random random;
  Offset scale;
  Offset count;

  // 32 random bits choose the quarter on each level, without branches that could not be predicted.
  Edge edge(Offset number) const {
    const auto first_counter =
        static_cast<std::uint64_t>(number) * static_cast<std::uint64_t>(ceil_div(scale, 2));
    std::uint64_t word = 0;
    Edge result;
    for (Offset level = 0; level < scale; ++level) {
      word = level % 2 == 0 ? random.bits(first_counter + static_cast<std::uint64_t>(level / 2))
                            : word >> 32;
      const auto choice = static_cast<std::uint32_t>(word);
      const unsigned bottom = choice >= kTop;
      const unsigned right =
          (bottom ^ unsigned{choice >= kTopLeft}) | (choice >= kTopAndBottomLeft);
      result.row = 2 * result.row + bottom;
      result.column = 2 * result.column + right;
    }
    return result;
  }
};

// The columns of the edges of the selected rows, duplicates included, sorted within each row.
template <Index I>
struct Buckets {
  Array<Offset> starts;
  Array<I> columns;

  Buckets(const Edges& edges, const RowSelection<I>& selection)
      : starts(static_cast<std::size_t>(selection.size()) + 1, 0) {
    struct Kept {
      I position;
      I column;
    };
    std::mutex mutex;
    std::vector<std::vector<Kept>> kept;
    parallel_chunks(edges.count, [&](Offset begin, Offset end) {
      std::vector<Kept> own;
      for (Offset number = begin; number < end; ++number) {
        const Edge edge = edges.edge(number);
        const Offset position = selection.position_of(static_cast<Offset>(edge.row));
        if (position < 0) continue;
        own.push_back({static_cast<I>(position), static_cast<I>(edge.column)});
        std::atomic_ref(starts[position]).fetch_add(1, std::memory_order_relaxed);
      }
      const std::lock_guard lock(mutex);
      kept.push_back(std::move(own));
    });
    columns.resize(exclusive_scan(starts));
    Array<Offset> next(starts);
    parallel_dynamic(static_cast<Offset>(kept.size()), 1, [&](Offset piece, Offset) {
      for (const Kept& edge : kept[piece]) {
        std::atomic_ref place(next[edge.position]);
        columns[place.fetch_add(1, std::memory_order_relaxed)] = edge.column;
      }
    });
    kept.clear();
    parallel_dynamic(selection.size(), 256, [&](Offset begin, Offset end) {
      for (Offset row = begin; row < end; ++row) {
        std::sort(columns.begin() + starts[row], columns.begin() + starts[row + 1]);
      }
    });
  }

  // visit(column, copies) for the distinct columns of the row at this position of the selection.
  template <class Visit>
  void visit_row(Offset row, Visit&& visit) const {
    for (Offset k = starts[row]; k < starts[row + 1];) {
      const Offset first = k;
      while (k < starts[row + 1] && columns[k] == columns[first]) ++k;
      visit(columns[first], k - first);
    }
  }
};

}  // namespace

template <Index I>
Recipe<double, I> rmat_recipe(Spec& spec) {
  const Offset scale = spec.size(62);
  const Offset rows = Offset{1} << scale;
  const Offset per_row = spec.integer("edges", 1, std::numeric_limits<Offset>::max());
  const I order = checked_order<double, I>(rows, per_row);
  const std::uint64_t seed = seed_of(spec);
  const Edges edges{Random(seed), scale, rows * per_row};
  return square_recipe<I>(order, ValueCharacter::general, [=](const RowSelection<I>& selection) {
    const Buckets<I> buckets(edges, selection);
    const Random weights(seed, 1);
    return build_rows<double, I>(selection, order, [&, weights](Offset row, auto&& emit) {
      buckets.visit_row(selection.position_of(row), [&](Offset column, Offset copies) {
        const auto counter =
            (static_cast<std::uint64_t>(row) << scale) + static_cast<std::uint64_t>(column);
        const double weight = 0.5 + weights.uniform(counter);
        emit(column, static_cast<double>(copies) * weight);
      });
    });
  });
}

#define STRATA_INSTANTIATE(I) template Recipe<double, I> rmat_recipe<I>(Spec&)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
