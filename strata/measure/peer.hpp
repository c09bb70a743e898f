// Peer: a product of another library on the same matrix, to compare with, behind one interface for
// all libraries and devices.
#pragma once

#include <exception>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/format.hpp"
#include "strata/formats/format_spec.hpp"

namespace strata {

template <class T>
using HostSpan = std::span<T>;

// How a library's own conjugate gradients ended.
struct PeerSolution {
  int iterations = 0;
  bool converged = false;
};

// One way to multiply that a library has. Span is that of the memory it works on.
template <Value V, template <class> class Span = HostSpan>
struct Peer {
  std::string name;  // "Eigen 3.4.0", "cuSPARSE 12.6.3 CSR alg1"
  StoredFormat format = {Format::csr, 1};
  std::vector<NamedNumber> parameters = {};  // of the format, instead of those of `format`
  int threads = 1;                           // that it is set to use, on processors
  Offset bytes = 0;                          // of its matrix, without vectors
  double setup_seconds = 0;
  // y = αAx. None if the library refused the matrix, for which `refusal` is the reason.
  std::function<void(V alpha, Span<const V> x, Span<V> y)> multiply = {};
  // Ax = b by the library's conjugate gradients without a preconditioner, from x = 0 until the
  // residual that it follows is below tolerance · ‖b‖. None if it has none, or this product is not
  // the one that they should use.
  std::function<PeerSolution(Span<const V> b, Span<V> x, double tolerance, int most)>
      conjugate_gradients = {};
  std::exception_ptr refusal = {};
};

}  // namespace strata
