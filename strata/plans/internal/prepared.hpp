// Prepared: what plans for processors are made of. A product plan is one whose only sweep is one
// product; plain powers are the same with p products, blocked ones have sweeps of several powers.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "strata/base/affinity.hpp"
#include "strata/base/identity.hpp"
#include "strata/base/parallel.hpp"
#include "strata/execute/sweep.hpp"
#include "strata/formats/fingerprint.hpp"
#include "strata/machine/profile.hpp"
#include "strata/plans/candidate.hpp"
#include "strata/plans/internal/arrangement.hpp"
#include "strata/plans/internal/prediction.hpp"

namespace strata::detail {

// Everything that apply and explain need.
template <Value V, Index I>
struct Prepared {
  Identity identity = Identity::fresh();  // workspaces carry it
  Fingerprint pattern;                    // of the caller's matrix: new values come with the same
  PowerOptions options;
  int threads = 1;
  I cols = 0;  // of the caller's matrix
  std::shared_ptr<Arrangement<V, I>> arrangement;
  std::vector<Sweep<I>> sweeps;  // one after another: p = 7 in blocks of 4 is 4 + 3
  std::vector<cpu::StepCoefficients<V>> coefficients;  // of y_1 … y_p
  Places places;                                       // the machine, as the plan saw it
  PlanRecord record;

  bool direct() const {  // vectors are used where they are
    return options.vector_order == VectorOrder::plan || arrangement->order.is_identity();
  }

  // Runs all sweeps; vector(k) is where y_k is, k = 0 … p, and `before` where y_−1 is, if β_1 is
  // not 0.
  template <class VectorAt>
  void run(std::span<ProgressCounter> counters,
           std::span<const cpu::StepCoefficients<V>> coefficients_of, const VectorAt& vector,
           const V* before = nullptr) const {
    int first = 0;
    for (const Sweep<I>& sweep : sweeps) {
      sweep.run(counters, [&](const typename Sweep<I>::Step& task) {
        const int k = first + task.power;
        const V* previous = k >= 2 ? vector(k - 2) : before;
        arrangement->matrix.step(coefficients_of[k - 1],
                                 {vector(k - 1), previous, vector(k), options.vectors}, task.rows);
      });
      first += sweep.schedule().power;
    }
  }

  // New values on the same pattern, all or nothing.
  void assign_values(const Csr<V, I>& matrix);

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
std::unique_ptr<Prepared<V, I>> prepare(const Csr<V, I>& matrix, const PowerOptions& options);

}  // namespace strata::detail
