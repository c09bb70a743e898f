// Operators whose time is added up, to say where a solver spends it.
#pragma once

#include <chrono>
#include <utility>

#include "strata/solvers/method.hpp"

namespace strata::solvers {

// Seconds since it was made.
class RunningClock {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Adds the time that it lives to `seconds`.
class ClockedScope {
 public:
  explicit ClockedScope(double& seconds) : seconds_(seconds) {}
  ~ClockedScope() { seconds_ += clock_.seconds(); }
  ClockedScope(const ClockedScope&) = delete;
  ClockedScope& operator=(const ClockedScope&) = delete;

 private:
  RunningClock clock_;
  double& seconds_;
};

// Adds to `seconds`, which has to live as long as the operator. None for none.
template <class Space>
Operator<Space> timed(Operator<Space> work, double& seconds) {
  if (!work) return {};
  return [work = std::move(work), &seconds](typename Space::ConstView x, typename Space::View y) {
    const ClockedScope clock(seconds);
    work(x, y);
  };
}

}  // namespace strata::solvers
