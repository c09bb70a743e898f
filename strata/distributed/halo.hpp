// Halo: which elements of a distributed vector a rank needs of others, and which others need of it.
// Exchange: the messages, with buffers and requests that are made once and started again and again.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/distributed/communicator.hpp"
#include "strata/distributed/element_list.hpp"
#include "strata/distributed/partition.hpp"

namespace strata::distributed {

namespace detail {
class NodeMemory;
struct RemoteBlock;
struct SharedSlot;
}  // namespace detail

class Halo {
 public:
  // A rank that sends elements here, those at [begin, end) of the wanted ones.
  struct Source {
    int rank = 0;
    Offset begin = 0;
    Offset end = 0;
  };
  // A rank that elements go to, by their places among the own ones.
  struct Target {
    int rank = 0;
    ElementList elements;
  };

  Halo() = default;
  // Collective. `wanted`: elements of other ranks, increasing. Throws InvalidArgument otherwise.
  Halo(const Communicator& ranks, const Partition& partition, std::vector<Offset> wanted);

  const std::vector<Offset>& wanted() const { return wanted_; }
  // How many of them belong to ranks before this one.
  Offset below() const { return below_; }
  const std::vector<Source>& sources() const { return sources_; }
  const std::vector<Target>& targets() const { return targets_; }
  Offset sent_elements() const;

 private:
  std::vector<Offset> wanted_;
  Offset below_ = 0;
  std::vector<Source> sources_;  // by rank
  std::vector<Target> targets_;  // by rank
};

// Where elements lie that are exchanged: the wanted ones in their order, with room for some of the
// rank's own between those of ranks below and those of ranks above, so that all are in the order of
// their numbers.
struct HaloRoom {
  Offset own = 0;
  int vectors = 1;  // interleaved
  int rooms = 1;    // for so many sets of vectors, which go in one message: 1 or 2
};

// The messages of a halo between buffers that stay where they are, in the memory of the host or of
// a device that MPI can reach: persistent requests, started again and again.
template <Value V>
class HaloMessages {
 public:
  // The communicator and the halo have to live as long. `elements` is a room, `packed` has what
  // others want, target by target, and `received` what sources send where there are two rooms.
  // Sources and targets, by their places in the halo, that send and get elements otherwise are left
  // out forwards.
  HaloMessages(const Communicator& ranks, const Halo& halo, const HaloRoom& room, V* elements,
               V* packed, V* received = nullptr, const std::vector<bool>& other_sources = {},
               const std::vector<bool>& other_targets = {});
  ~HaloMessages();
  HaloMessages(const HaloMessages&) = delete;
  HaloMessages& operator=(const HaloMessages&) = delete;

  // Packed elements go to where they are wanted.
  void start() const;
  void finish() const;
  // Backwards, of one room: wanted elements go back to their owners, packed again.
  void start_back() const;
  void finish_back() const;

  // Sent by one start, or one start_back.
  Offset messages() const { return forward_sends_; }
  Offset messages_back() const { return backward_sends_; }

 private:
  const Communicator* ranks_;
  Offset forward_bytes_ = 0;
  Offset backward_bytes_ = 0;
  mutable std::vector<MPI_Request> forwards_;
  mutable std::vector<MPI_Request> backwards_;
  Offset forward_sends_ = 0;
  Offset backward_sends_ = 0;
};

// The same with buffers in the memory of the host. Between ranks of a node, large messages are no
// messages: the sender writes them to where they are wanted (Communicator::share_from).
template <Value V>
class Exchange {
 public:
  // Which way elements go: to where they are wanted, or back to be added.
  enum class Way { forwards, backwards };

  // Collective. The communicator and the halo have to live as long.
  Exchange(const Communicator& ranks, const Halo& halo, const HaloRoom& room,
           Way way = Way::forwards);
  ~Exchange();

  // Wanted elements, and the own ones among them: all of a room.
  std::span<V> elements(int room = 0);
  std::span<V> own(int room = 0);

  // Packs the elements that others want and sends them.
  void start(std::span<const V> first, std::span<const V> second = {});
  // Returns when all wanted elements are there.
  void finish();
  // Wanted elements have been read, and others may write the next ones: the sooner it is said the
  // better. The next start says so, too.
  void release();

  // Backwards, of one room: what is in the places of wanted elements goes to their owners, who add
  // it to theirs, in the order of ranks.
  void start_adding() { messages_->start_back(); }
  void finish_adding(std::span<V> to);

  // Sent by one start, or one start_adding.
  Offset sends() const { return messages_->messages() + shared_sends_; }
  Offset sends_back() const { return messages_->messages_back(); }
  // Of the sends, those that are writes into shared memory.
  Offset shared_sends() const { return shared_sends_; }

 private:
  void find_shared_memory();
  Offset begin_of(const Halo::Source& source) const {
    return source.begin + (source.begin >= halo_->below() ? room_.own : 0);
  }

  const Communicator* ranks_;
  const Halo* halo_;
  HaloRoom room_;
  Array<V> memory_;  // of the elements, unless others write there
  std::span<V> elements_;
  Array<V> packed_;    // for the targets, one after another
  Array<V> received_;  // from the sources, if there are two rooms
  std::unique_ptr<detail::NodeMemory> shared_;
  std::vector<detail::SharedSlot*> slots_;           // of sources that write here
  std::vector<const detail::RemoteBlock*> remotes_;  // of targets that this rank writes to
  std::vector<bool> shared_sources_, shared_targets_;
  std::optional<HaloMessages<V>> messages_;
  Offset shared_sends_ = 0;
  Offset shared_bytes_ = 0;
  std::uint64_t round_ = 0;  // of what was started
  std::uint64_t released_ = 0;
};

}  // namespace strata::distributed
