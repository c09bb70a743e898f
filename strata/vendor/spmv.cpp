#include "strata/vendor/spmv.hpp"

#include <cusparse.h>
#include <fmt/format.h>

#include <limits>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/device/error.hpp"

namespace strata::vendor {

namespace {

void check(cusparseStatus_t status, std::string_view call) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  const std::string why =
      fmt::format("{} ({})", cusparseGetErrorString(status), cusparseGetErrorName(status));
  if (status == CUSPARSE_STATUS_NOT_SUPPORTED) {
    throw Unavailable(fmt::format("{}: {}", call, why));
  }
  throw gpu::DeviceError(std::string(call), why);
}
#define STRATA_CUSPARSE(name, ...) check(cusparse##name(__VA_ARGS__), "cusparse" #name)

// Failures of freeing are those of earlier work, and the next call reports them too.
struct Destroy {
  void operator()(cusparseHandle_t handle) const noexcept {
    static_cast<void>(cusparseDestroy(handle));
  }
  void operator()(cusparseSpMatDescr_t matrix) const noexcept {
    static_cast<void>(cusparseDestroySpMat(matrix));
  }
  void operator()(cusparseDnVecDescr_t vector) const noexcept {
    static_cast<void>(cusparseDestroyDnVec(vector));
  }
};
template <class Pointer>
using Owned = std::unique_ptr<std::remove_pointer_t<Pointer>, Destroy>;

template <Value V>
constexpr cudaDataType_t data_type() {
  if constexpr (std::is_same_v<V, float>) return CUDA_R_32F;
  if constexpr (std::is_same_v<V, double>) return CUDA_R_64F;
  if constexpr (std::is_same_v<V, std::complex<float>>) return CUDA_C_32F;
  return CUDA_C_64F;
}

constexpr cusparseSpMVAlg_t native(CsrAlgorithm algorithm) {
  switch (algorithm) {
    case CsrAlgorithm::first: return CUSPARSE_SPMV_CSR_ALG1;
    case CsrAlgorithm::second: return CUSPARSE_SPMV_CSR_ALG2;
    case CsrAlgorithm::standard: break;
  }
  return CUSPARSE_SPMV_ALG_DEFAULT;
}

constexpr cusparseSpMVAlg_t native(CooAlgorithm algorithm) {
  return algorithm == CooAlgorithm::first ? CUSPARSE_SPMV_COO_ALG1 : CUSPARSE_SPMV_COO_ALG2;
}

// That of BSR, which products have since CUDA 13.
cusparseSpMVAlg_t block_algorithm() {
#if CUSPARSE_VERSION >= 12600
  return CUSPARSE_SPMV_BSR_ALG1;
#else
  throw Unavailable("this build's cuSPARSE has no product of BSR");
#endif
}

// Data that the library reads only, where its interface does not say so.
void* readable(const void* data) {
  return const_cast<void*>(data);
}

// The library's offsets are as wide as its indices, which is faster, where that is enough.
class Offsets {
 public:
  Offsets() = default;
  Offsets(std::span<const Offset> host, const Offset* device, gpu::Stream& stream) {
    if (host.back() > std::numeric_limits<std::int32_t>::max()) {
      wide_ = device;
      return;
    }
    Array<std::int32_t> narrowed(host.size());
    parallel_for(std::ssize(host),
                 [&](Offset i) { narrowed[i] = static_cast<std::int32_t>(host[i]); });
    narrow_ = gpu::to_device(std::span<const std::int32_t>(narrowed), stream);
  }

  void* data() const {
    if (wide_ != nullptr) return readable(wide_);
    return readable(narrow_.data());
  }
  Offset bytes() const { return narrow_.bytes(); }
  cusparseIndexType_t type() const {
    return wide_ != nullptr ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
  }

 private:
  gpu::DeviceArray<std::int32_t> narrow_;
  const Offset* wide_ = nullptr;
};

// The columns of a SELL matrix with −1 for padding, which the library then leaves out.
template <Value V, Index I>
gpu::DeviceArray<std::int32_t> columns_without_padding(const Sell<V, I>& matrix,
                                                       gpu::Stream& stream) {
  Array<std::int32_t> columns(matrix.columns().size(), -1);
  parallel_for(matrix.rows(), [&](Offset slot) {
    for (I entry = 0; entry < matrix.row_lengths()[slot]; ++entry) {
      const Offset position = matrix.position(static_cast<I>(slot), entry);
      columns[position] = static_cast<std::int32_t>(matrix.columns()[position]);
    }
  });
  return gpu::to_device(std::span<const std::int32_t>(columns), stream);
}

template <Value V, Index I>
void require_whole_blocks(const Bcsr<V, I>& matrix) {
  if (matrix.rows() % matrix.block_rows() == 0 && matrix.cols() % matrix.block_cols() == 0) return;
  throw InvalidArgument(
      fmt::format("cuSPARSE's BSR has whole blocks: {} × {} is no multiple of "
                  "{} × {}",
                  matrix.rows(), matrix.cols(), matrix.block_rows(), matrix.block_cols()));
}

}  // namespace

std::string library_version() {
  int version[3] = {};
  STRATA_CUSPARSE(GetProperty, MAJOR_VERSION, &version[0]);
  STRATA_CUSPARSE(GetProperty, MINOR_VERSION, &version[1]);
  STRATA_CUSPARSE(GetProperty, PATCH_LEVEL, &version[2]);
  return fmt::format("{}.{}.{}", version[0], version[1], version[2]);
}

template <Value V>
struct VendorSpmv<V>::State {
  State(const gpu::DeviceShape& matrix_shape, Offsets matrix_offsets, cusparseSpMVAlg_t used)
      : shape(matrix_shape), algorithm(used), offsets(std::move(matrix_offsets)) {
    cusparseHandle_t created = nullptr;
    STRATA_CUSPARSE(Create, &created);
    handle.reset(created);
  }

  static Owned<cusparseDnVecDescr_t> make_vector(gpu::DeviceArray<V>& elements) {
    cusparseDnVecDescr_t created = nullptr;
    STRATA_CUSPARSE(CreateDnVec, &created, elements.size(), elements.data(), data_type<V>());
    return Owned<cusparseDnVecDescr_t>(created);
  }

  // Allocates the workspace and lets the algorithm analyse the matrix. The vectors are replaced in
  // each product.
  void prepare(gpu::Stream& stream) {
    const V one{1};
    const V zero{};
    std::size_t bytes = 0;
    gpu::DeviceArray<V> some_x(shape.cols), some_y(shape.rows);
    x = make_vector(some_x);
    y = make_vector(some_y);
    STRATA_CUSPARSE(SetStream, handle.get(), static_cast<cudaStream_t>(stream.native()));
    STRATA_CUSPARSE(SpMV_bufferSize, handle.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one,
                    matrix.get(), x.get(), &zero, y.get(), data_type<V>(), algorithm, &bytes);
    workspace = gpu::DeviceArray<std::byte>(narrow<Offset>(bytes, "bytes of cuSPARSE's workspace"));
    // Since CUDA 12.4.
#if CUSPARSE_VERSION >= 12300
    STRATA_CUSPARSE(SpMV_preprocess, handle.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one,
                    matrix.get(), x.get(), &zero, y.get(), data_type<V>(), algorithm,
                    workspace.data());
    stream.synchronize();
#endif
  }

  void use(gpu::DeviceSpan<const V> from, gpu::DeviceSpan<V> to) {
    STRATA_CUSPARSE(DnVecSetValues, x.get(), readable(from.data()));
    STRATA_CUSPARSE(DnVecSetValues, y.get(), to.data());
  }

  gpu::DeviceShape shape;
  cusparseSpMVAlg_t algorithm;
  Offsets offsets;
  gpu::DeviceArray<std::int32_t> columns;
  gpu::DeviceArray<std::byte> workspace;
  Owned<cusparseHandle_t> handle;
  Owned<cusparseSpMatDescr_t> matrix;
  Owned<cusparseDnVecDescr_t> x;
  Owned<cusparseDnVecDescr_t> y;
};

template <Value V>
template <Index I>
VendorSpmv<V>::VendorSpmv(const Csr<V, I>& host, const gpu::DeviceCsr<V>& matrix,
                          CsrAlgorithm algorithm, gpu::Stream& stream)
    : state_(std::make_unique<State>(matrix.shape(),
                                     Offsets(host.row_offsets(), matrix.view().row_offsets, stream),
                                     native(algorithm))) {
  const auto view = matrix.view();
  cusparseSpMatDescr_t created = nullptr;
  STRATA_CUSPARSE(CreateCsr, &created, matrix.rows(), matrix.cols(), matrix.nnz(),
                  state_->offsets.data(), readable(view.columns), readable(view.values),
                  state_->offsets.type(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                  data_type<V>());
  state_->matrix.reset(created);
  state_->prepare(stream);
}

template <Value V>
template <Index I>
VendorSpmv<V>::VendorSpmv(const Sell<V, I>& host, const gpu::DeviceSell<V>& matrix,
                          gpu::Stream& stream)
    : state_(std::make_unique<State>(
          matrix.shape(), Offsets(host.slice_offsets(), matrix.view().slice_offsets, stream),
          CUSPARSE_SPMV_SELL_ALG1)) {
  if (host.sorted()) {
    throw InvalidArgument("cuSPARSE's Sliced ELL has rows in their own order: a sort window of 1");
  }
  state_->columns = columns_without_padding(host, stream);
  cusparseSpMatDescr_t created = nullptr;
  STRATA_CUSPARSE(CreateSlicedEll, &created, matrix.rows(), matrix.cols(), matrix.nnz(),
                  std::ssize(host.values()), matrix.slice_height(), state_->offsets.data(),
                  state_->columns.data(), readable(matrix.view().values), state_->offsets.type(),
                  CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, data_type<V>());
  state_->matrix.reset(created);
  state_->prepare(stream);
}

template <Value V>
VendorSpmv<V>::VendorSpmv(const gpu::DeviceCoo<V>& matrix, CooAlgorithm algorithm,
                          gpu::Stream& stream)
    : state_(std::make_unique<State>(matrix.shape(), Offsets(), native(algorithm))) {
  const auto view = matrix.view({});
  cusparseSpMatDescr_t created = nullptr;
  STRATA_CUSPARSE(CreateCoo, &created, matrix.rows(), matrix.cols(), matrix.nnz(),
                  readable(view.row_indices), readable(view.columns), readable(view.values),
                  CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, data_type<V>());
  state_->matrix.reset(created);
  state_->prepare(stream);
}

template <Value V>
template <Index I>
VendorSpmv<V>::VendorSpmv(const Bcsr<V, I>& host, const gpu::DeviceBcsr<V>& matrix,
                          gpu::Stream& stream)
    : state_(std::make_unique<State>(
          matrix.shape(),
          Offsets(host.block_row_offsets(), matrix.view().block_row_offsets, stream),
          block_algorithm())) {
  require_whole_blocks(host);
  const auto view = matrix.view();
  cusparseSpMatDescr_t created = nullptr;
  STRATA_CUSPARSE(CreateBsr, &created, matrix.rows() / view.block_rows,
                  matrix.cols() / view.block_cols, host.blocks(), view.block_rows, view.block_cols,
                  state_->offsets.data(), readable(view.block_columns), readable(view.values),
                  state_->offsets.type(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                  data_type<V>(), CUSPARSE_ORDER_ROW);
  state_->matrix.reset(created);
  state_->prepare(stream);
}

template <Value V>
VendorSpmv<V>::VendorSpmv(VendorSpmv&&) noexcept = default;
template <Value V>
VendorSpmv<V>& VendorSpmv<V>::operator=(VendorSpmv&&) noexcept = default;
template <Value V>
VendorSpmv<V>::~VendorSpmv() = default;

template <Value V>
void VendorSpmv<V>::apply(V alpha, gpu::DeviceSpan<const V> x, V beta, gpu::DeviceSpan<V> y,
                          gpu::Stream& stream) {
  if (x.size() != state_->shape.cols || y.size() != state_->shape.rows) {
    throw InvalidArgument(
        fmt::format("x has {} elements and y {}, the matrix {} columns and {} rows", x.size(),
                    y.size(), state_->shape.cols, state_->shape.rows));
  }
  state_->use(x, y);
  STRATA_CUSPARSE(SetStream, state_->handle.get(), static_cast<cudaStream_t>(stream.native()));
  STRATA_CUSPARSE(SpMV, state_->handle.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha,
                  state_->matrix.get(), state_->x.get(), &beta, state_->y.get(), data_type<V>(),
                  state_->algorithm, state_->workspace.data());
}

template <Value V>
Offset VendorSpmv<V>::workspace_bytes() const {
  return state_->workspace.bytes() + state_->columns.bytes() + state_->offsets.bytes();
}

#define STRATA_INSTANTIATE(V, I)                                                                  \
  template VendorSpmv<V>::VendorSpmv(const Csr<V, I>&, const gpu::DeviceCsr<V>&, CsrAlgorithm,    \
                                     gpu::Stream&);                                               \
  template VendorSpmv<V>::VendorSpmv(const Sell<V, I>&, const gpu::DeviceSell<V>&, gpu::Stream&); \
  template VendorSpmv<V>::VendorSpmv(const Bcsr<V, I>&, const gpu::DeviceBcsr<V>&, gpu::Stream&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

#define STRATA_INSTANTIATE_CLASS(V, unused) template class VendorSpmv<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_CLASS, );

}  // namespace strata::vendor
