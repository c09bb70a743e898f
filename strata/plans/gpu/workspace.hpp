// PlanWorkspace on a GPU: device memory for one application of a plan at a time, for the plan that
// made it and no other.
#pragma once

#include <memory>

#include "strata/base/types.hpp"

namespace strata::gpu {

namespace detail {
template <Value V>
struct WorkspaceState;
}

template <Value V>
class PlanWorkspace {
 public:
  PlanWorkspace();
  ~PlanWorkspace();
  PlanWorkspace(PlanWorkspace&&) noexcept;
  PlanWorkspace& operator=(PlanWorkspace&&) noexcept;
  Offset bytes() const;

 private:
  friend struct detail::WorkspaceState<V>;
  std::unique_ptr<detail::WorkspaceState<V>> state_;
};

}  // namespace strata::gpu
