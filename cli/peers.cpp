#include "cli/peers.hpp"

#include "strata/base/instantiate.hpp"

namespace strata::cli {

template <Value V, Index I>
std::vector<Peer> make_peers([[maybe_unused]] const Csr<V, I>& matrix,
                             [[maybe_unused]] std::span<const V> x,
                             [[maybe_unused]] std::span<V> y) {
  std::vector<Peer> peers;
#ifdef STRATA_HAS_EIGEN
  if (auto peer = make_eigen_peer(matrix, x, y)) peers.push_back(*std::move(peer));
#endif
#ifdef STRATA_HAS_LIBRSB
  if (auto peer = make_librsb_peer(matrix, x, y)) peers.push_back(*std::move(peer));
#endif
  return peers;
}

std::vector<std::string> peer_names() {
  std::vector<std::string> names;
#ifdef STRATA_HAS_EIGEN
  names.emplace_back("Eigen");
#endif
#ifdef STRATA_HAS_LIBRSB
  names.emplace_back("librsb");
#endif
  return names;
}

#define STRATA_INSTANTIATE(V, I) \
  template std::vector<Peer> make_peers(const Csr<V, I>&, std::span<const V>, std::span<V>)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::cli
