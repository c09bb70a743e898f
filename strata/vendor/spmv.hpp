// The products of the GPU vendor's own library (cuSPARSE), to compare with: y = αAx + βy on arrays
// of the device, with every algorithm it has for CSR and COO, with its Sliced ELL and with its BSR.
// What an algorithm can prepare for a matrix is prepared when it is made.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "strata/base/types.hpp"
#include "strata/device/array.hpp"
#include "strata/device/stream.hpp"
#include "strata/formats/bcsr.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/sell.hpp"
#include "strata/kernels/gpu/device_bcsr.hpp"
#include "strata/kernels/gpu/device_coo.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"

namespace strata::vendor {

enum class CsrAlgorithm { standard, first, second };
inline constexpr std::array kCsrAlgorithms{CsrAlgorithm::standard, CsrAlgorithm::first,
                                           CsrAlgorithm::second};

constexpr std::string_view name_of(CsrAlgorithm algorithm) {
  constexpr std::array<std::string_view, kCsrAlgorithms.size()> names{"default", "alg1", "alg2"};
  return names[static_cast<std::size_t>(algorithm)];
}

// The first may add in another order each time, the second does not.
enum class CooAlgorithm { first, second };
inline constexpr std::array kCooAlgorithms{CooAlgorithm::first, CooAlgorithm::second};

constexpr std::string_view name_of(CooAlgorithm algorithm) {
  return algorithm == CooAlgorithm::first ? "alg1" : "alg2";
}

// "12.6.3", the version of the library that is loaded.
std::string library_version();

template <Value V>
class VendorSpmv {
 public:
  // Uses the columns and values of `matrix`, which has to stay; `host` is the same matrix.
  template <Index I>
  VendorSpmv(const Csr<V, I>& host, const gpu::DeviceCsr<V>& matrix, CsrAlgorithm algorithm,
             gpu::Stream& stream);
  // Uses the values of `matrix`, which has to stay; `host` is the same matrix. Throws
  // InvalidArgument if its rows are sorted, and Unavailable for values that the library has no such
  // product for.
  template <Index I>
  VendorSpmv(const Sell<V, I>& host, const gpu::DeviceSell<V>& matrix, gpu::Stream& stream);
  // Uses the arrays of `matrix`, which has to stay.
  VendorSpmv(const gpu::DeviceCoo<V>& matrix, CooAlgorithm algorithm, gpu::Stream& stream);
  // Uses the blocks of `matrix`, which has to stay; `host` is the same matrix. Throws
  // InvalidArgument if its last blocks are larger than what is left of the matrix, and Unavailable
  // if the library has no such product: before CUDA 13, or for some values and blocks.
  template <Index I>
  VendorSpmv(const Bcsr<V, I>& host, const gpu::DeviceBcsr<V>& matrix, gpu::Stream& stream);

  VendorSpmv(VendorSpmv&&) noexcept;
  VendorSpmv& operator=(VendorSpmv&&) noexcept;
  ~VendorSpmv();

  // In the order of the stream. x has as many elements as the matrix columns, y as rows.
  void apply(V alpha, gpu::DeviceSpan<const V> x, V beta, gpu::DeviceSpan<V> y,
             gpu::Stream& stream);

  // On the device, besides the matrix.
  Offset workspace_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace strata::vendor
