#include "strata/distributed/gpu/product.hpp"

#include <fmt/format.h>
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <optional>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/device/event.hpp"
#include "strata/distributed/halo.hpp"
#include "strata/distributed/internal/rank_part.hpp"
#include "strata/distributed/internal/rank_shares.hpp"
#include "strata/kernels/gpu/vector_operations.hpp"
#include "strata/plans/gpu/product_plan.hpp"

namespace strata::distributed::gpu {

using detail::Local;
using detail::RankGrid;
using strata::gpu::DeviceArray;
using strata::gpu::Event;
using strata::gpu::PinnedArray;
using strata::gpu::ProductPlan;

bool mpi_takes_device_memory() {
#if defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
  if (MPIX_Query_cuda_support() == 1) return true;
#endif
#if defined(MPIX_ROCM_AWARE_SUPPORT) && MPIX_ROCM_AWARE_SUPPORT
  if (MPIX_Query_rocm_support() == 1) return true;
#endif
  return false;
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
  bool staged = true;
  ProductPlan<V> interior, border;
  // Numbers of lines, on the device.
  DeviceArray<std::int32_t> wanted;       // of x, by others
  DeviceArray<std::int32_t> own_columns;  // of x, by the border
  DeviceArray<std::int32_t> own_rows;     // of y, of the border
  DeviceArray<std::int32_t> added_rows;   // of y, that others add to
  std::vector<RankShare> shares;
  std::string text;

  int vectors() const { return options.product.vectors; }
  bool has_interior() const { return interior_rows > 0; }
  bool has_border() const { return !part.border_rows.empty(); }
};

namespace {

DeviceArray<std::int32_t> upload(std::span<const Local> numbers, Stream& stream) {
  return strata::gpu::to_device(numbers, stream);
}

// The elements that others want, target by target.
DeviceArray<std::int32_t> upload_targets(const Halo& halo, Stream& stream) {
  std::vector<Local> numbers;
  for (const Halo::Target& target : halo.targets()) {
    for (const Offset element : target.elements.places())
      numbers.push_back(static_cast<Local>(element));
  }
  return upload(numbers, stream);
}

// A room of a halo on the device and what MPI sends of it: the same memory, or copies on the host.
template <Value V>
class DeviceExchange {
 public:
  DeviceExchange(const Communicator& ranks, const Halo& halo, const HaloRoom& room, bool staged)
      : halo_(halo),
        vectors_(room.vectors),
        own_(room.own),
        room_((std::ssize(halo.wanted()) + room.own) * room.vectors),
        packed_(halo.sent_elements() * room.vectors) {
    if (staged) {
      host_wanted_ = PinnedArray<V>(std::ssize(halo.wanted()) * room.vectors);
      host_packed_ = PinnedArray<V>(packed_.size());
      messages_.emplace(ranks, halo, HaloRoom{0, room.vectors}, host_wanted_.data(),
                        host_packed_.data());
    } else {
      messages_.emplace(ranks, halo, room, room_.data(), packed_.data());
    }
    staged_ = staged;
  }

  DeviceSpan<V> room() { return room_.span(); }
  DeviceSpan<V> own() { return room_.subspan(below(), own_ * vectors_); }
  DeviceSpan<V> packed() { return packed_.span(); }
  const HaloMessages<V>& messages() const { return *messages_; }

  // What was packed is on its way once the host has passed here.
  void send_packed(Event& ready, Stream& stream) {
    if (staged_) strata::gpu::copy<V>(packed_.span(), host_packed_.span(), stream);
    ready.record(stream);
  }
  void take_wanted(Stream& stream) {
    if (!staged_) return;
    visit_wanted([&](DeviceSpan<V> part, std::span<V> of_host) {
      strata::gpu::copy<V>(of_host, part, stream);
    });
  }
  // Backwards: the wanted elements go to the host, and those of others come from there.
  void send_wanted(Event& ready, Stream& stream) {
    if (staged_) {
      visit_wanted([&](DeviceSpan<V> part, std::span<V> of_host) {
        strata::gpu::copy<V>(part, of_host, stream);
      });
    }
    ready.record(stream);
  }
  void take_packed(Stream& stream) {
    if (staged_) strata::gpu::copy<V>(host_packed_.span(), packed_.span(), stream);
  }

 private:
  Offset below() const { return halo_.below() * vectors_; }
  // visit(part of the room, its copy) for what is before and behind the own elements.
  template <class Visit>
  void visit_wanted(const Visit& visit) {
    const Offset above = room_.size() - below() - own_ * vectors_;
    const std::span<V> host = host_wanted_.span();
    if (below() > 0)
      visit(room_.subspan(0, below()), host.first(static_cast<std::size_t>(below())));
    if (above > 0) {
      visit(room_.subspan(room_.size() - above, above), host.last(static_cast<std::size_t>(above)));
    }
  }

  const Halo& halo_;
  int vectors_;
  Offset own_;
  bool staged_ = true;
  DeviceArray<V> room_, packed_;
  PinnedArray<V> host_wanted_, host_packed_;
  std::optional<HaloMessages<V>> messages_;
};

}  // namespace

template <Value V>
struct DistributedProduct<V>::WorkspaceState {
  WorkspaceState(const State& product, Stream& stream)
      : expand(*product.ranks, product.expand,
               {std::ssize(product.part.own_columns), product.vectors()}, product.staged),
        fold(*product.ranks, product.fold,
             {std::ssize(product.part.own_border_rows), product.vectors()}, product.staged),
        of(&product) {
    if (product.has_interior()) interior = product.interior.make_workspace(stream);
    if (product.has_border()) border = product.border.make_workspace(stream);
  }

  DeviceExchange<V> expand, fold;
  typename ProductPlan<V>::Workspace interior, border;
  Event ready;
  const State* of;
};

template <Value V>
template <Index I>
DistributedProduct<V>::DistributedProduct(const Communicator& ranks,
                                          const DistributedMatrix<V, I>& matrix,
                                          const DistributedOptions& options, Stream& stream,
                                          Staging staging)
    : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.ranks = &ranks;
  state.options = options;
  state.grid = detail::agreed_grid(ranks, matrix, options);
  state.staged =
      staging == Staging::host || (staging == Staging::automatic && !mpi_takes_device_memory());
  ranks.require_same("how messages leave devices", state.staged ? "staged" : "directly");
  state.part = detail::rank_part(ranks, matrix, state.grid);
  detail::RankPart<V>& part = state.part;
  state.expand = Halo(ranks, matrix.cols, part.ghosts);
  state.fold = Halo(ranks, matrix.rows, part.foreign_rows());
  state.rows = matrix.rows.size(ranks.rank());
  state.x_rows = matrix.cols.size(ranks.rank());
  state.interior_rows = part.interior.rows();
  ranks.together([&] {
    if (state.has_interior()) {
      state.interior = strata::gpu::plan_product(part.interior, options.product, stream);
    }
    if (state.has_border()) {
      state.border = strata::gpu::plan_product(part.border, options.product, stream);
    }
    state.wanted = upload_targets(state.expand, stream);
    state.own_columns = upload(part.own_columns, stream);
    state.own_rows = upload(part.own_border_rows, stream);
    state.added_rows = upload_targets(state.fold, stream);
    stream.synchronize();
  });
  const WorkspaceState probe(state, stream);
  state.shares = ranks.gather_all(detail::share_of<V>(
      state.rows, part, state.expand, state.fold, state.vectors(),
      probe.expand.messages().messages() + probe.fold.messages().messages_back()));
  part.drop_matrices();
  state.text = detail::product_text(ranks, options, state.grid, state.shares, "a GPU each");
  state.text += state.staged ? "Messages go through the memory of the host.\n"
                             : "MPI sends from the memory of devices.\n";
  std::string first;
  if (state.has_interior()) {
    first = "\nRows of rank 0 that need nothing of others:\n" + state.interior.explain();
  }
  if (state.has_border()) first += "\nRows of rank 0 that do:\n" + state.border.explain();
  state.text += ranks.broadcast(first, 0);
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
  return state_->vectors();
}
template <Value V>
bool DistributedProduct<V>::staged() const {
  return state_->staged;
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
auto DistributedProduct<V>::make_workspace(Stream& stream) const -> Workspace {
  Workspace workspace;
  workspace.state_ = std::make_unique<WorkspaceState>(*state_, stream);
  return workspace;
}

template <Value V>
void DistributedProduct<V>::apply(DeviceSpan<const V> x, DeviceSpan<V> y, Workspace& workspace,
                                  Stream& stream) const {
  apply(V(1), x, V(0), y, workspace, stream);
}

template <Value V>
void DistributedProduct<V>::apply(V alpha, DeviceSpan<const V> x, V beta, DeviceSpan<V> y,
                                  Workspace& workspace, Stream& stream) const {
  const State& state = *state_;
  const int vectors = this->vectors();
  if (x.size() != x_rows() * vectors || y.size() != rows() * vectors) {
    throw InvalidArgument(fmt::format("vectors of {} and {} elements for a rank with {} and {}",
                                      x.size(), y.size(), x_rows() * vectors, rows() * vectors));
  }
  if (!workspace.state_ || workspace.state_->of != &state) {
    throw InvalidArgument("the workspace is that of another product");
  }
  auto& work = *workspace.state_;
  strata::gpu::take_lines<V>(x, state.wanted.span(), work.expand.packed(), vectors, stream);
  work.expand.send_packed(work.ready, stream);
  if (beta != V(0)) {
    // The old y, before the interior, which may have gaps where the border is.
    strata::gpu::fill_zero(work.fold.room(), stream);
    strata::gpu::take_lines<V>(y, state.own_rows.span(), work.fold.own(), vectors, stream);
  }
  if (state.has_interior()) {
    state.interior.apply(alpha, x, beta,
                         y.subspan(Offset{state.part.interior_begin} * vectors,
                                   Offset{state.interior_rows} * vectors),
                         work.interior, stream);
  }
  // While the device computes these rows, the host sees to the messages.
  work.ready.synchronize();
  work.expand.messages().start();
  work.expand.messages().finish();
  if (state.has_border()) {
    work.expand.take_wanted(stream);
    strata::gpu::take_lines<V>(x, state.own_columns.span(), work.expand.own(), vectors, stream);
    state.border.apply(alpha, work.expand.room(), beta, work.fold.room(), work.border, stream);
    strata::gpu::put_lines<V>(work.fold.own(), state.own_rows.span(), y, vectors, stream);
  }
  if (state.grid.cols == 1) return;
  work.fold.send_wanted(work.ready, stream);
  work.ready.synchronize();
  work.fold.messages().start_back();
  work.fold.messages().finish_back();
  work.fold.take_packed(stream);
  // Rank by rank: several may add to the same row.
  Offset first = 0;
  for (const Halo::Target& target : state.fold.targets()) {
    const Offset count = target.elements.size();
    strata::gpu::add_lines<V>(work.fold.packed().subspan(first * vectors, count * vectors),
                              state.added_rows.subspan(first, count), y, vectors, stream);
    first += count;
  }
}

#define STRATA_INSTANTIATE(V, I)                                                     \
  template DistributedProduct<V>::DistributedProduct(const Communicator&,            \
                                                     const DistributedMatrix<V, I>&, \
                                                     const DistributedOptions&, Stream&, Staging)
#define STRATA_INSTANTIATE_VALUE(V, I) template class DistributedProduct<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_VALUE, );
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::distributed::gpu
