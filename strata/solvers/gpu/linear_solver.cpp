#include "strata/solvers/gpu/linear_solver.hpp"

#include <fmt/format.h>

#include <optional>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/device/event.hpp"
#include "strata/plans/gpu/product_plan.hpp"
#include "strata/solvers/block_jacobi.hpp"
#include "strata/solvers/diagonal.hpp"
#include "strata/solvers/gpu/device_powers.hpp"
#include "strata/solvers/gpu/device_space.hpp"
#include "strata/solvers/gpu/internal/space_kernels.hpp"
#include "strata/solvers/internal/run_method.hpp"
#include "strata/solvers/internal/spectral.hpp"
#include "strata/solvers/internal/variant.hpp"
#include "strata/solvers/random_rows.hpp"
#include "strata/solvers/timed_operator.hpp"

namespace strata::gpu {

using solvers::LinearSolverOptions;
using solvers::Operator;
using solvers::Preconditioner;
using solvers::SolveOptions;
using solvers::SolveResult;

namespace {

ProductOptions in_plan_order(ProductOptions options) {
  options.vector_order = VectorOrder::plan;
  return options;
}

}  // namespace

// The matrix as one of two plans, and what the preconditioner has of it.
template <Value V>
class LinearSolver<V>::Engine {
 public:
  using Space = DeviceSpace<V>;

  template <Index I>
  Engine(const Csr<V, I>& matrix, const LinearSolverOptions& options, Stream& stream)
      : options_(options), stream_(stream) {
    solvers::detail::require_square(matrix.rows(), matrix.cols());
    solvers::detail::require_options(options);
    if (const int power = solvers::detail::powers_of(options); power > 0) {
      powers_.emplace(matrix, solvers::detail::for_powers(options.product, power), stream);
    } else {
      product_ = plan_product(matrix, in_plan_order(options.product), stream);
      workspace_ = product_.make_workspace(stream);
    }
    learn(matrix);
  }

  Offset rows() const { return powers_ ? powers_->plan().rows() : product_.rows(); }
  Stream& stream() const { return stream_; }

  SolveResult solve(DeviceSpan<const V> b, DeviceSpan<V> x, const SolveOptions& options) {
    solvers::detail::require_lengths(b.size(), x.size(), rows());
    stream_.synchronize();
    const solvers::RunningClock clock;
    Space space(vector_rows(), stream_);
    auto ordered_b = to_plan_order(space, b);
    auto ordered_x = to_plan_order(space, DeviceSpan<const V>(x));
    SolveResult result = solvers::detail::run_method<Space>(
        options_, space, product(), preconditioner(space), powers_ ? &*powers_ : nullptr, spectrum_,
        ordered_b, ordered_x, options);
    const DeviceSpan<const V> solution = ordered_x;
    powers_ ? powers_->plan().to_caller_order(solution, x, stream_)
            : product_.to_caller_order(solution, x, stream_);
    stream_.synchronize();
    if (powers_) powers_->require_ended();
    result.times.total = clock.seconds();
    return result;
  }

  template <Index I>
  void update_values(const Csr<V, I>& matrix) {
    powers_ ? powers_->update_values(matrix) : product_.update_values(matrix, stream_);
    learn(matrix);
  }

  double product_seconds() {
    constexpr int kRuns = 20;
    const bool whole = solvers::detail::runs_on_powers(options_.method);
    const int products = whole ? powers_->power() : 1;
    Space space(vector_rows(), stream_);
    auto x = space.make_vector(), y = space.make_block(products);
    const auto run = [&] { whole ? powers_->apply(x, y) : product()(x, y); };
    run();
    Event begin, end;
    begin.record(stream_);
    for (int k = 0; k < kRuns; ++k) run();
    end.record(stream_);
    return seconds_between(begin, end) / kRuns / products;
  }

  std::string variant() const {
    return powers_ ? solvers::detail::variant_of_powers(powers_->plan().choice())
                   : solvers::detail::variant_of_product(product_.choice());
  }

  std::string explain() const {
    return (powers_ ? powers_->plan().explain() : product_.explain()) + spectrum_.text;
  }

 private:
  Offset vector_rows() const { return powers_ ? powers_->plan().vector_rows() : product_.x_rows(); }

  DeviceVector<V> to_plan_order(Space& space, DeviceSpan<const V> of_rows) const {
    auto ordered = space.make_vector();
    powers_ ? powers_->plan().to_plan_order(of_rows, ordered.span(), stream_)
            : product_.to_plan_order(of_rows, ordered.span(), stream_);
    return ordered;
  }

  Operator<Space> product() {
    return [this](DeviceSpan<const V> from, DeviceSpan<V> to) {
      powers_ ? powers_->multiply(from, to) : product_.apply(from, to, workspace_, stream_);
    };
  }

  Operator<Space> preconditioner(Space& space) {
    switch (options_.preconditioner) {
      case Preconditioner::none: return {};
      case Preconditioner::jacobi:
        return [this, &space](DeviceSpan<const V> from, DeviceSpan<V> to) {
          solvers::VectorProgram<V> program;
          program.set(to, {solvers::weighted<V>(from, inverse_diagonal_)});
          space.run(program);
        };
      case Preconditioner::block_jacobi:
        return [this](DeviceSpan<const V> from, DeviceSpan<V> to) { apply_blocks(from, to); };
      default: return solvers::as_operator<Space>(spectrum_.polynomial, *powers_);
    }
  }

  // What preconditioners and polynomials take from the values.
  template <Index I>
  void learn(const Csr<V, I>& matrix) {
    Space space(vector_rows(), stream_);
    const auto upload = [&](const std::vector<V>& values) {
      return to_plan_order(space, to_device(std::span<const V>(values), stream_).span());
    };
    if (options_.preconditioner == Preconditioner::jacobi) {
      inverse_diagonal_ = upload(solvers::inverse_diagonal(matrix));
    }
    if (options_.preconditioner == Preconditioner::block_jacobi) learn_blocks(matrix);
    if (solvers::detail::asks_for_spectrum(options_)) {
      auto start = upload(solvers::random_rows<V>(matrix.rows(), 1, 1));
      spectrum_ = solvers::detail::find_spectrum<Space>(options_, space, product(), start,
                                                        solvers::gershgorin_bounds(matrix));
    }
    stream_.synchronize();
  }

  template <Index I>
  void learn_blocks(const Csr<V, I>& matrix) {
    const Array<V> inverses = solvers::block_inverses(matrix, options_.block_rows);
    const Offset rows = matrix.rows(), block_rows = options_.block_rows;
    // Row by row across the blocks, so that threads next to each other read numbers that are.
    Array<V> by_rows(static_cast<std::size_t>(checked_multiply(rows, block_rows, "blocks")), V(0));
    Array<std::int32_t> positions(static_cast<std::size_t>(rows));
    const auto& order = powers_ ? powers_->plan().order() : product_.order();
    for (Offset row = 0; row < rows; ++row) {
      const Offset first = row - row % block_rows, size = std::min(block_rows, rows - first);
      for (Offset j = 0; j < size; ++j) {
        by_rows[static_cast<std::size_t>(row + j * rows)] =
            inverses[static_cast<std::size_t>(first * block_rows + (row - first) * size + j)];
      }
      positions[static_cast<std::size_t>(row)] = order.position_of(static_cast<std::int32_t>(row));
    }
    inverses_ = to_device(std::span<const V>(by_rows), stream_);
    position_of_ = to_device(std::span<const std::int32_t>(positions), stream_);
  }

  void apply_blocks(DeviceSpan<const V> from, DeviceSpan<V> to) {
    if (to.size() > rows()) fill_zero(to, stream_);
    detail::launch_block_jacobi<V>({.x = detail::device_pointer<V>(from.data()),
                                    .y = detail::device_pointer<V>(to.data()),
                                    .inverses = detail::device_pointer<V>(inverses_.data()),
                                    .position_of = position_of_.data(),
                                    .rows = rows(),
                                    .block_rows = options_.block_rows},
                                   stream_);
  }

  LinearSolverOptions options_;
  Stream& stream_;
  std::optional<DevicePowers<V>> powers_;
  ProductPlan<V> product_;
  typename ProductPlan<V>::Workspace workspace_;
  DeviceVector<V> inverse_diagonal_;  // in the plan's order
  DeviceArray<V> inverses_;           // of blocks, as BlockJacobiArguments has them
  DeviceArray<std::int32_t> position_of_;
  solvers::detail::Spectral<V> spectrum_;
};

template <Value V>
template <Index I>
LinearSolver<V>::LinearSolver(const Csr<V, I>& matrix, const LinearSolverOptions& options,
                              Stream& stream)
    : engine_(std::make_unique<Engine>(matrix, options, stream)) {}
template <Value V>
LinearSolver<V>::~LinearSolver() = default;
template <Value V>
LinearSolver<V>::LinearSolver(LinearSolver&&) noexcept = default;
template <Value V>
LinearSolver<V>& LinearSolver<V>::operator=(LinearSolver&&) noexcept = default;

template <Value V>
template <Index I>
void LinearSolver<V>::update_values(const Csr<V, I>& matrix) {
  engine_->update_values(matrix);
}

template <Value V>
SolveResult LinearSolver<V>::solve(std::span<const V> b, std::span<V> x,
                                   const SolveOptions& options) {
  solvers::detail::require_lengths(std::ssize(b), std::ssize(x), engine_->rows());
  Stream& stream = engine_->stream();
  const DeviceArray<V> device_b = to_device(b, stream);
  DeviceArray<V> device_x = to_device(std::span<const V>(x), stream);
  SolveResult result = engine_->solve(device_b.span(), device_x.span(), options);
  copy(std::as_const(device_x).span(), x, stream);
  stream.synchronize();
  return result;
}

template <Value V>
SolveResult LinearSolver<V>::solve(DeviceSpan<const V> b, DeviceSpan<V> x,
                                   const SolveOptions& options) {
  return engine_->solve(b, x, options);
}

template <Value V>
double LinearSolver<V>::product_seconds() {
  return engine_->product_seconds();
}
template <Value V>
std::string LinearSolver<V>::variant() const {
  return engine_->variant();
}
template <Value V>
std::string LinearSolver<V>::explain() const {
  return engine_->explain();
}

#define STRATA_INSTANTIATE_CLASS(V, unused) template class LinearSolver<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_CLASS, );
#define STRATA_INSTANTIATE(V, I)                                                                 \
  template LinearSolver<V>::LinearSolver(const Csr<V, I>&, const LinearSolverOptions&, Stream&); \
  template void LinearSolver<V>::update_values(const Csr<V, I>&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::gpu
