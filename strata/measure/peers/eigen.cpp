// Eigen's product of a row-major sparse matrix and a vector. Compiled with OpenMP and for this
// processor, without which Eigen stays on one thread. Columns and values are ours, so that Eigen
// finds them on the same large pages as our kernels do; only the row offsets are converted.

#include <fmt/format.h>

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#include <chrono>
#include <limits>
#include <memory>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/measure/internal/peers.hpp"

namespace strata::internal {

template <Value V, Index I>
std::optional<Peer<V>> make_eigen_peer(const Csr<V, I>& matrix) {
  if (matrix.nnz() > std::numeric_limits<I>::max()) return std::nullopt;
  using Sparse = Eigen::Map<const Eigen::SparseMatrix<V, Eigen::RowMajor, I>>;
  using Vector = Eigen::Matrix<V, Eigen::Dynamic, 1>;
  const auto begin = std::chrono::steady_clock::now();
  auto offsets = std::make_shared<Array<I>>(matrix.row_offsets().size());
  parallel_for(static_cast<Offset>(offsets->size()),
               [&](Offset i) { (*offsets)[i] = static_cast<I>(matrix.row_offsets()[i]); });
  const std::chrono::duration<double> setup = std::chrono::steady_clock::now() - begin;
  Eigen::setNbThreads(thread_count());
  Peer<V> peer;
  peer.name =
      fmt::format("Eigen {}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
  peer.threads = Eigen::nbThreads();
  peer.bytes = matrix.nnz() * Offset{sizeof(V) + sizeof(I)} +
               static_cast<Offset>(offsets->size()) * Offset{sizeof(I)};
  peer.setup_seconds = setup.count();
  peer.multiply = [&matrix, offsets](V alpha, std::span<const V> x, std::span<V> y) {
    const Sparse sparse(matrix.rows(), matrix.cols(), static_cast<I>(matrix.nnz()), offsets->data(),
                        matrix.columns().data(), matrix.values().data());
    const Eigen::Map<const Vector> in(x.data(), static_cast<Eigen::Index>(x.size()));
    Eigen::Map<Vector> out(y.data(), static_cast<Eigen::Index>(y.size()));
    out.noalias() = sparse * in;
    if (alpha != V{1}) out *= alpha;
  };
  peer.conjugate_gradients = [&matrix, offsets](std::span<const V> b, std::span<V> x,
                                                double tolerance, int most) {
    const Sparse sparse(matrix.rows(), matrix.cols(), static_cast<I>(matrix.nnz()), offsets->data(),
                        matrix.columns().data(), matrix.values().data());
    // Of both triangles: what Eigen multiplies on several threads.
    Eigen::ConjugateGradient<Eigen::SparseMatrix<V, Eigen::RowMajor, I>,
                             Eigen::Lower | Eigen::Upper, Eigen::IdentityPreconditioner>
        solver;
    solver.setTolerance(static_cast<decltype(std::abs(V()))>(tolerance));
    solver.setMaxIterations(most);
    solver.compute(sparse);
    const Eigen::Map<const Vector> right(b.data(), static_cast<Eigen::Index>(b.size()));
    Eigen::Map<Vector>(x.data(), static_cast<Eigen::Index>(x.size())) = solver.solve(right);
    return PeerSolution{static_cast<int>(solver.iterations()), solver.info() == Eigen::Success};
  };
  return peer;
}

#define STRATA_INSTANTIATE(V, I) template std::optional<Peer<V>> make_eigen_peer(const Csr<V, I>&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::internal
