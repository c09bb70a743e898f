#include "strata/plans/gpu/internal/workspace.hpp"

#include <iterator>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/plans/internal/checks.hpp"

namespace strata::gpu {

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
  Offset bytes = state_->method.bytes();
  for (const DeviceArray<V>& vector : state_->vectors) bytes += vector.bytes();
  return bytes;
}

namespace detail {

template <Value V>
PlanWorkspace<V> WorkspaceState<V>::make(const Prepared<V>& plan, int vectors, Stream& stream) {
  return make(plan, vectors, plan.rows->order.padded_rows(), stream);
}

template <Value V>
PlanWorkspace<V> WorkspaceState<V>::make(const Prepared<V>& plan, int vectors, Offset rows,
                                         Stream& stream) {
  PlanWorkspace<V> workspace;
  workspace.state_ = std::make_unique<WorkspaceState>();
  WorkspaceState& state = *workspace.state_;
  state.plan = plan.identity;
  const auto elements =
      checked_multiply<Offset>(rows, plan.options.vectors, "the elements of vectors");
  for (int k = 0; k < vectors; ++k) state.vectors.emplace_back(elements);
  state.method = workspace_of(plan.method, plan.options.vectors, stream);
  return workspace;
}

template <Value V>
WorkspaceState<V>& WorkspaceState<V>::of(PlanWorkspace<V>& workspace, const Prepared<V>& plan,
                                         int vectors) {
  WorkspaceState* state = workspace.state_.get();
  strata::detail::require_workspace(state == nullptr ? nullptr : &state->plan, plan.identity,
                                    state == nullptr ? 0 : std::ssize(state->vectors), vectors);
  return *state;
}

}  // namespace detail

#define STRATA_INSTANTIATE(V, unused) \
  template class PlanWorkspace<V>;    \
  template struct detail::WorkspaceState<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu
