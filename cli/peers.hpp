// Products of other libraries on the same matrix and the same vectors, to compare with.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "strata/formats/csr.hpp"

namespace strata::cli {

struct Peer {
  std::string name;  // "Eigen 3.4.0"
  int threads = 1;   // that it was told to use
  Offset bytes = 0;  // of its matrix, without vectors
  double setup_seconds = 0;
  std::function<void()> multiply;  // y = Ax
};

// Those that this build has, each with its own copy of what it does not share with the matrix.
// The matrix and the vectors must outlive them.
template <Value V, Index I>
std::vector<Peer> make_peers(const Csr<V, I>& matrix, std::span<const V> x, std::span<V> y);

// One library each; none where the matrix does not fit its index type.
template <Value V, Index I>
std::optional<Peer> make_eigen_peer(const Csr<V, I>& matrix, std::span<const V> x, std::span<V> y);
template <Value V, Index I>
std::optional<Peer> make_librsb_peer(const Csr<V, I>& matrix, std::span<const V> x, std::span<V> y);

// The libraries of this build, for messages; empty if there are none.
std::vector<std::string> peer_names();

}  // namespace strata::cli
