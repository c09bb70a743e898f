#include "strata/kernels/cpu/stored_product.hpp"

#include <utility>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/formats/registry.hpp"
#include "strata/kernels/cpu/team_product.hpp"

namespace strata::cpu {

namespace {

template <class Matrix, class Product>
class Stored final : public StoredProduct<typename Matrix::value_type> {
 public:
  using V = typename Matrix::value_type;

  explicit Stored(std::shared_ptr<const Matrix> matrix)
      : matrix_(std::move(matrix)), product_(*matrix_) {}

  Offset bytes() const override { return matrix_->footprint().bytes(); }
  std::optional<SliceEncodings> encodings() const override {
    if constexpr (std::same_as<Matrix, PackedSell<V, typename Matrix::index_type>>) {
      return slice_encodings(*matrix_);
    } else {
      return std::nullopt;
    }
  }
  Offset scratch_elements(int vectors) const override { return product_.scratch_elements(vectors); }
  void run(const StepCoefficients<V>& coefficients, const StepVectors<V>& vectors,
           std::span<V> scratch) const override {
    product_.run(coefficients, vectors, scratch);
  }

 private:
  std::shared_ptr<const Matrix> matrix_;
  Product product_;
};

template <Value V, Index I>
std::unique_ptr<StoredProduct<V>> store_csr(std::shared_ptr<const Csr<V, I>> matrix,
                                            const std::string& kernel) {
  using Matrix = Csr<V, I>;
  if (kernel.empty()) return std::make_unique<Stored<Matrix, TeamProduct<Matrix>>>(matrix);
  if (kernel == "gathers") {
    return std::make_unique<Stored<Matrix, CsrProduct<V, I, CsrWay::gathers>>>(matrix);
  }
  if (kernel == "loop") {
    return std::make_unique<Stored<Matrix, CsrProduct<V, I, CsrWay::loop>>>(matrix);
  }
  if (kernel == "parts") return std::make_unique<Stored<Matrix, EntriesProduct<Matrix>>>(matrix);
  return nullptr;
}

template <class Matrix>
std::unique_ptr<StoredProduct<typename Matrix::value_type>> store(Matrix&& matrix,
                                                                  const std::string& kernel) {
  if constexpr (HasTeamProduct<Matrix>) {
    if (kernel.empty()) {
      return std::make_unique<Stored<Matrix, TeamProduct<Matrix>>>(
          std::make_shared<const Matrix>(std::move(matrix)));
    }
  }
  return nullptr;
}

}  // namespace

template <Value V, Index I>
std::unique_ptr<StoredProduct<V>> store_product(std::shared_ptr<const Csr<V, I>> matrix,
                                                const ProductSpec& spec) {
  auto product = with_format(*matrix, spec.format,
                             [&]<class M>(M&& stored) -> std::unique_ptr<StoredProduct<V>> {
                               if constexpr (std::is_lvalue_reference_v<M>) {
                                 return store_csr(matrix, spec.kernel);
                               } else {
                                 return store(std::move(stored), spec.kernel);
                               }
                             });
  if (!product) throw Unavailable("processors have no kernel for the product " + name_of(spec));
  return product;
}

#define STRATA_INSTANTIATE(V, I)                                                             \
  template std::unique_ptr<StoredProduct<V>> store_product(std::shared_ptr<const Csr<V, I>>, \
                                                           const ProductSpec&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::cpu
