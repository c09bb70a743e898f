// Products of other libraries on the same matrix, to compare with, behind one interface. They are
// in the library strata_peers (strata::peers), so that nobody else has to link them; those of GPU
// vendors are declared in gpu/peers.hpp.
#pragma once

#include <exception>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "strata/formats/csr.hpp"
#include "strata/formats/format.hpp"

namespace strata {

template <class T>
using HostSpan = std::span<T>;

// One way to multiply that a library has. Span is that of the memory it works on.
template <Value V, template <class> class Span = HostSpan>
struct Peer {
  std::string name;  // "Eigen 3.4.0", "cuSPARSE 12.6.3 CSR alg1"
  StoredFormat format = {Format::csr, 1};
  int threads = 1;   // that it was told to use, on processors
  Offset bytes = 0;  // of its matrix, without vectors
  double setup_seconds = 0;
  // y = αAx. None if the library refused the matrix, for which `refusal` is the reason.
  std::function<void(V alpha, Span<const V> x, Span<V> y)> multiply = {};
  std::exception_ptr refusal = {};
};

// The libraries for processors that this build has, each with its own copy of what it does not
// share with the matrix, which must outlive them. Those that cannot hold the matrix are left out.
template <Value V, Index I>
std::vector<Peer<V>> make_peers(const Csr<V, I>& matrix);

// The libraries of this build, for messages; empty if there are none.
std::vector<std::string> peer_names();

}  // namespace strata
