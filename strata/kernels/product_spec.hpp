// ProductSpec: a way to multiply, as data: a format with its parameters and, where a format has
// several kernels on a device, which of them.
//
//   for (const ProductSpec& spec : parse_product_list("csr,bcsr:block_rows=3,block_cols=3",
//                                                     statistics, KernelTarget::processor)) {
//     std::puts(label_of(spec).c_str());   // "CSR", "CSR in equal parts", "BCSR 3x3"
//   }
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "strata/formats/format_spec.hpp"
#include "strata/kernels/has_kernel.hpp"

namespace strata {

struct ProductSpec {
  FormatSpec format = {};
  std::string kernel = {};  // empty: the one that the device has for the format or takes by itself

  bool operator==(const ProductSpec&) const = default;
};

// As users write it without parameters: "bcsr", "csr-parts".
std::string name_of(const ProductSpec& spec);
// The words of a table: "CSR in equal parts".
std::string label_of(const ProductSpec& spec);

// With every kernel of the format on the device, its own first; none if it has none.
std::vector<ProductSpec> products_in(const FormatSpec& format, KernelTarget target);

// Names of all kernels of all formats that the device has, each with a comma behind it: another
// text when there are others to choose from.
std::string names_of_products(KernelTarget target);

// The products of a list as users write it, of those that the device has kernels for: words of
// parse_format_list, each with all kernels of its formats, and names of single kernels such as
// "csr-parts". They come in the order of the list of formats. Throws InvalidArgument as
// parse_format_list does.
std::vector<ProductSpec> parse_product_list(std::string_view text,
                                            const MatrixStatistics& statistics,
                                            KernelTarget target);

}  // namespace strata
