// Which instructions the CPU kernels use. They are compiled once per level, and the highest level
// that the processor and the operating system support runs, so that one binary is fast everywhere:
//
//   cpu::level()              the level that steps run at from now on
//   cpu::available_levels()   those that this machine can run
//
//   fmt::print("kernels: {}\n", cpu::name_of(cpu::level()));        // avx512
//   const cpu::LevelScope scope(cpu::Level::baseline);              // to compare
//
// A row is added up in the same order at every level. Levels that fuse multiplications and
// additions, all but the baseline of x86-64, give the same bits; without fusing, sums are rounded
// once more per product.
#pragma once

#include <span>
#include <string_view>

namespace strata::cpu {

// From the slowest to the fastest.
enum class Level {
  baseline,  // what every processor of the architecture has: SSE2 on x86-64, NEON on aarch64
  avx2,      // x86-64 with AVX2 and FMA
  avx512,    // x86-64 with AVX-512 F, BW, DQ and VL besides
};

// "sse2" or "neon" for the baseline, where it is that; "avx2", "avx512".
std::string_view name_of(Level level);

// Ascending; the baseline is always there.
std::span<const Level> available_levels();

// The last of available_levels(), unless somebody has set another one.
Level level();

// For the whole process, for tests and benchmarks: steps that run meanwhile may use either level.
// Throws Unavailable, and changes nothing, if the level is not among available_levels().
void set_level(Level level);

// Another level while the scope exists.
class LevelScope {
 public:
  explicit LevelScope(Level level) : before_(cpu::level()) { set_level(level); }
  ~LevelScope() { set_level(before_); }
  LevelScope(const LevelScope&) = delete;
  LevelScope& operator=(const LevelScope&) = delete;

 private:
  Level before_;
};

}  // namespace strata::cpu
