// ProcessorState: what a plan for a processor is asked for, and what its planner has found out and
// proposed so far. The parts of the planner share it: format_choice, arrangements, sweep_proposals,
// product_proposals.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/execute/sweep.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/format.hpp"
#include "strata/formats/pattern.hpp"
#include "strata/machine/profile.hpp"
#include "strata/plans/candidate.hpp"
#include "strata/plans/internal/arrangement.hpp"
#include "strata/plans/internal/given_order.hpp"
#include "strata/plans/internal/planning.hpp"
#include "strata/plans/internal/prepared.hpp"
#include "strata/plans/internal/product_request.hpp"
#include "strata/plans/internal/trials.hpp"
#include "strata/tune/product_search.hpp"

namespace strata::detail {

template <Value V, Index I>
using SharedArrangement = std::shared_ptr<Arrangement<V, I>>;

// A way to compute the powers, ready to be timed.
template <Value V, Index I>
struct ProcessorProposal {
  PowerCandidate candidate;
  SharedArrangement<V, I> arrangement;
  std::vector<Sweep<I>> sweeps;
  std::optional<Sweep<I>> one_product;  // of plain products, tells as much as all of them

  bool reordered() const { return !arrangement->order.is_identity(); }
  const Sweep<I>& trial_sweep() const { return one_product ? *one_product : sweeps.front(); }
};

template <Value V, Index I>
struct ProcessorState {
  using Proposal = ProcessorProposal<V, I>;

  // Chooses the threads and finds the machine profile. All must outlive this. The reach is that of
  // entries, of rows as they are given.
  ProcessorState(const Csr<V, I>& matrix, const Reach& reach, const PowerOptions& options,
                 const ProductRequest& request, Prepared<V, I>& prepared);

  const Csr<V, I>& matrix;
  const PowerOptions& options;
  const ProductRequest& request;
  Prepared<V, I>& prepared;
  const MachineProfile* profile = nullptr;
  std::vector<Proposal> proposals;
  std::vector<SearchedProduct> ranked;  // products in all formats, where they were searched
  bool settled = false;                 // the caller or the tuning store left nothing to search
  SharedArrangement<V, I> given;        // the first that was proposed, if any was
  double entry_bytes = 0;               // of the rows as given
  double csr_kernel_seconds = 0;        // of a product in CSR, by a sample; 0: not known
  bool affords_sweeps = true;           // every thread has a processor of its own
  bool stays_in_cache = false;          // in the private one: nothing to gain
  Trials<V, I> trials;

  PatternView<I> pattern() const { return matrix.pattern(); }
  Offset row_bytes() const { return Offset{sizeof(V)} * options.vectors; }
  // y_0 … y_p
  Offset vector_bytes() const { return matrix.rows() * row_bytes() * (options.power + 1); }
  // Bytes per second from where so many fit.
  double rate_of(double bytes) const;
  bool fits_private_cache(const Arrangement<V, I>& arrangement) const {
    return arrangement.matrix.bytes() + vector_bytes() <= prepared.places.private_bytes;
  }

  // Whether anything but plain products is proposed.
  bool blocks() const {
    if (!may_block(options) || matrix.nnz() == 0) return false;
    return must_block(options) || (affords_sweeps && !stays_in_cache);
  }
  // Whether any format will do, and time may be spent on it.
  bool any_format() const {
    return options.autotune && options.format == Format::automatic && options.slice_height == 0 &&
           !options.values && request.searches;
  }
  bool searches_products() const { return options.power == 1 && any_format(); }
  // The same for powers, of which plain products are allowed.
  bool searches_plain_powers() const {
    return options.power > 1 && any_format() && !must_block(options) && !settled &&
           matrix.nnz() > 0;
  }

  // Whether rows near each other read x far apart; found out once.
  bool scattered() const;
  // Whether levels are searched for before anything is stored: rows as they are given would wait
  // for x, which no core's cache holds, and products of rows in levels are as simple, if copying
  // vectors into that order takes little of them.
  bool searches_first() const;
  // Whether powers of rows as they are given can follow each other so closely that a cache holds
  // what lies between them, if entries take so many bytes.
  bool may_sweep_as_given(double bytes_per_entry) const;
  // As plain products of rows as they are given.
  bool is_proposed(const StoredFormat& stored) const;
  bool is_proposed(const ProductSpec& spec) const;
  // Of those that were timed.
  Proposal& fastest();

 private:
  void choose_threads();
  void find_profile();

  mutable std::optional<bool> scattered_;
  Offset given_lag_;  // in entries
};

}  // namespace strata::detail
