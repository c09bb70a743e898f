#include "cli/memory_limit.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "strata/base/cgroup.hpp"

namespace strata::cli {

void limit_memory() {
  rlim_t bytes =
      static_cast<rlim_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
  if (const Offset of_container = cgroup_limits().memory_bytes; of_container > 0) {
    bytes = std::min(bytes, static_cast<rlim_t>(of_container));
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = std::min(limit.rlim_max, std::min(limit.rlim_cur, bytes));
  setrlimit(RLIMIT_DATA, &limit);
}

}  // namespace strata::cli
