// The ways to compute powers on a GPU that a plan chooses from, made of a matrix and run.
//
// A form is a matrix as a method runs on it. What it will take on the device is known before it is
// there; it is uploaded when a method is made of it, and shared with those that still hold it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/device/stream.hpp"
#include "strata/execute/gpu/flagged_sweep.hpp"
#include "strata/execute/gpu/level_powers.hpp"
#include "strata/execute/gpu/persistent_sweep.hpp"
#include "strata/execute/gpu/powers_sum.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/packed_sell.hpp"
#include "strata/kernels/gpu/stored_product.hpp"
#include "strata/plans/candidate.hpp"
#include "strata/plans/plan_options.hpp"

namespace strata::gpu::detail {

template <Value V>
using SharedMatrix = std::shared_ptr<const StoredMatrix<V>>;
template <Value V>
using SharedProduct = std::shared_ptr<const StoredProduct<V>>;

// Plain products, a wavefront sweep of either kind per block of powers, or level by level; or one
// product in a format or with a kernel that powers do not run in.
template <Value V>
using Method = std::variant<SharedMatrix<V>, PersistentSweep<V>, LevelPowers<V>, SharedProduct<V>,
                            FlaggedSweep<V>>;

// Device memory that one run of a method at a time needs.
template <Value V>
struct MethodWorkspace {
  DeviceScratch<V> scratch;  // of plain products
  typename PersistentSweep<V>::Workspace sweep;
  typename FlaggedSweep<V>::Workspace flagged;
  typename LevelPowers<V>::Workspace levels;

  Offset bytes() const {
    return scratch.bytes() + sweep.bytes() + flagged.bytes() + levels.bytes();
  }
};

// How many vectors powers take turns in while they are added up, power k in vector k mod so many.
// Sweeps add up in their kernels: with signals they need two, and where values are flags one for
// every power of a sweep and those before it. Others are added up by a pass for so many.
template <Value V>
int kept_for_sum(const Method<V>& method, int power);
// The same where only the last power is of use; 1: all alternate between that and the result.
template <Value V>
int kept_for_last(const Method<V>& method);

// count: vectors side by side.
template <Value V>
MethodWorkspace<V> workspace_of(const Method<V>& method, int count, Stream& stream);

// As many powers as there are coefficients, in the order of the stream. vectors: y_0 … y_p, each of
// rows × count elements. Sweeps add to the sum in their kernels; others after as many powers as
// kept_for_sum says, which have to be in vectors of their own.
template <Value V>
void run_powers(const Method<V>& method, std::span<const StepCoefficients<V>> coefficients,
                std::span<V* const> vectors, int count, MethodWorkspace<V>& workspace,
                Stream& stream, const PowersSum<V>& sum = {});

// After the stream was synchronised: throws DeviceError if a watchdog stopped a sweep.
template <Value V>
void require_ended(const Method<V>& method, MethodWorkspace<V>& workspace, Stream& stream);

// y = αAx + βy with a method that is plain products.
template <Value V>
void run_product(const Method<V>& method, const StepCoefficients<V>& coefficients, const V* x, V* y,
                 int count, MethodWorkspace<V>& workspace, Stream& stream);

// On the device.
template <Value V>
Offset bytes_of(const Method<V>& method);

// A matrix that was converted to packed SELL, and how long that took.
template <Value V>
struct Slices {
  PackedSell<V, std::int32_t> matrix;
  double seconds = 0;
};
template <Value V>
using SharedSlices = std::shared_ptr<const Slices<V>>;

// How packed SELL stores the values.
template <Value V>
ValueStorage values_of(const Slices<V>& slices);

// Conversions of one matrix to packed SELL, however much padding that needs: its bytes are part of
// every prediction. What somebody holds is not converted again.
template <Value V>
class Conversions {
 public:
  // The matrix must outlive the conversions.
  explicit Conversions(const Csr<V, std::int32_t>& matrix) : matrix_(matrix) {}

  const Csr<V, std::int32_t>& matrix() const { return matrix_; }
  // The format is packed SELL. runs: whether slices may have runs of columns, which sweeps do not
  // take.
  SharedSlices<V> packed(const StoredFormat& stored_format, bool runs = true);
  // None if nobody holds it.
  SharedSlices<V> held(const StoredFormat& stored_format, bool runs = true) const;

 private:
  struct Made {
    StoredFormat stored;
    bool runs;
    std::weak_ptr<const Slices<V>> slices;
  };

  const Csr<V, std::int32_t>& matrix_;
  std::vector<Made> made_;
};

// A matrix in a format with kernels for ranges of rows. Slices of encoded values are held until
// they are on the device: they take less than the matrix itself, and encoding them takes long.
// Those of full values take as much, and are written on the way there unless somebody holds them.
template <Value V>
class StoredForm {
 public:
  // Throws InvalidArgument where ELLPACK would be mostly padding.
  StoredForm(std::shared_ptr<Conversions<V>> conversions, const StoredFormat& stored_format);
  // With so many bytes, about: nothing is counted or encoded before it has to be on the device.
  StoredForm(std::shared_ptr<Conversions<V>> conversions, const StoredFormat& stored_format,
             Offset estimated_bytes);

  const StoredFormat& stored() const { return stored_; }
  const std::optional<ValueStorage>& values() const { return values_; }  // of packed SELL
  Offset bytes() const { return bytes_; }                                // that a product reads
  Offset device_bytes() const { return device_bytes_; }                  // with all that goes along
  SharedMatrix<V> on_device(Stream& stream);

 private:
  void find_bytes();
  Footprint find_footprint();
  bool is_streamed() const;
  StoredMatrix<V> uploaded_slices(Stream& stream);
  StoredMatrix<V> streamed_slices(Stream& stream);

  std::shared_ptr<Conversions<V>> conversions_;
  StoredFormat stored_;
  SharedSlices<V> slices_;
  bool estimated_ = false;  // the bytes
  Offset bytes_ = 0;
  Offset device_bytes_ = 0;
  std::optional<ValueStorage> values_;
  std::weak_ptr<const StoredMatrix<V>> uploaded_;
};

// A matrix in any format with kernels, of products alone. It is converted when it has to be on the
// device; until then its bytes are an estimate.
template <Value V>
class ProductForm {
 public:
  ProductForm(std::shared_ptr<Conversions<V>> conversions, ProductSpec product_spec,
              Offset estimated_bytes)
      : conversions_(std::move(conversions)),
        spec_(std::move(product_spec)),
        bytes_(estimated_bytes),
        device_bytes_(estimated_bytes) {}

  const ProductSpec& spec() const { return spec_; }
  std::optional<ValueStorage> values() const { return std::nullopt; }
  Offset bytes() const { return bytes_; }
  Offset device_bytes() const { return device_bytes_; }
  // Throws what store_product throws.
  SharedProduct<V> on_device(Stream& stream);

 private:
  std::shared_ptr<Conversions<V>> conversions_;
  ProductSpec spec_;
  Offset bytes_;
  Offset device_bytes_;
  std::weak_ptr<const StoredProduct<V>> uploaded_;
};

// How a product is stored for plans of powers as well; none if it is not.
std::optional<StoredFormat> stored_format_of(const ProductSpec& spec);

// A matrix in tiles that are dealt out to workers.
template <Value V>
class TiledForm {
 public:
  TiledForm(SharedSlices<V> slices, Offset tile_bytes, int workers);

  const SweepTiles& tiles() const { return sizes_; }
  std::optional<ValueStorage> values() const;
  Offset tile_bytes() const { return tile_bytes_; }
  Offset device_bytes() const;
  std::shared_ptr<const DeviceTiles<V>> on_device(Stream& stream);

 private:
  SharedSlices<V> slices_;
  Offset tile_bytes_;
  SliceTiles tiles_;
  WorkerSweep sweep_;
  SweepTiles sizes_;
  double upload_seconds_ = 0;
  std::weak_ptr<const DeviceTiles<V>> uploaded_;
};

// A matrix in tiles for sweeps in which values are flags. They are cut at once, for only they tell
// how many there are and how far apart those that need each other, and written on the way to the
// device.
template <Value V>
class FlaggedTilesForm {
 public:
  // The matrix must outlive it. Throws what FlaggedStream throws.
  FlaggedTilesForm(const Csr<V, std::int32_t>& matrix, const FlaggedForm& form, int workers)
      : stream_(matrix, form, workers), workers_(workers) {}

  const FlaggedSizes& tiles() const { return stream_; }
  int workers() const { return workers_; }
  std::optional<ValueStorage> values() const { return std::nullopt; }
  Offset device_bytes() const {
    return stream_.record_bytes + std::ssize(stream_.places()) * Offset{sizeof(FlaggedPlace)} +
           stream_.presence_words() * Offset{sizeof(std::uint64_t)};
  }
  std::shared_ptr<const FlaggedTiles<V>> on_device(Stream& stream);

 private:
  FlaggedStream<V> stream_;
  int workers_;
  std::weak_ptr<const FlaggedTiles<V>> uploaded_;
};

// A method, and how it stores the matrix.
template <Value V>
struct MethodOfValues {
  Method<V> method;
  std::optional<ValueStorage> values;
  Offset format_bytes = 0;
};
// The same method for other values, from the matrix in the plan's order; but plain products where a
// wavefront sweep has no room for a window of values that take more bytes.
template <Value V>
MethodOfValues<V> method_like(const Method<V>& method, const StoredFormat& stored_format,
                              const Csr<V, std::int32_t>& in_order, Stream& stream);

}  // namespace strata::gpu::detail
