// What is in a workspace on a GPU.
#pragma once

#include <vector>

#include "strata/base/identity.hpp"
#include "strata/device/array.hpp"
#include "strata/plans/gpu/internal/prepared.hpp"
#include "strata/plans/gpu/workspace.hpp"

namespace strata::gpu::detail {

template <Value V>
struct WorkspaceState {
  Identity plan;  // that it was made for
  std::vector<DeviceArray<V>> vectors;
  MethodWorkspace<V> method;

  // With so many vectors, in the plan's order or of so many rows.
  static PlanWorkspace<V> make(const Prepared<V>& plan, int vectors, Stream& stream);
  static PlanWorkspace<V> make(const Prepared<V>& plan, int vectors, Offset rows, Stream& stream);
  // Throws InvalidArgument unless the workspace is of this plan and has so many vectors.
  static WorkspaceState& of(PlanWorkspace<V>& workspace, const Prepared<V>& plan, int vectors);
};

}  // namespace strata::gpu::detail
