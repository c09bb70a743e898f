#include "strata/kernels/cpu/levels.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <string>

#include "strata/base/error.hpp"
#include "strata/kernels/cpu/internal/kernel_table.hpp"

namespace strata::cpu {

// One per level that this build has: constant data, each of it in the namespace of its level.
namespace baseline {
extern const KernelTable table;
}
#ifdef STRATA_HAS_AVX2
namespace avx2 {
extern const KernelTable table;
}
#endif
#ifdef STRATA_HAS_AVX512
namespace avx512 {
extern const KernelTable table;
}
#endif

namespace {

struct BuiltLevel {
  Level level;
  std::string_view name;
  const KernelTable* kernels;
  bool (*runs_here)();
};

// The compilers' own functions ask the operating system too: registers that it does not save do not
// count. What is asked for is what CMake compiles the levels with.
constexpr BuiltLevel kBuiltLevels[] = {
#if defined(__x86_64__)
    {Level::baseline, "sse2", &baseline::table, [] { return true; }},
#elif defined(__ARM_NEON)
    {Level::baseline, "neon", &baseline::table, [] { return true; }},
#else
    {Level::baseline, "baseline", &baseline::table, [] { return true; }},
#endif
#ifdef STRATA_HAS_AVX2
    {Level::avx2, "avx2", &avx2::table,
     [] { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }},
#endif
#ifdef STRATA_HAS_AVX512
    {Level::avx512, "avx512", &avx512::table,
     [] {
       return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
     }},
#endif
};

// Of fixed size: asking for the kernels allocates nothing.
struct AvailableLevels {
  std::array<Level, std::size(kBuiltLevels)> levels{};
  std::size_t count = 0;
};

std::span<const Level> levels_of_this_machine() {
  static const AvailableLevels available = [] {
#if defined(STRATA_HAS_AVX2) || defined(STRATA_HAS_AVX512)
    // The constructors of the compiler's library may not have run yet.
    __builtin_cpu_init();
#endif
    AvailableLevels found;
    for (const BuiltLevel& built : kBuiltLevels) {
      if (built.runs_here()) found.levels[found.count++] = built.level;
    }
    return found;
  }();
  return std::span(available.levels).first(available.count);
}

const BuiltLevel* find(Level level) {
  const auto* end = std::end(kBuiltLevels);
  const auto* built = std::ranges::find(kBuiltLevels, level, &BuiltLevel::level);
  return built == end ? nullptr : built;
}

// Null until somebody asks, which may be while other static objects are being made. What it points
// to is constant, so that nothing has to be ordered before it.
constinit std::atomic<const BuiltLevel*> current = nullptr;

const BuiltLevel& current_level() {
  const BuiltLevel* level = current.load(std::memory_order_relaxed);
  if (level == nullptr) [[unlikely]] {
    const BuiltLevel* best = find(levels_of_this_machine().back());
    // Unless somebody has set or found one meanwhile: then it is the one in `level`.
    if (current.compare_exchange_strong(level, best, std::memory_order_relaxed)) level = best;
  }
  return *level;
}

}  // namespace

std::string_view name_of(Level level) {
  if (const BuiltLevel* built = find(level)) return built->name;
  return level == Level::avx2 ? "avx2" : "avx512";
}

std::span<const Level> available_levels() {
  return levels_of_this_machine();
}

Level level() {
  return current_level().level;
}

void set_level(Level level) {
  if (!std::ranges::count(available_levels(), level)) {
    throw Unavailable("this processor or this build has no kernels for " +
                      std::string(name_of(level)));
  }
  current.store(find(level), std::memory_order_relaxed);
}

const KernelTable& kernels() {
  return *current_level().kernels;
}

}  // namespace strata::cpu
