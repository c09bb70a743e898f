#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/measure/gpu/vendor_solver.hpp"
#ifdef STRATA_HAS_VENDOR_BLAS
#include <chrono>
#include <optional>

#include "strata/device/event.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"
#include "strata/measure/gpu/peers.hpp"
#include "strata/solvers/gpu/device_space.hpp"
#include "strata/solvers/internal/run_method.hpp"
#include "strata/vendor/blas.hpp"
#endif

namespace strata::gpu {

#ifdef STRATA_HAS_VENDOR_BLAS

using solvers::Operation;
using solvers::Operator;
using solvers::Scalar;
using solvers::SolveOptions;
using solvers::SolveResult;
using solvers::VectorProgram;

namespace {

// The fastest of three, of so many runs each.
template <class Run>
double seconds_of(const Run& run, Stream& stream) {
  constexpr int kRuns = 8;
  run();
  double fastest = 0;
  for (int sample = 0; sample < 3; ++sample) {
    Event begin, end;
    begin.record(stream);
    for (int k = 0; k < kRuns; ++k) run();
    end.record(stream);
    const double seconds = seconds_between(begin, end) / kRuns;
    if (sample == 0 || seconds < fastest) fastest = seconds;
  }
  return fastest;
}

// Of a product with all that it refers to.
template <Value V>
struct FastestProduct {
  std::string name;
  double seconds = 0;
  std::function<void(V, DeviceSpan<const V>, DeviceSpan<V>)> multiply;
};

template <Value V, Index I>
FastestProduct<V> fastest_product(const Csr<V, I>& matrix, Stream& stream,
                                  const std::function<void(const std::string&)>& progress) {
  std::shared_ptr<const DeviceCsr<V>> stored;
  const PeerSource<V, I> source{.matrix = matrix,
                                .on_device =
                                    [&] {
                                      if (!stored) {
                                        stored =
                                            std::make_shared<const DeviceCsr<V>>(matrix, stream);
                                      }
                                      return stored;
                                    },
                                .stream = stream,
                                .progress = progress};
  DeviceArray<V> x(matrix.cols()), y(matrix.rows());
  fill_zero(x.span(), stream);
  FastestProduct<V> fastest;
  std::exception_ptr refusal;
  for (const DevicePeer<V>& peer : make_peers(source)) {
    if (peer.refusal) {
      refusal = peer.refusal;
      continue;
    }
    const double seconds =
        seconds_of([&] { peer.multiply(V(1), std::as_const(x).span(), y.span()); }, stream);
    if (!fastest.multiply || seconds < fastest.seconds) {
      fastest = {peer.name, seconds, peer.multiply};
    }
  }
  if (!fastest.multiply && refusal) std::rethrow_exception(refusal);
  return fastest;
}

// As in solvers/cg.hpp, an operation of the library at a time.
template <Value V>
SolveResult conjugate_gradients(DeviceSpace<V>& space, const Operator<DeviceSpace<V>>& a,
                                vendor::VendorBlas<V>& blas, bool in_one_pass,
                                DeviceSpan<const V> b, DeviceSpan<V> x,
                                const SolveOptions& options) {
  const Scalar square = space.make_scalars(7), curvature = square + 1, rho = square + 2;
  const Scalar alpha = square + 3, minus_alpha = square + 4, beta = square + 5, one = square + 6;
  const Scalar zero = space.make_scalars(1);
  auto r = space.make_vector(), p = space.make_vector(), q = space.make_vector();
  space.write(one, V(1));
  solvers::SolveLoop<DeviceSpace<V>> loop(space, a, b, x, options);
  loop.reduces_error();
  loop.watch(square, 2, [&](std::span<const V> known) {
    if (std::real(known[1]) > 0) return true;
    loop.fail(solvers::SolveStatus::not_definite, "the matrix is not positive definite");
    return false;
  });
  VectorProgram<V> length;
  length.compute(alpha, rho, Operation::divide_positive, curvature);
  length.compute(minus_alpha, zero, Operation::subtract, alpha);
  VectorProgram<V> turn;
  turn.compute(beta, square, Operation::divide, rho);
  turn.compute(rho, square, Operation::copy);
  while (loop.begin_cycle(r)) {
    VectorProgram<V> start;
    start.set(p, {{r}});
    start.dot(r, r, rho);
    start.compute(one, one, Operation::copy);  // is on the device from here on
    space.run(start);
    while (loop.continues()) {
      loop.multiply(p, q);
      blas.dot(p, q, space.address(curvature));
      space.run(length);
      blas.axpy(space.address(alpha), p, x);
      blas.axpy(space.address(minus_alpha), q, r);
      blas.dot(r, r, space.address(square));
      space.run(turn);
      if (in_one_pass) {
        blas.xpby(space.address(one), r, space.address(beta), p);
      } else {
        blas.scale(space.address(beta), p);
        blas.axpy(space.address(one), r, p);
      }
      loop.launched();
    }
  }
  return loop.result();
}

}  // namespace

template <Value V>
struct VendorSolver<V>::State {
  State(Stream& of, Offset order, FastestProduct<V> product)
      : stream(of), rows(order), fastest(std::move(product)), blas(of) {}

  // Which of the ways to turn the direction is the faster one.
  void choose_pass() {
    DeviceArray<V> x(rows), y(rows), scalars(2);
    fill_zero(x.span(), stream);
    fill_zero(y.span(), stream);
    fill_zero(scalars.span(), stream);
    const V* const zero = scalars.data();
    const double two = seconds_of(
        [&] {
          blas.scale(zero, y.span());
          blas.axpy(zero, std::as_const(x).span(), y.span());
        },
        stream);
    const double one =
        seconds_of([&] { blas.xpby(zero, std::as_const(x).span(), zero, y.span()); }, stream);
    in_one_pass = one < two;
  }

  Stream& stream;
  Offset rows;
  FastestProduct<V> fastest;
  vendor::VendorBlas<V> blas;
  bool in_one_pass = false;
};

template <Value V>
template <Index I>
VendorSolver<V>::VendorSolver(const Csr<V, I>& matrix, Stream& stream,
                              const std::function<void(const std::string&)>& progress) {
  solvers::detail::require_square(matrix.rows(), matrix.cols());
  state_ =
      std::make_unique<State>(stream, matrix.rows(), fastest_product(matrix, stream, progress));
  state_->choose_pass();
}

template <Value V>
SolveResult VendorSolver<V>::solve(std::span<const V> b, std::span<V> x,
                                   const SolveOptions& options) {
  solvers::detail::require_lengths(std::ssize(b), std::ssize(x), state_->rows);
  using Space = DeviceSpace<V>;
  Stream& stream = state_->stream;
  const DeviceArray<V> device_b = to_device(b, stream);
  DeviceArray<V> device_x = to_device(std::span<const V>(x), stream);
  const auto start = std::chrono::steady_clock::now();
  Space space(state_->rows, stream);
  const Operator<Space> a = [&](DeviceSpan<const V> from, DeviceSpan<V> to) {
    state_->fastest.multiply(V(1), from, to);
  };
  SolveResult result = conjugate_gradients<V>(space, a, state_->blas, state_->in_one_pass,
                                              device_b.span(), device_x.span(), options);
  stream.synchronize();
  result.times.total =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  copy(std::as_const(device_x).span(), x, stream);
  stream.synchronize();
  return result;
}

template <Value V>
const std::string& VendorSolver<V>::name() const {
  return state_->fastest.name;
}
template <Value V>
double VendorSolver<V>::product_seconds() const {
  return state_->fastest.seconds;
}

#else

template <Value V>
struct VendorSolver<V>::State {
  std::string name;
};

template <Value V>
template <Index I>
VendorSolver<V>::VendorSolver(const Csr<V, I>&, Stream&,
                              const std::function<void(const std::string&)>&) {
  throw Unavailable("this build was made without cuSPARSE or cuBLAS: no solver to compare with");
}
template <Value V>
solvers::SolveResult VendorSolver<V>::solve(std::span<const V>, std::span<V>,
                                            const solvers::SolveOptions&) {
  return {};
}
template <Value V>
const std::string& VendorSolver<V>::name() const {
  return state_->name;
}
template <Value V>
double VendorSolver<V>::product_seconds() const {
  return 0;
}

#endif

template <Value V>
VendorSolver<V>::VendorSolver(VendorSolver&&) noexcept = default;
template <Value V>
VendorSolver<V>::~VendorSolver() = default;

#define STRATA_INSTANTIATE_CLASS(V, unused) template class VendorSolver<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_CLASS, );
#define STRATA_INSTANTIATE(V, I)                                    \
  template VendorSolver<V>::VendorSolver(const Csr<V, I>&, Stream&, \
                                         const std::function<void(const std::string&)>&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::gpu
