#include "strata/execute/gpu/level_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"

namespace strata::gpu {

namespace {

// y_k, k = −1 … p.
template <Value V>
DeviceSpan<const V> vector_at(const SweepVectors<V>& vectors, int k) {
  if (k < 0) return vectors.before;
  return k == 0 ? vectors.x : DeviceSpan<const V>(vectors.powers[k - 1]);
}

template <Value V>
bool apart(DeviceSpan<const V> a, DeviceSpan<const V> b) {
  const std::less_equal<const V*> not_behind;
  return not_behind(a.data() + a.size(), b.data()) || not_behind(b.data() + b.size(), a.data());
}

template <Value V>
void require_vectors(const SweepVectors<V>& vectors, int power) {
  if (std::ssize(vectors.powers) != power) {
    throw InvalidArgument(
        fmt::format("a sweep of {} powers was given {} vectors", power, vectors.powers.size()));
  }
  for (int k = 1; k <= power; ++k) {
    const DeviceSpan<const V> y = vector_at(vectors, k);
    const DeviceSpan<const V> before = vector_at(vectors, k - 2);
    if (!apart(y, vector_at(vectors, k - 1)) || (y.data() != before.data() && !apart(y, before))) {
      throw InvalidArgument(
          fmt::format("the vector of power {} overlaps one that it is made of", k));
    }
  }
}

}  // namespace

template <Value V>
SweepVectors<V> SweepVectors<V>::all(DeviceSpan<const V> x, DeviceSpan<V> block, int power,
                                     int count) {
  SweepVectors vectors;
  vectors.x = x;
  vectors.count = count;
  for (int k = 0; k < power; ++k) vectors.powers.push_back(block.subspan(k * x.size(), x.size()));
  return vectors;
}

template <Value V>
SweepVectors<V> SweepVectors<V>::last(DeviceSpan<const V> x, DeviceSpan<V> odd, DeviceSpan<V> even,
                                      int power, int count) {
  SweepVectors vectors;
  vectors.x = x;
  vectors.count = count;
  for (int k = 1; k <= power; ++k) vectors.powers.push_back(k % 2 == 1 ? odd : even);
  return vectors;
}

template <Value V>
LevelSweep<V>::LevelSweep(const Tiling<std::int32_t>& tiling, const Schedule& schedule,
                          const LevelLaunchOptions& options)
    : power_(schedule.power),
      rows_(tiling.row_offsets.back()),
      launches_(level_launches(tiling, schedule, options)),
      reuse_(std::ranges::is_sorted(launches_, {}, &LevelLaunch::power) ? Reuse::none
                                                                        : Reuse::soon) {}

template <Value V>
template <class Matrix>
void LevelSweep<V>::run(const Matrix& matrix, const SweepVectors<V>& vectors,
                        std::span<const StepCoefficients<V>> steps, Stream& stream) const {
  if (matrix.rows() != rows_ || matrix.cols() != rows_) {
    throw InvalidArgument(fmt::format("a sweep over {} rows was given a matrix of {} × {}", rows_,
                                      matrix.rows(), matrix.cols()));
  }
  if (std::ssize(steps) != power_) {
    throw InvalidArgument(
        fmt::format("a sweep of {} powers was given {} steps", power_, steps.size()));
  }
  require_vectors(vectors, power_);
  for (const LevelLaunch& launch : launches_) {
    const int k = launch.power;
    step(matrix, steps[k - 1],
         {vector_at(vectors, k - 1), vector_at(vectors, k - 2), vectors.powers[k - 1],
          vectors.count, vectors.scratch},
         launch.rows, stream, reuse_);
  }
}

template <Value V>
template <class Matrix>
Graph LevelSweep<V>::capture(const Matrix& matrix, const SweepVectors<V>& vectors,
                             std::span<const StepCoefficients<V>> steps, Stream& stream) const {
  return Graph::capture(stream, [&] { run(matrix, vectors, steps, stream); });
}

#define STRATA_INSTANTIATE_FOR_MATRIX(V, Matrix)                                         \
  template void LevelSweep<V>::run(const Matrix<V>&, const SweepVectors<V>&,             \
                                   std::span<const StepCoefficients<V>>, Stream&) const; \
  template Graph LevelSweep<V>::capture(const Matrix<V>&, const SweepVectors<V>&,        \
                                        std::span<const StepCoefficients<V>>, Stream&) const
#define STRATA_INSTANTIATE(V, unused)           \
  template struct SweepVectors<V>;              \
  template class LevelSweep<V>;                 \
  STRATA_INSTANTIATE_FOR_MATRIX(V, DeviceCsr);  \
  STRATA_INSTANTIATE_FOR_MATRIX(V, DeviceEll);  \
  STRATA_INSTANTIATE_FOR_MATRIX(V, DeviceSell); \
  STRATA_INSTANTIATE_FOR_MATRIX(V, DevicePackedSell)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu
