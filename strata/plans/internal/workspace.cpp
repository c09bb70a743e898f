#include "strata/plans/internal/workspace.hpp"

#include <iterator>

#include "strata/base/instantiate.hpp"
#include "strata/plans/internal/checks.hpp"

namespace strata {

template <Value V>
PlanWorkspace<V>::PlanWorkspace() = default;
template <Value V>
PlanWorkspace<V>::~PlanWorkspace() = default;
template <Value V>
PlanWorkspace<V>::PlanWorkspace(PlanWorkspace&&) noexcept = default;
template <Value V>
PlanWorkspace<V>& PlanWorkspace<V>::operator=(PlanWorkspace&&) noexcept = default;

template <Value V>
Offset PlanWorkspace<V>::bytes() const {
  if (!state_) return 0;
  Offset bytes = state_->threads * Offset{sizeof(ProgressCounter)} +
                 static_cast<Offset>(state_->scratch.size()) * Offset{sizeof(V)};
  for (const Array<V>& vector : state_->vectors) {
    bytes += static_cast<Offset>(vector.size()) * Offset{sizeof(V)};
  }
  return bytes;
}

namespace detail {

template <Value V>
PlanWorkspace<V> WorkspaceState<V>::make(Identity plan, int threads, int vectors,
                                         std::size_t elements, Offset scratch) {
  PlanWorkspace<V> workspace;
  workspace.state_ = std::make_unique<WorkspaceState>();
  WorkspaceState& state = *workspace.state_;
  state.plan = plan;
  state.threads = threads;
  state.counters = std::make_unique<ProgressCounter[]>(static_cast<std::size_t>(threads));
  for (int k = 0; k < vectors; ++k) state.vectors.emplace_back(elements);
  state.scratch.resize(static_cast<std::size_t>(scratch));
  return workspace;
}

template <Value V>
WorkspaceState<V>& WorkspaceState<V>::of(PlanWorkspace<V>& workspace, Identity plan, int vectors) {
  WorkspaceState* state = workspace.state_.get();
  require_workspace(state == nullptr ? nullptr : &state->plan, plan,
                    state == nullptr ? 0 : std::ssize(state->vectors), vectors);
  return *state;
}

}  // namespace detail

#define STRATA_INSTANTIATE(V, unused) \
  template class PlanWorkspace<V>;    \
  template struct detail::WorkspaceState<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata
