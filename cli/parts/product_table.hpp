// What `strata spmv` shows of the products of one device: the table, and what follows from it.
#pragma once

#include <string>
#include <vector>

#include "strata/measure/product_device.hpp"
#include "strata/measure/product_result.hpp"

namespace strata::cli {

// `with_threads`: a column for them, where their number changes from line to line.
std::string product_table(const std::vector<ProductResult>& runs, bool with_threads);

// How one product scales over threads.
struct Scaling {
  ProductResult product;            // with one of the numbers of threads
  std::vector<ScalingPoint> bytes;  // per second
  std::vector<ScalingPoint> flops;

  int saturated_at() const { return saturating_threads(flops); }
};
// Of the products that ran with several numbers of threads, in the order of the first.
std::vector<Scaling> scaling_of(const std::vector<ProductResult>& runs);
std::string scaling_text(const std::vector<Scaling>& scalings);
// The "kernel" is "scaling".
Json json_of(const Scaling& scaling);

// The fastest, and how much faster than the fastest peer.
std::string conclusion_text(const std::vector<ProductResult>& runs);

// What was predicted of x, for the columns about it.
std::string alpha_text(const AlphaPrediction& predicted, const ProductDevice& device,
                       const ProductWork& work);

}  // namespace strata::cli
