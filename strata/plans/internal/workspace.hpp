// What is in a workspace.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "strata/base/array.hpp"
#include "strata/base/identity.hpp"
#include "strata/execute/progress.hpp"
#include "strata/plans/workspace.hpp"

namespace strata::detail {

template <Value V>
struct WorkspaceState {
  Identity plan;  // that it was made for
  std::vector<Array<V>> vectors;
  Array<V> scratch;  // of products
  std::unique_ptr<ProgressCounter[]> counters;
  int threads = 0;

  std::span<ProgressCounter> team() const {
    return {counters.get(), static_cast<std::size_t>(threads)};
  }

  // A workspace with vectors of so many elements.
  static PlanWorkspace<V> make(Identity plan, int threads, int vectors, std::size_t elements,
                               Offset scratch = 0);
  // Throws InvalidArgument unless the workspace is of this plan and has so many vectors.
  static WorkspaceState& of(PlanWorkspace<V>& workspace, Identity plan, int vectors);
};

}  // namespace strata::detail
