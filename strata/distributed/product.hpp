// DistributedProduct: y = αAx + βy where every rank has a part of A, x and y.
//
//   const DistributedProduct<double> product(world, matrix, {.layout = Layout::rows});
//   auto workspace = product.make_workspace();
//   product.apply(x, y, workspace);   // the rank's elements of both
//
// Ranks are arranged as p₁ × p₂; rank i·p₂ + j is in row i and column j of them. Entry (r, c) is at
// the rank in the row of the owner of element r of y and in the column of the owner of element c of
// x. So a rank needs elements of x from its column of ranks alone, p₁ − 1 of them, and what it adds
// to elements of y goes to its row of ranks, p₂ − 1. Three names for the shapes:
//
//   rows      p₂ = 1: whole rows; elements of x come from others, y is complete
//   columns   p₁ = 1: whole columns; x is there, parts of y go to others
//   grid      both, as square as it can be
//
// Elements of x that are not there are on their way while rows that need none of them are computed.
// A product by rows has the bits of the product on one rank in the same format: rows are summed up
// in the order of their columns. In the other layouts parts of a row are added up in the order of
// ranks: bits depend on the number of ranks, but not on the run.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/distributed/communicator.hpp"
#include "strata/distributed/matrix.hpp"
#include "strata/plans/plan_options.hpp"

namespace strata::distributed {

enum class Layout { rows, columns, grid };
std::string_view name_of(Layout layout);

struct DistributedOptions {
  Layout layout = Layout::rows;
  int grid_rows = 0;  // p₁ of grids; 0: as square as it can be. It has to divide the ranks
  // How every rank's own products are planned; vectors are interleaved and in the caller's order.
  // threads = 0: as many as Communicator::threads_per_rank.
  ProductOptions product = {};
};

// What a rank has and what it sends for one product.
struct RankShare {
  Offset rows = 0;           // of y
  Offset entries = 0;        // of the matrix
  Offset interior_rows = 0;  // of y, that need nothing of others
  Offset cut_entries = 0;    // in columns that another rank has: the edge cut
  Offset ghosts = 0;         // elements of x from others
  Offset partners = 0;       // ranks that it sends to
  Offset messages = 0;       // that it sends
  Offset bytes = 0;          // that it sends
};

// The largest over the mean, 1 for an even distribution.
double imbalance(const std::vector<RankShare>& shares, Offset RankShare::* of);

template <Value V>
class DistributedProduct {
 public:
  class Workspace;

  // Collective. The communicator has to live as long; the matrix need not. Throws InvalidArgument
  // for options that make no sense or differ between ranks, OverflowError if a rank has more than
  // 2³¹ − 1 rows or columns, and what plans throw.
  template <Index I>
  DistributedProduct(const Communicator& ranks, const DistributedMatrix<V, I>& matrix,
                     const DistributedOptions& options = {});
  ~DistributedProduct();
  DistributedProduct(DistributedProduct&&) noexcept;
  DistributedProduct& operator=(DistributedProduct&&) noexcept;

  Offset rows() const;    // of this rank: of y
  Offset x_rows() const;  // of x
  int vectors() const;
  int threads() const;

  // Collective: products with different workspaces may be under way at the same time.
  Workspace make_workspace() const;

  // Collective. y = Ax, and y = αAx + βy; as ProductPlan::apply, with the elements of this rank.
  void apply(std::span<const V> x, std::span<V> y, Workspace& workspace) const;
  void apply(V alpha, std::span<const V> x, V beta, std::span<V> y, Workspace& workspace) const;

  // New values on the pattern that it was made for.
  template <Index I>
  void update_values(const DistributedMatrix<V, I>& matrix);

  // Of all ranks, by rank; the same on all of them.
  const std::vector<RankShare>& shares() const;
  // What was decided, in prose; the same on all ranks.
  const std::string& explain() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

template <Value V>
class DistributedProduct<V>::Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

 private:
  friend class DistributedProduct<V>;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace strata::distributed
