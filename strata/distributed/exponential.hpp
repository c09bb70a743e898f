// exp(tA)v on ranks: solvers/exponential.hpp where every rank has some rows of A, and of v and the
// result the elements of these rows.
//
//   MatrixExponential<double> exponential(world, matrix);
//   exponential.apply(0.1, v, y);   // the rank's elements of both
//
// Sweeps of powers with one exchange for as many powers as halos are deep (powers.hpp), and no
// reductions but a few to choose the polynomial and one per step in time.
#pragma once

#include <memory>
#include <span>

#include "strata/base/types.hpp"
#include "strata/distributed/communicator.hpp"
#include "strata/distributed/linear_solver.hpp"
#include "strata/distributed/matrix.hpp"
#include "strata/solvers/exponential.hpp"

namespace strata::distributed {

template <Value V>
class MatrixExponential {
 public:
  // Collective. Takes a copy of the rows, and those of the transpose while it looks whether the
  // matrix is Hermitian. Throws on all ranks what solvers::MatrixExponential throws, and
  // InvalidArgument for options that differ between ranks; nobody times bare powers. The
  // communicator must outlive it.
  template <Index I>
  MatrixExponential(const Communicator& ranks, const DistributedMatrix<V, I>& matrix,
                    const solvers::ExponentialOptions& options = {},
                    const SweepOptions& sweeps = {});
  ~MatrixExponential();
  MatrixExponential(MatrixExponential&&) noexcept;
  MatrixExponential& operator=(MatrixExponential&&) noexcept;

  // All collective, as those of solvers::MatrixExponential; results are the same on all ranks but
  // for their times. Times and k must be, too. Any rank may stop them by `progress`, and what that
  // throws on one rank all throw at the end.
  solvers::ExponentialResult apply(double time, std::span<const V> v, std::span<V> result);
  solvers::ExponentialResult apply_imaginary(double time, std::span<const V> v,
                                             std::span<V> result);
  solvers::ExponentialResult phi(int k, double time, std::span<const V> v, std::span<V> result);

  bool hermitian() const;
  solvers::ChebyshevInterval bounds();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace strata::distributed
