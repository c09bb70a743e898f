#include "cli/memory_limit.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace strata::cli {

void limit_memory() {
  rlim_t bytes =
      static_cast<rlim_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
  // The file says "max" where there is no limit, which is no number.
  rlim_t of_container = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> of_container) {
    bytes = std::min(bytes, of_container);
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = std::min(limit.rlim_max, std::min(limit.rlim_cur, bytes));
  setrlimit(RLIMIT_DATA, &limit);
}

}  // namespace strata::cli
