// librsb (M. Martone: Efficient multithreaded untransposed, transposed or symmetric sparse
// matrix-vector multiplication with the Recursive Sparse Blocks format, Parallel Computing 40,
// 2014). Its matrix is a copy, built with its own defaults.

#include <fmt/format.h>
#include <rsb.h>

#include <chrono>
#include <limits>
#include <memory>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/measure/internal/peers.hpp"

namespace strata::internal {

namespace {

void require(rsb_err_t error) {
  if (error == RSB_ERR_NO_ERROR) return;
  char reason[256] = {};
  rsb_strerror_r(error, reason, sizeof reason);
  throw Error(fmt::format("librsb: {}", reason));
}

// The library is started by the first matrix and ended with the process.
void start_library() {
  static const struct Library {
    Library() { require(rsb_lib_init(RSB_NULL_INIT_OPTIONS)); }
    ~Library() { rsb_lib_exit(RSB_NULL_EXIT_OPTIONS); }
  } library;
  rsb_int_t threads = thread_count();
  require(rsb_lib_set_opt(RSB_IO_WANT_EXECUTING_THREADS, &threads));
}

template <Value V>
constexpr rsb_type_t type_code() {
  if constexpr (is_complex<V>) {
    return sizeof(V) == 16 ? RSB_NUMERICAL_TYPE_DOUBLE_COMPLEX : RSB_NUMERICAL_TYPE_FLOAT_COMPLEX;
  } else {
    return sizeof(V) == 8 ? RSB_NUMERICAL_TYPE_DOUBLE : RSB_NUMERICAL_TYPE_FLOAT;
  }
}

template <class From>
Array<rsb_coo_idx_t> converted(std::span<const From> numbers) {
  Array<rsb_coo_idx_t> result(numbers.size());
  parallel_for(static_cast<Offset>(numbers.size()),
               [&](Offset i) { result[i] = static_cast<rsb_coo_idx_t>(numbers[i]); });
  return result;
}

}  // namespace

template <Value V, Index I>
std::optional<Peer<V>> make_librsb_peer(const Csr<V, I>& matrix) {
  constexpr Offset kMost = std::numeric_limits<rsb_coo_idx_t>::max() / 2;
  if (matrix.nnz() == 0 || matrix.nnz() > kMost || matrix.rows() > kMost || matrix.cols() > kMost) {
    return std::nullopt;
  }
  const auto begin = std::chrono::steady_clock::now();
  start_library();
  const auto offsets = converted(matrix.row_offsets());
  const auto columns = converted(matrix.columns());
  rsb_err_t error = RSB_ERR_NO_ERROR;
  rsb_mtx_t* made = rsb_mtx_alloc_from_csr_const(
      matrix.values().data(), offsets.data(), columns.data(),
      static_cast<rsb_nnz_idx_t>(matrix.nnz()), type_code<V>(),
      static_cast<rsb_coo_idx_t>(matrix.rows()), static_cast<rsb_coo_idx_t>(matrix.cols()),
      RSB_DEFAULT_ROW_BLOCKING, RSB_DEFAULT_COL_BLOCKING, RSB_FLAG_NOFLAGS, &error);
  require(error);
  const std::shared_ptr<rsb_mtx_t> stored(made, rsb_mtx_free);
  const std::chrono::duration<double> setup = std::chrono::steady_clock::now() - begin;
  size_t bytes = 0;
  require(rsb_mtx_get_info(made, RSB_MIF_TOTAL_SIZE__TO__SIZE_T, &bytes));
  Peer<V> peer;
  peer.name = "librsb " RSB_LIBRSB_VER_STRING;
  peer.threads = thread_count();
  peer.bytes = static_cast<Offset>(bytes);
  peer.setup_seconds = setup.count();
  peer.multiply = [stored](V alpha, std::span<const V> x, std::span<V> y) {
    const V zero{};
    require(rsb_spmv(RSB_TRANSPOSITION_N, &alpha, stored.get(), x.data(), 1, &zero, y.data(), 1));
  };
  return peer;
}

#define STRATA_INSTANTIATE(V, I) template std::optional<Peer<V>> make_librsb_peer(const Csr<V, I>&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::internal
