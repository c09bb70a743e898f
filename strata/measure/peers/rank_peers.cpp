#include "strata/measure/rank_peers.hpp"

#include "strata/base/instantiate.hpp"

namespace strata {

template <Value V, Index I>
std::vector<Peer<V>> make_rank_peers([[maybe_unused]] const RankRows<V, I>& part,
                                     [[maybe_unused]] MPI_Comm ranks) {
  std::vector<Peer<V>> peers;
#ifdef STRATA_HAS_PETSC
  peers.push_back(internal::make_petsc_rank_peer(part, ranks));
#endif
  return peers;
}

#define STRATA_INSTANTIATE(V, I) \
  template std::vector<Peer<V>> make_rank_peers(const RankRows<V, I>&, MPI_Comm)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
