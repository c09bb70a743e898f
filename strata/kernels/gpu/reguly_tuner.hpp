// RegulyTuner: finds parameters for Reguly's kernel during a user's own products, after the
// run-time tuner of his paper (Efficient sparse matrix-vector multiplication on cache-based GPUs,
// section 6). It costs nothing but the products that turn out slower, and results keep their bits.
//
//   RegulyTuner tuner(matrix.rows(), matrix.nnz());
//   for (…) {
//     matrix.set_reguly(tuner.next());
//     const double seconds = …;  // of this product
//     tuner.record(seconds);
//   }
//
// The search starts from the fixed rule and moves along one parameter at a time, in the paper's
// order: repeat, then coop, then the block's size, on in a direction that helped and back in one
// that did not; at first in large steps, then in small ones. It differs from the paper's in what it
// trusts: the first product runs into cold caches and is repeated before anything else counts as
// faster, the least of several times counts, and a move has to gain more than noise.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/kernels/gpu/csr_options.hpp"

namespace strata::gpu {

struct RegulyTunerOptions {
  RegulySweep among = {};  // the values to search; those of the fixed rule are added
  RegulyTarget target = {};
  double gain = 0.01;  // smaller shares of the time count as noise
};

// What is known of some parameters.
struct RegulyTrial {
  RegulyParameters parameters;
  int calls = 0;
  double seconds = 0;  // the least of them
};

class RegulyTuner {
 public:
  // Parameters that no kernel has are left out.
  RegulyTuner(Offset rows, Offset nnz, const RegulyTunerOptions& options = {});

  // For the next product.
  const RegulyParameters& next() const { return next_; }
  // How long the product with next() took. Throws InvalidArgument for what is no time.
  void record(double seconds);

  // The fastest so far; those of the fixed rule before the first product.
  const RegulyParameters& best() const { return best_; }
  // Whether next() stays the same: nothing near the best is faster.
  bool settled() const { return settled_; }
  // All that was tried, in the order of the first time.
  std::span<const RegulyTrial> trials() const { return trials_; }
  // The same in words, a line per trial.
  std::string explain() const;

 private:
  struct Axis {
    std::vector<int> values;  // of a parameter, increasing
    int step = 1;             // how many values on a move goes
    int first = 1;            // +1 or −1: which way to look first
    int place = 0;            // of the best
  };
  // Moves 2a and 2a + 1 go along axis a and back.
  static constexpr int kMoves = 6;

  RegulyParameters at(const std::array<int, 3>& places) const;
  std::array<int, 3> places() const;
  std::array<int, 3> places_after(int move) const;
  RegulyTrial* find(const RegulyParameters& parameters);
  void take(const std::array<int, 3>& places);
  // Moves to what was tried last if that is faster, and looks on.
  void judge();
  // Sets next_ to what the search wants to know next.
  void look_on();

  RegulyTarget target_;
  double gain_;
  std::array<Axis, 3> axes_;  // repeat, coop, block size
  std::vector<RegulyTrial> trials_;
  RegulyParameters best_;
  RegulyParameters next_;
  std::array<int, 3> tried_ = {};  // places of what was tried last, or is to be
  int move_ = 0;
  bool settled_ = false;
};

}  // namespace strata::gpu
