#include "strata/plans/gpu/internal/methods.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/formats/registry.hpp"
#include "strata/kernels/gpu/device_matrix_of.hpp"
#include "strata/plans/internal/planning.hpp"

namespace strata::gpu::detail {

namespace {

using I = std::int32_t;

constexpr double kAnyFill = std::numeric_limits<double>::infinity();

// ELLPACK was refused before if it is hopeless; the others are chosen by their bytes.
template <Value V>
StoredMatrix<V> uploaded(const Csr<V, I>& matrix, const StoredFormat& stored_format,
                         Stream& stream) {
  return with_format(
      matrix, FormatSpec(stored_format),
      [&]<class Matrix>(const Matrix& host) -> StoredMatrix<V> {
        if constexpr (HasDeviceMatrix<Matrix>) {
          return DeviceMatrix<Matrix>(host, stream);
        } else {
          throw InvalidArgument("GPUs have no kernels for this format");
        }
      },
      kAnyFill);
}

// What no product reads but finishing the rows does: the lengths of padded rows, or a bit for every
// value that tells padding from entries.
template <Value V>
Offset bookkeeping_bytes(const Csr<V, I>& matrix, const StoredFormat& stored_format,
                         const Footprint& footprint) {
  switch (stored_format.format) {
    case Format::csr: return 0;
    case Format::packed_sell: return footprint.stored_entries / 8;
    default: return matrix.rows() * Offset{sizeof(I)};
  }
}

template <Value V>
void run_plain(const StoredMatrix<V>& stored, std::span<const StepCoefficients<V>> coefficients,
               std::span<V* const> vectors, const V* before, int count, DeviceSpan<V> scratch,
               Stream& stream) {
  std::visit(
      [&](const auto& matrix) {
        const Offset elements = Offset{matrix.rows()} * count;
        for (std::size_t k = 1; k <= coefficients.size(); ++k) {
          const V* previous = k >= 2 ? vectors[k - 2] : before;
          step(matrix, coefficients[k - 1],
               {{vectors[k - 1], Offset{matrix.cols()} * count},
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
    run_plain<V>(*std::get<SharedMatrix<V>>(method), coefficients, vectors, nullptr, count,
                 workspace.scratch.span(), stream);
  }
}

template <Value V>
void run_product(const Method<V>& method, const StepCoefficients<V>& coefficients, const V* x, V* y,
                 int count, MethodWorkspace<V>& workspace, Stream& stream) {
  const std::array<V*, 2> vectors{const_cast<V*>(x), y};
  run_plain<V>(*std::get<SharedMatrix<V>>(method), {&coefficients, 1}, vectors, y, count,
               workspace.scratch.span(), stream);
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
StoredForm<V>::StoredForm(const Csr<V, I>& matrix, const StoredFormat& stored_format)
    : matrix_(matrix), stored_(stored_format) {
  const FormatSpec spec(stored_format);
  Footprint footprint;
  if (stored_format.format == Format::packed_sell) {
    const auto forecast = PackedSell<V, I>::forecast(matrix, options_of<PackedSellOptions>(spec));
    footprint = forecast.footprint;
    values_ = value_storage_of<V>(
        footprint, slice_encodings(forecast.encoding_counts, forecast.value_encoding_counts));
  } else {
    footprint = strata::footprint(matrix, spec);
  }
  if (stored_format.format == Format::ell) require_fill(footprint, kDefaultMaxFill, "ELLPACK");
  bytes_ = footprint.bytes();
  device_bytes_ = bytes_ + bookkeeping_bytes(matrix, stored_format, footprint);
}

template <Value V>
SharedMatrix<V> StoredForm<V>::on_device(Stream& stream) {
  SharedMatrix<V> matrix = uploaded_.lock();
  if (!matrix) {
    const double started = strata::detail::now();
    matrix = std::make_shared<const StoredMatrix<V>>(uploaded(matrix_, stored_, stream));
    if (values_) values_->seconds = strata::detail::now() - started;
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
  const Offset table = sizes_.table_values * Offset{sizeof(V)};
  return sizes_.record_bytes + sizes_.tiles * Offset{sizeof(RecordPlace)} + presence + table;
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
std::shared_ptr<const PackedSell<V, I>> packed(const Csr<V, I>& matrix, Offset slice_height,
                                               StoredValues values) {
  return std::make_shared<const PackedSell<V, I>>(
      PackedSell<V, I>::from_csr(matrix, {.slice_height = slice_height,
                                          .max_fill = kAnyFill,
                                          .allowed = {.runs = false},
                                          .values = AllowedValues::of(values)}));
}

namespace {

// Values that take more bytes than those that the shape was chosen for may leave too few tiles.
bool holds_window(const SweepTiles& tiles, const SweepShape& shape) {
  try {
    lay_out_sweep(tiles, shape);
    return true;
  } catch (const InvalidArgument&) {
    return false;
  }
}

}  // namespace

template <Value V>
Method<V> method_like(const Method<V>& method, const StoredFormat& stored_format,
                      const Csr<V, I>& in_order, Stream& stream) {
  if (const auto* sweep = std::get_if<PersistentSweep<V>>(&method)) {
    const SweepShape& shape = sweep->shape();
    TiledForm<V> form(packed(in_order, stored_format.slice_height, stored_format.values),
                      shape.tile_bytes, shape.workers);
    if (holds_window(form.tiles(), shape)) return PersistentSweep<V>(form.on_device(stream), shape);
  }
  SharedMatrix<V> matrix = StoredForm<V>(in_order, stored_format).on_device(stream);
  if (const auto* levels = std::get_if<LevelPowers<V>>(&method)) {
    return levels->with_matrix(std::move(matrix));
  }
  return matrix;
}

#define STRATA_INSTANTIATE(V, unused)                                                              \
  template MethodWorkspace<V> workspace_of(const Method<V>&, int, Stream&);                        \
  template void run_powers(const Method<V>&, std::span<const StepCoefficients<V>>,                 \
                           std::span<V* const>, int, MethodWorkspace<V>&, Stream&);                \
  template void run_product(const Method<V>&, const StepCoefficients<V>&, const V*, V*, int,       \
                            MethodWorkspace<V>&, Stream&);                                         \
  template Offset bytes_of(const Method<V>&);                                                      \
  template class StoredForm<V>;                                                                    \
  template class TiledForm<V>;                                                                     \
  template std::shared_ptr<const PackedSell<V, I>> packed(const Csr<V, I>&, Offset, StoredValues); \
  template Method<V> method_like(const Method<V>&, const StoredFormat&, const Csr<V, I>&, Stream&)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu::detail
