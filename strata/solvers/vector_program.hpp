// What iterative methods do with vectors between products, as data: assignments of sums of vectors,
// dot products of what they leave, and the few operations on scalars that follow from these. A
// space (processor_space.hpp) runs a program in one pass over memory, so that a method is written
// once for processors and GPUs and reads every vector as seldom as its recurrence allows. Scalars
// stay where vectors are: nobody waits for them.
//
//   VectorProgram<double> step;                    // of conjugate gradients
//   step.set(x, {{x}, {p, alpha}});                // x = x + αp
//   step.set(r, {{r}, {q, alpha, -1.0}});          // r = r − αq
//   step.dot(r, r, next);                          // (r, r)
//   step.compute(beta, next, Operation::divide, rho);
//   space.run(step);
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>

#include "strata/base/error.hpp"
#include "strata/base/types.hpp"

namespace strata::solvers {

// The number of a scalar of a space.
struct Scalar {
  int index = -1;
  bool exists() const { return index >= 0; }
  Scalar operator+(int further) const { return {index + further}; }
};

// factor · scalar · weights ∘ vector; without a scalar or weights, these are 1.
template <Value V>
struct Term {
  Term() = default;
  template <class Vector>
  Term(const Vector& of, Scalar times = {}, V by = V(1))
      : vector(of.data()), scalar(times), factor(by) {}
  template <class Vector>
  Term(const Vector& of, V by) : vector(of.data()), factor(by) {}

  const V* vector = nullptr;
  const V* weights = nullptr;
  Scalar scalar = {};
  V factor = V(1);
};

template <Value V, class Vector, class Weights>
Term<V> weighted(const Vector& of, const Weights& by) {
  Term<V> term(of);
  term.weights = by.data();
  return term;
}

template <Value V>
struct Assignment {
  static constexpr int kMostTerms = 4;

  V* target = nullptr;
  std::array<Term<V>, kMostTerms> terms = {};
  int count = 0;
};

// Σ conj(x_i) y_i.
template <Value V>
struct DotTask {
  const V* x = nullptr;
  const V* y = nullptr;
  Scalar target = {};
};

// divide_positive is 0 where the right is not a positive real number, divide_nonzero where it is 0:
// the length of a step that must not be taken, for nobody looks before it is.
enum class Operation {
  add,
  subtract,
  multiply,
  divide,
  divide_positive,
  divide_nonzero,
  copy,
  square_root
};

// target = left ∘ right; copies and roots have no right.
struct ScalarStep {
  Scalar target = {};
  Scalar left = {};
  Scalar right = {};
  Operation operation = Operation::copy;
};

// Assignments in their order, element by element: one may read what an earlier one wrote. Dot
// products see the vectors as the assignments leave them, scalars what the dot products are.
// A plain value, which a GPU gets as the argument of a kernel.
template <Value V>
class VectorProgram {
 public:
  static constexpr int kMostAssignments = 4;
  static constexpr int kMostDots = 6;
  static constexpr int kMostSteps = 8;

  template <class Vector>
  void set(Vector& target, std::initializer_list<Term<V>> terms) {
    if (terms.size() > Assignment<V>::kMostTerms) {
      throw InvalidArgument("too many terms for one pass over vectors");
    }
    Assignment<V>& added = next(assignments_, assignment_count_);
    added.target = target.data();
    for (const Term<V>& term : terms) {
      added.terms[static_cast<std::size_t>(added.count++)] = term;
    }
  }
  template <class Vector, class Other>
  void dot(const Vector& x, const Other& y, Scalar target) {
    next(dots_, dot_count_) = {x.data(), y.data(), target};
  }
  void compute(Scalar target, Scalar left, Operation operation, Scalar right = {}) {
    next(steps_, step_count_) = {target, left, right, operation};
  }

  std::span<const Assignment<V>> assignments() const {
    return first(assignments_, assignment_count_);
  }
  std::span<const DotTask<V>> dots() const { return first(dots_, dot_count_); }
  std::span<const ScalarStep> steps() const { return first(steps_, step_count_); }

 private:
  template <class T, std::size_t N>
  static T& next(std::array<T, N>& list, int& count) {
    if (count == static_cast<int>(N)) throw InvalidArgument("too much for one pass over vectors");
    return list[static_cast<std::size_t>(count++)] = T{};
  }
  template <class T, std::size_t N>
  static std::span<const T> first(const std::array<T, N>& list, int count) {
    return {list.data(), static_cast<std::size_t>(count)};
  }

  std::array<Assignment<V>, kMostAssignments> assignments_ = {};
  std::array<DotTask<V>, kMostDots> dots_ = {};
  std::array<ScalarStep, kMostSteps> steps_ = {};
  int assignment_count_ = 0;
  int dot_count_ = 0;
  int step_count_ = 0;
};

}  // namespace strata::solvers
