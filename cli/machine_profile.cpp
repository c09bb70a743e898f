#include "cli/machine_profile.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <string>

#include "cli/build_info.hpp"
#include "strata/base/processors.hpp"
#include "strata/machine/system.hpp"

namespace strata::cli {

namespace {

Json caches() {
  Json list = Json::array();
  for (const ReportedCache& cache : reported_caches()) {
    list.push_back({{"level", cache.level},
                    {"type", cache.type},
                    {"bytes", cache.bytes},
                    {"shared_by_cpus", cache.shared_by_cpus}});
  }
  return list;
}

}  // namespace

Json machine_profile() {
  Json profile;
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) profile[key] = value;
  };
  add("cpu", processor_name());
  if (const int cores = physical_cores(); cores > 0) profile["cores"] = cores;
  profile["threads"] = usable_processors();
  profile["caches"] = caches();
  profile["memory_bytes"] = static_cast<long long>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  add("os", value_in_file("/etc/os-release", "PRETTY_NAME", '='));
  utsname system{};
  if (uname(&system) == 0) {
    add("kernel", fmt::format("{} {}", system.sysname, system.release));
    add("architecture", system.machine);
  }
  add("compiler", kCompiler);
  add("flags", kCompilerFlags);
  add("build_type", kBuildType);
  return profile;
}

}  // namespace strata::cli
