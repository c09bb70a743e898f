// What the operating system reports about the machine; nothing is measured. What it does not report
// is empty or 0.
#pragma once

#include <string>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/machine/profile.hpp"

namespace strata {

struct ReportedCache {
  int level = 0;
  std::string type;            // "Data", "Instruction" or "Unified"
  Offset bytes = 0;            // of one instance
  std::string shared_by_cpus;  // the logical processors that share an instance, as "0-3,8"
};

// The value behind the first "key : value" or key="value" of a file; empty when there is none.
std::string value_in_file(const std::string& path, const std::string& key, char separator);

std::string processor_name();
// The caches of the first processor.
std::vector<ReportedCache> reported_caches();
// Cores of the machine, each with one or more logical processors.
int physical_cores();
// Of this machine, as this process sees it.
MachineFingerprint machine_fingerprint();
// Memory that can still be had, on the machine or in the container.
Offset available_memory();

// The time of day, ISO 8601, UTC.
std::string utc_now();

// The number of processors in a list such as "0-3,8".
int count_of_list(const std::string& list);

}  // namespace strata
