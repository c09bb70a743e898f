#include "strata/distributed/product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/distributed/element_list.hpp"
#include "strata/distributed/halo.hpp"
#include "strata/distributed/internal/rank_part.hpp"
#include "strata/distributed/internal/rank_shares.hpp"
#include "strata/plans/product_plan.hpp"

namespace strata::distributed {

using detail::Local;
using detail::RankGrid;

std::string_view name_of(Layout layout) {
  switch (layout) {
    case Layout::rows: return "rows";
    case Layout::columns: return "columns";
    case Layout::grid: return "grid";
  }
  return "";
}

double imbalance(const std::vector<RankShare>& shares, Offset RankShare::* of) {
  double sum = 0, most = 0;
  for (const RankShare& share : shares) {
    sum += static_cast<double>(share.*of);
    most = std::max(most, static_cast<double>(share.*of));
  }
  return sum == 0 ? 1 : most * static_cast<double>(shares.size()) / sum;
}

template <Value V>
struct DistributedProduct<V>::State {
  const Communicator* ranks = nullptr;
  DistributedOptions options;
  RankGrid grid;
  detail::RankPart<V> part;  // without matrices, once there are plans
  Halo expand;               // elements of x
  Halo fold;                 // elements of y, backwards
  Offset rows = 0, x_rows = 0;
  Local interior_rows = 0;  // with gaps
  ElementList own_columns;  // of x, that the border reads
  ElementList own_rows;     // of y, that the border writes
  bool border_in_place = false;
  ProductPlan<V, Local> interior;
  ProductPlan<V, Local> border;
  std::vector<RankShare> shares;
  std::string text;

  bool has_interior() const { return interior_rows > 0; }
  bool has_border() const { return !part.border_rows.empty(); }

  void find_lists();
  void describe();
};

template <Value V>
struct DistributedProduct<V>::Workspace::State {
  State(const DistributedProduct<V>::State& product)
      : expand(*product.ranks, product.expand,
               {product.own_columns.size(), product.options.product.vectors}),
        fold(*product.ranks, product.fold,
             {product.border_in_place ? 0 : product.own_rows.size(),
              product.options.product.vectors},
             Exchange<V>::Way::backwards),
        of(&product) {
    if (product.has_interior()) interior = product.interior.make_workspace();
    if (product.has_border()) border = product.border.make_workspace();
  }

  Exchange<V> expand;
  Exchange<V> fold;
  typename ProductPlan<V, Local>::Workspace interior, border;
  const DistributedProduct<V>::State* of;
};

template <Value V>
template <Index I>
DistributedProduct<V>::DistributedProduct(const Communicator& ranks,
                                          const DistributedMatrix<V, I>& matrix,
                                          const DistributedOptions& options)
    : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.ranks = &ranks;
  state.options = options;
  state.grid = detail::agreed_grid(ranks, matrix, options);
  if (options.product.threads == 0) state.options.product.threads = ranks.threads_per_rank();
  state.part = detail::rank_part(ranks, matrix, state.grid);
  detail::RankPart<V>& part = state.part;
  state.expand = Halo(ranks, matrix.cols, part.ghosts);
  state.fold = Halo(ranks, matrix.rows, part.foreign_rows());
  state.rows = matrix.rows.size(ranks.rank());
  state.x_rows = matrix.cols.size(ranks.rank());
  state.interior_rows = part.interior.rows();
  state.find_lists();
  ranks.together([&] {
    if (state.has_interior()) state.interior = plan_product(part.interior, state.options.product);
    if (state.has_border()) state.border = plan_product(part.border, state.options.product);
  });
  const Workspace probe = make_workspace();
  state.shares = ranks.gather_all(
      detail::share_of<V>(state.rows, part, state.expand, state.fold, vectors(),
                          probe.state_->expand.sends() + probe.state_->fold.sends_back()));
  part.drop_matrices();
  state.describe();
}

// Rows of the border that follow one another, and that nobody else writes or adds to, are computed
// where they are wanted.
template <Value V>
void DistributedProduct<V>::State::find_lists() {
  own_columns = ElementList({part.own_columns.begin(), part.own_columns.end()});
  own_rows = ElementList({part.own_border_rows.begin(), part.own_border_rows.end()});
  if (grid.cols > 1 || !own_rows.is_one_run()) return;
  const Offset begin = own_rows.places().front(), end = begin + own_rows.size();
  border_in_place =
      end <= part.interior_begin || begin >= part.interior_begin + Offset{interior_rows};
}

template <Value V>
void DistributedProduct<V>::State::describe() {
  text = detail::product_text(*ranks, options, grid, shares,
                              fmt::format("{} threads each", options.product.threads));
  std::string first;
  if (has_interior()) {
    first = "\nRows of rank 0 that need nothing of others:\n" + interior.explain();
  }
  if (has_border()) first += "\nRows of rank 0 that do:\n" + border.explain();
  text += ranks->broadcast(first, 0);
}

template <Value V>
DistributedProduct<V>::~DistributedProduct() = default;
template <Value V>
DistributedProduct<V>::DistributedProduct(DistributedProduct&&) noexcept = default;
template <Value V>
DistributedProduct<V>& DistributedProduct<V>::operator=(DistributedProduct&&) noexcept = default;

template <Value V>
DistributedProduct<V>::Workspace::Workspace() = default;
template <Value V>
DistributedProduct<V>::Workspace::~Workspace() = default;
template <Value V>
DistributedProduct<V>::Workspace::Workspace(Workspace&&) noexcept = default;
template <Value V>
auto DistributedProduct<V>::Workspace::operator=(Workspace&&) noexcept -> Workspace& = default;

template <Value V>
Offset DistributedProduct<V>::rows() const {
  return state_->rows;
}
template <Value V>
Offset DistributedProduct<V>::x_rows() const {
  return state_->x_rows;
}
template <Value V>
int DistributedProduct<V>::vectors() const {
  return state_->options.product.vectors;
}
template <Value V>
int DistributedProduct<V>::threads() const {
  return state_->options.product.threads;
}
template <Value V>
const std::vector<RankShare>& DistributedProduct<V>::shares() const {
  return state_->shares;
}
template <Value V>
const std::string& DistributedProduct<V>::explain() const {
  return state_->text;
}

template <Value V>
auto DistributedProduct<V>::make_workspace() const -> Workspace {
  Workspace workspace;
  workspace.state_ = std::make_unique<typename Workspace::State>(*state_);
  return workspace;
}

template <Value V>
void DistributedProduct<V>::apply(std::span<const V> x, std::span<V> y,
                                  Workspace& workspace) const {
  apply(V(1), x, V(0), y, workspace);
}

template <Value V>
void DistributedProduct<V>::apply(V alpha, std::span<const V> x, V beta, std::span<V> y,
                                  Workspace& workspace) const {
  const State& state = *state_;
  const int vectors = this->vectors();
  if (std::ssize(x) != x_rows() * vectors || std::ssize(y) != rows() * vectors) {
    throw InvalidArgument(fmt::format("vectors of {} and {} elements for a rank with {} and {}",
                                      x.size(), y.size(), x_rows() * vectors, rows() * vectors));
  }
  if (!workspace.state_ || workspace.state_->of != &state) {
    throw InvalidArgument("the workspace is that of another product");
  }
  auto& work = *workspace.state_;
  const ThreadCountScope threads(this->threads());
  const auto part_of_y = [&](Offset begin, Offset rows) {
    return y.subspan(static_cast<std::size_t>(begin * vectors),
                     static_cast<std::size_t>(rows * vectors));
  };
  work.expand.start(x);
  const auto run_interior = [&] {
    if (!state.has_interior()) return;
    state.interior.apply(alpha, x, beta, part_of_y(state.part.interior_begin, state.interior_rows),
                         work.interior);
  };
  const auto run_border = [&] {
    if (!state.has_border()) return;
    state.own_columns.gather(x.data(), work.expand.own().data(), vectors);
    const std::span<V> sums =
        state.border_in_place ? part_of_y(state.own_rows.places().front(), state.own_rows.size())
                              : work.fold.elements();
    state.border.apply(alpha, work.expand.elements(), beta, sums, work.border);
    work.expand.release();
    work.fold.start_adding();
  };
  // The old y, before the interior, which may have gaps where the border is.
  const bool in_place = state.border_in_place;
  if (beta != V(0) && !in_place) {
    std::ranges::fill(work.fold.elements(), V(0));
    state.own_rows.gather(y.data(), work.fold.own().data(), vectors);
  }
  // Whoever waits for nobody serves the others first.
  const bool waits = !state.expand.sources().empty();
  if (waits) {
    run_interior();
    work.expand.finish();
    run_border();
  } else {
    run_border();
    run_interior();
    work.expand.finish();
  }
  if (!in_place) state.own_rows.scatter(work.fold.own().data(), y.data(), vectors);
  if (!state.has_border()) work.fold.start_adding();
  work.fold.finish_adding(y);
}

template <Value V>
template <Index I>
void DistributedProduct<V>::update_values(const DistributedMatrix<V, I>& matrix) {
  State& state = *state_;
  const Communicator& ranks = *state.ranks;
  ranks.together([&] { detail::require_shape(ranks, matrix); });
  detail::RankPart<V> part = detail::rank_part(ranks, matrix, state.grid);
  ranks.together([&] {
    if (part.ghosts != state.part.ghosts || part.border_rows != state.part.border_rows ||
        part.own_columns != state.part.own_columns || part.interior.rows() != state.interior_rows) {
      throw InvalidArgument("new values come with another pattern");
    }
  });
  // All or nothing on a rank; one rank that fails leaves the others with new values.
  ranks.together([&] {
    if (state.has_interior()) state.interior.update_values(part.interior);
    if (state.has_border()) state.border.update_values(part.border);
  });
}

#define STRATA_INSTANTIATE(V, I)                                                       \
  template DistributedProduct<V>::DistributedProduct(                                  \
      const Communicator&, const DistributedMatrix<V, I>&, const DistributedOptions&); \
  template void DistributedProduct<V>::update_values(const DistributedMatrix<V, I>&)
#define STRATA_INSTANTIATE_VALUE(V, I) template class DistributedProduct<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_VALUE, );
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::distributed
