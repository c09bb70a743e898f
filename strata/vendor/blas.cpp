#include "strata/vendor/blas.hpp"

#include <cublas_v2.h>

#include <complex>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/device/error.hpp"

namespace strata::vendor {

namespace {

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw gpu::DeviceError(call, cublasGetStatusString(status));
}
#define STRATA_CUBLAS(call, ...) check(call(__VA_ARGS__), #call)

// The library's functions and numbers by type.
template <Value V>
struct Names;
template <>
struct Names<float> {
  using Number = float;
  static constexpr auto dot = cublasSdot;
  static constexpr auto axpy = cublasSaxpy;
  static constexpr auto scale = cublasSscal;
  static constexpr auto add = cublasSgeam;
};
template <>
struct Names<double> {
  using Number = double;
  static constexpr auto dot = cublasDdot;
  static constexpr auto axpy = cublasDaxpy;
  static constexpr auto scale = cublasDscal;
  static constexpr auto add = cublasDgeam;
};
template <>
struct Names<std::complex<float>> {
  using Number = cuComplex;
  static constexpr auto dot = cublasCdotc;
  static constexpr auto axpy = cublasCaxpy;
  static constexpr auto scale = cublasCscal;
  static constexpr auto add = cublasCgeam;
};
template <>
struct Names<std::complex<double>> {
  using Number = cuDoubleComplex;
  static constexpr auto dot = cublasZdotc;
  static constexpr auto axpy = cublasZaxpy;
  static constexpr auto scale = cublasZscal;
  static constexpr auto add = cublasZgeam;
};

template <Value V>
auto* native(V* pointer) {
  return reinterpret_cast<typename Names<V>::Number*>(pointer);
}
template <Value V>
const auto* native(const V* pointer) {
  return reinterpret_cast<const typename Names<V>::Number*>(pointer);
}

int length(Offset elements) {
  return narrow<int>(elements, "the length of cuBLAS' vectors");
}

struct Destroy {
  void operator()(cublasHandle_t handle) const noexcept {
    static_cast<void>(cublasDestroy(handle));
  }
};

}  // namespace

template <Value V>
struct VendorBlas<V>::State {
  std::unique_ptr<cublasContext, Destroy> handle;
};

template <Value V>
VendorBlas<V>::VendorBlas(gpu::Stream& stream) : state_(std::make_unique<State>()) {
  cublasHandle_t created = nullptr;
  STRATA_CUBLAS(cublasCreate, &created);
  state_->handle.reset(created);
  STRATA_CUBLAS(cublasSetStream, created, static_cast<cudaStream_t>(stream.native()));
  STRATA_CUBLAS(cublasSetPointerMode, created, CUBLAS_POINTER_MODE_DEVICE);
}
template <Value V>
VendorBlas<V>::VendorBlas(VendorBlas&&) noexcept = default;
template <Value V>
VendorBlas<V>::~VendorBlas() = default;

template <Value V>
void VendorBlas<V>::dot(gpu::DeviceSpan<const V> x, gpu::DeviceSpan<const V> y, V* result) {
  STRATA_CUBLAS(Names<V>::dot, state_->handle.get(), length(x.size()), native<V>(x.data()), 1,
                native<V>(y.data()), 1, native<V>(result));
}

template <Value V>
void VendorBlas<V>::axpy(const V* alpha, gpu::DeviceSpan<const V> x, gpu::DeviceSpan<V> y) {
  STRATA_CUBLAS(Names<V>::axpy, state_->handle.get(), length(x.size()), native<V>(alpha),
                native<V>(x.data()), 1, native<V>(y.data()), 1);
}

template <Value V>
void VendorBlas<V>::scale(const V* alpha, gpu::DeviceSpan<V> x) {
  STRATA_CUBLAS(Names<V>::scale, state_->handle.get(), length(x.size()), native<V>(alpha),
                native<V>(x.data()), 1);
}

template <Value V>
void VendorBlas<V>::xpby(const V* one, gpu::DeviceSpan<const V> x, const V* beta,
                         gpu::DeviceSpan<V> y) {
  const int rows = length(x.size());
  STRATA_CUBLAS(Names<V>::add, state_->handle.get(), CUBLAS_OP_N, CUBLAS_OP_N, rows, 1,
                native<V>(one), native<V>(x.data()), rows, native<V>(beta), native<V>(y.data()),
                rows, native<V>(y.data()), rows);
}

#define STRATA_INSTANTIATE(V, unused) template class VendorBlas<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::vendor
