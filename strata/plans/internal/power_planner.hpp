// The decisions behind plan_powers: which order, format, strategy, block and bands.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "strata/base/identity.hpp"
#include "strata/execute/sweep.hpp"
#include "strata/formats/fingerprint.hpp"
#include "strata/machine/profile.hpp"
#include "strata/plans/internal/arrangement.hpp"
#include "strata/plans/power_plan.hpp"

namespace strata::detail {

// Everything that apply needs.
template <Value V, Index I>
struct PreparedPowers {
  Identity identity = Identity::fresh();  // workspaces carry it
  Fingerprint pattern;                    // of the caller's matrix: new values come with the same
  PowerOptions options;
  int threads = 1;
  std::shared_ptr<Arrangement<V, I>> arrangement;
  std::vector<Sweep<I>> sweeps;  // one after another: p = 7 in blocks of 4 is 4 + 3
  std::vector<cpu::StepCoefficients<V>> coefficients;  // of y_1 … y_p

  // What explain() tells.
  std::vector<PowerCandidate> candidates;  // the choice first
  MachineProfile profile;
  std::string remark;          // about the facts and the threads
  bool affords_sweeps = true;  // every thread has a processor of its own
  Offset levels = 0;
  Offset largest_level_rows = 0;
  double setup_seconds = 0;
  double plain_seconds = 0;  // of p plain products in the given order

  bool direct() const {  // vectors are used where they are
    return options.vector_order == VectorOrder::plan || arrangement->order.is_identity();
  }

  // Runs all sweeps; vector(k) is where y_k is, k = 0 … p.
  template <class VectorAt>
  void run(std::span<ProgressCounter> counters, const VectorAt& vector) const {
    int first = 0;
    for (const Sweep<I>& sweep : sweeps) {
      sweep.run(counters, [&](const typename Sweep<I>::Step& task) {
        const int k = first + task.power;
        const V* previous = k >= 2 ? vector(k - 2) : nullptr;
        arrangement->matrix.step(coefficients[k - 1],
                                 {vector(k - 1), previous, vector(k), options.vectors}, task.rows);
      });
      first += sweep.schedule().power;
    }
  }
};

template <Value V, Index I>
PreparedPowers<V, I> prepare_powers(const Csr<V, I>& matrix, const PowerOptions& options);

}  // namespace strata::detail
