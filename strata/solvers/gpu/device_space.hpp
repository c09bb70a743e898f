// DeviceSpace: vectors in the memory of a GPU, with the scalars of a method: the counterpart of
// solvers/processor_space.hpp. A program over vectors is one launch, and nothing waits but read().
//
//   Stream stream;
//   DeviceSpace<double> space(matrix.rows(), stream);
//   auto r = space.make_vector();
//   const Scalar rho = space.make_scalars(1);
//   space.run(program);                          // in the order of the stream
//   const double known = space.read(rho);        // waits for the stream
//
// Scalars that the host has written are constants of the programs that use them next: they reach
// the device with these.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/device/array.hpp"
#include "strata/device/event.hpp"
#include "strata/device/graph.hpp"
#include "strata/device/stream.hpp"
#include "strata/solvers/block.hpp"
#include "strata/solvers/vector_program.hpp"

namespace strata::gpu {

// An array that serves as a span of itself, as vectors on processors do.
template <Value V>
class DeviceVector : public DeviceArray<V> {
 public:
  using DeviceArray<V>::DeviceArray;
  operator DeviceSpan<V>() { return this->span(); }
  operator DeviceSpan<const V>() const { return this->span(); }
};

// Dot products have the same bits in every run and on every device with warps of one size.
template <Value V>
class DeviceSpace {
 public:
  using Value = V;
  using Scalar = solvers::Scalar;
  using Vector = DeviceVector<V>;
  using View = DeviceSpan<V>;
  using ConstView = DeviceSpan<const V>;
  using Block = solvers::Block<View>;
  using ConstBlock = solvers::Block<ConstView>;
  using Program = solvers::VectorProgram<V>;

  // `rows` elements in every vector. The stream must outlive the space.
  DeviceSpace(Offset rows, Stream& stream);

  Offset rows() const { return rows_; }
  Offset dimension() const { return rows_; }
  Stream& stream() const { return *stream_; }
  Vector make_vector() const { return make_block(1); }
  // So many vectors one after the other, of zeros.
  Vector make_block(int count) const;
  solvers::Scalar make_scalars(int count);  // the first of so many more, all zero

  // As ProcessorSpace has them; in the order of the stream. The first block of gram and a block
  // that is transformed have kMostColumns at most, or InvalidArgument is thrown.
  static constexpr int kMostColumns = 2048;
  void run(const Program& program);
  void gram(ConstBlock a, ConstBlock b, Scalar first);
  void add_product(V factor, ConstBlock a, Scalar first, Block target);
  void transform(Block block, Scalar first, int from = 0);

  void write(Scalar first, std::span<const V> values);
  void write(Scalar target, V value) { write(target, {&value, 1}); }
  // Waits for the stream.
  void read(Scalar first, std::span<V> values);
  V read(Scalar source) {
    V value;
    read(source, {&value, 1});
    return value;
  }

  // Where a scalar is on the device, for other libraries; until more are made. What the host has
  // written is there when a program has used it.
  V* address(Scalar scalar) {
    check(scalar);
    forget(scalar, 1);
    return at(scalar);
  }

  // Reading without waiting at once: so many iterations of a method are in the stream before the
  // scalars of the first are needed.
  static constexpr int kLag = 1;
  // Scalars on their way to the host, at most kMostScalars.
  class Reading {
   private:
    friend class DeviceSpace;
    std::size_t slot = 0;
    int count = 0;
  };
  static constexpr int kMostScalars = 8;
  // At most kLag + 1 readings at a time.
  Reading request(Scalar first, int count);
  void await(const Reading& reading, std::span<V> values);

  // What a method does again and again on the same vectors: after some times it is recorded, and
  // launched as a graph. It must neither read nor write scalars from the host.
  class Routine {
   private:
    friend class DeviceSpace;
    int times = 0;
    std::optional<Graph> graph;
  };
  template <class Work>
  void run(Routine& routine, const Work& work) {
    constexpr int kTimesBefore = 4;
    flush();
    if (routine.graph) {
      routine.graph->launch(*stream_);
    } else if (++routine.times <= kTimesBefore || is_captured(*stream_)) {
      work();
    } else {
      routine.graph = Graph::capture(*stream_, work);
      routine.graph->launch(*stream_);
    }
  }

 private:
  class Lowering;

  void check(Scalar first, Offset count = 1) const;
  void check(ConstBlock block) const;
  void check_columns(int columns) const;
  V* at(Scalar scalar) { return scalars_.data() + scalar.index; }
  std::optional<V>& known(int scalar) { return known_[static_cast<std::size_t>(scalar)]; }
  void forget(Scalar first, Offset count);
  void send(Scalar first, std::span<const V> values);
  void flush();

  Offset rows_ = 0;
  Stream* stream_;
  int scalar_count_ = 0;
  DeviceArray<V> scalars_;
  std::vector<std::optional<V>> known_;  // what the host wrote and nothing has changed since
  std::vector<int> unwritten_;           // of these, what the device does not know
  DeviceArray<V> sums_;
  DeviceArray<std::uint32_t> arrivals_;
  PinnedArray<V> arrived_;
  std::vector<Event> events_;
  std::size_t requests_ = 0;
  // Many scalars at a time go through memory that the device can read while the host goes on.
  struct Parcel {
    PinnedArray<V> values;
    Event sent;
  };
  std::vector<Parcel> parcels_;
  std::size_t parcels_sent_ = 0;
  PinnedArray<V> received_;
};

}  // namespace strata::gpu
