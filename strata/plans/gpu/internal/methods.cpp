#include "strata/plans/gpu/internal/methods.hpp"

#include <limits>
#include <utility>

#include "strata/base/instantiate.hpp"

namespace strata::gpu::detail {

namespace {

using I = std::int32_t;

// The bytes of padding are part of every prediction; slices bound them.
constexpr double kAnyFill = std::numeric_limits<double>::infinity();

template <Value V>
PackedSell<V, I> packed(const Csr<V, I>& matrix, Offset height) {
  return PackedSell<V, I>::from_csr(matrix, {.slice_height = height, .max_fill = kAnyFill});
}

template <Value V>
StoredMatrix<V> stored(const Csr<V, I>& matrix, const StorageChoice& storage, Stream& stream) {
  switch (storage.format) {
    case PowerFormat::csr: return DeviceCsr<V>(matrix, stream);
    case PowerFormat::ell: return DeviceEll<V>(Ell<V, I>::from_csr(matrix), stream);
    case PowerFormat::sell:
      return DeviceSell<V>(Sell<V, I>::from_csr(matrix, {.slice_height = storage.slice_height,
                                                         .max_fill = kAnyFill}),
                           stream);
    default: return DevicePackedSell<V>(packed(matrix, storage.slice_height), stream);
  }
}

template <Value V>
void run_plain(const StoredMatrix<V>& stored, std::span<const StepCoefficients<V>> coefficients,
               std::span<V* const> vectors, int count, Stream& stream) {
  std::visit(
      [&](const auto& matrix) {
        const Offset elements = Offset{matrix.rows()} * count;
        for (std::size_t k = 1; k <= coefficients.size(); ++k) {
          const V* previous = k >= 2 ? vectors[k - 2] : nullptr;
          step(matrix, coefficients[k - 1],
               {{vectors[k - 1], elements},
                {previous, previous != nullptr ? elements : 0},
                {vectors[k], elements},
                count},
               matrix.all_rows(), stream);
        }
      },
      stored);
}

template <Value V>
void run_waves(const DeviceWave<V>& wave, std::span<const StepCoefficients<V>> coefficients,
               std::span<V* const> vectors, typename DeviceWave<V>::Workspace& workspace,
               Stream& stream) {
  const auto power = static_cast<int>(coefficients.size());
  for (int first = 0; first < power; first += wave.shape().power) {
    const int block = std::min(wave.shape().power, power - first);
    WaveSteps<V> steps;
    steps.vectors.assign(vectors.begin() + first, vectors.begin() + first + block + 1);
    if (first > 0) steps.before = vectors[first - 1];
    steps.steps.assign(coefficients.begin() + first, coefficients.begin() + first + block);
    wave.run(steps, workspace, stream);
  }
}

}  // namespace

template <Value V>
MethodWorkspace<V> workspace_of(const Method<V>& method, Stream& stream) {
  MethodWorkspace<V> workspace;
  if (const auto* wave = std::get_if<DeviceWave<V>>(&method)) {
    workspace.wave = wave->make_workspace(stream);
  }
  return workspace;
}

template <Value V>
void run_powers(const Method<V>& method, std::span<const StepCoefficients<V>> coefficients,
                std::span<V* const> vectors, int count, MethodWorkspace<V>& workspace,
                Stream& stream) {
  if (const auto* wave = std::get_if<DeviceWave<V>>(&method)) {
    run_waves(*wave, coefficients, vectors, workspace.wave, stream);
  } else if (const auto* levels = std::get_if<LevelPowers<V>>(&method)) {
    levels->run(vectors, coefficients, workspace.levels, stream);
  } else {
    run_plain<V>(*std::get<SharedMatrix<V>>(method), coefficients, vectors, count, stream);
  }
}

template <Value V>
Offset bytes_of(const StoredMatrix<V>& matrix) {
  return std::visit([](const auto& held) { return held.bytes(); }, matrix);
}

template <Value V>
SharedMatrix<V> store(const Csr<V, I>& matrix, const StorageChoice& storage, Stream& stream) {
  return std::make_shared<const StoredMatrix<V>>(stored(matrix, storage, stream));
}

template <Value V>
TiledMatrix<V>::TiledMatrix(const Csr<V, I>& csr, Offset slice_height, Offset tile_bytes)
    : matrix(packed(csr, slice_height)),
      tiles(cut_slices(matrix, tile_bytes)),
      inputs(inputs_of(matrix, tiles)) {}

template <Value V>
std::shared_ptr<const DeviceTiles<V>> upload(const TiledMatrix<V>& tiled, int workers,
                                             Stream& stream) {
  const Wave wave(tiled.inputs, workers);
  return std::make_shared<const DeviceTiles<V>>(TileStream<V>(tiled.matrix, tiled.tiles, wave),
                                                wave, stream);
}

template <Value V>
Method<V> method_like(const Method<V>& method, const StorageChoice& storage,
                      const Csr<V, I>& in_order, Stream& stream) {
  if (const auto* wave = std::get_if<DeviceWave<V>>(&method)) {
    const WaveShape& shape = wave->shape();
    const TiledMatrix<V> tiled(in_order, storage.slice_height, shape.tile_bytes);
    return DeviceWave<V>(upload(tiled, shape.workers, stream), shape);
  }
  SharedMatrix<V> matrix = store(in_order, storage, stream);
  if (const auto* levels = std::get_if<LevelPowers<V>>(&method)) {
    return levels->with_matrix(std::move(matrix));
  }
  return matrix;
}

#define STRATA_INSTANTIATE(V, unused)                                                         \
  template MethodWorkspace<V> workspace_of(const Method<V>&, Stream&);                        \
  template void run_powers(const Method<V>&, std::span<const StepCoefficients<V>>,            \
                           std::span<V* const>, int, MethodWorkspace<V>&, Stream&);           \
  template Offset bytes_of(const StoredMatrix<V>&);                                           \
  template SharedMatrix<V> store(const Csr<V, I>&, const StorageChoice&, Stream&);            \
  template struct TiledMatrix<V>;                                                             \
  template std::shared_ptr<const DeviceTiles<V>> upload(const TiledMatrix<V>&, int, Stream&); \
  template Method<V> method_like(const Method<V>&, const StorageChoice&, const Csr<V, I>&, Stream&)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu::detail
