// Graphs for the tests of orderings, as patterns of square matrices.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "strata/base/random.hpp"
#include "strata/formats/pattern.hpp"
#include "strata/order/permutation.hpp"

namespace strata::test {

using Edges = std::vector<std::pair<Offset, Offset>>;

// The pattern with exactly these entries; duplicates count once.
template <Index I>
Pattern<I> pattern_of(Offset rows, Edges entries) {
  std::ranges::sort(entries);
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  Pattern<I> result{static_cast<I>(rows),
                    static_cast<I>(rows),
                    Array<Offset>(static_cast<std::size_t>(rows) + 1, 0),
                    {}};
  for (const auto& [row, column] : entries) {
    ++result.row_offsets[row + 1];
    result.columns.push_back(static_cast<I>(column));
  }
  for (Offset row = 0; row < rows; ++row) result.row_offsets[row + 1] += result.row_offsets[row];
  return result;
}

// Both directions of every edge, and the diagonal.
template <Index I>
Pattern<I> graph_of(Offset rows, const Edges& edges) {
  Edges entries;
  for (Offset row = 0; row < rows; ++row) entries.emplace_back(row, row);
  for (const auto& [a, b] : edges) {
    entries.emplace_back(a, b);
    entries.emplace_back(b, a);
  }
  return pattern_of<I>(rows, std::move(entries));
}

template <Index I>
Edges entries_of(const Pattern<I>& pattern) {
  Edges entries;
  for (I row = 0; row < pattern.rows; ++row) {
    for (const I column : pattern.view().columns_of(row)) entries.emplace_back(row, column);
  }
  return entries;
}

// A box of cells, each joined to those that share a face with it, or also an edge or a corner.
enum class Touching { faces, corners };
template <Index I>
Pattern<I> box(Offset nx, Offset ny, Offset nz, Touching touching) {
  const auto inside = [](Offset i, Offset n) { return 0 <= i && i < n; };
  Edges entries;
  for (Offset row = 0; row < nx * ny * nz; ++row) {
    const Offset x = row % nx;
    const Offset y = row / nx % ny;
    const Offset z = row / nx / ny;
    for (int step = 0; step < 27; ++step) {
      const Offset dx = step % 3 - 1;
      const Offset dy = step / 3 % 3 - 1;
      const Offset dz = step / 9 - 1;
      if (touching == Touching::faces && dx * dx + dy * dy + dz * dz > 1) continue;
      if (!inside(x + dx, nx) || !inside(y + dy, ny) || !inside(z + dz, nz)) continue;
      entries.emplace_back(row, row + dx + nx * (dy + ny * dz));
    }
  }
  return pattern_of<I>(nx * ny * nz, std::move(entries));
}

template <Index I>
Pattern<I> path(Offset rows) {
  Edges edges;
  for (Offset row = 1; row < rows; ++row) edges.emplace_back(row - 1, row);
  return graph_of<I>(rows, edges);
}

template <Index I>
Pattern<I> star(Offset rows) {
  Edges edges;
  for (Offset row = 1; row < rows; ++row) edges.emplace_back(0, row);
  return graph_of<I>(rows, edges);
}

template <Index I>
Pattern<I> clique(Offset rows) {
  Edges edges;
  for (Offset a = 0; a < rows; ++a) {
    for (Offset b = 0; b < a; ++b) edges.emplace_back(a, b);
  }
  return graph_of<I>(rows, edges);
}

template <Index I>
Pattern<I> random_tree(Offset rows, std::uint64_t seed) {
  const Random random(seed, 1);
  Edges edges;
  for (Offset row = 1; row < rows; ++row) {
    edges.emplace_back(row, static_cast<Offset>(random.below(row, row)));
  }
  return graph_of<I>(rows, edges);
}

// Entries anywhere: neither symmetric, nor connected, nor with a diagonal.
template <Index I>
Pattern<I> random_pattern(Offset rows, Offset entries, std::uint64_t seed) {
  const Random random(seed, 2);
  Edges list;
  for (Offset k = 0; k < entries; ++k) {
    list.emplace_back(static_cast<Offset>(random.below(2 * k, rows)),
                      static_cast<Offset>(random.below(2 * k + 1, rows)));
  }
  return pattern_of<I>(rows, std::move(list));
}

// Both graphs in one, without an edge between them.
template <Index I>
Pattern<I> interleaved(const Pattern<I>& a, const Pattern<I>& b) {
  Edges entries = entries_of(a);
  for (const auto& [row, column] : entries_of(b)) {
    entries.emplace_back(row + a.rows, column + a.rows);
  }
  return pattern_of<I>(Offset{a.rows} + b.rows, std::move(entries));
}

// Rows and columns in the new order.
template <Index I>
Pattern<I> reordered(const Pattern<I>& pattern, const Permutation<I>& order) {
  const Permutation<I> new_of_old = order.inverse();
  Edges entries = entries_of(pattern);
  for (auto& [row, column] : entries) {
    row = new_of_old.old_of(static_cast<I>(row));
    column = new_of_old.old_of(static_cast<I>(column));
  }
  return pattern_of<I>(pattern.rows, std::move(entries));
}

template <Index I>
Pattern<I> shuffled(const Pattern<I>& pattern, std::uint64_t seed) {
  return reordered(pattern, Permutation<I>::random(pattern.rows, seed));
}

template <Index I>
struct NamedGraph {
  std::string name;
  Pattern<I> pattern;
};

// A few hundred graphs of all kinds, small ones and some large enough to be searched in parallel.
template <Index I>
std::vector<NamedGraph<I>> many_graphs() {
  std::vector<NamedGraph<I>> all;
  const auto add = [&](const std::string& name, Pattern<I> pattern) {
    all.push_back({name + " " + std::to_string(all.size()), std::move(pattern)});
  };
  add("no rows", pattern_of<I>(0, {}));
  add("no entries", pattern_of<I>(500, {}));
  add("diagonal", graph_of<I>(10000, {}));
  for (const Offset rows : {1, 2, 3, 100}) {
    add("path", shuffled(path<I>(rows), rows));
    add("star", shuffled(star<I>(rows), rows));
    add("clique", clique<I>(rows));
  }
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Random random(seed, 3);
    const auto size = [&](std::uint64_t counter, Offset most) {
      return static_cast<Offset>(1 + random.below(counter, most));
    };
    const auto pattern = random_pattern<I>(size(0, 200), size(1, 600), seed);
    const auto grid = box<I>(size(2, 9), size(3, 9), size(4, 9),
                             seed % 2 == 0 ? Touching::faces : Touching::corners);
    const auto tree = random_tree<I>(size(5, 300), seed);
    add("random", pattern);
    add("tree", shuffled(tree, seed));
    add("grid", shuffled(grid, seed));
    add("grid beside random", shuffled(interleaved(grid, pattern), seed));
    add("two trees beside a star",
        shuffled(interleaved(interleaved(tree, tree), star<I>(size(6, 40))), seed));
  }
  Edges full_row = entries_of(path<I>(300));
  for (Offset column = 0; column < 300; ++column) full_row.emplace_back(17, column);
  add("one full row", pattern_of<I>(300, full_row));
  add("large random", random_pattern<I>(30000, 90000, 1));
  add("large dense random", random_pattern<I>(20000, 400000, 2));
  add("large star", shuffled(star<I>(20000), 3));
  add("large tree", shuffled(random_tree<I>(40000, 4), 4));
  add("large grid", shuffled(box<I>(150, 20, 20, Touching::corners), 5));
  return all;
}

}  // namespace strata::test
