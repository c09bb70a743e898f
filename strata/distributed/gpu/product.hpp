// DistributedProduct on GPUs: y = αAx + βy where every rank has a part of A, x and y in the memory
// of a device.
//
//   strata::gpu::Stream stream;                       // on the rank's device, which is current
//   const gpu::DistributedProduct<double> product(world, matrix, {}, stream);
//   auto workspace = product.make_workspace(stream);
//   product.apply(x, y, workspace, stream);           // the rank's elements of both
//
// The counterpart of distributed/product.hpp, with its layouts and the same messages. Elements that
// others need are packed on the device. MPI sends them from there if it says at run time that it
// can; elsewhere they are copied to pinned memory of the host and back. Meanwhile the device
// computes the rows that need nothing of others. Several ranks may share a device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/device/array.hpp"
#include "strata/device/stream.hpp"
#include "strata/distributed/communicator.hpp"
#include "strata/distributed/matrix.hpp"
#include "strata/distributed/product.hpp"

namespace strata::distributed::gpu {

using strata::gpu::DeviceSpan;
using strata::gpu::Stream;

// Whether MPI says that it takes addresses of device memory. False where it cannot be asked.
bool mpi_takes_device_memory();

enum class Staging {
  automatic,  // as mpi_takes_device_memory says
  host,       // through the memory of the host
  none,       // MPI gets addresses of the device, whatever it says
};

template <Value V>
class DistributedProduct {
 public:
  class Workspace;

  // Collective; plans for the current device. Throws as distributed::DistributedProduct, and what
  // plans on a device throw.
  template <Index I>
  DistributedProduct(const Communicator& ranks, const DistributedMatrix<V, I>& matrix,
                     const DistributedOptions& options, Stream& stream,
                     Staging staging = Staging::automatic);
  ~DistributedProduct();
  DistributedProduct(DistributedProduct&&) noexcept;
  DistributedProduct& operator=(DistributedProduct&&) noexcept;

  Offset rows() const;    // of this rank: of y
  Offset x_rows() const;  // of x
  int vectors() const;
  bool staged() const;  // through the memory of the host

  Workspace make_workspace(Stream& stream) const;

  // Collective. y = Ax, and y = αAx + βy; the host waits for messages, and what is then left to
  // compute is put into the stream.
  void apply(DeviceSpan<const V> x, DeviceSpan<V> y, Workspace& workspace, Stream& stream) const;
  void apply(V alpha, DeviceSpan<const V> x, V beta, DeviceSpan<V> y, Workspace& workspace,
             Stream& stream) const;

  // Of all ranks, by rank; the same on all of them.
  const std::vector<RankShare>& shares() const;
  // What was decided, in prose; the same on all ranks.
  const std::string& explain() const;

 private:
  struct State;
  struct WorkspaceState;
  std::unique_ptr<State> state_;
};

template <Value V>
class DistributedProduct<V>::Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

 private:
  friend class DistributedProduct<V>;
  std::unique_ptr<WorkspaceState> state_;
};

}  // namespace strata::distributed::gpu
