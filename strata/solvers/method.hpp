// What methods for linear systems have in common: products that are counted, residuals that are
// computed and not only followed by a recurrence, history, and the reasons to end.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <complex>
#include <deque>
#include <functional>
#include <limits>
#include <span>
#include <utility>

#include "strata/solvers/solve_result.hpp"
#include "strata/solvers/vector_program.hpp"

namespace strata::solvers {

// y = Ax, or y = M⁻¹x. Must not keep the views.
template <class Space>
using Operator = std::function<void(typename Space::ConstView x, typename Space::View y)>;

namespace detail {

template <class Space>
struct ReadingIn {
  struct type {};
};
template <class Space>
  requires(Space::kLag > 0)
struct ReadingIn<Space> {
  using type = typename Space::Reading;
};
template <class Space>
using ReadingOf = typename ReadingIn<Space>::type;

}  // namespace detail

// A method runs in cycles, each of which begins with the residual of the solution as it is:
//
//   SolveLoop loop(space, a, b, x, options);
//   while (loop.begin_cycle(r)) {
//     …                                          // from r = b − Ax, which was just computed
//     while (loop.continues()) {
//       loop.multiply(p, q);
//       …
//       loop.iterated(square_of_residual);
//     }
//   }
//   return loop.result();
//
// A method that needs no scalars on the host to go on lets the loop read them, which on a device
// happens while the next iteration runs:
//
//   loop.watch(square, 2, [&](std::span<const Value> known) { … return true; });
//   …
//       loop.launched();
template <class Space>
class SolveLoop {
 public:
  using Value = typename Space::Value;
  using View = typename Space::View;
  using ConstView = typename Space::ConstView;
  static constexpr std::size_t kMostWatched = 8;

  SolveLoop(Space& space, const Operator<Space>& a, ConstView b, View x,
            const SolveOptions& options)
      : space_(space), a_(a), b_(b), x_(x), options_(options), square_(space.make_scalars(1)) {
    VectorProgram<Value> program;
    program.dot(b, b, square_);
    space.run(program);
    norm_ = std::sqrt(std::real(space.read(square_)));
    if (norm_ == 0) {  // whatever the guess was, the solution is 0
      VectorProgram<Value> clear;
      clear.set(x, {});
      space.run(clear);
      norm_ = 1;
    }
  }

  // r = b − Ax. False when there is no reason to go on: it is small enough, has something that is
  // not finite, or the last cycle left more than `stagnant` of it. Then x is what had the smallest
  // residual of all that cycles began or ended with.
  bool begin_cycle(View r, double stagnant = 0.5) {
    settle();
    multiply(x_, r);
    VectorProgram<Value> program;
    program.set(r, {{b_}, {r, Value(-1)}});
    program.dot(r, r, square_);
    space_.run(program);
    const double before = std::exchange(result_.residual, relative(space_.read(square_)));
    residual_ = result_.residual;
    if (cycles_ == 0) {
      started_ = Clock::now();
    } else {
      result_.times.cycles = std::chrono::duration<double>(Clock::now() - started_).count();
    }
    if (!std::isfinite(result_.residual)) {
      fail(SolveStatus::not_finite, "the residual is not finite");
    } else if (result_.residual <= options_.tolerance) {
      result_.status = SolveStatus::converged;
      result_.message.clear();
      return false;
    } else if (result_.iterations >= options_.most_iterations) {
      fail(SolveStatus::most_iterations,
           fmt::format("{} iterations were not enough", result_.iterations));
    } else if (cycles_ > 0 && result_.residual > std::max(stagnant, 1.0) * before) {
      fail(SolveStatus::stagnated,
           fmt::format("the residual grows, from {:.1e} to {:.1e}", before, result_.residual));
    } else if (cycles_ > 0 && result_.residual > stagnant * before) {
      fail(SolveStatus::stagnated,
           fmt::format("the residual stays at {:.1e}, whatever the recurrence says; the matrix "
                       "allows no more in this precision",
                       result_.residual));
    }
    ++cycles_;
    keep_best();
    return !failed_;
  }

  // Whether a cycle goes on.
  bool continues() {
    int begun = 0;
    for (const Awaited& each : awaited_) begun += each.iterations;
    if (!failed_ && residual_ > options_.tolerance &&
        result_.iterations + begun < options_.most_iterations) {
      return true;
    }
    settle();
    return false;
  }

  void multiply(ConstView x, View y) {
    a_(x, y);
    multiplied();
  }
  // The method has multiplied by itself.
  void multiplied(int times = 1) { result_.products += times; }

  // An iteration is done, or several at a time; (r, r) is what the recurrence has.
  void iterated(Value square_of_residual, int count = 1) {
    iterated(square_of_residual, result_.products, count);
  }

  // What tells how iterations go: scalars of which the first is (r, r), at most kMostWatched. They
  // are seen in the order of the iterations, and one of which `seen` returns false does not count.
  void watch(Scalar first, int count, std::function<bool(std::span<const Value>)> seen) {
    watched_ = first;
    watched_count_ = count;
    seen_ = std::move(seen);
  }

  // An iteration is done, or several at a time, or will be when the space has come to it.
  void launched(int count = 1) {
    if constexpr (Space::kLag > 0) {
      awaited_.push_back({space_.request(watched_, watched_count_), result_.products, count});
    } else {
      awaited_.push_back({{}, result_.products, count});
    }
    settle(Space::kLag);
  }

  // Looks at all iterations but the newest few. Costs nothing after another reading from the space.
  void settle(std::size_t but = 0) {
    while (awaited_.size() > but) {
      const auto [reading, products, count] = awaited_.front();
      awaited_.pop_front();
      std::array<Value, kMostWatched> values;
      const std::span known(values.data(), static_cast<std::size_t>(watched_count_));
      if constexpr (Space::kLag > 0) {
        space_.await(reading, known);
      } else {
        space_.read(watched_, known);
      }
      if (!failed_ && seen_(known)) iterated(known[0], products, count);
    }
  }

  // Ends the method; the first reason counts.
  void fail(SolveStatus status, std::string message) {
    if (std::exchange(failed_, true)) return;
    result_.status = status;
    result_.message = std::move(message);
  }

  // Whether the curvature (p, Ap) of the next iteration is positive, as definite matrices have it;
  // else ends the method.
  bool accepts_curvature(double curvature) {
    if (curvature > 0 && std::isfinite(curvature)) return true;
    const int number = iterations() + 1;
    if (std::isfinite(curvature)) {
      fail(SolveStatus::not_definite,
           fmt::format("the matrix is not positive definite: (p, Ap) is {:.3g} in iteration {}",
                       curvature, number));
    } else {
      fail(SolveStatus::not_finite,
           fmt::format("iteration {} has values that are not finite", number));
    }
    return false;
  }

  // The method reduces the energy norm of the error in every iteration, whatever the residual does
  // meanwhile: its last solution is its best.
  void reduces_error() { reduces_error_ = true; }

  // Something that whoever reads the result should know.
  void remark(std::string text) { result_.remark = std::move(text); }

  int iterations() const { return result_.iterations; }
  double norm_of_residual() const { return residual_ * norm_; }
  // The norm of a residual that is small enough.
  double aim() const { return options_.tolerance * norm_; }
  SolveResult result() { return std::move(result_); }

 private:
  void iterated(Value square_of_residual, Offset products, int count) {
    residual_ = relative(square_of_residual);
    result_.iterations += count;
    result_.history.push_back({result_.iterations, products, residual_});
    if (!std::isfinite(residual_)) {
      fail(SolveStatus::not_finite,
           fmt::format("iteration {} has values that are not finite", result_.iterations));
    } else if (options_.progress && !options_.progress(result_.history.back())) {
      fail(SolveStatus::stopped, fmt::format("stopped after {} iterations", result_.iterations));
    }
  }

  // The best solution so far is kept while the next cycle may spoil it, and put back at the end.
  void keep_best() {
    const bool cut_off =
        result_.status == SolveStatus::most_iterations || result_.status == SolveStatus::stopped;
    const bool is_best = result_.residual < best_residual_ ||
                         (failed_ && cut_off && reduces_error_ && std::isfinite(residual_));
    if (failed_ && !is_best && best_residual_ < std::numeric_limits<double>::max()) {
      VectorProgram<Value> restore;
      restore.set(x_, {{best_}});
      space_.run(restore);
      result_.residual = best_residual_;
    } else if (!failed_ && is_best) {
      if (best_residual_ == std::numeric_limits<double>::max()) best_ = space_.make_vector();
      VectorProgram<Value> keep;
      keep.set(best_, {{x_}});
      space_.run(keep);
      best_residual_ = result_.residual;
    }
  }

  // Differences of squares may be negative where nothing is left.
  double relative(Value square) const {
    const double known = std::real(square);
    return (known < 0 ? 0 : std::sqrt(known)) / norm_;
  }

  Space& space_;
  const Operator<Space>& a_;
  ConstView b_;
  View x_;
  const SolveOptions& options_;
  Scalar square_;
  using Clock = std::chrono::steady_clock;
  Clock::time_point started_;
  double norm_ = 0;      // of b
  double residual_ = 0;  // by the recurrence
  int cycles_ = 0;
  bool failed_ = false;
  bool reduces_error_ = false;
  typename Space::Vector best_;
  double best_residual_ = std::numeric_limits<double>::max();
  SolveResult result_;
  Scalar watched_;
  int watched_count_ = 0;
  std::function<bool(std::span<const Value>)> seen_;
  // Iterations whose scalars nobody has looked at, and the products up to them.
  struct Awaited {
    detail::ReadingOf<Space> reading;
    Offset products;
    int iterations;
  };
  std::deque<Awaited> awaited_;
};

}  // namespace strata::solvers
