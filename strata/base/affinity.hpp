// AffinityScope: parallel work of one thread on processors of its choice, for programs that place
// their threads themselves.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace strata {

// While it lives, thread t of the teams that the calling thread starts runs on processor
// processors[t], or on processors[t mod size] where there are more threads; afterwards every thread
// may run where it could before. Scopes nest. Without processors nothing changes. Parallel work
// throws InvalidArgument if the process may not use one of them.
class AffinityScope {
 public:
  explicit AffinityScope(std::span<const int> processors);
  ~AffinityScope();
  AffinityScope(const AffinityScope&) = delete;
  AffinityScope& operator=(const AffinityScope&) = delete;

 private:
  std::span<const int> before_;
};

namespace detail {

// The processors of the calling thread's scope.
std::span<const int> scoped_processors();

// Binds the calling thread to one processor until it ends.
class ThreadBinding {
 public:
  // None of the processors: does nothing.
  ThreadBinding(std::span<const int> processors, int thread);
  ~ThreadBinding();
  ThreadBinding(const ThreadBinding&) = delete;
  ThreadBinding& operator=(const ThreadBinding&) = delete;

 private:
  bool bound_ = false;
  std::array<std::byte, 128> before_;  // the mask, as the system has it
};

}  // namespace detail

}  // namespace strata
