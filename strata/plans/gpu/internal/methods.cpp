#include "strata/plans/gpu/internal/methods.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "strata/base/instantiate.hpp"

namespace strata::gpu::detail {

namespace {

using I = std::int32_t;

constexpr double kAnyFill = std::numeric_limits<double>::infinity();

template <Value V>
StoredMatrix<V> stored(const Csr<V, I>& matrix, const StorageChoice& storage, Stream& stream) {
  switch (storage.format) {
    case PowerFormat::csr: return DeviceCsr<V>(matrix, stream);
    case PowerFormat::ell: return DeviceEll<V>(Ell<V, I>::from_csr(matrix), stream);
    case PowerFormat::sell:
      return DeviceSell<V>(Sell<V, I>::from_csr(matrix, {.slice_height = storage.slice_height,
                                                         .max_fill = kAnyFill}),
                           stream);
    default: return DevicePackedSell<V>(*packed(matrix, storage.slice_height), stream);
  }
}

template <Value V>
Footprint footprint_of(const Csr<V, I>& matrix, const StorageChoice& storage) {
  switch (storage.format) {
    case PowerFormat::csr: return matrix.footprint();
    case PowerFormat::ell: return Ell<V, I>::footprint_of(matrix);
    case PowerFormat::sell:
      return Sell<V, I>::footprint_of(matrix, {.slice_height = storage.slice_height});
    default: return PackedSell<V, I>::footprint_of(matrix, {.slice_height = storage.slice_height});
  }
}

// What no product reads but finishing the rows does: the lengths of padded rows, or a bit for every
// value that tells padding from entries.
template <Value V>
Offset bookkeeping_bytes(const Csr<V, I>& matrix, const StorageChoice& storage,
                         const Footprint& footprint) {
  switch (storage.format) {
    case PowerFormat::csr: return 0;
    case PowerFormat::packed_sell: return footprint.stored_entries / 8;
    default: return matrix.rows() * Offset{sizeof(I)};
  }
}

template <Value V>
void run_plain(const StoredMatrix<V>& stored, std::span<const StepCoefficients<V>> coefficients,
               std::span<V* const> vectors, int count, DeviceSpan<V> scratch, Stream& stream) {
  std::visit(
      [&](const auto& matrix) {
        const Offset elements = Offset{matrix.rows()} * count;
        for (std::size_t k = 1; k <= coefficients.size(); ++k) {
          const V* previous = k >= 2 ? vectors[k - 2] : nullptr;
          step(matrix, coefficients[k - 1],
               {{vectors[k - 1], elements},
                {previous, previous != nullptr ? elements : 0},
                {vectors[k], elements},
                count,
                scratch},
               matrix.all_rows(), stream);
        }
      },
      stored);
}

template <Value V>
void run_sweeps(const PersistentSweep<V>& sweep, std::span<const StepCoefficients<V>> coefficients,
                std::span<V* const> vectors, typename PersistentSweep<V>::Workspace& workspace,
                Stream& stream) {
  const auto power = static_cast<int>(coefficients.size());
  for (int first = 0; first < power; first += sweep.shape().power) {
    const int block = std::min(sweep.shape().power, power - first);
    SweepSteps<V> steps;
    steps.vectors.assign(vectors.begin() + first, vectors.begin() + first + block + 1);
    if (first > 0) steps.before = vectors[first - 1];
    steps.steps.assign(coefficients.begin() + first, coefficients.begin() + first + block);
    sweep.run(steps, workspace, stream);
  }
}

}  // namespace

template <Value V>
MethodWorkspace<V> workspace_of(const Method<V>& method, int count, Stream& stream) {
  MethodWorkspace<V> workspace;
  if (const auto* sweep = std::get_if<PersistentSweep<V>>(&method)) {
    workspace.sweep = sweep->make_workspace(stream);
  } else if (const auto* levels = std::get_if<LevelPowers<V>>(&method)) {
    workspace.levels = levels->make_workspace();
  } else {
    workspace.scratch = DeviceArray<V>(
        std::visit([&](const auto& matrix) { return matrix.scratch_elements(count); },
                   *std::get<SharedMatrix<V>>(method)));
  }
  return workspace;
}

template <Value V>
void run_powers(const Method<V>& method, std::span<const StepCoefficients<V>> coefficients,
                std::span<V* const> vectors, int count, MethodWorkspace<V>& workspace,
                Stream& stream) {
  if (const auto* sweep = std::get_if<PersistentSweep<V>>(&method)) {
    run_sweeps(*sweep, coefficients, vectors, workspace.sweep, stream);
  } else if (const auto* levels = std::get_if<LevelPowers<V>>(&method)) {
    levels->run(vectors, coefficients, workspace.levels, stream);
  } else {
    run_plain<V>(*std::get<SharedMatrix<V>>(method), coefficients, vectors, count,
                 workspace.scratch.span(), stream);
  }
}

template <Value V>
Offset bytes_of(const Method<V>& method) {
  const auto of_matrix = [](const StoredMatrix<V>& matrix) {
    return std::visit([](const auto& held) { return held.bytes(); }, matrix);
  };
  if (const auto* sweep = std::get_if<PersistentSweep<V>>(&method)) return sweep->bytes();
  if (const auto* levels = std::get_if<LevelPowers<V>>(&method)) return of_matrix(levels->matrix());
  return of_matrix(*std::get<SharedMatrix<V>>(method));
}

template <Value V>
StoredForm<V>::StoredForm(const Csr<V, I>& matrix, const StorageChoice& storage)
    : matrix_(matrix), storage_(storage) {
  const Footprint footprint = footprint_of(matrix, storage);
  if (storage.format == PowerFormat::ell) require_fill(footprint, kDefaultMaxFill, "ELLPACK");
  bytes_ = footprint.bytes();
  device_bytes_ = bytes_ + bookkeeping_bytes(matrix, storage, footprint);
}

template <Value V>
SharedMatrix<V> StoredForm<V>::on_device(Stream& stream) {
  SharedMatrix<V> matrix = uploaded_.lock();
  if (!matrix) {
    matrix = std::make_shared<const StoredMatrix<V>>(stored(matrix_, storage_, stream));
    uploaded_ = matrix;
  }
  return matrix;
}

template <Value V>
TiledForm<V>::TiledForm(std::shared_ptr<const PackedSell<V, I>> matrix, Offset tile_bytes,
                        int workers)
    : matrix_(std::move(matrix)),
      tile_bytes_(tile_bytes),
      tiles_(cut_slices(*matrix_, tile_bytes)),
      sweep_(inputs_of(*matrix_, tiles_), workers),
      sizes_(tile_stream_sizes(*matrix_, tiles_, sweep_), sweep_) {}

template <Value V>
Offset TiledForm<V>::device_bytes() const {
  const Offset presence = matrix_->presence().words().empty() ? 0 : sizes_.values / 8;
  return sizes_.record_bytes + sizes_.tiles * Offset{sizeof(RecordPlace)} + presence;
}

template <Value V>
std::shared_ptr<const DeviceTiles<V>> TiledForm<V>::on_device(Stream& stream) {
  std::shared_ptr<const DeviceTiles<V>> tiles = uploaded_.lock();
  if (!tiles) {
    tiles = std::make_shared<const DeviceTiles<V>>(TileStream<V>(*matrix_, tiles_, sweep_), sweep_,
                                                   stream);
    uploaded_ = tiles;
  }
  return tiles;
}

template <Value V>
std::shared_ptr<const PackedSell<V, I>> packed(const Csr<V, I>& matrix, Offset slice_height) {
  return std::make_shared<const PackedSell<V, I>>(
      PackedSell<V, I>::from_csr(matrix, {.slice_height = slice_height, .max_fill = kAnyFill}));
}

template <Value V>
Method<V> method_like(const Method<V>& method, const StorageChoice& storage,
                      const Csr<V, I>& in_order, Stream& stream) {
  if (const auto* sweep = std::get_if<PersistentSweep<V>>(&method)) {
    const SweepShape& shape = sweep->shape();
    TiledForm<V> form(packed(in_order, storage.slice_height), shape.tile_bytes, shape.workers);
    return PersistentSweep<V>(form.on_device(stream), shape);
  }
  SharedMatrix<V> matrix = StoredForm<V>(in_order, storage).on_device(stream);
  if (const auto* levels = std::get_if<LevelPowers<V>>(&method)) {
    return levels->with_matrix(std::move(matrix));
  }
  return matrix;
}

#define STRATA_INSTANTIATE(V, unused)                                                \
  template MethodWorkspace<V> workspace_of(const Method<V>&, int, Stream&);          \
  template void run_powers(const Method<V>&, std::span<const StepCoefficients<V>>,   \
                           std::span<V* const>, int, MethodWorkspace<V>&, Stream&);  \
  template Offset bytes_of(const Method<V>&);                                        \
  template class StoredForm<V>;                                                      \
  template class TiledForm<V>;                                                       \
  template std::shared_ptr<const PackedSell<V, I>> packed(const Csr<V, I>&, Offset); \
  template Method<V> method_like(const Method<V>&, const StorageChoice&, const Csr<V, I>&, Stream&)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu::detail
