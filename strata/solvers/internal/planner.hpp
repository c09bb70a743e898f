// A matrix as plans have it, for whatever computes with it, processors or a GPU, and whatever its
// indices are: eigenpairs, densities and exponentials are written on this, once.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "strata/base/error.hpp"
#include "strata/bench/timing.hpp"
#include "strata/plans/plan_options.hpp"
#include "strata/solvers/powers.hpp"
#include "strata/solvers/random_rows.hpp"
#include "strata/solvers/solve_result.hpp"
#include "strata/solvers/spectrum_bounds.hpp"
#include "strata/solvers/thick_restart.hpp"
#include "strata/solvers/timed_operator.hpp"

namespace strata::solvers::detail {

// A plan with its workspace. Vectors are in its order; those of the host are in the caller's.
template <class Space>
class PlannedProduct {
 public:
  using V = typename Space::Value;
  using View = typename Space::View;
  using ConstView = typename Space::ConstView;

  virtual ~PlannedProduct() = default;

  // Of the matrix, or, where processes share one, of this process: from first_row() on.
  virtual Offset rows() const = 0;
  virtual Offset first_row() const { return 0; }
  virtual Offset vector_rows() const = 0;  // with padded ones
  virtual int vectors() const = 0;         // interleaved ones, that products take at a time
  // For vectors of so many elements, where the plan has its own.
  virtual Space make_space(Offset elements) const = 0;

  virtual void multiply(ConstView x, View y) = 0;
  // Padded rows become 0.
  virtual void to_plan_order(std::span<const V> of_rows, View ordered) = 0;
  virtual void to_caller_order(ConstView ordered, std::span<V> of_rows) = 0;

  // Spent in products so far, by the clock of what computes them. Waits for them.
  virtual double seconds() = 0;
  virtual Stopwatch stopwatch() const = 0;
  // Waits; throws what the work on a device has failed with.
  virtual void finish() = 0;
  virtual std::string variant() const = 0;            // how products are computed
  virtual std::string explain() const { return {}; }  // and why
  virtual int threads() const { return 1; }           // of processors

  Operator<Space> as_operator() {
    return [this](ConstView x, View y) { multiply(x, y); };
  }
  // The same numbers whatever the order is, and whoever has the rows.
  RandomVector<Space> random() {
    return [this](View target, std::uint64_t seed) {
      to_plan_order(random_rows<V>(rows(), vectors(), seed, first_row()), target);
    };
  }
};

template <class Space>
class PlannedPowers : public PlannedProduct<Space>, public Powers<Space> {
 public:
  using typename Powers<Space>::View;
  using typename Powers<Space>::ConstView;

  void multiply(ConstView x, View y) override = 0;
  virtual void apply_last(ConstView x, View last) = 0;

  // Of apply_first and apply_sum so far; products are those with one vector. Waits for them.
  struct Swept {
    double seconds = 0;
    Offset products = 0;
  };
  virtual Swept swept() = 0;
};

// What plans are made of: a matrix, and where.
template <class Space>
class Planner {
 public:
  virtual ~Planner() = default;

  virtual Offset rows() const = 0;  // of the whole matrix
  virtual SpectrumBounds gershgorin() const = 0;
  virtual int most_columns() const = 0;  // that blocks of vectors may have
  virtual std::unique_ptr<PlannedProduct<Space>> plan_product(bool autotune) const = 0;
  virtual std::unique_ptr<PlannedPowers<Space>> plan_powers(int power, int vectors,
                                                            bool autotune) const = 0;
};

// What solvers of linear systems ask besides: plans as the caller wishes, and what preconditioners
// take from the values.
template <class Space>
class SystemPlanner : public Planner<Space> {
 public:
  using V = typename Space::Value;

  // Vectors are in the order of the plan, whatever the options say.
  virtual std::unique_ptr<PlannedProduct<Space>> product(const ProductOptions& options) const = 0;
  virtual std::unique_ptr<PlannedPowers<Space>> powers(const PowerOptions& options) const = 0;
  // A plan of a planner like this one gets the values of this one's matrix, which has the pattern
  // of the other.
  virtual void update(PlannedProduct<Space>& plan) const = 0;
  // Of the plan's rows, in the caller's order.
  virtual std::vector<V> inverse_diagonal() const = 0;
  // For vectors in the order of the plan.
  virtual Operator<Space> block_jacobi(int block_rows, PlannedProduct<Space>& plan) const = 0;
};

// Where the time of a method goes, from here on. Spaces on devices do not stop a clock.
template <class Space>
class MethodClock {
 public:
  MethodClock(const Space& space, PlannedProduct<Space>& plan)
      : space_(space), plan_(plan), products_(plan.seconds()), spent_(spent()) {}

  SolveTimes times() {
    plan_.finish();
    SolveTimes times{.total = clock_.seconds(), .products = plan_.seconds() - products_};
    const SolveTimes now = spent();
    times.orthogonalisation = now.orthogonalisation - spent_.orthogonalisation;
    times.reductions = now.reductions - spent_.reductions;
    times.updates = now.updates - spent_.updates;
    return times;
  }

 private:
  SolveTimes spent() const {
    SolveTimes times;
    if constexpr (requires { space_.times(); }) {
      times.orthogonalisation = space_.times().blocks;
      times.reductions = space_.times().reductions;
      times.updates = space_.times().updates;
    }
    return times;
  }

  const Space& space_;
  PlannedProduct<Space>& plan_;
  double products_ = 0;
  SolveTimes spent_;
  RunningClock clock_;
};

// Which powers of a sweep a method keeps: bare ones that it is compared with keep the same.
enum class Kept { all, last };

// The sweeps of a method, from here on, beside bare powers of the same plan.
template <class Space>
class SweepComparison {
 public:
  // `bare`: time these, too. The kernels of both are then loaded now.
  SweepComparison(PlannedPowers<Space>& powers, Kept kept, bool bare)
      : powers_(powers), kept_(kept), bare_(bare) {
    if (bare_) {
      Trial trial(powers_, kept_);
      trial.run();
      const std::vector<V> terms(static_cast<std::size_t>(powers_.power()) + 1);
      if (kept_ == Kept::last) powers_.apply_sum(trial.x, terms, trial.y);
      powers_.finish();
    }
    before_ = powers_.swept();
  }

  SweptProduct times() {
    const auto now = powers_.swept();
    SweptProduct times;
    if (now.products > before_.products) {
      times.in_method =
          (now.seconds - before_.seconds) / static_cast<double>(now.products - before_.products);
    }
    if (!bare_) return times;
    Trial trial(powers_, kept_);
    const Timing timing = time_runs(
        [&] { trial.run(); }, {.min_seconds = 0.05, .min_repetitions = 3}, powers_.stopwatch());
    powers_.finish();
    times.bare = timing.median / (static_cast<double>(powers_.power()) * powers_.vectors());
    return times;
  }

 private:
  using V = typename Space::Value;

  // Bare powers of random vectors.
  struct Trial {
    Trial(PlannedPowers<Space>& of, Kept which)
        : powers(of),
          kept(which),
          space(of.make_space(of.vector_rows() * of.vectors())),
          x(space.make_vector()),
          y(space.make_block(which == Kept::all ? of.power() : 1)) {
      of.random()(x, 1);
    }
    void run() { kept == Kept::all ? powers.apply(x, y) : powers.apply_last(x, y); }

    PlannedPowers<Space>& powers;
    Kept kept;
    Space space;
    typename Space::Vector x, y;
  };

  PlannedPowers<Space>& powers_;
  Kept kept_;
  bool bare_;
  typename PlannedPowers<Space>::Swept before_;
};

}  // namespace strata::solvers::detail
