// Plans for powers as contenders, whatever they run on. A backend makes plans and moves vectors:
//
//   value_type, index_type    of the matrix
//   Plan, Workspace, Vector   Vector holds x where the plan takes it
//   Plan plan(matrix, options);
//   Workspace workspace(plan);
//   Vector vector(elements);
//   void load(plan, rows, x);          x = rows, a vector of the matrix in the order that the plan
//                                      takes, on the host; x keeps its address
//   void reserve(elements);            memory for the powers of whichever contender runs: all write
//                                      to the same place, and see the same pages
//   void apply(plan, x, workspace);    computes the powers
//   void poison(elements);             of the powers
//   Array<V> powers(plan, workspace);  that apply has computed, in the order of the matrix
//   Array<I> row_order(plan);          where the plan has which row, without padding
//   TaskTrace trace(plan, x, workspace);  the same as apply, of processors alone
//   void describe(plan, result);       adds backend, device or threads, and bandwidth
#pragma once

#include <memory>
#include <utility>

#include "strata/base/checked.hpp"
#include "strata/measure/internal/power_contest.hpp"
#include "strata/measure/vectors.hpp"
#include "strata/order/padded_order.hpp"

namespace strata::internal {

// Powers of x in the order of the rows of the matrix.
template <Value V, Index I>
ExaminedPowers examine_powers(const Csr<V, I>& matrix, std::span<const V> x,
                              std::span<const V> powers, const PowerOptions& options,
                              bool validate) {
  ExaminedPowers examined;
  if (validate) {
    examined.check = check_powers(matrix, x, powers, options.basis, options.power, options.vectors);
  }
  // Wrong results need not be finite either.
  if (!examined.check || examined.check->wrong == 0) {
    examined.overflow = find_overflow<V>(powers, options.power);
  }
  return examined;
}

template <class Backend>
class PlannedPowers {
 public:
  using V = typename Backend::value_type;
  using I = typename Backend::index_type;

  // `vectors` right-hand sides, from a seed.
  PlannedPowers(const Csr<V, I>& matrix, int vectors, std::uint64_t seed, Backend& backend)
      : matrix_(matrix),
        backend_(backend),
        x_(std::make_shared<const Array<V>>(random_vector<V>(
            checked_multiply<Offset>(matrix.rows(), vectors, "the elements of vectors"), seed))) {}

  const Array<V>& x() const { return *x_; }

  // What comes back refers to this object and to its matrix.
  PowerContender plan(const PowerOptions& options) {
    return contender(matrix_, x_, options, nullptr);
  }

 private:
  using Order = PaddedOrder<I>;

  // A plan with what it takes to run it.
  struct Ready {
    typename Backend::Plan plan;
    typename Backend::Workspace workspace;
    typename Backend::Vector x;
    std::shared_ptr<const Array<V>> rows;  // what x is when it is timed
    std::shared_ptr<const Order> order;    // of the plan's matrix among the rows of ours; or none
    Offset elements = 0;                   // of all powers
  };

  PowerContender contender(const Csr<V, I>& matrix, std::shared_ptr<const Array<V>> rows,
                           const PowerOptions& options, std::shared_ptr<const Order> order) {
    const auto ready = std::make_shared<Ready>();
    ready->plan = backend_.plan(matrix, options);
    ready->workspace = backend_.workspace(ready->plan);
    const Offset each = Offset{ready->plan.vector_rows()} * ready->plan.vectors();
    ready->x = backend_.vector(each);
    ready->rows = std::move(rows);
    ready->order = std::move(order);
    ready->elements = checked_multiply<Offset>(each, options.power, "the powers");
    backend_.load(ready->plan, *ready->rows, ready->x);
    backend_.reserve(ready->elements);
    std::function<TaskTrace()> trace;
    if constexpr (requires { backend_.trace(ready->plan, ready->x, ready->workspace); }) {
      trace = [this, ready] { return backend_.trace(ready->plan, ready->x, ready->workspace); };
    }
    return {.result = describe(ready->plan, options),
            .run = [this, ready] { backend_.apply(ready->plan, ready->x, ready->workspace); },
            .vectors = {.poison_inputs = [this, ready] { poison_inputs(*ready); },
                        .restore_inputs =
                            [this, ready] { backend_.load(ready->plan, *ready->rows, ready->x); },
                        .poison_outputs = [this, ready] { backend_.poison(ready->elements); }},
            .examine = [this, ready,
                        options](bool validate) { return examine(*ready, options, validate); },
            .trace = std::move(trace),
            .plain_in_this_order = [this, ready,
                                    options] { return plain_in_order_of(*ready, options); }};
  }

  PowerResult describe(const typename Backend::Plan& plan, const PowerOptions& options) {
    PowerResult result;
    result.context.options = options;
    result.context.precision = precision_of<V>();
    result.choice = plan.choice();
    result.values = plan.record().values;
    result.levels = plan.levels();
    result.setup_seconds = plan.setup_seconds();
    result.setup_parts = plan.record().parts;
    backend_.describe(plan, result);
    return result;
  }

  void poison_inputs(Ready& ready) {
    Array<V> poisoned(ready.rows->size());
    poison<V>(poisoned);
    backend_.load(ready.plan, poisoned, ready.x);
  }

  ExaminedPowers examine(Ready& ready, const PowerOptions& options, bool validate) {
    const Array<V> powers = in_given_order(backend_.powers(ready.plan, ready.workspace), ready);
    return examine_powers<V, I>(matrix_, *x_, powers, options, validate);
  }

  static Array<V> in_given_order(Array<V> powers, const Ready& ready) {
    if (!ready.order) return powers;
    const int vectors = ready.plan.vectors();
    const std::size_t each = static_cast<std::size_t>(ready.plan.rows()) * vectors;
    Array<V> given(powers.size());
    for (std::size_t begin = 0; begin < powers.size(); begin += each) {
      ready.order->template scatter<V>(std::span<const V>(powers).subspan(begin, each),
                                       std::span<V>(given).subspan(begin, each), vectors);
    }
    return given;
  }

  PowerContender plain_in_order_of(const Ready& ready, PowerOptions options) {
    const auto order =
        std::make_shared<const Order>(matrix_.rows(), backend_.row_order(ready.plan));
    const auto rows = std::make_shared<Array<V>>(x_->size());
    order->template gather<V>(*x_, *rows, options.vectors);
    options.strategy = PowerStrategy::spmv;
    options.cache_bytes = 0;
    return contender(reordered(matrix_, *order), rows, options, order);
  }

  const Csr<V, I>& matrix_;
  Backend& backend_;
  std::shared_ptr<const Array<V>> x_;
};

// What one application of a contest on this matrix computes.
template <Value V, Index I>
PowerWork work_on(const Csr<V, I>& matrix, int vectors, bool write_allocate) {
  return {.rows = matrix.rows(),
          .entries = matrix.nnz(),
          .value_bytes = sizeof(V),
          .flops_per_entry = is_complex<V> ? 8.0 : 2.0,
          .vectors = vectors,
          .write_allocate = write_allocate};
}

}  // namespace strata::internal
