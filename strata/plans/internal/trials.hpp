// Short timings behind a plan's decisions. They run the kernels on vectors of their own, scaled
// where powers would overflow.
#pragma once

#include <vector>

#include "strata/base/array.hpp"
#include "strata/base/function_ref.hpp"
#include "strata/base/types.hpp"
#include "strata/execute/sweep.hpp"
#include "strata/formats/csr.hpp"
#include "strata/plans/internal/arrangement.hpp"
#include "strata/plans/plan_options.hpp"

namespace strata::detail {

// A factor that keeps powers of the matrix from growing: by the row sums of a sample.
template <Value V, Index I>
V trial_scale(const Csr<V, I>& matrix);

// One of several pieces of a sweep with about the same bytes each. One after another they do all of
// it, each with data that the ones before have not left in a cache.
struct SweepPiece {
  int number = 0;
  int of = 1;
};

template <Value V, Index I>
class Trials {
 public:
  // Both must outlive the trials.
  Trials(const Csr<V, I>& matrix, const PowerOptions& options)
      : matrix_(matrix), options_(options) {}

  // What entry_seconds() runs on at most.
  static constexpr Offset kProbeBytes = 256 * 1024;
  // Seconds per entry of the kernel with all its data in the private cache: some rows in the
  // middle, again and again, on this thread. 0 where there are no entries. entries_of(rows) is how
  // many they have, of the matrix that was stored.
  double entry_seconds(const StoredMatrix<V, I>& stored, I cols,
                       FunctionRef<Offset(RowRange<I>)> entries_of);

  // Of all powers, from one piece of a sweep that does some of them; the pieces before it have run,
  // or it is the first. Copies between the caller's order and the plan's count.
  double application_seconds(const Arrangement<V, I>& arrangement, const Sweep<I>& sweep,
                             int threads, SweepPiece piece = {});
  // The same by products in any format, from one of them, on the threads of the caller.
  double application_seconds(const cpu::StoredProduct<V>& product);

  // Gives the vectors back; they are made again where they are needed.
  void release_vectors() {
    vectors_ = {};
    scratch_ = {};
  }

 private:
  // y_0 … y_powers, of so many rows.
  void make_vectors(Offset rows, int powers);
  cpu::StepVectors<V> vectors_of(int power);
  // 1, for which kernels have a faster way, if the plan takes it and no power overflows or
  // vanishes.
  V fitting_scale() const;
  cpu::StepCoefficients<V> coefficients();

  const Csr<V, I>& matrix_;
  const PowerOptions& options_;
  std::vector<Array<V>> vectors_;  // 0 … p, the largest that may be timed
  Array<V> scratch_;               // of products
  V scale_{};                      // not found yet
};

}  // namespace strata::detail
