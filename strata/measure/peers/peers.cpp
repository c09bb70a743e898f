#include "strata/measure/peers.hpp"

#include "strata/base/instantiate.hpp"
#include "strata/measure/internal/peers.hpp"

namespace strata {

template <Value V, Index I>
std::vector<Peer<V>> make_peers([[maybe_unused]] const Csr<V, I>& matrix) {
  std::vector<Peer<V>> peers;
#ifdef STRATA_HAS_EIGEN
  if (auto peer = internal::make_eigen_peer(matrix)) peers.push_back(*std::move(peer));
#endif
#ifdef STRATA_HAS_LIBRSB
  if (auto peer = internal::make_librsb_peer(matrix)) peers.push_back(*std::move(peer));
#endif
#ifdef STRATA_HAS_PETSC
  for (Peer<V>& peer : internal::make_petsc_peers(matrix)) peers.push_back(std::move(peer));
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
#ifdef STRATA_HAS_PETSC
  names.emplace_back("PETSc");
#endif
  return names;
}

#define STRATA_INSTANTIATE(V, I) template std::vector<Peer<V>> make_peers(const Csr<V, I>&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
