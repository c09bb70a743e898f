// The product benchmark: y = Ax in many formats, by our kernels, by a plan and by other libraries,
// timed in turn in one process and checked.
//
//   hold_product_contest<double, std::int32_t>(
//       matrix,
//       {.products =
//            parse_product_list("csr,packed-sell", statistics_of(matrix),
//            KernelTarget::processor)},
//       cached_machine_profile().profile, {},
//       [](const ProductResult& each) { std::puts(text_of(json_of(each)).c_str()); });
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "strata/formats/csr.hpp"
#include "strata/kernels/product_spec.hpp"
#include "strata/machine/profile.hpp"
#include "strata/measure/contest.hpp"
#include "strata/measure/peer.hpp"
#include "strata/measure/product_result.hpp"

namespace strata {

// Who takes part on a processor.
template <Value V, Index I>
struct ProductField {
  std::vector<ProductSpec> products = {};
  bool plan = true;                         // what plan_product chooses
  std::vector<ProductSpec> reference = {};  // by the slow kernels that every format has
  // Other libraries: pass make_peers<V, I> of peers.hpp. Empty: without.
  std::function<std::vector<Peer<V>>(const Csr<V, I>& matrix)> peers = {};
  // α that was predicted for the matrix (predict_alpha of product_device.hpp), to stand beside the
  // one that every time says.
  std::optional<double> alpha = {};
};

using ProductDone = std::function<void(const ProductResult& result)>;

// On the processor that the profile is of. `done` gets the results of peers, kernels and the plan
// together, and those of the reference kernels one by one. Formats that refuse the matrix come
// without a timing, with their refusal.
template <Value V, Index I>
void hold_product_contest(const Csr<V, I>& matrix, const ProductField<V, I>& field,
                          const MachineProfile& profile, const ContestOptions& options,
                          const ProductDone& done);

}  // namespace strata
