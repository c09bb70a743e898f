// Prepared: what plans for processors are made of. A product plan is one whose only sweep is one
// product; plain powers are the same with p products, blocked ones have sweeps of several powers.
// Products in formats that sweeps do not run in have no sweep: all rows are one step.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "strata/base/affinity.hpp"
#include "strata/base/identity.hpp"
#include "strata/base/internal/plain_product.hpp"
#include "strata/base/parallel.hpp"
#include "strata/execute/sweep.hpp"
#include "strata/formats/fingerprint.hpp"
#include "strata/machine/profile.hpp"
#include "strata/plans/candidate.hpp"
#include "strata/plans/internal/arrangement.hpp"
#include "strata/plans/internal/planning.hpp"
#include "strata/plans/internal/prediction.hpp"
#include "strata/plans/internal/product_request.hpp"
#include "strata/plans/internal/row_limits.hpp"

namespace strata::detail {

// A product that shares nothing with the matrix.
template <Value V, Index I>
std::unique_ptr<const cpu::StoredProduct<V>> store_own_product(const Csr<V, I>& matrix,
                                                               const ProductSpec& spec);

// sum = Σ c_k y_k, added up by the steps of a sweep right after they have written rows of y_k. The
// powers of a row follow one another, whoever computes them, and so do the terms of its sum.
template <Value V>
struct PowerSum {
  std::span<const V> coefficients;  // c_0 … c_p
  V* target = nullptr;              // none: there is nothing to add up

  // Power k, of elements [begin, end); the first one starts the sum from y_0 as well.
  void add(int k, const V* first, const V* power, Offset begin, Offset end) const {
    const V c = coefficients[static_cast<std::size_t>(k)];
    if (k > 1) {
      for (Offset i = begin; i < end; ++i) target[i] += plain_product(c, power[i]);
      return;
    }
    const V start = coefficients[0];
    for (Offset i = begin; i < end; ++i) {
      target[i] = plain_product(start, first[i]) + plain_product(c, power[i]);
    }
  }
};

// Everything that apply and explain need.
template <Value V, Index I>
struct Prepared {
  Identity identity = Identity::fresh();  // workspaces carry it
  // Of the matrix that is planned for: that of the caller or its transpose. New values come with
  // the same.
  Fingerprint pattern;
  bool transposed = false;
  bool asked_for_product = false;  // the caller's choice, or the plan's own
  PowerOptions options;
  int threads = 1;
  I cols = 0;  // of the matrix that is planned for
  std::shared_ptr<Arrangement<V, I>> arrangement;
  std::vector<Sweep<I>> sweeps;  // one after another: p = 7 in blocks of 4 is 4 + 3
  std::vector<cpu::StepCoefficients<V>> coefficients;  // of y_1 … y_p
  RowLimits<I> limits;                                 // of powers that sweeps compute
  Places places;                                       // the machine, as the plan saw it
  PlanRecord record;

  // Throws InvalidArgument unless the basis has so many vectors.
  void set_basis(const Basis& basis) {
    std::vector<cpu::StepCoefficients<V>> steps;
    basis.require_steps<V>(options.power);
    for (int k = 1; k <= options.power; ++k) steps.push_back(basis.step<V>(k));
    coefficients = std::move(steps);
    options.basis = basis;
  }

  bool direct() const {  // vectors are used where they are
    return options.vector_order == VectorOrder::plan || arrangement->order.is_identity();
  }

  Offset scratch_elements() const {
    return arrangement->product ? arrangement->product->scratch_elements(options.vectors) : 0;
  }

  // Runs all sweeps, as far as there are coefficients; vector(k) is where y_k is, k = 0 … p, and
  // `before` where y_−1 is, if β_1 is not 0. Products in any format need scratch_elements(). Tasks
  // of sweeps go into `traced`, if there is one, and powers into the sum.
  template <class VectorAt>
  void run(std::span<ProgressCounter> counters,
           std::span<const cpu::StepCoefficients<V>> coefficients_of, const VectorAt& vector,
           const V* before = nullptr, std::span<V> scratch = {},
           std::vector<TracedTask>* traced = nullptr, const PowerSum<V>& sum = {}) const {
    if (arrangement->product) {
      run_products(coefficients_of, vector, before, scratch, traced, sum);
      return;
    }
    int first = 0;
    for (const Sweep<I>& sweep : sweeps) {
      if (first >= std::ssize(coefficients_of)) break;
      const auto step = [&](const typename Sweep<I>::Step& task) {
        const int k = first + task.power;
        if (k > std::ssize(coefficients_of)) return;
        const V* previous = k >= 2 ? vector(k - 2) : before;
        RowRange<I> upcoming = task.upcoming;
        limits.visit(task.rows, k, [&](RowRange<I> rows) {
          arrangement->matrix.step(coefficients_of[k - 1],
                                   {vector(k - 1), previous, vector(k), options.vectors}, rows,
                                   std::exchange(upcoming, {}));
          if (sum.target == nullptr) return;
          sum.add(k, vector(0), vector(k), Offset{rows.begin} * options.vectors,
                  Offset{rows.end} * options.vectors);
        });
      };
      if (traced == nullptr) {
        sweep.run(counters, step);
      } else {
        for (TracedTask& task : sweep.run_traced(counters, step)) {
          task.power += first;
          traced->push_back(task);
        }
      }
      first += sweep.schedule().power;
    }
  }

  // The same by products of all rows, one after another.
  template <class VectorAt>
  void run_products(std::span<const cpu::StepCoefficients<V>> coefficients_of,
                    const VectorAt& vector, const V* before, std::span<V> scratch,
                    std::vector<TracedTask>* traced, const PowerSum<V>& sum) const {
    for (int k = 1; k <= std::ssize(coefficients_of); ++k) {
      const double start = now();
      const V* previous = k >= 2 ? vector(k - 2) : before;
      arrangement->product->run(coefficients_of[k - 1],
                                {vector(k - 1), previous, vector(k), options.vectors}, scratch);
      if (sum.target != nullptr) {
        parallel_chunks(
            Offset{arrangement->order.rows()} * options.vectors,
            [&](Offset begin, Offset end) { sum.add(k, vector(0), vector(k), begin, end); });
      }
      if (traced == nullptr) continue;
      for (int thread = 0; thread < threads; ++thread) {
        traced->push_back({0, 1, k, thread, start, now()});
      }
    }
  }

  // y = Ax by the rows of the first power, which wait for nothing. `scratch`: as for run.
  void multiply(const V* x, V* y, std::span<V> scratch) const {
    if (arrangement->product) {
      arrangement->product->run({}, {x, nullptr, y, options.vectors}, scratch);
      return;
    }
    const Sweep<I>& sweep = sweeps.front();
    const auto& tasks = sweep.schedule().tasks;
    run_on_threads(threads, [&](int thread, int team) {
      for (std::size_t task = 0; task < tasks.size(); ++task) {
        if (tasks[task].power != 1) continue;
        for (int part = thread; part < sweep.parts(); part += team) {
          arrangement->matrix.step({}, {x, nullptr, y, options.vectors}, sweep.rows_of(task, part));
        }
      }
    });
  }

  // New values on the same pattern, all or nothing.
  void assign_values(const Csr<V, I>& matrix);
  void assign_product(const Csr<V, I>& matrix);

  // What was decided about a task, "The product", and why.
  std::string explain(const std::string& task) const;
};

// The threads of a plan, for the work of the calling thread while this lives.
class Team {
 public:
  template <Value V, Index I>
  explicit Team(const Prepared<V, I>& plan)
      : threads_(plan.threads), affinity_(plan.options.affinity) {}

 private:
  ThreadCountScope threads_;
  AffinityScope affinity_;
};

// The decisions behind plan_product and plan_powers on a processor.
template <Value V, Index I>
std::unique_ptr<Prepared<V, I>> prepare(const Csr<V, I>& matrix, const PowerOptions& options,
                                        const ProductRequest& request = {});

}  // namespace strata::detail
