// Options that take several values, each of which is tried: what `strata spmv` sweeps over.
#pragma once

#include <string>
#include <vector>

#include "cli/parts/command_line.hpp"
#include "strata/base/types.hpp"
#include "strata/kernels/product_spec.hpp"
#include "strata/model/warp_model.hpp"

namespace strata::cli {

// "8" is 8, "1,2,6" a list, "1:32" the powers of two from 1 to 32, "1,8:32" is 1, 8, 16 and 32.
// Throws InvalidArgument for anything else, for numbers outside 1 … most, and for ranges that hold
// nothing.
std::vector<Offset> parse_sweep(const std::string& text, Offset most);
// The same for threads, of which a range has all up to 8, then the powers of two, and its end.
std::vector<int> parse_thread_sweep(const std::string& text);

// Empty ones are not swept over.
struct ProductSweep {
  std::vector<Offset> slice_heights;
  std::vector<Offset> sort_windows;
  bool range_of_windows = false;  // then windows smaller than a slice are left out, but for 1
  std::vector<Offset> coop;
  std::vector<Offset> repeat;
  std::vector<Offset> block_sizes;

  bool over_slices() const { return !slice_heights.empty() || !sort_windows.empty(); }
  bool over_reguly() const { return !coop.empty() || !repeat.empty() || !block_sizes.empty(); }
};

// -C, --sigma, --coop, --repeat, --block-size
void add_product_sweep(CommandOptions& command, ProductSweep& sweep);
// --threads with several values
void add_thread_sweep(CommandOptions& command, std::vector<int>& threads);

// The products with each of those in slices replaced by one per height and window that the target
// has a kernel for. What is not swept over stays as it was asked for, or is the format's default.
// Throws InvalidArgument if none is left.
std::vector<ProductSpec> swept_over_slices(const std::vector<ProductSpec>& products,
                                           const ProductSweep& sweep, KernelTarget target);

// Reguly's kernel with every `coop`, `repeat` and block size; what is not swept over is that of his
// rule.
std::vector<CoopKernel> swept_over_reguly(const ProductSweep& sweep, const CoopKernel& rule);

}  // namespace strata::cli
