#include "strata/base/affinity.hpp"

#include <sched.h>

#include <cstring>
#include <string>

#include "strata/base/error.hpp"

namespace strata {

namespace {

thread_local std::span<const int> processors_of_scope;

}  // namespace

AffinityScope::AffinityScope(std::span<const int> processors) : before_(processors_of_scope) {
  if (!processors.empty()) processors_of_scope = processors;
}

AffinityScope::~AffinityScope() {
  processors_of_scope = before_;
}

namespace detail {

std::span<const int> scoped_processors() {
  return processors_of_scope;
}

ThreadBinding::ThreadBinding(std::span<const int> processors, int thread) {
  if (processors.empty()) return;
  const int processor = processors[static_cast<std::size_t>(thread) % processors.size()];
  cpu_set_t before;
  cpu_set_t one;
  CPU_ZERO(&one);
  const bool known = processor >= 0 && processor < CPU_SETSIZE;
  if (known) CPU_SET(static_cast<std::size_t>(processor), &one);
  if (!known || sched_getaffinity(0, sizeof before, &before) != 0 ||
      sched_setaffinity(0, sizeof one, &one) != 0) {
    throw InvalidArgument("threads of this process cannot run on processor " +
                          std::to_string(processor));
  }
  static_assert(sizeof before <= sizeof before_);
  std::memcpy(before_.data(), &before, sizeof before);
  bound_ = true;
}

ThreadBinding::~ThreadBinding() {
  if (!bound_) return;
  cpu_set_t before;
  std::memcpy(&before, before_.data(), sizeof before);
  sched_setaffinity(0, sizeof before, &before);
}

}  // namespace detail

}  // namespace strata
