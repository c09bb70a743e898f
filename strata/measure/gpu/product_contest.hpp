// The product benchmark on a GPU. Matrices and vectors stay on it; they are timed by its own clock.
#pragma once

#include <optional>
#include <vector>

#include "strata/machine/gpu/profile.hpp"
#include "strata/measure/gpu/peer.hpp"
#include "strata/measure/product_contest.hpp"
#include "strata/model/warp_model.hpp"

namespace strata::gpu {

// Who takes part.
template <Value V, Index I>
struct ProductField {
  std::vector<ProductSpec> products = {};
  bool plan = true;  // what plan_product chooses
  // The vendor's library: pass make_peers<V, I> of peers.hpp. Empty: without.
  MakePeers<V, I> peers = {};
  // As on processors.
  std::optional<double> alpha = {};
  // CSR by Reguly's kernel with these parameters besides.
  std::vector<CoopKernel> reguly = {};
};

// On the GPU of the profile, which the calling thread uses from then on. The clock and the least
// number of repetitions in the options are replaced by those of GPUs. `done` gets all results
// together, those of the vendor's library last. What refuses the matrix or does not fit the memory
// that the others leave comes without a timing, with the reason; if nothing is left to time for
// want of memory, that is thrown.
template <Value V, Index I>
void hold_product_contest(const Csr<V, I>& matrix, const ProductField<V, I>& field,
                          const GpuProfile& profile, const ContestOptions& options,
                          const ProductDone& done);

}  // namespace strata::gpu
