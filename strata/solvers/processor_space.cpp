#include "strata/solvers/processor_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "strata/base/checked.hpp"
#include "strata/base/parallel.hpp"

namespace strata::solvers {

namespace {

// So many elements of a few vectors stay in the first-level cache from one assignment to the next.
constexpr Offset kBlock = 1024;

template <Value V>
V conjugate(const V& value) {
  if constexpr (is_complex<V>) {
    return std::conj(value);
  } else {
    return value;
  }
}

template <Value V>
bool is_positive(const V& value) {
  if constexpr (is_complex<V>) {
    return value.real() > 0;
  } else {
    return value > 0;
  }
}

// Independent sums, so that additions overlap and become vector instructions; the same for any
// compiler that keeps the order of additions.
template <Value V>
V dot_of(const V* x, const V* y, Offset count) {
  constexpr Offset kLanes = 16;
  V sums[kLanes] = {};
  Offset i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (Offset lane = 0; lane < kLanes; ++lane) sums[lane] += conjugate(x[i + lane]) * y[i + lane];
  }
  for (; i < count; ++i) sums[i % kLanes] += conjugate(x[i]) * y[i];
  for (Offset half = kLanes / 2; half > 0; half /= 2) {
    for (Offset lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

// A term with its coefficient known.
template <Value V>
struct Summand {
  const V* vector;
  const V* weights;
  V coefficient;

  template <bool kWeighted>
  V at(Offset i) const {
    const V value = coefficient * vector[i];
    if constexpr (!kWeighted) return value;
    return weights == nullptr ? value : value * weights[i];
  }
};

template <Value V>
struct Sum {
  V* target;
  std::array<Summand<V>, Assignment<V>::kMostTerms> terms;
  int count;

  void run(Offset begin, Offset end) const {
    const bool weighted = std::any_of(terms.begin(), terms.begin() + count,
                                      [](const auto& term) { return term.weights != nullptr; });
    weighted ? run<true>(begin, end) : run<false>(begin, end);
  }

 private:
  template <bool kWeighted>
  void run(Offset begin, Offset end) const {
    switch (count) {
      case 0: std::fill(target + begin, target + end, V(0)); return;
      case 1: return run_terms<1, kWeighted>(begin, end);
      case 2: return run_terms<2, kWeighted>(begin, end);
      case 3: return run_terms<3, kWeighted>(begin, end);
      default: return run_terms<4, kWeighted>(begin, end);
    }
  }

  // Every element depends on those of its own index alone, whatever vectors are the same; of that
  // compilers can be told, and use vector instructions.
  template <std::size_t kTerms, bool kWeighted>
  void run_terms(Offset begin, Offset end) const {
    const auto of = terms;
    V* const into = target;
#pragma omp simd
    for (Offset i = begin; i < end; ++i) {
      V value = of[0].template at<kWeighted>(i);
      for (std::size_t k = 1; k < kTerms; ++k) value += of[k].template at<kWeighted>(i);
      into[i] = value;
    }
  }
};

}  // namespace

template <Value V>
ProcessorSpace<V>::ProcessorSpace(Offset rows, int threads) : rows_(rows), threads_(threads) {
  if (rows < 0) throw InvalidArgument("vectors of negative length");
}

template <Value V>
auto ProcessorSpace<V>::make_block(int count) const -> Vector {
  const Offset elements = checked_multiply(rows_, std::max(count, 0), "a block of vectors");
  const ThreadCountScope scope(threads_);
  Vector block(static_cast<std::size_t>(elements));
  parallel_chunks(rows_, [&](Offset begin, Offset end) {
    for (int k = 0; k < count; ++k) {
      std::fill(block.data() + k * rows_ + begin, block.data() + k * rows_ + end, V(0));
    }
  });
  return block;
}

template <Value V>
Scalar ProcessorSpace<V>::make_scalars(int count) {
  const Scalar first{static_cast<int>(scalars_.size())};
  scalars_.resize(scalars_.size() + static_cast<std::size_t>(std::max(count, 0)));
  return first;
}

template <Value V>
void ProcessorSpace<V>::check(Scalar scalar) const {
  if (scalar.index < 0 || scalar.index >= static_cast<int>(scalars_.size())) {
    throw InvalidArgument(
        fmt::format("scalar {} of a space that has {}", scalar.index, scalars_.size()));
  }
}

// Blocks of rows on threads, so that what a thread touches stays in its cache.
template <Value V>
template <class Body>
void ProcessorSpace<V>::for_each_block(const Body& body) {
  const ThreadCountScope scope(threads_);
  const Offset blocks = block_count();
  run_on_threads(rows_ < kSerialBelow ? 1 : thread_count(), [&](int thread, int team) {
    const Chunk mine = chunk_of(blocks, thread, team);
    for (Offset block = mine.begin; block < mine.end; ++block) {
      body(block, block * kBlock, std::min((block + 1) * kBlock, rows_));
    }
  });
}

template <Value V>
Offset ProcessorSpace<V>::block_count() const {
  return (rows_ + kBlock - 1) / kBlock;
}

template <Value V>
void ProcessorSpace<V>::reserve_sums(std::size_t count) {
  partial_sums_.resize(static_cast<std::size_t>(
      checked_multiply(block_count(), static_cast<Offset>(count), "dot products")));
}

// In the order of the blocks, whoever computed them.
template <Value V>
V ProcessorSpace<V>::total(std::size_t k, std::size_t count) const {
  V sum = V(0);
  for (std::size_t block = 0; block < static_cast<std::size_t>(block_count()); ++block) {
    sum += partial_sums_[block * count + k];
  }
  return sum;
}

template <Value V>
void ProcessorSpace<V>::run(const VectorProgram<V>& program) {
  std::vector<Sum<V>> sums;
  for (const Assignment<V>& assignment : program.assignments()) {
    Sum<V>& sum = sums.emplace_back(Sum<V>{assignment.target, {}, assignment.count});
    for (int k = 0; k < assignment.count; ++k) {
      const Term<V>& term = assignment.terms[static_cast<std::size_t>(k)];
      V coefficient = term.factor;
      if (term.scalar.exists()) {
        check(term.scalar);
        coefficient *= at(term.scalar);
      }
      sum.terms[static_cast<std::size_t>(k)] = {term.vector, term.weights, coefficient};
    }
  }
  const auto dots = program.dots();
  for (const DotTask<V>& dot : dots) check(dot.target);
  reserve_sums(dots.size());
  for_each_block([&](Offset block, Offset begin, Offset end) {
    for (const Sum<V>& sum : sums) sum.run(begin, end);
    for (std::size_t k = 0; k < dots.size(); ++k) {
      partial_sums_[static_cast<std::size_t>(block) * dots.size() + k] =
          dot_of(dots[k].x + begin, dots[k].y + begin, end - begin);
    }
  });
  for (std::size_t k = 0; k < dots.size(); ++k) at(dots[k].target) = total(k, dots.size());
  run_steps(program.steps());
}

template <Value V>
void ProcessorSpace<V>::run_steps(std::span<const ScalarStep> steps) {
  for (const ScalarStep& step : steps) {
    check(step.target);
    check(step.left);
    const bool one_sided =
        step.operation == Operation::copy || step.operation == Operation::square_root;
    if (!one_sided) check(step.right);
    const V left = at(step.left);
    const V right = one_sided ? V(0) : at(step.right);
    switch (step.operation) {
      case Operation::add: at(step.target) = left + right; break;
      case Operation::subtract: at(step.target) = left - right; break;
      case Operation::multiply: at(step.target) = left * right; break;
      case Operation::divide: at(step.target) = left / right; break;
      case Operation::divide_positive:
        at(step.target) = is_positive(right) ? left / right : V(0);
        break;
      case Operation::divide_nonzero: at(step.target) = right != V(0) ? left / right : V(0); break;
      case Operation::copy: at(step.target) = left; break;
      case Operation::square_root: at(step.target) = std::sqrt(left); break;
    }
  }
}

template <Value V>
void ProcessorSpace<V>::write(Scalar target, V value) {
  check(target);
  at(target) = value;
}

template <Value V>
void ProcessorSpace<V>::read(Scalar first, std::span<V> values) const {
  if (values.empty()) return;
  check(first);
  check({first.index + static_cast<int>(values.size()) - 1});
  std::copy_n(&at(first), values.size(), values.begin());
}

template <Value V>
void ProcessorSpace<V>::check_block(ConstView block, int count, Scalar first) const {
  if (count < 0 || static_cast<Offset>(block.size()) < checked_multiply(rows_, count, "a block")) {
    throw InvalidArgument("a block of fewer columns than it should have");
  }
  if (count == 0) return;
  check(first);
  check({first.index + count - 1});
}

template <Value V>
void ProcessorSpace<V>::block_dots(ConstView block, int count, ConstView w, Scalar first) {
  check_block(block, count, first);
  const auto columns = static_cast<std::size_t>(count);
  reserve_sums(columns);
  for_each_block([&](Offset part, Offset begin, Offset end) {
    for (std::size_t k = 0; k < columns; ++k) {
      partial_sums_[static_cast<std::size_t>(part) * columns + k] = dot_of(
          block.data() + static_cast<Offset>(k) * rows_ + begin, w.data() + begin, end - begin);
    }
  });
  for (int k = 0; k < count; ++k) {
    at({first.index + k}) = total(static_cast<std::size_t>(k), columns);
  }
}

template <Value V>
void ProcessorSpace<V>::add_block(V factor, ConstView block, int count, Scalar first, View w) {
  check_block(block, count, first);
  for_each_block([&](Offset, Offset begin, Offset end) {
    for (int k = 0; k < count; ++k) {
      const V coefficient = factor * at({first.index + k});
      const V* const column = block.data() + k * rows_;
      for (Offset i = begin; i < end; ++i)
        w[static_cast<std::size_t>(i)] += coefficient * column[i];
    }
  });
}

template class ProcessorSpace<float>;
template class ProcessorSpace<double>;
template class ProcessorSpace<std::complex<float>>;
template class ProcessorSpace<std::complex<double>>;

}  // namespace strata::solvers
