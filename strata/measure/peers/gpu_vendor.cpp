// The library of the GPU's vendor as a peer: cuSPARSE, where this build has it.

#include "strata/base/instantiate.hpp"
#include "strata/measure/gpu/peers.hpp"
#ifdef STRATA_HAS_VENDOR
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <limits>

#include "strata/base/error.hpp"
#include "strata/formats/bcsr.hpp"
#include "strata/formats/coo.hpp"
#include "strata/formats/sell.hpp"
#include "strata/kernels/gpu/device_bcsr.hpp"
#include "strata/kernels/gpu/device_coo.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"
#include "strata/vendor/spmv.hpp"
#endif

namespace strata::gpu {

#ifdef STRATA_HAS_VENDOR

namespace {

constexpr Offset kSliceHeight = 32;
constexpr std::array<Offset, 4> kBlockSizes{2, 3, 4, 6};
// A value and its column are 12 bytes of CSR in double precision and at least 8 of BSR: with more
// values than this for each nonzero, BSR moves more bytes than CSR.
constexpr double kMaxBlockFill = 1.5;

// The library reads offsets of 32 bits where that is enough.
Offset offset_bytes(std::span<const Offset> offsets) {
  const bool narrow = offsets.back() <= std::numeric_limits<std::int32_t>::max();
  return std::ssize(offsets) * (narrow ? 4 : 8);
}

template <Value V>
Offset entry_bytes(Offset entries) {
  return entries * Offset{sizeof(V) + sizeof(std::int32_t)};
}

// `matrix` is what the product uses and has to stay.
template <Value V, Index I, class Matrix>
auto multiply_by(std::shared_ptr<vendor::VendorSpmv<V>> product,
                 std::shared_ptr<const Matrix> matrix, const PeerSource<V, I>& source) {
  return [product = std::move(product), matrix = std::move(matrix), &stream = source.stream](
             V alpha, DeviceSpan<const V> x, DeviceSpan<V> y) {
    product->apply(alpha, x, V{}, y, stream);
  };
}

template <Value V, Index I>
void prepare_csr(DevicePeer<V>& peer, const PeerSource<V, I>& source,
                 vendor::CsrAlgorithm algorithm) {
  const Csr<V, I>& matrix = source.matrix;
  const auto stored = source.on_device();
  auto product = std::make_shared<vendor::VendorSpmv<V>>(matrix, *stored, algorithm, source.stream);
  peer.bytes = entry_bytes<V>(matrix.nnz()) + offset_bytes(matrix.row_offsets());
  peer.multiply = multiply_by(std::move(product), stored, source);
}

template <Value V, Index I>
void prepare_sell(DevicePeer<V>& peer, const PeerSource<V, I>& source) {
  const auto host = Sell<V, I>::from_csr(source.matrix, {.slice_height = kSliceHeight});
  const auto stored = std::make_shared<const DeviceSell<V>>(host, source.stream);
  auto product = std::make_shared<vendor::VendorSpmv<V>>(host, *stored, source.stream);
  peer.bytes = entry_bytes<V>(std::ssize(host.values())) + offset_bytes(host.slice_offsets());
  peer.multiply = multiply_by(std::move(product), stored, source);
}

// The matrix in COO, made by whoever asks first.
template <Value V, Index I>
class SharedCoo {
 public:
  explicit SharedCoo(const PeerSource<V, I>& source) : source_(source) {}

  const std::shared_ptr<const DeviceCoo<V>>& get() {
    if (!stored_) {
      stored_ =
          std::make_shared<const DeviceCoo<V>>(Coo<V, I>::from_csr(source_.matrix), source_.stream);
    }
    return stored_;
  }

 private:
  const PeerSource<V, I>& source_;
  std::shared_ptr<const DeviceCoo<V>> stored_;
};

template <Value V, Index I>
void prepare_coo(DevicePeer<V>& peer, const PeerSource<V, I>& source, SharedCoo<V, I>& coo,
                 vendor::CooAlgorithm algorithm) {
  const auto stored = coo.get();
  auto product = std::make_shared<vendor::VendorSpmv<V>>(*stored, algorithm, source.stream);
  peer.bytes = source.matrix.nnz() * Offset{sizeof(V) + 2 * sizeof(std::int32_t)};
  peer.multiply = multiply_by(std::move(product), stored, source);
}

template <Value V, Index I>
void prepare_bsr(DevicePeer<V>& peer, const PeerSource<V, I>& source, Offset size) {
  peer.parameters = {{"block_rows", size}, {"block_cols", size}};
  const auto host = Bcsr<V, I>::from_csr(
      source.matrix, {.block_rows = size, .block_cols = size, .max_fill = kMaxBlockFill});
  const auto stored = std::make_shared<const DeviceBcsr<V>>(host, source.stream);
  auto product = std::make_shared<vendor::VendorSpmv<V>>(host, *stored, source.stream);
  peer.bytes = std::ssize(host.values()) * Offset{sizeof(V)} +
               host.blocks() * Offset{sizeof(std::int32_t)} +
               offset_bytes(host.block_row_offsets());
  peer.multiply = multiply_by(std::move(product), stored, source);
}

// `prepare` does what comes before the first product.
template <Value V, Index I, class Prepare>
DevicePeer<V> make_peer(const PeerSource<V, I>& source, std::string name, StoredFormat format,
                        const Prepare& prepare) {
  DevicePeer<V> peer{.name = std::move(name), .format = format};
  if (source.progress) source.progress("preparing " + peer.name);
  const auto begin = std::chrono::steady_clock::now();
  try {
    if (source.matrix.nnz() == 0) {
      throw InvalidArgument("cuSPARSE takes no matrices without entries");
    }
    prepare(peer);
  } catch (const Error&) {
    peer.refusal = std::current_exception();
  }
  peer.setup_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return peer;
}

}  // namespace

template <Value V, Index I>
std::vector<DevicePeer<V>> make_peers(const PeerSource<V, I>& source) {
  const std::string library = "cuSPARSE " + vendor::library_version();
  std::vector<DevicePeer<V>> peers;
  for (const vendor::CsrAlgorithm algorithm : vendor::kCsrAlgorithms) {
    peers.push_back(make_peer(source, fmt::format("{} CSR {}", library, name_of(algorithm)),
                              {Format::csr, 1},
                              [&](DevicePeer<V>& peer) { prepare_csr(peer, source, algorithm); }));
  }
  peers.push_back(make_peer(source, fmt::format("{} SELL-{}", library, kSliceHeight),
                            {Format::sell, kSliceHeight},
                            [&](DevicePeer<V>& peer) { prepare_sell(peer, source); }));
  SharedCoo<V, I> coo(source);
  for (const vendor::CooAlgorithm algorithm : vendor::kCooAlgorithms) {
    peers.push_back(
        make_peer(source, fmt::format("{} COO {}", library, name_of(algorithm)), {Format::coo, 1},
                  [&](DevicePeer<V>& peer) { prepare_coo(peer, source, coo, algorithm); }));
  }
  for (const Offset size : kBlockSizes) {
    peers.push_back(make_peer(source, fmt::format("{0} BSR {1}×{1}", library, size),
                              {Format::bcsr, 1},
                              [&](DevicePeer<V>& peer) { prepare_bsr(peer, source, size); }));
  }
  return peers;
}

#else

template <Value V, Index I>
std::vector<DevicePeer<V>> make_peers(const PeerSource<V, I>&) {
  return {};
}

#endif

#define STRATA_INSTANTIATE(V, I) \
  template std::vector<DevicePeer<V>> make_peers(const PeerSource<V, I>&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::gpu
