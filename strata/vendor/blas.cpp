// cuBLAS is loaded when it is first used: its libraries take half a gigabyte of addresses, and the
// start of a program a quarter of a second.
#include "strata/vendor/blas.hpp"

#include <cublas_v2.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <complex>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/device/error.hpp"

namespace strata::vendor {

namespace {

void* library() {
  static void* const loaded = [] {
    for (const char* name : {STRATA_CUBLAS_NAME, STRATA_CUBLAS_PATH}) {
      if (void* found = dlopen(name, RTLD_LAZY | RTLD_LOCAL)) return found;
    }
    throw Unavailable(fmt::format("cuBLAS cannot be loaded: {}", dlerror()));
  }();
  return loaded;
}

template <class Function>
Function* loaded(const char* name) {
  void* const found = dlsym(library(), name);
  if (found == nullptr) throw Unavailable(fmt::format("cuBLAS has no function {}", name));
  return reinterpret_cast<Function*>(found);
}
// Its header renames functions; this is the name behind it.
#define STRATA_TEXT(name) #name
#define STRATA_TEXT_OF(name) STRATA_TEXT(name)
#define STRATA_LOADED(name) loaded<decltype(name)>(STRATA_TEXT_OF(name))

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw gpu::DeviceError(call, STRATA_LOADED(cublasGetStatusString)(status));
}

// The library's functions and numbers by type.
template <Value V>
struct Names;
#define STRATA_NAMES(V, NumberOfLibrary, letter, dot_name) \
  template <>                                              \
  struct Names<V> {                                        \
    using Number = NumberOfLibrary;                        \
    static auto* dot() {                                   \
      return STRATA_LOADED(dot_name);                      \
    }                                                      \
    static auto* axpy() {                                  \
      return STRATA_LOADED(cublas##letter##axpy);          \
    }                                                      \
    static auto* scale() {                                 \
      return STRATA_LOADED(cublas##letter##scal);          \
    }                                                      \
    static auto* add() {                                   \
      return STRATA_LOADED(cublas##letter##geam);          \
    }                                                      \
  }
STRATA_NAMES(float, float, S, cublasSdot);
STRATA_NAMES(double, double, D, cublasDdot);
STRATA_NAMES(std::complex<float>, cuComplex, C, cublasCdotc);
STRATA_NAMES(std::complex<double>, cuDoubleComplex, Z, cublasZdotc);

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
    static_cast<void>(STRATA_LOADED(cublasDestroy)(handle));
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
  check(STRATA_LOADED(cublasCreate)(&created), "cublasCreate");
  state_->handle.reset(created);
  check(STRATA_LOADED(cublasSetStream)(created, static_cast<cudaStream_t>(stream.native())),
        "cublasSetStream");
  check(STRATA_LOADED(cublasSetPointerMode)(created, CUBLAS_POINTER_MODE_DEVICE),
        "cublasSetPointerMode");
}
template <Value V>
VendorBlas<V>::VendorBlas(VendorBlas&&) noexcept = default;
template <Value V>
VendorBlas<V>::~VendorBlas() = default;

template <Value V>
void VendorBlas<V>::dot(gpu::DeviceSpan<const V> x, gpu::DeviceSpan<const V> y, V* result) {
  check(Names<V>::dot()(state_->handle.get(), length(x.size()), native<V>(x.data()), 1,
                        native<V>(y.data()), 1, native<V>(result)),
        "cublasDot");
}

template <Value V>
void VendorBlas<V>::axpy(const V* alpha, gpu::DeviceSpan<const V> x, gpu::DeviceSpan<V> y) {
  check(Names<V>::axpy()(state_->handle.get(), length(x.size()), native<V>(alpha),
                         native<V>(x.data()), 1, native<V>(y.data()), 1),
        "cublasAxpy");
}

template <Value V>
void VendorBlas<V>::scale(const V* alpha, gpu::DeviceSpan<V> x) {
  check(Names<V>::scale()(state_->handle.get(), length(x.size()), native<V>(alpha),
                          native<V>(x.data()), 1),
        "cublasScal");
}

template <Value V>
void VendorBlas<V>::xpby(const V* one, gpu::DeviceSpan<const V> x, const V* beta,
                         gpu::DeviceSpan<V> y) {
  const int rows = length(x.size());
  check(Names<V>::add()(state_->handle.get(), CUBLAS_OP_N, CUBLAS_OP_N, rows, 1, native<V>(one),
                        native<V>(x.data()), rows, native<V>(beta), native<V>(y.data()), rows,
                        native<V>(y.data()), rows),
        "cublasGeam");
}

#define STRATA_INSTANTIATE(V, unused) template class VendorBlas<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::vendor
