#include "strata/solvers/processor_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "strata/base/checked.hpp"
#include "strata/base/internal/plain_product.hpp"
#include "strata/base/parallel.hpp"
#include "strata/solvers/internal/block_kernels.hpp"
#include "strata/solvers/timed_operator.hpp"

namespace strata::solvers {

using detail::Columns;
using detail::dot_of;

namespace {

// So many elements of a few vectors stay in the first-level cache from one assignment to the next.
constexpr Offset kBlock = 1024;
// And so many of a wide block of vectors.
constexpr Offset kFewRows = 256;

template <Value V>
bool is_positive(const V& value) {
  if constexpr (is_complex<V>) {
    return value.real() > 0;
  } else {
    return value > 0;
  }
}

// A term with its coefficient known.
template <Value V>
struct Summand {
  const V* vector;
  const V* weights;
  V coefficient;

  template <bool kWeighted>
  V at(Offset i) const {
    const V value = strata::detail::plain_product(coefficient, vector[i]);
    if constexpr (!kWeighted) return value;
    return weights == nullptr ? value : strata::detail::plain_product(value, weights[i]);
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
#ifndef __clang__  // which finds out by itself, and complains where it is told not to optimise
#pragma omp simd
#endif
    for (Offset i = begin; i < end; ++i) {
      V value = of[0].template at<kWeighted>(i);
      for (std::size_t k = 1; k < kTerms; ++k) value += of[k].template at<kWeighted>(i);
      into[i] = value;
    }
  }
};

// The rows of a block of `rows` rows from the first on.
template <class V, class View>
Columns<V> columns_of(const Block<View>& block, Offset rows, Offset first) {
  if (block.columns == 0) return {nullptr, 0, 1, 0};
  if (block.interleaved) {
    return {block.data.data() + first * block.columns, block.columns, block.columns, 1};
  }
  return {block.data.data() + first, block.columns, 1, rows};
}

}  // namespace

template <Value V>
ProcessorSpace<V>::ProcessorSpace(Offset rows, int threads) : rows_(rows), threads_(threads) {
  if (rows < 0) throw InvalidArgument("vectors of negative length");
}

template <Value V>
ProcessorSpace<V>::ProcessorSpace(Offset rows, int threads, WholeVectors<V> whole)
    : ProcessorSpace(rows, threads) {
  whole_ = std::move(whole);
  if (whole_.sum && whole_.rows < rows) throw InvalidArgument("a part longer than its whole");
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

// Of the whole vectors.
template <Value V>
const std::vector<V>& ProcessorSpace<V>::totals(std::size_t count) {
  totals_.resize(count);
  for (std::size_t k = 0; k < count; ++k) totals_[k] = total(k, count);
  if (whole_.sum && count > 0) whole_.sum(totals_);
  return totals_;
}

template <Value V>
void ProcessorSpace<V>::run(const VectorProgram<V>& program) {
  const ClockedScope clock(program.assignments().empty() ? times_.reductions : times_.updates);
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
  const std::vector<V>& sums_of_all = totals(dots.size());
  for (std::size_t k = 0; k < dots.size(); ++k) at(dots[k].target) = sums_of_all[k];
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
void ProcessorSpace<V>::check(Scalar first, Offset count) const {
  if (count <= 0) return;
  check(first);
  if (count > static_cast<Offset>(scalars_.size()) - first.index) {
    throw InvalidArgument(fmt::format("scalars {} to {} of a space that has {}", first.index,
                                      first.index + count - 1, scalars_.size()));
  }
}

template <Value V>
void ProcessorSpace<V>::write(Scalar first, std::span<const V> values) {
  check(first, std::ssize(values));
  std::copy(values.begin(), values.end(), scalars_.begin() + first.index);
}

template <Value V>
void ProcessorSpace<V>::read(Scalar first, std::span<V> values) const {
  check(first, std::ssize(values));
  std::copy_n(scalars_.begin() + first.index, values.size(), values.begin());
}

template <Value V>
void ProcessorSpace<V>::check(ConstBlock block) const {
  if (block.columns < 0 ||
      std::ssize(block.data) < checked_multiply(rows_, block.columns, "a block of vectors")) {
    throw InvalidArgument("a block of fewer columns than it should have");
  }
}

template <Value V>
void ProcessorSpace<V>::gram(ConstBlock a, ConstBlock b, Scalar first) {
  const ClockedScope clock(times_.blocks);
  check(a);
  check(b);
  const Offset count = Offset{a.columns} * b.columns;
  check(first, count);
  const auto products = static_cast<std::size_t>(count);
  reserve_sums(products);
  for_each_block([&](Offset part, Offset begin, Offset end) {
    detail::gram_of<V>(columns_of<const V>(a, rows_, begin), columns_of<const V>(b, rows_, begin),
                       end - begin,
                       partial_sums_.data() + static_cast<std::size_t>(part) * products);
  });
  write(first, totals(products));
}

template <Value V>
void ProcessorSpace<V>::add_product(V factor, ConstBlock a, Scalar first, Block target) {
  const ClockedScope clock(times_.blocks);
  check(a);
  check(target);
  const Offset count = Offset{a.columns} * target.columns;
  check(first, count);
  std::vector<V> coefficients(static_cast<std::size_t>(count));
  read(first, coefficients);
  for (V& coefficient : coefficients) coefficient *= factor;
  const detail::NarrowProduct<V> product(coefficients, a.columns, target.columns);
  for_each_block([&](Offset, Offset begin, Offset end) {
    for (Offset start = begin; start < end; start += kFewRows) {
      product.add(columns_of<const V>(a, rows_, start), columns_of<V>(target, rows_, start),
                  std::min(kFewRows, end - start));
    }
  });
}

template <Value V>
void ProcessorSpace<V>::transform(Block block, Scalar first, int from) {
  const ClockedScope clock(times_.blocks);
  check(block);
  if (from < 0 || from > block.columns) {
    throw InvalidArgument(fmt::format("column {} of a block that has {}", from, block.columns));
  }
  const int changed = block.columns - from;
  std::vector<V> coefficients(static_cast<std::size_t>(block.columns) *
                              static_cast<std::size_t>(changed));
  check(first, std::ssize(coefficients));
  read(first, coefficients);
  const detail::NarrowProduct<V> product(coefficients, block.columns, changed);
  for_each_block([&](Offset, Offset begin, Offset end) {
    thread_local std::vector<V> results;
    results.resize(static_cast<std::size_t>(kFewRows * changed));
    for (Offset start = begin; start < end; start += kFewRows) {
      const Offset rows = std::min(kFewRows, end - start);
      const Columns<V> columns = columns_of<V>(block, rows_, start);
      const Columns<V> fresh{results.data(), changed, 1, kFewRows};
      std::fill(results.begin(), results.end(), V(0));
      product.add({columns.data, columns.count, columns.row_stride, columns.column_stride}, fresh,
                  rows);
      for (int j = 0; j < changed; ++j) {
        for (Offset i = 0; i < rows; ++i) columns.at(i, from + j) = fresh.at(i, j);
      }
    }
  });
}

template class ProcessorSpace<float>;
template class ProcessorSpace<double>;
template class ProcessorSpace<std::complex<float>>;
template class ProcessorSpace<std::complex<double>>;

}  // namespace strata::solvers
