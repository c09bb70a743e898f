// What the control groups of this process leave it of the machine. A container shows all processors
// and all memory, and lets its processes have a part.
#pragma once

#include <filesystem>

#include "strata/base/types.hpp"

namespace strata {

struct CgroupLimits {
  double processors = 0;    // processor time per time, as 1.5 processors; 0: no limit
  Offset memory_bytes = 0;  // 0: no limit

  bool operator==(const CgroupLimits&) const = default;
};

// The tightest limits of the process's groups and of those around them, of versions 1 and 2. `root`
// is the folder that holds proc and sys. What cannot be read is no limit.
CgroupLimits cgroup_limits(const std::filesystem::path& root = "/");

// Memory that the groups still allow; the largest Offset if nothing limits it.
Offset cgroup_memory_left(const std::filesystem::path& root = "/");

}  // namespace strata
