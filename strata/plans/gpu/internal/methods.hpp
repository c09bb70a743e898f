// The ways to compute powers on a GPU that a plan chooses from, made of a matrix and run.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/device/stream.hpp"
#include "strata/execute/gpu/device_wave.hpp"
#include "strata/execute/gpu/level_powers.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/packed_sell.hpp"
#include "strata/plans/internal/storage.hpp"

namespace strata::gpu::detail {

using strata::detail::StorageChoice;

// Candidates that differ in nothing but the order of their products share a matrix.
template <Value V>
using SharedMatrix = std::shared_ptr<const StoredMatrix<V>>;

// Plain products, a wave per block of powers, or level by level.
template <Value V>
using Method = std::variant<SharedMatrix<V>, DeviceWave<V>, LevelPowers<V>>;

// What one run of a method at a time needs.
template <Value V>
struct MethodWorkspace {
  typename DeviceWave<V>::Workspace wave;
  typename LevelPowers<V>::Workspace levels;
};

template <Value V>
MethodWorkspace<V> workspace_of(const Method<V>& method, Stream& stream);

// All powers, in the order of the stream. vectors: y_0 … y_p, each of rows × count elements.
template <Value V>
void run_powers(const Method<V>& method, std::span<const StepCoefficients<V>> coefficients,
                std::span<V* const> vectors, int count, MethodWorkspace<V>& workspace,
                Stream& stream);

// Of matrix data on the device.
template <Value V>
Offset bytes_of(const StoredMatrix<V>& matrix);

// Uploads a matrix in the format. Throws InvalidArgument where ELLPACK would be mostly padding.
template <Value V>
SharedMatrix<V> store(const Csr<V, std::int32_t>& matrix, const StorageChoice& storage,
                      Stream& stream);

// A matrix in tiles, and which of them need each other.
template <Value V>
struct TiledMatrix {
  PackedSell<V, std::int32_t> matrix;
  SliceTiles tiles;
  TileInputs inputs;

  TiledMatrix(const Csr<V, std::int32_t>& matrix, Offset slice_height, Offset tile_bytes);
};

template <Value V>
std::shared_ptr<const DeviceTiles<V>> upload(const TiledMatrix<V>& tiled, int workers,
                                             Stream& stream);

// The same method for other values, from the matrix in the plan's order.
template <Value V>
Method<V> method_like(const Method<V>& method, const StorageChoice& storage,
                      const Csr<V, std::int32_t>& in_order, Stream& stream);

}  // namespace strata::gpu::detail
