#include "strata/plans/gpu/internal/methods.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/formats/registry.hpp"
#include "strata/kernels/gpu/device_matrix_of.hpp"
#include "strata/kernels/gpu/vector_operations.hpp"
#include "strata/plans/internal/planning.hpp"
#include "strata/plans/plan_formats.hpp"

namespace strata::gpu::detail {

namespace {

using I = std::int32_t;

// Formats whose kernels take any range of rows, which blocks of powers need.
template <class V, class Matrix>
concept RunsInPlans = HasDeviceMatrix<Matrix> && requires(const Matrix& host, Stream& stream) {
  StoredMatrix<V>(std::in_place_type<DeviceMatrix<Matrix>>, host, stream);
};

constexpr double kAnyFill = std::numeric_limits<double>::infinity();

// ELLPACK was refused before if it is hopeless; the others are chosen by their bytes.
template <Value V>
StoredMatrix<V> uploaded(const Csr<V, I>& matrix, const StoredFormat& stored_format,
                         Stream& stream) {
  return with_format(
      matrix, FormatSpec(stored_format),
      [&]<class Matrix>(const Matrix& host) -> StoredMatrix<V> {
        if constexpr (RunsInPlans<V, Matrix>) {
          return DeviceMatrix<Matrix>(host, stream);
        } else {
          throw InvalidArgument("plans on GPUs do not run in this format");
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

// previous: null where β is 0.
template <Value V, class Stored>
DeviceVectors<V> vectors_of(const Stored& stored, const V* x, const V* previous, V* y, int count,
                            ScratchSpan<V> scratch) {
  const Offset elements = Offset{stored.rows()} * count;
  return {{x, Offset{stored.cols()} * count},
          {previous, previous != nullptr ? elements : 0},
          {y, elements},
          count,
          scratch};
}

template <Value V>
void run_plain(const StoredMatrix<V>& stored, std::span<const StepCoefficients<V>> coefficients,
               std::span<V* const> vectors, const V* before, int count, ScratchSpan<V> scratch,
               Stream& stream) {
  std::visit(
      [&](const auto& matrix) {
        for (std::size_t k = 1; k <= coefficients.size(); ++k) {
          const V* previous = k >= 2 ? vectors[k - 2] : before;
          step(matrix, coefficients[k - 1],
               vectors_of<V>(matrix, vectors[k - 1], previous, vectors[k], count, scratch),
               matrix.all_rows(), stream);
        }
      },
      stored);
}

template <Value V, class Sweep>
void run_sweeps(const Sweep& sweep, std::span<const StepCoefficients<V>> coefficients,
                std::span<V* const> vectors, typename Sweep::Workspace& workspace, Stream& stream,
                const PowersSum<V>& sum) {
  int first = 0;
  for (const int block :
       strata::detail::blocks_of(static_cast<int>(coefficients.size()), sweep.shape().power)) {
    SweepSteps<V> steps;
    steps.vectors.assign(vectors.begin() + first, vectors.begin() + first + block + 1);
    if (first > 0) steps.before = vectors[first - 1];
    steps.steps.assign(coefficients.begin() + first, coefficients.begin() + first + block);
    steps.sum = sum.after(static_cast<std::size_t>(first));
    sweep.run(steps, workspace, stream);
    first += block;
  }
}

// Powers one by one, run_one(k), and after as many as are kept a pass that adds all of them to the
// sum, which is read and written once for them. Kernels that add up their own would move hardly
// fewer bytes, and these keep their registers.
template <Value V, class RunOne>
void run_summed(std::span<V* const> vectors, int kept, Offset elements, const PowersSum<V>& sum,
                Stream& stream, const RunOne& run_one) {
  const std::size_t power = vectors.size() - 1;
  std::vector<Summand<V>> summands;
  if (sum.starts) summands.push_back({sum.start, {vectors[0], elements}});
  bool adds = !sum.starts;
  for (std::size_t k = 1; k <= power; ++k) {
    run_one(k);
    summands.push_back({sum.coefficients[k - 1], {vectors[k], elements}});
    if (k % static_cast<std::size_t>(kept) != 0 && k < power) continue;
    weighted_sum<V>(summands, adds, {sum.target, elements}, stream);
    adds = true;
    summands.clear();
  }
}

}  // namespace

template <Value V>
int kept_for_sum(const Method<V>& method, int power) {
  constexpr int kMost = 6;  // of weighted_sum, beside y_0
  if (kept_for_last(method) > 1) return kept_for_last(method);
  return std::holds_alternative<PersistentSweep<V>>(method) ? 2 : std::clamp(power, 2, kMost);
}

template <Value V>
int kept_for_last(const Method<V>& method) {
  const auto* sweep = std::get_if<FlaggedSweep<V>>(&method);
  return sweep != nullptr ? sweep->shape().power + 2 : 1;
}

template <Value V>
MethodWorkspace<V> workspace_of(const Method<V>& method, int count, Stream& stream) {
  MethodWorkspace<V> workspace;
  if (const auto* sweep = std::get_if<PersistentSweep<V>>(&method)) {
    workspace.sweep = sweep->make_workspace(stream);
  } else if (const auto* flagged = std::get_if<FlaggedSweep<V>>(&method)) {
    workspace.flagged = flagged->make_workspace(stream);
  } else if (const auto* levels = std::get_if<LevelPowers<V>>(&method)) {
    workspace.levels = levels->make_workspace();
  } else if (const auto* product = std::get_if<SharedProduct<V>>(&method)) {
    workspace.scratch = DeviceScratch<V>((*product)->scratch_elements(count));
  } else {
    workspace.scratch = DeviceScratch<V>(
        std::visit([&](const auto& matrix) { return matrix.scratch_elements(count); },
                   *std::get<SharedMatrix<V>>(method)));
  }
  return workspace;
}

template <Value V>
void run_powers(const Method<V>& method, std::span<const StepCoefficients<V>> coefficients,
                std::span<V* const> vectors, int count, MethodWorkspace<V>& workspace,
                Stream& stream, const PowersSum<V>& sum) {
  const int kept = kept_for_sum(method, static_cast<int>(vectors.size()) - 1);
  if (const auto* sweep = std::get_if<PersistentSweep<V>>(&method)) {
    run_sweeps(*sweep, coefficients, vectors, workspace.sweep, stream, sum);
  } else if (const auto* flagged = std::get_if<FlaggedSweep<V>>(&method)) {
    run_sweeps(*flagged, coefficients, vectors, workspace.flagged, stream, sum);
  } else if (const auto* levels = std::get_if<LevelPowers<V>>(&method)) {
    if (sum.target == nullptr) {
      levels->run(vectors, coefficients, workspace.levels, stream);
      return;
    }
    const Offset elements = std::visit(
        [&](const auto& matrix) { return Offset{matrix.rows()} * count; }, levels->matrix());
    run_summed<V>(vectors, kept, elements, sum, stream, [&](std::size_t k) {
      levels->run_one(coefficients[k - 1], k >= 2 ? vectors[k - 2] : nullptr, vectors[k - 1],
                      vectors[k], workspace.levels, stream);
    });
  } else if (const auto* product = std::get_if<SharedProduct<V>>(&method)) {
    (*product)->run(
        coefficients.front(),
        vectors_of<V>(**product, vectors[0], nullptr, vectors[1], count, workspace.scratch.span()),
        stream);
  } else {
    const StoredMatrix<V>& matrix = *std::get<SharedMatrix<V>>(method);
    if (sum.target == nullptr) {
      run_plain<V>(matrix, coefficients, vectors, nullptr, count, workspace.scratch.span(), stream);
      return;
    }
    const Offset elements =
        std::visit([&](const auto& stored) { return Offset{stored.rows()} * count; }, matrix);
    run_summed<V>(vectors, kept, elements, sum, stream, [&](std::size_t k) {
      run_plain<V>(matrix, coefficients.subspan(k - 1, 1), vectors.subspan(k - 1, 2),
                   k >= 2 ? vectors[k - 2] : nullptr, count, workspace.scratch.span(), stream);
    });
  }
}

template <Value V>
void require_ended(const Method<V>& method, MethodWorkspace<V>& workspace, Stream& stream) {
  if (const auto* sweep = std::get_if<PersistentSweep<V>>(&method)) {
    sweep->require_ended(workspace.sweep, stream);
  } else if (const auto* flagged = std::get_if<FlaggedSweep<V>>(&method)) {
    flagged->require_ended(workspace.flagged, stream);
  }
}

template <Value V>
void run_product(const Method<V>& method, const StepCoefficients<V>& coefficients, const V* x, V* y,
                 int count, MethodWorkspace<V>& workspace, Stream& stream) {
  if (const auto* product = std::get_if<SharedProduct<V>>(&method)) {
    (*product)->run(coefficients,
                    vectors_of<V>(**product, x, y, y, count, workspace.scratch.span()), stream);
    return;
  }
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
  if (const auto* flagged = std::get_if<FlaggedSweep<V>>(&method)) return flagged->bytes();
  if (const auto* levels = std::get_if<LevelPowers<V>>(&method)) return of_matrix(levels->matrix());
  if (const auto* product = std::get_if<SharedProduct<V>>(&method)) {
    return (*product)->device_bytes();
  }
  return of_matrix(*std::get<SharedMatrix<V>>(method));
}

namespace {

template <Value V>
ValueStorage values_in(const PackedSellSlices<V, I>& slices, double seconds) {
  ValueStorage values = value_storage_of<V>(slices.footprint(), slice_encodings(slices));
  values.distinct = std::max<Offset>(slices.table().distinct(), 0);
  values.seconds = seconds;
  return values;
}

PackedSellOptions packed_options(const StoredFormat& stored_format, bool runs) {
  PackedSellOptions options = options_of<PackedSellOptions>(FormatSpec(stored_format), kAnyFill);
  options.allowed.runs = runs;
  return options;
}

}  // namespace

template <Value V>
ValueStorage values_of(const Slices<V>& slices) {
  return values_in<V>(slices.matrix, slices.seconds);
}

template <Value V>
SharedSlices<V> Conversions<V>::packed(const StoredFormat& stored_format, bool runs) {
  if (SharedSlices<V> slices = held(stored_format, runs)) return slices;
  const PackedSellOptions options = packed_options(stored_format, runs);
  const double started = strata::detail::now();
  auto slices = std::make_shared<Slices<V>>();
  slices->matrix = PackedSell<V, I>::from_csr(matrix_, options);
  slices->seconds = strata::detail::now() - started;
  made_.push_back({stored_format, runs, slices});
  return slices;
}

template <Value V>
SharedSlices<V> Conversions<V>::held(const StoredFormat& stored_format, bool runs) const {
  for (const Made& made : made_) {
    if (made.stored != stored_format) continue;
    SharedSlices<V> slices = made.slices.lock();
    if (slices && (made.runs == runs || slices->matrix.run_length() == 1)) return slices;
  }
  return nullptr;
}

template <Value V>
StoredForm<V>::StoredForm(std::shared_ptr<Conversions<V>> conversions,
                          const StoredFormat& stored_format)
    : conversions_(std::move(conversions)), stored_(stored_format) {
  find_bytes();
}

template <Value V>
StoredForm<V>::StoredForm(std::shared_ptr<Conversions<V>> conversions,
                          const StoredFormat& stored_format, Offset estimated_bytes)
    : conversions_(std::move(conversions)),
      stored_(stored_format),
      estimated_(true),
      bytes_(estimated_bytes),
      device_bytes_(estimated_bytes) {}

template <Value V>
void StoredForm<V>::find_bytes() {
  const Footprint footprint = find_footprint();
  if (stored_.format == Format::ell) require_fill(footprint, kDefaultMaxFill, "ELLPACK");
  bytes_ = footprint.bytes();
  device_bytes_ = bytes_ + bookkeeping_bytes(conversions_->matrix(), stored_, footprint);
  estimated_ = false;
}

template <Value V>
Footprint StoredForm<V>::find_footprint() {
  const Csr<V, I>& matrix = conversions_->matrix();
  const FormatSpec spec(stored_);
  if (stored_.format != Format::packed_sell) return strata::footprint(matrix, spec);
  slices_ = stored_.values == StoredValues::full ? conversions_->held(stored_)
                                                 : conversions_->packed(stored_);
  if (slices_) {
    values_ = values_of(*slices_);
  } else {
    const auto forecast = PackedSell<V, I>::forecast(matrix, options_of<PackedSellOptions>(spec));
    values_ = value_storage_of<V>(
        forecast.footprint,
        slice_encodings(forecast.encoding_counts, forecast.value_encoding_counts));
  }
  return values_->footprint;
}

template <Value V>
SharedMatrix<V> StoredForm<V>::on_device(Stream& stream) {
  SharedMatrix<V> matrix = uploaded_.lock();
  if (!matrix) {
    const bool packed = stored_.format == Format::packed_sell;
    const bool streamed = packed && is_streamed();
    // What is converted need not be counted before.
    if (estimated_ && packed && !streamed) slices_ = conversions_->packed(stored_);
    if (estimated_ && !streamed) find_bytes();
    matrix = std::make_shared<const StoredMatrix<V>>(
        streamed ? streamed_slices(stream)
        : packed ? uploaded_slices(stream)
                 : uploaded(conversions_->matrix(), stored_, stream));
    uploaded_ = matrix;
  }
  return matrix;
}

// Whether nobody holds slices that take as much memory as the matrix.
template <Value V>
bool StoredForm<V>::is_streamed() const {
  return stored_.values == StoredValues::full && !slices_ && conversions_->held(stored_) == nullptr;
}

template <Value V>
StoredMatrix<V> StoredForm<V>::streamed_slices(Stream& stream) {
  const double started = strata::detail::now();
  const PackedSellConversion<V, I> conversion(conversions_->matrix(),
                                              packed_options(stored_, true));
  values_ = values_in(conversion.slices(), 0);
  bytes_ = values_->footprint.bytes();
  device_bytes_ = bytes_ + bookkeeping_bytes(conversions_->matrix(), stored_, values_->footprint);
  estimated_ = false;
  StoredMatrix<V> matrix = DevicePackedSell<V>(conversion, stream);
  values_->seconds = strata::detail::now() - started;
  return matrix;
}

template <Value V>
StoredMatrix<V> StoredForm<V>::uploaded_slices(Stream& stream) {
  const SharedSlices<V> slices = slices_ ? slices_ : conversions_->packed(stored_);
  const double started = strata::detail::now();
  StoredMatrix<V> matrix = DeviceMatrix<PackedSell<V, I>>(slices->matrix, stream);
  values_->seconds = slices->seconds + strata::detail::now() - started;
  slices_ = nullptr;
  return matrix;
}

template <Value V>
SharedProduct<V> ProductForm<V>::on_device(Stream& stream) {
  SharedProduct<V> product = uploaded_.lock();
  if (!product) {
    product = store_product(conversions_->matrix(), spec_, stream);
    bytes_ = product->bytes();
    device_bytes_ = product->device_bytes();
    uploaded_ = product;
  }
  return product;
}

std::optional<StoredFormat> stored_format_of(const ProductSpec& spec) {
  const FormatSpec& format = spec.format;
  if (!spec.kernel.empty() || !plans_run_in(format.format(), KernelTarget::gpu) ||
      !has_kernel(format, KernelTarget::gpu)) {
    return std::nullopt;
  }
  const StoredFormat stored{format.format(), format.parameter("slice_height").value_or(1),
                            static_cast<StoredValues>(format.parameter("values").value_or(0))};
  if (FormatSpec(stored) != format) return std::nullopt;
  return stored;
}

template <Value V>
TiledForm<V>::TiledForm(SharedSlices<V> slices, Offset tile_bytes, int workers)
    : slices_(std::move(slices)),
      tile_bytes_(tile_bytes),
      tiles_(cut_slices(slices_->matrix, tile_bytes)),
      sweep_(inputs_of(slices_->matrix, tiles_), workers),
      sizes_(tile_stream_sizes(slices_->matrix, tiles_, sweep_), sweep_) {}

template <Value V>
Offset TiledForm<V>::device_bytes() const {
  const Offset presence = slices_->matrix.presence().words().empty() ? 0 : sizes_.values / 8;
  const Offset table = sizes_.table_values * Offset{sizeof(V)};
  return sizes_.record_bytes + sizes_.tiles * Offset{sizeof(RecordPlace)} + presence + table;
}

template <Value V>
std::shared_ptr<const DeviceTiles<V>> TiledForm<V>::on_device(Stream& stream) {
  std::shared_ptr<const DeviceTiles<V>> tiles = uploaded_.lock();
  if (!tiles) {
    const double started = strata::detail::now();
    tiles = std::make_shared<const DeviceTiles<V>>(TileStream<V>(slices_->matrix, tiles_, sweep_),
                                                   sweep_, stream);
    upload_seconds_ = strata::detail::now() - started;
    uploaded_ = tiles;
  }
  return tiles;
}

template <Value V>
std::shared_ptr<const FlaggedTiles<V>> FlaggedTilesForm<V>::on_device(Stream& stream) {
  std::shared_ptr<const FlaggedTiles<V>> tiles = uploaded_.lock();
  if (!tiles) {
    tiles = std::make_shared<const FlaggedTiles<V>>(stream_, workers_, stream);
    uploaded_ = tiles;
  }
  return tiles;
}

template <Value V>
std::optional<ValueStorage> TiledForm<V>::values() const {
  ValueStorage values = values_of(*slices_);
  values.seconds += upload_seconds_;
  return values;
}

namespace {

// Values that take more bytes than those that the shape was chosen for may leave too few tiles.
template <class LayOut>
bool holds_window(const LayOut& lay_out) {
  try {
    lay_out();
    return true;
  } catch (const InvalidArgument&) {
    return false;
  }
}

}  // namespace

template <Value V>
MethodOfValues<V> method_like(const Method<V>& method, const StoredFormat& stored_format,
                              const Csr<V, I>& in_order, Stream& stream) {
  if (const auto* flagged = std::get_if<FlaggedSweep<V>>(&method)) {
    // On the same pattern the tiles are the same, but that other values may be mirrored in fewer.
    FlaggedTilesForm<V> form(in_order, flagged->form(), flagged->workers());
    if (holds_window([&] { lay_out_flagged(form.tiles(), flagged->shape(), form.workers()); })) {
      return {FlaggedSweep<V>(form.on_device(stream), flagged->shape()), form.values(),
              form.tiles().record_bytes};
    }
  }
  const auto conversions = std::make_shared<Conversions<V>>(in_order);
  // Held, so that it is converted once, whatever becomes of it. Of plain products full values are
  // not converted in the host's memory at all.
  SharedSlices<V> slices;
  const bool sweeps = std::holds_alternative<PersistentSweep<V>>(method);
  if (stored_format.format == Format::packed_sell &&
      (sweeps || stored_format.values != StoredValues::full)) {
    slices = conversions->packed(stored_format, !sweeps);
  }
  if (const auto* sweep = std::get_if<PersistentSweep<V>>(&method)) {
    const SweepShape& shape = sweep->shape();
    TiledForm<V> form(slices, shape.tile_bytes, shape.workers);
    if (holds_window([&] { lay_out_sweep(form.tiles(), shape); })) {
      return {PersistentSweep<V>(form.on_device(stream), shape), form.values(),
              form.tiles().record_bytes};
    }
  }
  // What is converted need not be counted before.
  StoredForm<V> form(conversions, stored_format, 0);
  MethodOfValues<V> made{form.on_device(stream), form.values(), form.bytes()};
  if (const auto* levels = std::get_if<LevelPowers<V>>(&method)) {
    made.method = levels->with_matrix(std::get<SharedMatrix<V>>(made.method));
  }
  return made;
}

#define STRATA_INSTANTIATE(V, unused)                                                             \
  template int kept_for_sum(const Method<V>&, int);                                               \
  template int kept_for_last(const Method<V>&);                                                   \
  template void require_ended(const Method<V>&, MethodWorkspace<V>&, Stream&);                    \
  template MethodWorkspace<V> workspace_of(const Method<V>&, int, Stream&);                       \
  template void run_powers(const Method<V>&, std::span<const StepCoefficients<V>>,                \
                           std::span<V* const>, int, MethodWorkspace<V>&, Stream&,                \
                           const PowersSum<V>&);                                                  \
  template void run_product(const Method<V>&, const StepCoefficients<V>&, const V*, V*, int,      \
                            MethodWorkspace<V>&, Stream&);                                        \
  template Offset bytes_of(const Method<V>&);                                                     \
  template ValueStorage values_of(const Slices<V>&);                                              \
  template class Conversions<V>;                                                                  \
  template class StoredForm<V>;                                                                   \
  template class ProductForm<V>;                                                                  \
  template class TiledForm<V>;                                                                    \
  template class FlaggedTilesForm<V>;                                                             \
  template MethodOfValues<V> method_like(const Method<V>&, const StoredFormat&, const Csr<V, I>&, \
                                         Stream&)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu::detail
