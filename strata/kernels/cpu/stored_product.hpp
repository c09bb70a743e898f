// StoredProduct: a matrix in a format that is known only when the program runs, with its product on
// all threads (team_product.hpp).
//
//   const auto product = cpu::store_product(matrix, {parse_format_spec("bcsr")});
//   std::vector<double> scratch(product->scratch_elements(1));
//   product->run({}, {x.data(), nullptr, y.data(), 1}, scratch);   // y = Ax
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/slice_encodings.hpp"
#include "strata/kernels/cpu/step_arguments.hpp"
#include "strata/kernels/product_spec.hpp"

namespace strata::cpu {

template <Value V>
class StoredProduct {
 public:
  virtual ~StoredProduct() = default;

  virtual Offset bytes() const = 0;                             // of the matrix
  virtual std::optional<SliceEncodings> encodings() const = 0;  // of packed SELL
  virtual Offset scratch_elements(int vectors) const = 0;
  virtual void run(const StepCoefficients<V>& coefficients, const StepVectors<V>& vectors,
                   std::span<V> scratch) const = 0;
};

// Products in CSR keep the pointer and copy nothing. Throws what the conversion throws, and
// Unavailable for products that processors have no kernel for.
template <Value V, Index I>
std::unique_ptr<StoredProduct<V>> store_product(std::shared_ptr<const Csr<V, I>> matrix,
                                                const ProductSpec& spec);
// The matrix must live as long as the product.
template <Value V, Index I>
std::unique_ptr<StoredProduct<V>> store_product(const Csr<V, I>& matrix, const ProductSpec& spec) {
  return store_product(std::shared_ptr<const Csr<V, I>>(&matrix, [](const Csr<V, I>*) {}), spec);
}

}  // namespace strata::cpu
