#include "strata/tune/gpu/product_search.hpp"

#include <algorithm>
#include <memory>

#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/device/array.hpp"
#include "strata/device/error.hpp"
#include "strata/device/timing.hpp"
#include "strata/kernels/gpu/stored_product.hpp"
#include "strata/tune/internal/search.hpp"

namespace strata::gpu {

namespace {

constexpr Offset kMostSampleEntries = Offset{1} << 24;
constexpr Offset kFewestSampleEntries = Offset{1} << 18;
constexpr int kSampleRepetitions = 5;  // per candidate and round

template <Value V, Index I>
class GpuBackend {
 public:
  using value_type = V;
  using index_type = I;
  struct Stored {
    std::shared_ptr<const StoredProduct<V>> product;
    DeviceScratch<V> scratch;
  };

  static constexpr KernelTarget kTarget = KernelTarget::gpu;
  static constexpr bool kWriteAllocate = false;

  GpuBackend(const Csr<V, I>& matrix, const GpuProfile& profile, int vectors, Stream& stream)
      : profile_(profile),
        vectors_(vectors),
        stream_(stream),
        stopwatch_(device_stopwatch(stream)),
        x_(ones_on_device(elements(matrix.cols()), stream)) {}

  Offset sample_entries() const { return gpu::sample_entries(profile_, sizeof(V)); }

  std::unique_ptr<Stored> store(const Csr<V, I>& matrix, const ProductSpec& spec) {
    auto stored = std::make_unique<Stored>();
    stored->product = store_product(matrix, spec, stream_);
    stored->scratch = DeviceScratch<V>(stored->product->scratch_elements(vectors_));
    if (y_.size() < elements(matrix.rows())) y_ = DeviceArray<V>(elements(matrix.rows()));
    stream_.synchronize();
    return stored;
  }
  // A device that fails says nothing about the product.
  bool is_refusal(const Error& error) const {
    return dynamic_cast<const DeviceError*>(&error) == nullptr ||
           dynamic_cast<const DeviceOutOfMemory*>(&error) != nullptr;
  }
  Offset bytes_of(const Stored& stored) const { return stored.product->bytes(); }
  void run(Stored& stored) {
    stored.product->run({}, {x_.span(), {}, y_.span(), vectors_, stored.scratch.span()}, stream_);
  }

  int workers() const { return std::max(profile_.device.multiprocessors, 1); }
  double bandwidth(Offset working_set) const {
    // Sets that the L2 holds differ by the noise of the curve alone.
    if (working_set <= profile_.l2_bytes()) return profile_.l2_bandwidth();
    return profile_.read.empty() ? 0 : profile_.read_bandwidth(working_set);
  }

  TimingOptions sample_timing() const {
    return {.min_seconds = 0, .min_repetitions = kSampleRepetitions};
  }
  TimingOptions timing(double min_seconds) const {
    return {.min_seconds = min_seconds, .min_repetitions = kDeviceRepetitions};
  }
  const Stopwatch& stopwatch() const { return stopwatch_; }

 private:
  static DeviceArray<V> ones_on_device(Offset count, Stream& stream) {
    const Array<V> ones(static_cast<std::size_t>(count), V{1});
    auto on_device = to_device(std::span<const V>(ones), stream);
    stream.synchronize();
    return on_device;
  }

  Offset elements(Offset rows) const {
    return checked_multiply<Offset>(rows, vectors_, "the elements of vectors");
  }

  const GpuProfile& profile_;
  int vectors_;
  Stream& stream_;
  Stopwatch stopwatch_;
  DeviceArray<V> x_;
  DeviceArray<V> y_;
};

}  // namespace

Offset sample_entries(const GpuProfile& profile, Offset value_bytes) {
  const Offset of_entry = value_bytes + 2 * Offset{sizeof(std::int32_t)};
  return profile.l2_bytes() == 0 ? kMostSampleEntries
                                 : std::clamp(profile.l2_bytes() * 5 / 2 / of_entry,
                                              kFewestSampleEntries, kMostSampleEntries);
}

template <Value V, Index I>
ProductSearch search_products(const Csr<V, I>& matrix, const GpuProfile& profile,
                              const SearchOptions& options, Stream& stream) {
  strata::detail::require_sense(options);
  GpuBackend<V, I> device(matrix, profile, options.vectors, stream);
  return strata::detail::Search(matrix, device, options).run();
}

template <Value V, Index I>
std::vector<SearchedProduct> rank_products(const Csr<V, I>& matrix, const GpuProfile& profile,
                                           const SearchOptions& options, Stream& stream) {
  strata::detail::require_sense(options);
  GpuBackend<V, I> device(matrix, profile, options.vectors, stream);
  return strata::detail::Search(matrix, device, options).ranked();
}

#define STRATA_INSTANTIATE(V, I)                                                           \
  template ProductSearch search_products(const Csr<V, I>&, const GpuProfile&,              \
                                         const SearchOptions&, Stream&);                   \
  template std::vector<SearchedProduct> rank_products(const Csr<V, I>&, const GpuProfile&, \
                                                      const SearchOptions&, Stream&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::gpu
