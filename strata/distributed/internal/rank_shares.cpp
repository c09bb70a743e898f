#include "strata/distributed/internal/rank_shares.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "strata/base/error.hpp"

namespace strata::distributed::detail {

namespace {

RankGrid grid_of(const DistributedOptions& options, int ranks) {
  if (options.grid_rows != 0 && options.layout != Layout::grid) {
    throw InvalidArgument("rows of ranks were given, but the layout is no grid");
  }
  switch (options.layout) {
    case Layout::rows: return {ranks, 1};
    case Layout::columns: return {1, ranks};
    case Layout::grid: break;
  }
  int rows = options.grid_rows;
  if (rows == 0) {
    rows = static_cast<int>(std::sqrt(static_cast<double>(ranks)));
    while (ranks % rows != 0) --rows;
  }
  if (rows < 1 || ranks % rows != 0) {
    throw InvalidArgument(fmt::format("{} ranks do not make a grid of {} rows", ranks, rows));
  }
  return {rows, ranks / rows};
}

std::string text_of(const DistributedOptions& options) {
  const ProductOptions& product = options.product;
  return fmt::format("layout {}, {} rows of ranks, {} vectors", name_of(options.layout),
                     options.grid_rows, product.vectors);
}

void require_local(const ProductOptions& options) {
  if (options.transposed) {
    throw InvalidArgument("distributed products with the transpose are those of its own matrix");
  }
  if (options.vector_order != VectorOrder::caller) {
    throw InvalidArgument("vectors of distributed products are in the caller's order");
  }
}

}  // namespace

RankGrid agreed_grid(const Communicator& ranks, const DistributedOptions& options,
                     const std::function<void()>& require_matrix) {
  ranks.require_same("the options of a distributed product", text_of(options));
  RankGrid grid;
  ranks.together([&] {
    grid = grid_of(options, ranks.size());
    require_local(options.product);
    require_matrix();
  });
  return grid;
}

Offset partners_of(const Halo& expand, const Halo& fold) {
  std::vector<int> partners;
  for (const auto& target : expand.targets()) partners.push_back(target.rank);
  for (const auto& source : fold.sources()) partners.push_back(source.rank);
  std::ranges::sort(partners);
  return std::unique(partners.begin(), partners.end()) - partners.begin();
}

std::string product_text(const Communicator& ranks, const DistributedOptions& options,
                         const RankGrid& grid, const std::vector<RankShare>& shares,
                         const std::string& with) {
  Offset rows = 0, entries = 0, interior = 0, cut = 0, messages = 0, bytes = 0;
  Offset most_messages = 0, most_bytes = 0;
  for (const RankShare& share : shares) {
    rows += share.rows;
    entries += share.entries;
    interior += share.interior_rows;
    cut += share.cut_entries;
    messages += share.messages;
    bytes += share.bytes;
    most_messages = std::max(most_messages, share.messages);
    most_bytes = std::max(most_bytes, share.bytes);
  }
  const auto percent = [](Offset part_of, Offset whole) {
    return whole == 0 ? 0 : 100 * static_cast<double>(part_of) / static_cast<double>(whole);
  };
  return fmt::format(
      "{} ranks with {}, {} ({} x {}): {} rows, {} entries; the fullest rank has {:.2f} times the "
      "mean of the entries.\n"
      "{:.2f} % of the entries are in columns of other ranks (the edge cut); {:.1f} % of the rows "
      "need nothing of others and are computed while messages are under way.\n"
      "A product sends {} messages with {} bytes in all, no rank more than {} and {}.\n",
      ranks.size(), with, name_of(options.layout), grid.rows, grid.cols, rows, entries,
      imbalance(shares, &RankShare::entries), percent(cut, entries), percent(interior, rows),
      messages, bytes, most_messages, most_bytes);
}

}  // namespace strata::distributed::detail
