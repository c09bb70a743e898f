// Moments of the spectrum by sweeps of powers: what density_of_states.hpp computes, in any space.
//
// A sweep gives w_k = T_k t_{jp}, k = 1 … p, of several interleaved vectors at once, from which
// t_{jp+k} = 2 w_k − t_{jp−k} is made in the pass that computes the inner products.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/solvers/powers.hpp"
#include "strata/solvers/vector_program.hpp"

namespace strata::solvers {

// Σ (v, T_n v), n = 0 … count − 1, over the interleaved vectors that are a vector of the space. The
// powers, an even number of them, are of Chebyshev's basis already; `start` is overwritten. Calls
// `progress` with the fraction that is done; false ends it with the moments there are.
template <class Space>
std::vector<double> chebyshev_moments(Space& space, Powers<Space>& powers,
                                      typename Space::View start, int count,
                                      const std::function<bool(double)>& progress = {}) {
  using V = typename Space::Value;
  using View = typename Space::View;
  const int p = powers.power();
  if (p < 2 || p % 2 != 0) throw InvalidArgument("moments need an even number of powers");
  const auto rows = static_cast<std::size_t>(space.rows());
  auto even = space.make_block(p), odd = space.make_block(p), spare = space.make_vector();
  View here = start, before(spare), now(even), previous(odd);
  const auto column = [&](View block, int k) {
    return block.subspan(static_cast<std::size_t>(k) * rows, rows);
  };
  // (t_k, t_{k−1}) and (t_k, t_k) for each k, and (v, v).
  const Scalar dots = space.make_scalars(2 * p + 1);
  std::vector<double> moments;
  for (int first = 0; static_cast<int>(moments.size()) < count; first += p) {
    powers.apply(here, now);
    for (int k = 1; k <= p; k += 2) {
      View t = column(now, k - 1), next = column(now, k);
      VectorProgram<V> program;
      if (first > 0) {
        program.set(t, {{t, V(2)}, {column(previous, p - k - 1), V(-1)}});
        program.set(next,
                    {{next, V(2)}, {k + 1 < p ? column(previous, p - k - 2) : before, V(-1)}});
      }
      if (k + 1 == p) program.set(before, {{next}});
      const View last = k == 1 ? here : column(now, k - 2);
      const Scalar into = dots + 2 * (k - 1);
      program.dot(t, last, into);
      program.dot(t, t, into + 1);
      program.dot(next, t, into + 2);
      program.dot(next, next, into + 3);
      if (first == 0 && k == 1) program.dot(last, last, dots + 2 * p);
      space.run(program);
    }
    std::vector<V> known(2 * static_cast<std::size_t>(p) + 1);
    space.read(dots, known);
    const auto real = [&](std::size_t k) { return static_cast<double>(std::real(known[k])); };
    if (first == 0) moments = {real(2 * static_cast<std::size_t>(p)), real(0)};
    for (std::size_t k = 0; k < 2 * static_cast<std::size_t>(p); ++k) {
      if (first == 0 && k == 0) continue;
      moments.push_back(2 * real(k) - moments[(k + 1) % 2]);
    }
    std::swap(here, before);
    std::swap(now, previous);
    if (progress && !progress(std::min(1.0, static_cast<double>(moments.size()) / count))) break;
  }
  moments.resize(std::min(moments.size(), static_cast<std::size_t>(count)));
  return moments;
}

}  // namespace strata::solvers
