// PlanWorkspace: memory for one application of a plan at a time, for the plan that made it and no
// other. One that was moved from, or that no plan made, is empty: it has no bytes and fits no plan.
#pragma once

#include <memory>

#include "strata/base/types.hpp"

namespace strata {

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

}  // namespace strata
