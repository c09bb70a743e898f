// What a matrix costs so many ranks, counted on its pattern before any of them exists: who needs
// which elements of x from whom when rows are distributed, when entries are on a grid of ranks, and
// when ranks compute ghost rows to exchange once for several powers. The rules are those of
// distributed/product.hpp and powers.hpp.
#pragma once

#include <span>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/pattern.hpp"

namespace strata {

// What a row weighs besides its entries: elements of x and y take about the bytes of two.
inline constexpr Offset kRowWeight = 2;
// Rows in contiguous ranges, as many for every rank, or of about the same weight if a rank had more
// than 1 % above the mean: rank r has rows result[r] … result[r + 1] − 1. The row offsets are those
// of the matrix.
std::vector<Offset> rows_by_entries(std::span<const Offset> row_offsets, int ranks);
// As many elements for every rank.
std::vector<Offset> even_ranges(Offset elements, int ranks);

// Ranks r and s share a node if r / ranks_per_node = s / ranks_per_node.
struct RankLayout {
  std::vector<Offset> rows = {};  // ranges of rows, and of y
  std::vector<Offset> cols = {};  // ranges of columns, and of x
  int ranks_per_node = 1;

  int ranks() const { return static_cast<int>(rows.size()) - 1; }
};
// Rows by entries; columns follow the rows of square matrices and are even otherwise.
template <Index I>
RankLayout layout_by_entries(const PatternView<I>& pattern, int ranks, int ranks_per_node);

// Messages and elements of vectors that a rank exchanges, inside its node and with others.
struct Exchange {
  Offset near_messages = 0;
  Offset near_elements = 0;
  Offset far_messages = 0;
  Offset far_elements = 0;

  Offset messages() const { return near_messages + far_messages; }
  Offset elements() const { return near_elements + far_elements; }
  void add(bool near, Offset elements);
  bool operator==(const Exchange&) const = default;
};

struct RowsShare {
  Offset rows = 0;
  Offset entries = 0;
  Offset interior_entries = 0;  // of rows that need nothing of others
  Exchange received = {};       // for one product: elements of x
  Exchange sent = {};
  bool operator==(const RowsShare&) const = default;
};
// Of all ranks.
template <Index I>
std::vector<RowsShare> count_rows(const PatternView<I>& pattern, const RankLayout& layout);

struct GridShare {
  Offset rows = 0;                // of y
  Offset entries = 0;             // that it multiplies
  Offset interior_entries = 0;    // of its own rows that need nothing of others
  Exchange expand_received = {};  // elements of x, in its column of ranks
  Exchange expand_sent = {};
  Exchange fold_received = {};  // parts of y, in its row of ranks
  Exchange fold_sent = {};
  bool operator==(const GridShare&) const = default;
};
// p₁ of p₁ × p₂ ranks: the largest divisor that is at most the root.
int square_grid_rows(int ranks);
// Of all ranks; rank i·p₂ + j is in row i and column j. Throws InvalidArgument unless p₁ divides.
template <Index I>
std::vector<GridShare> count_grid(const PatternView<I>& pattern, const RankLayout& layout,
                                  int grid_rows);

// One exchange for `depth` powers: power k is computed on the rows within distance depth − k.
struct DeepShare {
  int rank = 0;
  Offset rows = 0;
  Offset entries = 0;
  Offset ghost_rows = 0;         // within distance depth − 1
  Offset redundant_rows = 0;     // computed over all powers besides its own
  Offset redundant_entries = 0;  // of these
  Exchange received = {};        // elements of x within distance depth
  bool operator==(const DeepShare&) const = default;
};
// Of all ranks, or of ranks that are spread evenly where counting all of them would visit more than
// `most_entries` entries: 16 at least. Throws InvalidArgument unless the matrix is square and the
// depth is positive.
template <Index I>
std::vector<DeepShare> count_deep(const PatternView<I>& pattern, const RankLayout& layout,
                                  int depth, Offset most_entries = Offset{200'000'000});

}  // namespace strata
