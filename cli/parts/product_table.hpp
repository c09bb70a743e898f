// What `strata spmv` shows of the products of one device: the table, and what follows from it.
#pragma once

#include <string>
#include <vector>

#include "strata/measure/product_device.hpp"
#include "strata/measure/product_result.hpp"

namespace strata::cli {

// `with_threads`: a column for them, where their number changes from line to line.
std::string product_table(const std::vector<ProductResult>& runs, bool with_threads);

// The fastest, and how much faster than the fastest peer.
std::string conclusion_text(const std::vector<ProductResult>& runs);

// What was predicted of x, for the columns about it.
std::string alpha_text(const AlphaPrediction& predicted, const ProductDevice& device,
                       const ProductWork& work);

}  // namespace strata::cli
