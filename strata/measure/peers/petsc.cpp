// PETSc's sequential products: AIJ, its CSR, on our own columns and values as Eigen's, and SELL, a
// copy made by PETSc; and MPIAIJ on ranks, a copy as well. PETSc is parallel by processes alone:
// its objects share counters that are not safe between threads, so that a process multiplies on one
// thread. It knows one type of values.

#include <fmt/format.h>
#include <petscksp.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <type_traits>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/measure/internal/peers.hpp"
#include "strata/measure/rank_peers.hpp"

namespace strata::internal {

namespace {

constexpr Offset kSliceHeight = 8;  // of PETSc's SELL

void require(PetscErrorCode error) {
  if (error == 0) return;
  const char* reason = nullptr;
  PetscErrorMessage(error, &reason, nullptr);
  throw Error(fmt::format("PETSc: {}", reason == nullptr ? "an error without a name" : reason));
}

// PETSc and MPI are started by the first matrix and ended with the process.
void start_library() {
  static const struct Library {
    Library() {
      // Open MPI starts a daemon beside a process that mpirun did not start, unless told that it
      // stays alone; and PETSc takes signals that belong to the program.
      setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
      require(PetscOptionsSetValue(nullptr, "-no_signal_handler", "true"));
      require(PetscOptionsSetValue(nullptr, "-skip_petscrc", "true"));
      require(PetscInitializeNoArguments());
      require(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
    }
    ~Library() {
      PetscPopErrorHandler();
      PetscFinalize();
    }
  } library;
}

// PETSc's own indices, or `storage` filled with them where ours are of another type.
template <class From>
PetscInt* indices_for_petsc(std::span<const From> numbers, Array<PetscInt>& storage) {
  if constexpr (std::is_same_v<From, PetscInt>) {
    return const_cast<PetscInt*>(numbers.data());  // which it only reads
  } else {
    storage.resize(numbers.size());
    parallel_for(std::ssize(numbers),
                 [&](Offset i) { storage[i] = static_cast<PetscInt>(numbers[i]); });
    return storage.data();
  }
}

struct Destroy {
  void operator()(Mat matrix) const noexcept { MatDestroy(&matrix); }
  void operator()(Vec vector) const noexcept { VecDestroy(&vector); }
  void operator()(KSP solver) const noexcept { KSPDestroy(&solver); }
};
template <class Pointer>
using Owned = std::unique_ptr<std::remove_pointer_t<Pointer>, Destroy>;

// Without elements of its own: each product places those it is given.
Owned<Vec> make_vector(PetscInt size) {
  Vec made = nullptr;
  require(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, size, nullptr, &made));
  return Owned<Vec>(made);
}

Owned<Vec> make_vector(PetscInt own, PetscInt all, MPI_Comm ranks) {
  Vec made = nullptr;
  require(VecCreateMPIWithArray(ranks, 1, own, all, nullptr, &made));
  return Owned<Vec>(made);
}

class Product {
 public:
  // Uses the values of `matrix`, and its columns where they are of PETSc's type.
  template <Index I>
  explicit Product(const Csr<PetscScalar, I>& matrix) {
    const auto rows = narrow<PetscInt>(matrix.rows(), "the rows of a matrix of PETSc");
    const auto cols = narrow<PetscInt>(matrix.cols(), "the columns of a matrix of PETSc");
    narrow<PetscInt>(matrix.nnz(), "the nonzeros of a matrix of PETSc");
    Mat made = nullptr;
    require(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, rows, cols,
                                      indices_for_petsc(matrix.row_offsets(), row_offsets_),
                                      indices_for_petsc(matrix.columns(), columns_),
                                      const_cast<PetscScalar*>(matrix.values().data()), &made));
    matrix_.reset(made);
    x_ = make_vector(cols);
    y_ = make_vector(rows);
  }

  // The rows of a rank, copied.
  template <Index I>
  Product(const RankRows<PetscScalar, I>& part, MPI_Comm ranks) {
    const Csr<PetscScalar, I>& local = part.local;
    const auto rows = narrow<PetscInt>(local.rows(), "the rows of a matrix of PETSc");
    const auto own_cols = narrow<PetscInt>(part.own_cols, "the columns of a matrix of PETSc");
    const auto all_rows = narrow<PetscInt>(part.rows, "the rows of a matrix of PETSc");
    const auto all_cols = narrow<PetscInt>(local.cols(), "the columns of a matrix of PETSc");
    narrow<PetscInt>(local.nnz(), "the nonzeros of a matrix of PETSc");
    Mat made = nullptr;
    require(MatCreateMPIAIJWithArrays(ranks, rows, own_cols, all_rows, all_cols,
                                      indices_for_petsc(local.row_offsets(), row_offsets_),
                                      indices_for_petsc(local.columns(), columns_),
                                      local.values().data(), &made));
    matrix_.reset(made);
    row_offsets_ = {};
    columns_ = {};
    x_ = make_vector(own_cols, all_cols, ranks);
    y_ = make_vector(rows, all_rows, ranks);
  }

  void convert_to_sell() {
    Mat converted = nullptr;
    require(MatConvert(matrix_.get(), MATSEQSELL, MAT_INITIAL_MATRIX, &converted));
    matrix_.reset(converted);
    row_offsets_ = {};
    columns_ = {};
  }

  // With padding; 0 of a matrix whose arrays are not PETSc's own.
  Offset allocated_entries() const {
    MatInfo info{};
    require(MatGetInfo(matrix_.get(), MAT_LOCAL, &info));
    return static_cast<Offset>(info.nz_allocated);
  }

  PeerSolution conjugate_gradients(std::span<const PetscScalar> b, std::span<PetscScalar> x,
                                   double tolerance, int most) {
    KSP made = nullptr;
    require(KSPCreate(PETSC_COMM_SELF, &made));
    const Owned<KSP> solver(made);
    PC preconditioner = nullptr;
    require(KSPSetOperators(made, matrix_.get(), matrix_.get()));
    require(KSPSetType(made, KSPCG));
    require(KSPSetNormType(made, KSP_NORM_UNPRECONDITIONED));
    require(KSPGetPC(made, &preconditioner));
    require(PCSetType(preconditioner, PCNONE));
    require(KSPSetTolerances(made, tolerance, PETSC_DEFAULT, PETSC_DEFAULT, most));
    require(VecPlaceArray(y_.get(), b.data()));
    require(VecPlaceArray(x_.get(), x.data()));
    require(KSPSolve(made, y_.get(), x_.get()));
    PetscInt iterations = 0;
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    require(KSPGetIterationNumber(made, &iterations));
    require(KSPGetConvergedReason(made, &reason));
    require(VecResetArray(x_.get()));
    require(VecResetArray(y_.get()));
    return {static_cast<int>(iterations), reason > 0};
  }

  void multiply(PetscScalar alpha, std::span<const PetscScalar> x, std::span<PetscScalar> y) {
    require(VecPlaceArray(x_.get(), x.data()));
    require(VecPlaceArray(y_.get(), y.data()));
    require(MatMult(matrix_.get(), x_.get(), y_.get()));
    if (alpha != PetscScalar{1}) require(VecScale(y_.get(), alpha));
    require(VecResetArray(x_.get()));
    require(VecResetArray(y_.get()));
  }

 private:
  Array<PetscInt> row_offsets_;
  Array<PetscInt> columns_;
  Owned<Mat> matrix_;
  Owned<Vec> x_;
  Owned<Vec> y_;
};

std::string library_name() {
  return fmt::format("PETSc {}.{}.{}", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR,
                     PETSC_VERSION_SUBMINOR);
}

// `prepare(peer)` returns the product.
template <Value V, class Prepare>
Peer<V> make_peer(std::string name, StoredFormat format, const Prepare& prepare) {
  Peer<V> peer;
  peer.name = std::move(name);
  peer.format = format;
  try {
    start_library();
    const auto begin = std::chrono::steady_clock::now();
    const std::shared_ptr<Product> product = prepare(peer);
    peer.setup_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    peer.multiply = [product](V alpha, std::span<const V> x, std::span<V> y) {
      product->multiply(alpha, x, y);
    };
    peer.conjugate_gradients = [product](std::span<const V> b, std::span<V> x, double tolerance,
                                         int most) {
      return product->conjugate_gradients(b, x, tolerance, most);
    };
  } catch (const Error&) {
    peer.refusal = std::current_exception();
  }
  return peer;
}

// With an offset for so many rows each.
Offset matrix_bytes(Offset entries, Offset rows, Offset rows_per_offset) {
  return entries * Offset{sizeof(PetscScalar) + sizeof(PetscInt)} +
         (ceil_div(rows, rows_per_offset) + 1) * Offset{sizeof(PetscInt)};
}

}  // namespace

namespace {

template <Value V>
Peer<V> refused_type() {
  Peer<V> refused;
  refused.name = library_name();
  refused.refusal = std::make_exception_ptr(
      Unavailable("this machine's PETSc was built for values of another type"));
  return refused;
}

}  // namespace

template <Value V, Index I>
Peer<V> make_petsc_rank_peer(const RankRows<V, I>& part, MPI_Comm ranks) {
  if constexpr (std::is_same_v<V, PetscScalar>) {
    return make_peer<V>(library_name() + " MPIAIJ", {Format::csr, 1}, [&](Peer<V>& peer) {
      auto product = std::make_shared<Product>(part, ranks);
      peer.bytes = matrix_bytes(part.local.nnz(), part.local.rows(), 1);
      return product;
    });
  } else {
    return refused_type<V>();
  }
}

template <Value V, Index I>
std::vector<Peer<V>> make_petsc_peers(const Csr<V, I>& matrix) {
  if constexpr (std::is_same_v<V, PetscScalar>) {
    const auto aij = [&](Peer<V>& peer) {
      auto product = std::make_shared<Product>(matrix);
      peer.bytes = matrix_bytes(matrix.nnz(), matrix.rows(), 1);
      return product;
    };
    const auto sell = [&](Peer<V>& peer) {
      auto product = std::make_shared<Product>(matrix);
      product->convert_to_sell();
      peer.bytes = matrix_bytes(product->allocated_entries(), matrix.rows(), kSliceHeight);
      return product;
    };
    return {make_peer<V>(library_name() + " AIJ, 1 thread", {Format::csr, 1}, aij),
            make_peer<V>(library_name() + " SELL, 1 thread", {Format::sell, kSliceHeight}, sell)};
  } else {
    return {refused_type<V>()};
  }
}

#define STRATA_INSTANTIATE(V, I)                                    \
  template std::vector<Peer<V>> make_petsc_peers(const Csr<V, I>&); \
  template Peer<V> make_petsc_rank_peer(const RankRows<V, I>&, MPI_Comm)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::internal
