// Which product is the fastest for a matrix on this machine: candidates are ranked by what their
// bytes and their kernels on a sample of rows let expect, the best few are stored whole and timed
// in turn. An exhaustive search times all of them and says how far a ranked one was off.
//
//   const auto A = strata::generate<double, std::int32_t>("stencil27:40x40x40,dof=3");
//   const auto& machine = strata::cached_machine_profile().profile;
//   const auto found = strata::search_products(A, machine);
//   label_of(found.best().spec);   // "packed SELL-32"
//   found.best().seconds;          // of one product
//   found.best().break_even;       // products until its set-up has paid off against CSR
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/kernels/product_spec.hpp"
#include "strata/machine/profile.hpp"
#include "strata/tune/product_prediction.hpp"

namespace strata {

struct SearchOptions {
  int timed = 5;             // of the candidates, besides CSR
  bool exhaustive = false;   // all of them
  double min_seconds = 0.1;  // of timing, per candidate
  int vectors = 1;           // right-hand sides, interleaved, 1 … 8
  // Shapes of BCSR that are worth trying besides the usual ones; see choose_block_size.
  std::vector<ProductSpec> more = {};
  // The candidates, if there are any here, instead of the usual ones of every format.
  std::vector<ProductSpec> only = {};
  // α of Hager and Wellein, elements of x that come from memory per entry, where it is known. Not
  // less than all of x once.
  std::optional<double> alpha = {};
  // Time kernels on a sample of rows to rank them; otherwise the bytes decide.
  bool sampled = true;
  // What begins now, for people who wait. May throw to end the search.
  std::function<void(const std::string& what)> progress = {};
};

struct SearchedProduct {
  ProductSpec spec;
  int rank = 0;            // by what was predicted; 0 is the best
  bool contender = false;  // is timed unless the search is exhaustive: CSR and the best few
  PredictedTime predicted = {};
  double predicted_bytes = 0;  // of the matrix
  double seconds = 0;          // measured; 0 where it was not timed
  double setup_seconds = 0;    // of the whole matrix, where it was timed
  Offset bytes = 0;            // of the matrix
  // Products until the set-up has paid off against CSR; none if it never does or was not timed.
  std::optional<Offset> break_even = {};
  std::string miss = {};     // why it takes another time than predicted; see cause_of_miss
  std::string refusal = {};  // why it takes no part
};

struct ProductSearch {
  // Those that were timed, the fastest first; then the others by what was predicted; then those
  // that refused the matrix.
  std::vector<SearchedProduct> products;
  int timed = 0;
  double seconds = 0;  // that the search took

  const SearchedProduct& best() const { return products.front(); }
  // By how much the best contender is slower than the best of all that were timed: 0.03 are 3 %.
  // What a search that times contenders alone loses to this one, if it is exhaustive.
  double distance() const;
};

// On thread_count() threads of the processor that the profile is of. Throws InvalidArgument for
// options that make no sense.
template <Value V, Index I>
ProductSearch search_products(const Csr<V, I>& matrix, const MachineProfile& profile,
                              const SearchOptions& options = {});

// The candidates by what they should take, the best first, those that refuse the matrix last.
// Nothing is stored whole. Throws as search_products does.
template <Value V, Index I>
std::vector<SearchedProduct> rank_products(const Csr<V, I>& matrix, const MachineProfile& profile,
                                           const SearchOptions& options = {});

// Rows from everywhere in the matrix, in runs of neighbours, with about so many entries; the whole
// matrix if it has no more. Columns stay as they are, and blocks of up to 8 rows what they were.
template <Value V, Index I>
Csr<V, I> sample_of_rows(const Csr<V, I>& matrix, Offset entries);

}  // namespace strata
