// Peers on a GPU, and what they are made from.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "strata/device/array.hpp"
#include "strata/device/stream.hpp"
#include "strata/formats/csr.hpp"
#include "strata/measure/peer.hpp"

namespace strata::gpu {

template <Value V>
class DeviceCsr;

// What peers are made from.
template <Value V, Index I>
struct PeerSource {
  const Csr<V, I>& matrix;
  // The same on the device, uploaded by whoever asks first.
  std::function<std::shared_ptr<const DeviceCsr<V>>()> on_device;
  Stream& stream;  // that products are put into
  std::function<void(const std::string& what)> progress = {};
};

template <Value V>
using DevicePeer = Peer<V, DeviceSpan>;
template <Value V, Index I>
using MakePeers = std::function<std::vector<DevicePeer<V>>(const PeerSource<V, I>& source)>;

}  // namespace strata::gpu
