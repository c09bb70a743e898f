// What products on processors and GPUs say about ranks, and ask of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "strata/distributed/communicator.hpp"
#include "strata/distributed/halo.hpp"
#include "strata/distributed/internal/rank_part.hpp"
#include "strata/distributed/product.hpp"

namespace strata::distributed::detail {

// Collective. Throws InvalidArgument for options that make no sense or differ, and for matrices
// that ranks do not have as their partitions say.
RankGrid agreed_grid(const Communicator& ranks, const DistributedOptions& options,
                     const std::function<void()>& require_matrix);
template <Value V, Index I>
RankGrid agreed_grid(const Communicator& ranks, const DistributedMatrix<V, I>& matrix,
                     const DistributedOptions& options) {
  return agreed_grid(ranks, options, [&] { require_shape(ranks, matrix); });
}

// Ranks that a rank sends to.
Offset partners_of(const Halo& expand, const Halo& fold);

template <Value V>
RankShare share_of(Offset rows, const RankPart<V>& part, const Halo& expand, const Halo& fold,
                   int vectors, Offset messages) {
  return {.rows = rows,
          .entries = part.entries(),
          .interior_rows = part.interior_rows,
          .cut_entries = part.cut_entries,
          .ghosts = std::ssize(part.ghosts),
          .partners = partners_of(expand, fold),
          .messages = messages,
          .bytes = static_cast<Offset>(sizeof(V)) * vectors *
                   (expand.sent_elements() + std::ssize(fold.wanted()))};
}

// Who computes: "2 threads each".
std::string product_text(const Communicator& ranks, const DistributedOptions& options,
                         const RankGrid& grid, const std::vector<RankShare>& shares,
                         const std::string& with);

}  // namespace strata::distributed::detail
