#include "strata/machine/gpu/known.hpp"

#include <map>
#include <mutex>

#include "strata/base/error.hpp"
#include "strata/machine/gpu/stored_facts.hpp"
#include "strata/machine/internal/fact_file.hpp"

namespace strata::gpu {

KnownGpuFacts measure_anew(const std::filesystem::path& path, const GpuMeasureOptions& options) {
  KnownGpuFacts known{.facts = measure_gpu(options), .measured = true};
  strata::detail::store(known, path, [&](const GpuFacts& facts) { save_facts(facts, path); });
  return known;
}

KnownGpuFacts load_or_measure(const std::filesystem::path& path, const GpuMeasureOptions& options) {
  const auto load = [&] {
    auto facts = load_facts(path);
    if (facts && facts->device != device_properties(options.device)) {
      throw FileError(path.string(), "is about another device or driver");
    }
    return facts;
  };
  return strata::detail::load_or_else<KnownGpuFacts>(path, load,
                                                     [&] { return measure_anew(path, options); });
}

const KnownGpuFacts& known_gpu(int device) {
  static std::mutex mutex;
  static std::map<int, KnownGpuFacts> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(device);
  if (found != known.end()) return found->second;
  const auto path = facts_path(device_properties(device));
  return known.emplace(device, load_or_measure(path, {.device = device})).first->second;
}

}  // namespace strata::gpu
