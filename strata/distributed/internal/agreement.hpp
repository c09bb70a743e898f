// What all ranks do together besides computing: stop where one wants to, and look at a matrix.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <exception>
#include <string_view>
#include <utility>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/distributed/communicator.hpp"
#include "strata/distributed/matrix.hpp"
#include "strata/solvers/hermitian.hpp"

namespace strata::distributed::detail {

// Progress of methods that have few steps: a reduction after each, so that all go on or none.
class AgreedProgress {
 public:
  explicit AgreedProgress(const Communicator& ranks) : ranks_(ranks) {}

  // Collective. Whether no rank wants to stop; `ask` is this rank's.
  template <class Ask>
  bool goes_on(const Ask& ask) {
    bool mine = !thrown_;
    try {
      if (mine) mine = ask();
    } catch (...) {
      thrown_ = std::current_exception();
      mine = false;
    }
    return ranks_.max(mine ? 0.0 : 1.0) == 0;
  }
  // Collective. What one rank has thrown all throw.
  void finish() {
    const std::exception_ptr thrown = std::exchange(thrown_, nullptr);
    ranks_.together([&] {
      if (thrown) std::rethrow_exception(thrown);
    });
  }

 private:
  const Communicator& ranks_;
  std::exception_ptr thrown_;
};

// All collective, and all ranks throw.
template <Value V, Index I>
void require_square(const DistributedMatrix<V, I>& matrix, std::string_view method) {
  if (matrix.square()) return;
  throw InvalidArgument(
      fmt::format("{} needs a square matrix, with the same ranks for rows and columns", method));
}
template <Value V, Index I>
void require_finite(const Communicator& ranks, const DistributedMatrix<V, I>& matrix,
                    std::string_view method) {
  ranks.together(
      [&] { solvers::require_finite(matrix.local, method, matrix.rows.begin(ranks.rank())); });
}

// The rows of this rank of Aᵀ.
template <Value V, Index I>
DistributedMatrix<V, I> transposed(const Communicator& ranks,
                                   const DistributedMatrix<V, I>& matrix) {
  std::vector<Entry<V, I>> entries;
  ranks.together([&] {
    const Offset first = matrix.rows.begin(ranks.rank());
    for (I row = 0; row < matrix.local.rows(); ++row) {
      for (auto k = matrix.local.row_offsets()[row]; k < matrix.local.row_offsets()[row + 1]; ++k) {
        entries.push_back({.row = matrix.local.columns()[k],
                           .column = static_cast<I>(first + row),
                           .value = matrix.local.values()[k]});
      }
    }
  });
  return assemble(ranks, matrix.rows, matrix.rows, std::move(entries));
}

template <Value V, Index I>
bool is_hermitian(const Communicator& ranks, const DistributedMatrix<V, I>& matrix,
                  const DistributedMatrix<V, I>& mirror) {
  double largest = 0;
  for (const V& value : matrix.local.values()) {
    largest = std::max(largest, static_cast<double>(std::abs(value)));
  }
  largest = ranks.max(largest);
  const bool here = solvers::rows_are_hermitian(matrix.local, mirror.local, largest);
  return ranks.max(here ? 0.0 : 1.0) == 0;
}

template <Value V>
[[noreturn]] void throw_not_hermitian(std::string_view method) {
  throw InvalidArgument(fmt::format("{} needs a {} matrix, and this one is not", method,
                                    is_complex<V> ? "Hermitian" : "symmetric"));
}

template <Value V, Index I>
void require_hermitian(const Communicator& ranks, const DistributedMatrix<V, I>& matrix,
                       std::string_view method) {
  require_square(matrix, method);
  require_finite(ranks, matrix, method);
  if (!is_hermitian(ranks, matrix, transposed(ranks, matrix))) throw_not_hermitian<V>(method);
}

}  // namespace strata::distributed::detail
