// ProcessorSpace: vectors in the memory of a processor, with the scalars of a method.
//
//   ProcessorSpace<double> space(matrix.rows());
//   auto r = space.make_vector();
//   const Scalar rho = space.make_scalars(1);
//   space.run(program);
//   const double known = space.read(rho);
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/solvers/block.hpp"
#include "strata/solvers/vector_program.hpp"

namespace strata::solvers {

// Seconds that a space has spent, by what it did.
struct SpaceTimes {
  double blocks = 0;      // gram, add_product, transform
  double reductions = 0;  // programs that assign nothing
  double updates = 0;
};

// Vectors of which other processes have the other parts.
template <Value V>
struct WholeVectors {
  Offset rows = 0;  // in all parts together
  // Adds up over all processes, element by element and in place; each gets the same sums. Called
  // once for all dot products of a program, after its pass and before its steps on scalars, and
  // once for all numbers of a gram; by all processes as often and in the same order.
  std::function<void(std::span<V>)> sum = {};
};

// Dot products have the same bits for any number of threads: elements are added up in blocks of a
// fixed length, and blocks in their order.
template <Value V>
class ProcessorSpace {
 public:
  using Value = V;
  using Vector = Array<V>;
  using View = std::span<V>;
  using ConstView = std::span<const V>;
  using Block = solvers::Block<View>;
  using ConstBlock = solvers::Block<ConstView>;

  // `rows` elements in every vector; at most `threads` threads, 0 for as many as there are.
  explicit ProcessorSpace(Offset rows, int threads = 0);
  // Vectors are the `rows` elements that this process has of whole ones: dot products are those of
  // the whole vectors, and scalars the same in all processes.
  ProcessorSpace(Offset rows, int threads, WholeVectors<V> whole);

  Offset rows() const { return rows_; }
  // The dimension of the space: no more vectors are independent.
  Offset dimension() const { return whole_.sum ? whole_.rows : rows_; }
  const SpaceTimes& times() const { return times_; }
  Vector make_vector() const { return make_block(1); }
  // So many vectors one after the other, of zeros; each page touched by the thread that will use
  // it.
  Vector make_block(int count) const;
  Scalar make_scalars(int count);  // the first of so many more, all zero

  // Throws InvalidArgument for scalars that the space does not have.
  void run(const VectorProgram<V>& program);

  // Scalar first + i + j·a.columns = (a_i, b_j), for all columns of both.
  void gram(ConstBlock a, ConstBlock b, Scalar first);
  // target = target + factor · AC, where element (i, j) of C is the scalar first + i + j·a.columns;
  // the blocks share nothing.
  void add_product(V factor, ConstBlock a, Scalar first, Block target);
  // Columns `from` and following of a block B become those of BC, in place; C has a row for every
  // column of B and a column for each of those, one after another from `first` on.
  void transform(Block block, Scalar first, int from = 0);

  void write(Scalar first, std::span<const V> values);
  void write(Scalar target, V value) { write(target, {&value, 1}); }
  // So many scalars as there are values, from the first on. Waits for what computes them.
  void read(Scalar first, std::span<V> values) const;
  V read(Scalar source) const {
    V value;
    read(source, {&value, 1});
    return value;
  }

  // Spaces on devices read scalars an iteration later, and record what is done again and again;
  // here scalars are there at once.
  static constexpr int kLag = 0;
  struct Routine {};
  template <class Work>
  void run(Routine&, const Work& work) {
    work();
  }

 private:
  void check(Scalar scalar) const;
  void check(Scalar first, Offset count) const;
  void check(ConstBlock block) const;
  Offset block_count() const;
  template <class Body>
  void for_each_block(const Body& body);
  void reserve_sums(std::size_t count);
  V total(std::size_t k, std::size_t count) const;
  const std::vector<V>& totals(std::size_t count);
  void run_steps(std::span<const ScalarStep> steps);
  V& at(Scalar scalar) { return scalars_[static_cast<std::size_t>(scalar.index)]; }
  const V& at(Scalar scalar) const { return scalars_[static_cast<std::size_t>(scalar.index)]; }

  Offset rows_ = 0;
  int threads_ = 0;
  std::vector<V> scalars_;
  std::vector<V> partial_sums_;
  std::vector<V> totals_;
  WholeVectors<V> whole_;
  SpaceTimes times_;
};

}  // namespace strata::solvers
